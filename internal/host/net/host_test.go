package net

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	stdnet "net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// table resolves from a table: each look-up takes the next list of a name, and
// the last again and again.
type table struct {
	mu    sync.Mutex
	lists map[string][][]string
	asked []string
}

func (n *table) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, host)
	lists := n.lists[strings.TrimSuffix(host, ".")]
	if len(lists) == 0 {
		return nil, errors.New("no such host")
	}
	if len(lists) > 1 {
		n.lists[strings.TrimSuffix(host, ".")] = lists[1:]
	}
	var out []netip.Addr
	for _, text := range lists[0] {
		out = append(out, netip.MustParseAddr(text))
	}
	return out, nil
}

// listener counts connections; it answers none.
type listener struct {
	l     stdnet.Listener
	count atomic.Int64
}

func newListener(t testing.TB, address string) *listener {
	t.Helper()
	l, err := stdnet.Listen("tcp", address)
	must(t, err)
	out := &listener{l: l}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			out.count.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return out
}

func (l *listener) port() uint16 { return netip.MustParseAddrPort(l.l.Addr().String()).Port() }

// seen is how many connections came, once all that were made are taken.
func (l *listener) seen(t testing.TB) int64 {
	t.Helper()
	before := l.count.Load()
	conn, err := stdnet.Dial("tcp", l.l.Addr().String())
	must(t, err)
	_, _ = conn.Read(make([]byte, 1)) // ends when the listener, which takes them in order, has closed it
	_ = conn.Close()
	return max(before, l.count.Load()-1)
}

func open(o Options) *Host {
	if o.Label == nil {
		o.Label = func(string, uint16) (label.Label, bool) { return label.Label{}, true }
	}
	return New(o)
}

func everywhere(string, uint16) bool { return true }

func envelope(t testing.TB, target, args string) capability.Envelope {
	t.Helper()
	to, err := capability.ParseTarget(capability.NetEgress, target)
	must(t, err)
	e, err := capability.NewEnvelope(capability.Call{Target: to, Arguments: []byte(args)})
	must(t, err)
	return e
}

func get(t testing.TB, target, address string) capability.Envelope {
	return envelope(t, target, fmt.Sprintf(`{"url":%q}`, address))
}

func (h *Host) run(ctx context.Context, env capability.Envelope) (answer, error) {
	r, err := h.do(ctx, gate.Order{Phase: gate.Execute, Envelope: env})
	var a answer
	if err == nil {
		err = canonical.Parse(r.Data, &a, canonical.Limits{Bytes: 8 << 20})
	}
	return a, err
}

func reasonOf(err error) gate.Reason {
	var r *gate.Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

func wantReason(t testing.TB, what string, err error, want gate.Reason) {
	t.Helper()
	if reasonOf(err) != want || err == nil {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

// site is a server on this machine and the target that names it.
func site(t testing.TB, h http.HandlerFunc) (target, address string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), s.URL
}

func TestRequest(t *testing.T) {
	var got *http.Request
	var body []byte
	target, at := site(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Secret", "x")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, "short and stout")
	})
	h := open(Options{Private: everywhere})
	env := envelope(t, target, fmt.Sprintf(`{"url":"%s/a%%2Fb?q=%%20","method":"POST","headers":{"Content-Type":"text/x","Cookie":"c=d"},"bodyBase64":"aGk="}`, at))
	touches, err := h.Touches(env)
	must(t, err)
	if touches.Op != "post" || len(touches.Outside) != 1 || touches.Reversible || len(touches.Reads)+len(touches.Changes) != 0 {
		t.Errorf("%+v", touches)
	}
	plan, err := h.Plan(t.Context(), env, nil)
	must(t, err)
	if plan.Reach != gate.Opaque || len(plan.Changes) != 0 {
		t.Errorf("%+v", plan)
	}
	r, err := h.do(t.Context(), gate.Order{Phase: gate.Execute, Envelope: env})
	must(t, err)
	if want := "POST 418 from " + target + ", 15 bytes"; r.Detail != want {
		t.Errorf("detail %q, want %q", r.Detail, want)
	}
	var a answer
	must(t, canonical.Parse(r.Data, &a, canonical.Limits{}))
	if a.Status != 418 || a.Content == nil || *a.Content != "short and stout" || a.FinalURL != at+"/a%2Fb?q=%20" || a.Truncated || a.Note != "" {
		t.Errorf("%s", r.Data)
	}
	if a.Headers["content-type"] != "text/plain" || a.Headers["set-cookie"] != "" || a.Headers["x-secret"] != "" {
		t.Errorf("%v", a.Headers)
	}
	if got.RequestURI != "/a%2Fb?q=%20" || got.Host != target || got.Header.Get("User-Agent") != "iff" || string(body) != "hi" ||
		got.Header.Get("Content-Type") != "text/x" || got.Header.Get("Cookie") != "c=d" || got.Header.Get("Accept-Encoding") != "" ||
		got.Header.Get("Authorization") != "" {
		t.Errorf("%s %s %v %q", got.Host, got.RequestURI, got.Header, body)
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	t.Cleanup(s.Close)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	port := netip.MustParseAddrPort(s.Listener.Addr().String()).Port()
	h := open(Options{Private: everywhere, Resolver: &table{lists: map[string][][]string{"example.com": {{"127.0.0.1"}}, "example.org": {{"127.0.0.1"}}}}})
	target := fmt.Sprintf("example.com:%d", port)
	_, err := h.run(t.Context(), get(t, target, "https://"+target+"/"))
	wantReason(t, "a certificate of nobody", err, gate.HostFailed)
	h.roots = x509.NewCertPool()
	h.roots.AddCert(s.Certificate())
	a, err := h.run(t.Context(), get(t, target, "https://"+target+"/"))
	must(t, err)
	if a.Content == nil || *a.Content != "HTTP/1.1" {
		t.Errorf("%+v", a)
	}
	target = fmt.Sprintf("example.org:%d", port)
	_, err = h.run(t.Context(), get(t, target, "https://"+target+"/"))
	wantReason(t, "a certificate of another", err, gate.HostFailed)
}

func TestArguments(t *testing.T) {
	h := open(Options{})
	for what, args := range map[string]string{
		"no url":            `{}`,
		"unknown":           `{"url":"https://example.com/","proxy":"x"}`,
		"method":            `{"url":"https://example.com/","method":"CONNECT"}`,
		"small method":      `{"url":"https://example.com/","method":"get"}`,
		"body of a get":     `{"url":"https://example.com/","body":"x"}`,
		"two bodies":        `{"url":"https://example.com/","method":"PUT","body":"x","bodyBase64":""}`,
		"base64":            `{"url":"https://example.com/","method":"PUT","bodyBase64":"a"}`,
		"host header":       `{"url":"https://example.com/","headers":{"hOst":"x"}}`,
		"length header":     `{"url":"https://example.com/","headers":{"Content-Length":"1"}}`,
		"proxy header":      `{"url":"https://example.com/","headers":{"Proxy-Authorization":"x"}}`,
		"connection header": `{"url":"https://example.com/","headers":{"Connection":"close"}}`,
		"chunked":           `{"url":"https://example.com/","headers":{"Transfer-Encoding":"chunked"}}`,
		"encoding":          `{"url":"https://example.com/","headers":{"Accept-Encoding":"gzip"}}`,
		"split header":      `{"url":"https://example.com/","headers":{"X":"a\r\nHost: b"}}`,
		"header name":       `{"url":"https://example.com/","headers":{"X: a\r\nY":"b"}}`,
		"large headers":     `{"url":"https://example.com/","headers":{"A":"` + strings.Repeat("a", maxHeaderBytes) + `"}}`,
		"long url":          `{"url":"https://example.com/` + strings.Repeat("a", maxURL) + `"}`,
	} {
		_, err := h.Touches(envelope(t, "example.com", args))
		wantReason(t, what, err, gate.ArgumentsBad)
		_, err = h.Plan(t.Context(), envelope(t, "example.com", args), nil)
		wantReason(t, what, err, gate.ArgumentsBad)
		_, err = h.do(t.Context(), gate.Order{Phase: gate.Execute, Envelope: envelope(t, "example.com", args)})
		wantReason(t, what, err, gate.ArgumentsBad)
	}
	to, err := capability.ParseTarget(capability.FSRead, "a")
	must(t, err)
	e, err := capability.NewEnvelope(capability.Call{Target: to})
	must(t, err)
	_, err = h.Touches(e)
	wantReason(t, "a file", err, gate.NoHost)
}

func TestLabels(t *testing.T) {
	s, ok := label.Builtin("default")
	if !ok {
		t.Fatal("no scheme")
	}
	h := New(Options{Label: func(host string, port uint16) (label.Label, bool) { return s.Top(), host == "::1" && port == 8080 }})
	touches, err := h.Touches(get(t, "[::1]:8080", "http://[::1]:8080/"))
	must(t, err)
	if touches.Outside[0].String() != s.Top().String() {
		t.Errorf("%v", touches.Outside)
	}
	_, err = h.Touches(get(t, "example.com", "https://example.com/"))
	wantReason(t, "no entry", err, HostUnlabelled)
	for _, h := range []*Host{{}, New(Options{})} {
		_, err = h.Touches(get(t, "example.com", "https://example.com/"))
		wantReason(t, "zero", err, HostUnlabelled)
		_, err = h.Do(t.Context(), nil)
		if !errors.Is(err, gate.ErrPermit) {
			t.Error(err)
		}
	}
	for _, phase := range []gate.Phase{"", gate.Read, gate.Commit, gate.Rollback} {
		_, err = open(Options{}).do(t.Context(), gate.Order{Phase: phase, Envelope: get(t, "example.com", "https://example.com/")})
		wantReason(t, "phase "+string(phase), err, gate.HostFailed)
	}
}

func TestRedirects(t *testing.T) {
	other := newListener(t, "127.0.0.1:0")
	var hits atomic.Int64
	var target, at string
	target, at = site(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		to := r.URL.Query().Get("to")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "here")
		case "/loop":
			to = "/loop"
			fallthrough
		default:
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	})
	h := open(Options{Private: everywhere})
	for location, follows := range map[string]bool{
		"/":                                    true,
		at + "/#there":                         true,
		"//" + target + "/":                    true,
		"http://" + other.l.Addr().String():    false,
		"//" + other.l.Addr().String():         false,
		"https://" + target + "/":              false, // does not speak TLS: fails, is not followed silently
		"http://user@" + target + "/":          false,
		"http://LOCALHOST/":                    false,
		"http://[::ffff:127.0.0.1]/":           false,
		"file:///etc/passwd":                   false,
		"javascript:x":                         false,
		"http://" + target + "\\@example.com/": false,
	} {
		a, err := h.run(t.Context(), get(t, target, at+"/go?to="+url.QueryEscape(location)))
		followed := err == nil && a.Content != nil && *a.Content == "here"
		if followed != follows {
			t.Errorf("%s: %+v %v", location, a, err)
		}
		if err == nil && !follows && a.Note == "" {
			t.Errorf("%s: nothing is said: %+v", location, a)
		}
	}
	if n := other.seen(t); n != 0 {
		t.Errorf("%d connections went elsewhere", n)
	}
	hits.Store(0)
	a, err := h.run(t.Context(), get(t, target, at+"/loop"))
	if err != nil || a.Status != 302 || !strings.Contains(a.Note, "5 times") || hits.Load() != maxHops+1 {
		t.Errorf("a loop: %+v %v after %d", a, err, hits.Load())
	}
	hits.Store(0)
	a, err = h.run(t.Context(), envelope(t, target, fmt.Sprintf(`{"url":"%s/x?to=/","method":"POST","body":"x"}`, at)))
	if err != nil || a.Status != 302 || a.Headers["location"] != "/" || a.Note == "" || hits.Load() != 1 {
		t.Errorf("of a POST: %+v %v", a, err)
	}
}

func TestResponses(t *testing.T) {
	release := make(chan struct{})
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 8<<20))
	must(t, z.Close())
	target, at := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/bytes":
			_, _ = w.Write([]byte{0xff, 0})
		case "/long":
			fmt.Fprint(w, strings.Repeat("é", 100))
		case "/headers":
			w.Header().Set("Etag", strings.Repeat("x", maxReplied))
		case "/slow":
			w.(http.Flusher).Flush()
			<-release
		case "/upgrade":
			conn, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
			_ = conn.Close()
		case "/garbage":
			conn, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprint(conn, "220 mail.example.com ESMTP\r\n")
			_ = conn.Close()
		case "/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "x")
		}
	})
	h := open(Options{Private: everywhere, Limits: Limits{Body: 101}})
	a, err := h.run(t.Context(), get(t, target, at+"/long"))
	if err != nil || !a.Truncated || a.Content == nil || *a.Content != strings.Repeat("é", 50) {
		t.Errorf("cut in a character: %+v %v", a, err)
	}
	a, err = h.run(t.Context(), get(t, target, at+"/bytes"))
	if err != nil || a.Base64 == nil || *a.Base64 != "/wA=" || a.Content != nil {
		t.Errorf("not text: %+v %v", a, err)
	}
	a, err = h.run(t.Context(), get(t, target, at+"/bomb"))
	if err != nil || a.Base64 == nil || !a.Truncated || a.Headers["content-encoding"] != "gzip" {
		t.Errorf("a bomb: %+v %v", a, err)
	}
	for _, path := range []string{"/headers", "/upgrade", "/garbage", "/cut"} {
		_, err := h.run(t.Context(), get(t, target, at+path))
		wantReason(t, path, err, gate.HostFailed)
	}
	h = open(Options{Private: everywhere, Limits: Limits{Time: 20 * time.Millisecond}})
	_, err = h.run(t.Context(), get(t, target, at+"/slow"))
	wantReason(t, "slow", err, gate.HostFailed)
	if err == nil || !strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
	close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = open(Options{Private: everywhere}).run(ctx, get(t, target, at))
	wantReason(t, "cancelled", err, gate.HostFailed)
}

// What takes much room in JSON is told otherwise.
func TestRoom(t *testing.T) {
	for what, c := range map[string]struct {
		data []byte
		text bool
	}{
		"none": {nil, true}, "json": {bytes.Repeat([]byte(`"a":"b",`), 1<<18), true},
		"controls": {make([]byte, 2<<20), false}, "quotes": {bytes.Repeat([]byte(`"`), mostBody), false},
		"long": {bytes.Repeat([]byte("x"), mostBody), true},
	} {
		a := answer{Headers: map[string]string{}}
		a.fill(c.data)
		out, err := canonical.Marshal(a)
		if err != nil || (a.Content != nil) != c.text || (a.Base64 != nil) == c.text || len(out) > 7<<20 {
			t.Errorf("%s: %d bytes, text %v, %v", what, len(out), a.Content != nil, err)
		}
	}
}
