package tool

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	maxToken   = 8 << 10
	maxRefusal = 64 << 10 // bytes of an answer with an error status
	pinPrefix  = "sha256/"
)

// remote carries the SDK's requests to one server, and screens what comes back.
type remote struct {
	screen *screen
	inner  *http.Transport
	token  string
	failed func(error) // told what is garbage, before the SDK
}

// newRemote makes the client for one connection.
func newRemote(c Server, s *screen, failed func(error)) (*http.Client, *remote, error) {
	r := &remote{screen: s, failed: failed}
	if c.TokenFile != "" {
		var err error
		if r.token, err = readToken(c.TokenFile); err != nil {
			return nil, nil, err
		}
	}
	config, err := pinned(c.Pin)
	if err != nil {
		return nil, nil, err
	}
	r.inner = &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    16,
		MaxConnsPerHost:        128,
		IdleConnTimeout:        time.Minute,
	}
	client := &http.Client{Transport: r, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return client, r, nil
}

// checkURL takes https, and http to this machine.
func checkURL(source string) error {
	u, err := url.Parse(source)
	if err != nil {
		return err
	}
	addr, _ := netip.ParseAddr(u.Hostname())
	switch {
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%q is no URL of a server; write https://host/path", source)
	case u.Scheme == "https", u.Scheme == "http" && (u.Hostname() == "localhost" || addr.IsLoopback()):
		return nil
	}
	return fmt.Errorf("%q is not https; plain http is for this machine alone", source)
}

func readToken(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	token := strings.TrimSpace(string(b))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxToken || token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("%s holds no token: one word of ASCII of at most %d bytes", name, maxToken)
	}
	return token, nil
}

// pinned is the TLS configuration. A pin is the SHA-256 of the server's public
// key; where there is one, it alone says who the server is.
func pinned(pin string) (*tls.Config, error) {
	if pin == "" {
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	text, ok := strings.CutPrefix(pin, pinPrefix)
	want, err := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(want) != sha256.Size {
		return nil, fmt.Errorf("pin %q: write sha256/ and the SHA-256 of the public key in base64", pin)
	}
	check := func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) > 0 {
			if got := sha256.Sum256(s.PeerCertificates[0].RawSubjectPublicKeyInfo); bytes.Equal(got[:], want) {
				return nil
			}
		}
		return errors.New("the server's public key is not the one that is pinned")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: check}, nil
}

// RoundTrip implements [http.RoundTripper].
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	if err := r.depart(req); err != nil {
		return nil, err
	}
	resp, err := r.inner.RoundTrip(req)
	if err != nil {
		if f := flightOf(req.Context()); f != nil && undialled(err) {
			f.sent.Store(false)
		}
		return nil, err
	}
	if err := r.arrive(resp); err != nil {
		resp.Body.Close()
		r.failed(err)
		return nil, err
	}
	return resp, nil
}

// undialled says that there was no connection to send anything on.
func undialled(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// depart notes the request that a body is.
func (r *remote) depart(req *http.Request) error {
	if req.Body == nil || flightOf(req.Context()) == nil {
		return nil
	}
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	req.Body.Close()
	req.Body = io.NopCloser(bytes.NewReader(data))
	msg, err := jsonrpc.DecodeMessage(data)
	if err == nil {
		r.screen.depart(req.Context(), msg)
	}
	return err
}

// arrive puts what was screened in the place of a body.
func (r *remote) arrive(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		data, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		if msg, err := r.screen.frame(data); err != nil || !isAnswer(msg) {
			data = nil
		}
		replace(resp, data)
	case kind == "text/event-stream":
		resp.Body = &events{screen: r.screen, from: bufio.NewReaderSize(resp.Body, 4<<10), body: resp.Body, failed: r.failed}
	case kind == "application/json":
		data, err := io.ReadAll(io.LimitReader(resp.Body, MaxFrame+1))
		if err != nil || len(data) == 0 {
			replace(resp, nil)
			return err
		}
		msg, err := r.screen.frame(data)
		if err != nil {
			return err
		}
		if data = nil; msg != nil {
			data, err = jsonrpc.EncodeMessage(msg)
		}
		replace(resp, data)
		return err
	default:
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxRefusal), resp.Body}
	}
	return nil
}

func isAnswer(msg jsonrpc.Message) bool { _, ok := msg.(*jsonrpc.Response); return ok }

func replace(resp *http.Response, data []byte) {
	resp.Body.Close()
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
}
