package tool

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
)

// echoing is a server of the SDK.
func echoing() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "http", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		Say string `json:"say"`
	}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Say}}}, nil, nil
	})
	return s
}

func remoteAt(url string) Server { return Server{Name: "far", URL: url, Timeout: time.Minute} }

func TestHTTP(t *testing.T) {
	for _, o := range []mcp.StreamableHTTPOptions{{}, {JSONResponse: true}, {Stateless: true}} {
		s := echoing()
		web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &o))
		w := newWorld(t, nil, remoteAt(web.URL))
		for range 3 {
			if got := w.run("echo", `{"say":"far"}`); got != said("far") {
				t.Errorf("%+v: %s", o, got)
			}
		}
		s.AddTool(&mcp.Tool{Name: "late", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
		if !o.Stateless {
			waitFor(t, func() bool { return len(w.h.Tools()) == 2 })
		}
		w.h.Close()
		web.CloseClientConnections()
		web.Close()
	}
}

// guarded is a server that is asked by a handler first.
func guarded(t testing.TB, first func(w http.ResponseWriter, r *http.Request, body string) bool) *httptest.Server {
	s := echoing()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true})
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if !first(w, r, string(body)) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.Close)
	return web
}

func TestHTTPHostile(t *testing.T) {
	var id string
	event := func(data string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			data := strings.Replace(data, "ID", id, 1)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", data)
		}
	}
	plain := func(body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.Replace(body, "ID", id, 1))
		}
	}
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		want   gate.Reason
	}{
		"duplicate keys":       {plain(`{"jsonrpc":"2.0","id":ID,"result":{},"result":{"content":[]}}`), UpstreamGarbage},
		"an error":             {plain(`{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no"}}`), UpstreamRefused},
		"an error in an event": {event(`{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no"}}`), UpstreamRefused},
		"garbled event":        {event(`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":{"a":1,"A":2}}}`), UpstreamGarbage},
		"no JSON":              {plain(`<html>`), UpstreamGarbage},
		"a batch":              {plain(`[]`), UpstreamGarbage},
		"deep":                 {plain(`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`), UpstreamGarbage},
		"long":                 {func(w http.ResponseWriter) { plain(strings.Repeat(" ", MaxFrame+1))(w) }, UpstreamGarbage},
		"event no JSON":        {event(`{`), UpstreamGarbage},
		"event of a batch":     {event(`[]`), UpstreamGarbage},
		"event long":           {event(strings.Repeat("x", MaxFrame)), UpstreamGarbage},
		"nothing":              {func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }, UpstreamDied},
		"other kind":           {func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html") }, UpstreamDied},
		"error":                {func(w http.ResponseWriter) { w.WriteHeader(500) }, UpstreamDied},
		"redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", other.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, UpstreamDied},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			web := guarded(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
				if !strings.Contains(body, "tools/call") || calls.Add(1) > 1 {
					return false
				}
				id = find(object(t, body), "id")
				c.answer(w)
				return true
			})
			web.Start()
			w := newWorld(t, nil, remoteAt(web.URL))
			_, err := w.do(w.call("echo", `{"say":"x"}`))
			if reason(err) != c.want || strings.Contains(err.Error(), "is not known") != (c.want != UpstreamRefused) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if got := calls.Load(); got != 1 {
				t.Errorf("sent %d times", got)
			}
			if got := w.run("echo", `{"say":"again"}`); got != said("again") {
				t.Error(got)
			}
		})
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestHTTPToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	web := guarded(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Header.Get("Authorization") == "Bearer s3cret" {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	web.Start()
	s := remoteAt(web.URL)
	if w := newWorld(t, nil, s); w.h.States()[0].Up {
		t.Error("up without a token")
	}
	s.TokenFile = file
	if got := newWorld(t, nil, s).run("echo", `{"say":"x"}`); got != said("x") {
		t.Error(got)
	}
}

func TestHTTPPin(t *testing.T) {
	web := guarded(t, func(http.ResponseWriter, *http.Request, string) bool { return false })
	web.Config.ErrorLog = quiet()
	web.StartTLS()
	sum := sha256.Sum256(web.Certificate().RawSubjectPublicKeyInfo)
	s := remoteAt(web.URL)
	for pin, up := range map[string]bool{
		"": false, pinPrefix + base64.StdEncoding.EncodeToString(sum[:]): true, pinPrefix + base64.StdEncoding.EncodeToString(make([]byte, 32)): false,
	} {
		s.Pin = pin
		if st := newWorld(t, nil, s).h.States()[0]; st.Up != up {
			t.Errorf("pin %q: up %v (%s)", pin, st.Up, st.Why)
		}
	}
}

func TestServersRefused(t *testing.T) {
	for _, s := range []Server{
		{}, {Name: "a"}, {Name: "A", Command: []string{"/bin/true"}}, {Name: "a", Command: []string{"/bin/true"}, URL: "https://a"},
		{Name: "a", Command: []string{"./x"}}, {Name: "a", Command: []string{"no-such-program-is-there"}}, {Name: "a", Command: []string{""}},
		{Name: "a", Command: []string{"/bin/true"}, Env: map[string]string{"A=B": "x"}},
		{Name: "a", URL: "http://example.com"}, {Name: "a", URL: "ftp://localhost"}, {Name: "a", URL: "https://u@h/"}, {Name: "a", URL: "https://h", Pin: "x"},
		{Name: "a", Command: []string{"/bin/true"}, Rules: []Rule{{Name: "t", Capability: "x"}}},
	} {
		if h, err := Start(t.Context(), Options{Servers: []Server{s}}); err == nil {
			h.Close()
			t.Errorf("%+v was taken", s)
		}
	}
	var zero Host
	if len(zero.Tools()) != 0 || len(zero.States()) != 0 {
		t.Error("the zero host has tools")
	}
	zero.Close()
}
