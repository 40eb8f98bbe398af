package receiver

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/iff-run/iff/internal/keyfile"
)

// Flags are those that both programs have.
type Flags struct {
	Listen, Cert, CertKey        string
	Runtime, Key, Approver, Pass string
}

// Add declares the flags.
func (f *Flags) Add(set *flag.FlagSet) {
	set.StringVar(&f.Listen, "listen", "127.0.0.1:8443", "address to listen on; beyond this machine only with -cert")
	set.StringVar(&f.Cert, "cert", "", "certificate in PEM, for https")
	set.StringVar(&f.CertKey, "cert-key", "", "its private key in PEM")
	set.StringVar(&f.Runtime, "runtime", "", "public key file of the key with which the runtime signs")
	set.StringVar(&f.Key, "key", "", "private key file of the approver, such as iff key new makes")
	set.StringVar(&f.Approver, "id", "", "id of the approver in the trust root")
	set.StringVar(&f.Pass, "passphrase-file", "", "file with the passphrase of the key, if it has one")
}

// Receiver opens the keys.
func (f *Flags) Receiver() (*Receiver, error) {
	runtime, _, err := keyfile.ReadPublic(f.Runtime)
	if err != nil {
		return nil, err
	}
	if f.Approver == "" {
		return nil, errors.New("-id is missing: the approver's id in the trust root; see iff trust show")
	}
	key, err := keyfile.Open(f.Key, func(string) ([]byte, error) {
		data, err := os.ReadFile(f.Pass)
		return bytes.TrimRight(data, "\r\n"), err
	})
	if err != nil {
		return nil, err
	}
	return &Receiver{Runtime: runtime, Approver: f.Approver, Signer: key, Now: time.Now}, nil
}

// Serve answers until ctx ends. Where it listens, the receiver's log is told.
func (f *Flags) Serve(ctx context.Context, h *Receiver) error {
	l, err := net.Listen("tcp", f.Listen)
	if err != nil {
		return err
	}
	if at, err := netip.ParseAddrPort(l.Addr().String()); f.Cert == "" && (err != nil || !at.Addr().Unmap().IsLoopback()) {
		return errors.Join(fmt.Errorf("%s can be reached from elsewhere; give it a certificate with -cert", f.Listen), l.Close())
	}
	h.log("listening on " + l.Addr().String())
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if f.Cert != "" {
		err = s.ServeTLS(l, f.Cert, f.CertKey)
	} else {
		err = s.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
