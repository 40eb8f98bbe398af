package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/internal/serve"
)

const secret = "0123456789012345678901234567890123456789012"

// web serves the rig over HTTP.
func (r *rig) web(t testing.TB) string {
	t.Helper()
	l := unwrap(Listen(t.Context(), "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := r.g.Serve(ctx, l, []Token{{"local", secret}, {"other", "x" + secret}, {"none", ""}}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); serving.Wait() })
	return "http://" + l.Addr().String()
}

// bearer sends a token, and may send the version of the protocol.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// versionOf is the newest in which servers ask their clients, for one that has something to answer.
func versionOf(opts *mcp.ClientOptions) *mcp.ClientSessionOptions {
	if opts == nil || opts.ElicitationHandler == nil {
		return nil
	}
	return &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
}

func overHTTP(t testing.TB, address, token string) *mcp.ClientSession {
	t.Helper()
	return webClient(t, address, token, nil)
}

func webClient(t testing.TB, address, token string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "web", Version: "1"}, opts).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: address, HTTPClient: &http.Client{Transport: bearer{token, transport}},
	}, versionOf(opts))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestHTTPClientOfTheSDK(t *testing.T) {
	r := newRig(t, nil)
	address := r.web(t)
	s := overHTTP(t, address, secret)
	if got := textOfResult(callTool(t, s, "fs_read", map[string]any{"path": "a"})); got != "hello\n" {
		t.Errorf("told %q", got)
	}
	go func() { (<-r.w.asked).approve(`{"content":"yes"}`) }()
	if got := textOfResult(callTool(t, s, "fs_read", map[string]any{"path": "ask"})); got != "yes" {
		t.Errorf("told %q", got)
	}
	p := r.player(t, 0)
	if p.principal != "http-local" {
		t.Errorf("the principal is %s", p.principal)
	}
	other := overHTTP(t, address, "x"+secret)
	callTool(t, other, "fs_read", map[string]any{"path": "a"})
	if p := r.player(t, 1); p.principal != "http-other" {
		t.Errorf("the principal is %s", p.principal)
	}
	if !r.g.Busy() {
		t.Error("a session is open, and the gateway says it is idle")
	}
}

// post sends a body and gives status and answer.
func post(t testing.TB, address, token, body string, headers map[string]string) (int, string, http.Header) {
	t.Helper()
	req := unwrap(http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for k, v := range headers {
		if k == "Host" {
			req.Host = v
			continue
		}
		req.Header.Set(k, v)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	must(t, err)
	defer resp.Body.Close()
	data := unwrap(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(data), resp.Header
}

const helloWeb = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"w","version":"1"}}}`

func TestHTTPSessionsAndTheirEnd(t *testing.T) {
	r := newRig(t, nil)
	address := r.web(t)
	status, body, head := post(t, address, secret, helloWeb, nil)
	id := head.Get("Mcp-Session-Id")
	if status != 200 || id == "" || !strings.Contains(body, `"protocolVersion":"2025-11-25"`) {
		t.Fatalf("%d %s %q", status, body, id)
	}
	with := map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fs_write","arguments":{"path":"a","content":"x"}}}`
	if status, body, _ := post(t, address, secret, call, with); status != 200 || !strings.Contains(body, `"staged"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body, _ := post(t, address, "x"+secret, call, with); status != 403 {
		t.Errorf("another token in the session: %d %s", status, body)
	}
	// The same id twice at once, and an answer that nobody asked for.
	done := make(chan string, 1)
	ask := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"ask"}}}`
	go func() { _, body, _ := post(t, address, secret, ask, with); done <- body }()
	a := <-r.w.asked
	if status, body, _ := post(t, address, secret, ask, with); status != 400 || !strings.Contains(body, "id-in-flight") {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := post(t, address, secret, `{"jsonrpc":"2.0","id":3,"result":{"action":"accept"}}`, with); status != 202 {
		t.Errorf("an answer that nobody asked for: %d", status)
	}
	if status, _, _ := post(t, address, secret, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, with); status != 202 {
		t.Errorf("a cancel: %d", status)
	}
	<-a.p.cancelled
	<-done
	req := unwrap(http.NewRequestWithContext(t.Context(), http.MethodDelete, address, nil))(t)
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Mcp-Session-Id", id)
	resp := unwrap((&http.Transport{DisableKeepAlives: true}).RoundTrip(req))(t)
	must(t, resp.Body.Close())
	p := r.player(t, 0)
	eventually(t, func() bool { return see(p, func() bool { return p.closed && p.commits == 1 }) })
	eventually(t, func() bool { return !r.g.Busy() })
}

func TestHTTPWithoutSessions(t *testing.T) {
	r := newRig(t, nil)
	address := r.web(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"w","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}}`
	with := func(method, name string) map[string]string {
		return map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}
	}
	for i := range 3 {
		status, body, head := post(t, address, secret, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"a"},%s}}`, i, meta), with("tools/call", "fs_read"))
		if status != 200 || !strings.Contains(body, `"resultType":"complete"`) || head.Get("Mcp-Session-Id") != "" {
			t.Fatalf("%d %s", status, body)
		}
	}
	status, body, _ := post(t, address, secret, fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{%s}}`, meta), with("tools/list", ""))
	if status != 200 || !strings.Contains(body, `"tools":[`) {
		t.Errorf("%d %s", status, body)
	}
	p := r.player(t, 0)
	if n := see(p, func() int { return len(p.calls) }); n != 3 || len(r.w.sessions) != 1 || p.name != "w 2" {
		t.Errorf("%d calls in %d sessions of %s", n, len(r.w.sessions), p.name)
	}
}

func TestHTTPRefuses(t *testing.T) {
	r := newRig(t, nil)
	address := r.web(t)
	port := address[strings.LastIndex(address, ":"):]
	for name, c := range map[string]struct {
		token, body string
		headers     map[string]string
		status      int
		reason      string
	}{
		"no token":            {"", helloWeb, nil, 401, "no bearer token"},
		"another token":       {"wrong", helloWeb, nil, 401, "token-invalid"},
		"an empty token":      {" ", helloWeb, nil, 401, "no bearer token"},
		"another host":        {secret, helloWeb, map[string]string{"Host": "evil.example" + port}, 403, "host-refused"},
		"a rebound name":      {secret, helloWeb, map[string]string{"Host": "127.0.0.1.evil.example" + port}, 403, "host-refused"},
		"another port":        {secret, helloWeb, map[string]string{"Host": "127.0.0.1:1"}, 403, "host-refused"},
		"another page":        {secret, helloWeb, map[string]string{"Origin": "http://evil.example"}, 403, "host-refused"},
		"a page without name": {secret, helloWeb, map[string]string{"Origin": "null"}, 403, "host-refused"},
		"duplicate keys":      {secret, `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, nil, 400, "duplicate-key"},
		"a batch":             {secret, "[" + helloWeb + "]", nil, 400, "batch-refused"},
		"too large":           {secret, strings.Repeat(" ", maxFrame+1), nil, 413, "frame-too-large"},
		"an unknown session":  {secret, helloWeb, map[string]string{"Mcp-Session-Id": "x"}, 404, "session not found"},
		"another type":        {secret, helloWeb, map[string]string{"Content-Type": "text/plain"}, 415, "Content-Type"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, _ := post(t, address, c.token, c.body, c.headers)
			if status != c.status || !strings.Contains(body, c.reason) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	if n := len(r.w.sessions); n != 0 {
		t.Errorf("%d sessions were opened", n)
	}
}

func TestHTTPSlowBody(t *testing.T) {
	r := newRig(t, func(_ *Options, l *limits) { l.frame = 50 * time.Millisecond })
	address := strings.TrimPrefix(r.web(t), "http://")
	c := unwrap(net.Dial("tcp", address))(t)
	defer c.Close()
	_, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", address, secret)
	must(t, err)
	must(t, c.SetReadDeadline(time.Now().Add(2*time.Minute)))
	if got := string(unwrap(io.ReadAll(c))(t)); !strings.Contains(got, "frame-late") {
		t.Errorf("heard %q", got)
	}
}

func TestListenIsLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:80", "example.com:80", "127.0.0.1", "[fe80::1%lo]:0"} {
		l, err := Listen(t.Context(), address)
		var e *serve.Error
		if !errors.As(err, &e) || string(e.Reason) != string(ListenRefused) {
			t.Errorf("%s: %v", address, err)
		}
		if l != nil {
			_ = l.Close()
		}
	}
}

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.token")
	first := unwrap(ReadToken(path))(t)
	info := unwrap(os.Stat(path))(t)
	if again := unwrap(ReadToken(path))(t); again != first || len(first) != 43 || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, then %q, mode %v", first, again, info.Mode())
	}
	must(t, os.Chmod(path, 0o640))
	if _, err := ReadToken(path); err == nil {
		t.Error("a token that others may read is taken")
	}
	must(t, os.Chmod(path, 0o600))
	must(t, os.WriteFile(path, []byte("short\n"), 0o600))
	if _, err := ReadToken(path); err == nil {
		t.Error("a short token is taken")
	}
}
