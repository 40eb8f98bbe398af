package anchor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/iff-run/iff/internal/visible"
)

const (
	callTime   = 15 * time.Second // for a whole request and answer
	dialTime   = 5 * time.Second
	maxAnswer  = 64 << 10
	maxHeaders = 16 << 10
	userAgent  = "iff"
)

// client is an HTTP client that takes nothing from the environment and goes only where it was sent.
type client struct {
	base string // without a slash at the end
	http *http.Client
}

var errElsewhere = errors.New("http without TLS is allowed to this machine only")

// newClient checks the address and makes a client for it.
func newClient(place string) (*client, error) {
	u, err := url.Parse(place)
	if err != nil {
		return nil, errors.New("it is not an address")
	}
	if u.Host == "" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("it must be a host, perhaps with a port and a path, and nothing else")
	}
	plain := u.Scheme == "http"
	if plain && !namesLoopback(u.Hostname()) {
		return nil, errElsewhere
	}
	dialer := &net.Dialer{Timeout: dialTime}
	if plain {
		dialer.Control = loopbackOnly
	}
	return &client{
		base: strings.TrimRight(u.String(), "/"),
		http: &http.Client{
			Timeout: callTime,
			Transport: &http.Transport{ // no Proxy
				DialContext:            dialer.DialContext,
				TLSHandshakeTimeout:    dialTime,
				MaxResponseHeaderBytes: maxHeaders,
				MaxIdleConns:           1,
				DisableCompression:     true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func namesLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// loopbackOnly is asked with the address that a name was resolved to.
func loopbackOnly(_, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil || !addr.Addr().Unmap().IsLoopback() {
		return fmt.Errorf("%s: %w", address, errElsewhere)
	}
	return nil
}

// reply is an answer, whatever it says.
type reply struct {
	status int
	kind   string // the Content-Type
	body   []byte
}

var errLong = fmt.Errorf("the answer has more than %d bytes", maxAnswer)

// do sends one request and reads the whole answer.
func (c *client) do(ctx context.Context, method, path string, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("User-Agent", userAgent)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	r, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = errLong
	}
	return reply{r.StatusCode, r.Header.Get("Content-Type"), data}, err
}

// rest closes the connection that was kept for a further request.
func (c *client) rest() { c.http.CloseIdleConnections() }

// says quotes the beginning of an answer that was not understood.
func (r reply) says() string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(r.body), []byte("\n"))
	return fmt.Sprintf("status %d: %s", r.status, visible.Truncate(visible.Escape(string(line[:min(len(line), 400)])), 120))
}
