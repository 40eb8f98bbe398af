package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/canonical"
)

const (
	dialTime   = 5 * time.Second
	maxHeaders = 16 << 10
	userAgent  = "iff"
)

// newClient makes a client that goes only to where it is sent.
func newClient(o Options) (*http.Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return nil, refuse(OptionsInvalid, err, "the url is not that of a host, without a user and a fragment")
	}
	dialer := &net.Dialer{Timeout: dialTime}
	var config *tls.Config
	switch u.Scheme {
	case "http":
		dialer.Control = loopbackOnly
		if !namesLoopback(u.Hostname()) {
			return nil, refuse(OptionsInvalid, nil, "http is for this machine only; write https")
		}
	case "https":
		if config, err = tlsConfig(o); err != nil {
			return nil, err
		}
	default:
		return nil, refuse(OptionsInvalid, nil, "the url begins with https://, or http:// on this machine")
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Client{
		Transport: &http.Transport{ // no Proxy
			DialContext:            dialer.DialContext,
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    dialTime,
			MaxResponseHeaderBytes: maxHeaders,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			Protocols:              &protocols,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// tlsConfig holds the server against the pin, the CA, or both.
func tlsConfig(o Options) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.Pin == "" && len(o.CA) == 0 {
		return nil, refuse(OptionsInvalid, nil, "https needs the pin of the server's public key, or a ca")
	}
	if len(o.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(o.CA) {
			return nil, refuse(OptionsInvalid, nil, "the ca has no certificate in PEM")
		}
	}
	if o.Pin == "" {
		return c, nil
	}
	want, err := pin(o.Pin)
	if err != nil {
		return nil, err
	}
	c.InsecureSkipVerify = len(o.CA) == 0 // the key is known, so nobody needs to vouch for it
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 || sha256.Sum256(s.PeerCertificates[0].RawSubjectPublicKeyInfo) != want {
			return errors.New("the server's public key is not the pinned one")
		}
		return nil
	}
	return c, nil
}

func namesLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// loopbackOnly is asked with the address that a name was resolved to.
func loopbackOnly(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !a.Addr().Unmap().IsLoopback() {
		return fmt.Errorf("%s is not on this machine", address)
	}
	return nil
}

// post asks once. Without answers it says why there are none.
func (b *Broker) post(ctx context.Context, forms []canonical.Raw, qs []approval.Question) ([]approval.Answer, Reason) {
	if len(forms) == 0 {
		return nil, Unwritable
	}
	ctx, cancel := context.WithTimeout(ctx, b.options.Timeout)
	defer cancel()
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, TimedOut
	}
	body, header, err := b.seal(forms)
	if err != nil {
		return nil, Unwritable
	}
	status, data, err := b.exchange(ctx, body, header)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, TimedOut
	case errors.Is(err, errReply):
		return nil, Malformed
	case err != nil:
		return nil, Unreachable
	case status == http.StatusNoContent:
		return make([]approval.Answer, len(qs)), ""
	case status != http.StatusOK:
		return nil, StatusOther
	}
	return b.take(data, qs)
}

// take reads the answers of a reply and holds each against its question.
func (b *Broker) take(data []byte, qs []approval.Question) ([]approval.Answer, Reason) {
	answers, err := readReply(data, len(qs))
	if err != nil {
		return nil, Malformed
	}
	for i := range answers {
		answers[i] = b.judge(qs[i], answers[i])
	}
	return answers, ""
}

// errReply says that a reply came that is none.
var errReply = errors.New("the reply is too long, cut off, or not JSON")

// exchange sends a request and takes the reply's status, and of a good one the
// body.
func (b *Broker) exchange(ctx context.Context, body []byte, header string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.options.URL, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.GetBody = nil // so it is sent once
	req.Header.Set("Content-Type", ContentType)
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set(Header, header)
	resp, err := b.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, nil, nil
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != ContentType || resp.Header.Get("Content-Encoding") != "" {
		return 0, nil, errReply
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswers+1))
	if err != nil || len(data) > MaxAnswers {
		return 0, nil, errors.Join(errReply, err)
	}
	return resp.StatusCode, data, nil
}
