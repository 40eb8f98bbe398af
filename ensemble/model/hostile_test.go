package model_test

import (
	"bytes"
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

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/model"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/host/net"
)

// say is how a dialect answers in one piece.
func say(d model.Dialect, a act) string {
	if d == model.Chat {
		return sayChat(0, a)
	}
	return sayMessages(0, a)
}

func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body) // whoever reads may stop
	}
}

// drip sends bytes until nobody takes them any more.
func drip(piece []byte, pause time.Duration, sent *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is seen
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			n, err := w.Write(piece)
			if sent.Add(int64(n)); err != nil || sent.Load() > 1<<30 {
				return
			}
			if pause > 0 {
				_ = http.NewResponseController(w).Flush() // as slowly as it is written
				select {
				case <-time.After(pause):
				case <-r.Context().Done():
				}
			}
		}
	}
}

func reset(after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = buf.WriteString(after)
		_ = buf.Flush()
		_ = conn.Close()
	}
}

const ok200 = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// An endpoint may do what it likes: the turn ends, within its time, without a call,
// and is counted for what it was.
func TestHostile(t *testing.T) {
	var flood, slow atomic.Int64
	const soon, long = 200 * time.Millisecond, time.Minute
	read := act{tool: "read_file", args: `{"path":"a"}`}
	for _, d := range dialects {
		with := func(tool, args string) http.HandlerFunc { return answer(say(d, act{tool: tool, args: args})) }
		nested := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
		good := say(d, read)
		for _, c := range []struct {
			what string
			h    http.HandlerFunc
			time time.Duration
			want model.Reason
		}{
			{"stall", func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}, soon, model.Late},
			{"slow bytes", drip([]byte(" "), 5*time.Millisecond, &slow), soon, model.Late},
			{"a gigabyte", drip(bytes.Repeat([]byte(" "), 1<<16), 0, &flood), long, model.Malformed},
			{"redirect", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/v1/other", http.StatusTemporaryRedirect)
			}, long, model.StatusOther},
			{"away", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
			}, long, model.StatusOther},
			{"created", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, good)
			}, long, model.StatusOther},
			{"no key", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, long, model.StatusOther},
			{"down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, long, model.StatusOther},
			{"error", answer(`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`), long, model.StatusOther},
			{"html", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, long, model.Malformed},
			{"another type", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				_, _ = io.WriteString(w, good)
			}, long, model.Malformed},
			{"packed", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				answer(good)(w, nil)
			}, long, model.Malformed},
			{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, long, model.StatusOther},
			{"empty", answer(""), long, model.Malformed},
			{"cut", answer(good[:len(good)-5]), long, model.Malformed},
			{"twice", answer(good + good), long, model.Malformed},
			{"html as json", answer("<html></html>"), long, model.Malformed},
			{"a list", answer("[]"), long, model.Malformed},
			{"null", answer("null"), long, model.Malformed},
			{"nothing in it", answer("{}"), long, model.Malformed},
			{"other kinds", answer(`{"choices":{"0":{}},"content":"x"}`), long, model.Malformed},
			{"odd elements", answer(`{"choices":[7],"content":[7]}`), long, model.Malformed},
			{"not a number", answer(strings.Replace(good, "100", "NaN", 1)), long, model.Malformed},
			{"bad utf-8", answer(strings.Replace(good, "read_file", "read_\xff", 1)), long, model.Malformed},
			{"half a surrogate", answer(strings.Replace(good, "read_file", `read_\ud800`, 1)), long, model.Malformed},
			{"twice the key", answer(strings.Replace(good, `"role"`, `"role":"x","role"`, 1)), long, model.Malformed},
			{"nested", answer(`{"choices":` + nested + `,"content":` + nested + `}`), long, model.Malformed},
			{"events", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: {}\n\n")
			}, long, model.Malformed},
			{"no such tool", with("bash", `{"command":"ls"}`), long, model.ToolUnknown},
			{"almost a tool", with("Read_File", `{"path":"a"}`), long, model.ToolUnknown},
			{"no tool", with("\x00", `{}`), long, model.ToolUnknown},
			{"missing", with("write_file", `{"path":"a"}`), long, model.ArgumentsBad},
			{"more", with("read_file", `{"path":"a","as":"root"}`), long, model.ArgumentsBad},
			{"another tool's", with("read_file", `{"path":"a","content":"x"}`), long, model.ArgumentsBad},
			{"number", with("read_file", `{"path":7}`), long, model.ArgumentsBad},
			{"nothing", with("read_file", `{"path":null}`), long, model.ArgumentsBad},
			{"list", with("read_file", `["a"]`), long, model.ArgumentsBad},
			{"deep", with("read_file", `{"path":[[[[[[[[[[[[]]]]]]]]]]]]}`), long, model.ArgumentsBad},
			{"declined", answer(say(d, act{refusal: true})), long, model.Declined},
			{"reset", reset(""), long, model.Unreachable},
			{"garbage", reset("\x16\x03\x01 220 smtp ready\r\n\r\n"), long, model.Unreachable},
			{"half a response", reset(ok200 + "Content-Length: 1000\r\n\r\n{"), long, model.Unreachable},
			{"long headers", reset(ok200 + "X: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"), long, model.Unreachable},
			{"endless 1xx", reset(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100)), long, model.Unreachable},
		} {
			t.Run(string(d)+"/"+c.what, func(t *testing.T) {
				s := httptest.NewServer(c.h)
				defer s.Close()
				o := options(d, s.URL+"/v1", granted(t, s.URL+"/v1"))
				o.Timeout = c.time
				m := mind(t, o)
				if calls := play(t, m, 1); len(calls) > 0 {
					t.Errorf("it called %v", calls)
				}
				if n := m.Notes(); n.Failures[c.want] != 1 || n.Last == "" || len(n.Last) > 300 {
					t.Errorf("%+v, want one %s", n, c.want)
				}
			})
		}
		if m := mind(t, options(d, "https://api.example.com/v1", still{good})); len(play(t, m, 1)) != 1 {
			t.Error("what was spoiled was not good before")
		}
	}
	if n := flood.Load(); n < 8<<20 || n > 128<<20 {
		t.Errorf("%d bytes of two gigabytes were taken", n)
	}
}

// still answers always the same.
type still struct{ body string }

func (s still) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(s.body))}, nil
}

// Of a thousand calls in one answer one counts.
func TestFlood(t *testing.T) {
	for _, d := range dialects {
		m := mind(t, options(d, "https://api.example.com/v1", still{say(d, act{tool: "delete_file", args: `{"path":"a"}`, more: 999})}))
		if calls := play(t, m, 3); len(calls) != 3 || m.Notes().Ignored != 3*999 {
			t.Errorf("%s: %d calls, %d ignored", d, len(calls), m.Notes().Ignored)
		}
	}
}

// After failures in a row the endpoint is left alone; one that were not in a row do
// not count.
func TestBreaker(t *testing.T) {
	const most, turns = 3, 12
	asked := func(o model.Options, script []act) (int, *model.Mind) {
		e := serve(t, o.Dialect, script)
		o.URL, o.Way = e.URL+"/v1", granted(t, e.URL+"/v1")
		m := mind(t, o)
		play(t, m, turns)
		return len(e.requests()), m
	}
	bad, good := act{status: http.StatusInternalServerError}, act{tool: "list_files", args: "{}"}
	for _, d := range dialects {
		o := options(d, "", nil)
		o.Failures = most
		n, m := asked(o, []act{bad, bad, good, bad, bad, bad, good, good})
		if y := m.Tally(); n != 6 || y.Turns != turns || y.Refused != 5 || y.Calls != 1 || y.Nothing != 6 || m.Notes().Skipped != 6 {
			t.Errorf("%s: %d requests, %+v, %+v", d, n, y, m.Notes())
		}
		o.Failures = 1000 // the check sees one that goes on
		if n, _ := asked(o, []act{bad, bad, good, bad, bad, bad, good, good}); n != turns {
			t.Errorf("%s: %d requests", d, n)
		}
		o.Failures = 0
		if n, _ := asked(o, []act{bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad}); n != model.DefaultFailures {
			t.Errorf("%s: %d requests by default", d, n)
		}
	}
}

// Nothing goes to a host that is not granted, not labelled, or on this machine
// without leave, and no redirect takes anything elsewhere.
func TestEgress(t *testing.T) {
	var there atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { there.Add(1) }))
	defer elsewhere.Close()
	e := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer e.Close()
	m := mind(t, options(model.Chat, e.URL+"/v1", granted(t, e.URL+"/v1")))
	play(t, m, 1)
	if there.Load() != 0 {
		t.Error("a redirect was followed")
	}
	m = mind(t, options(model.Chat, e.URL+"/v1", follower{}))
	if play(t, m, 1); there.Load() != 1 {
		t.Error("the check does not see a redirect that is followed")
	}
	for what, way := range map[string]http.RoundTripper{"another host's": granted(t, elsewhere.URL+"/v1"), "nobody's": &net.Way{}} {
		m := mind(t, options(model.Chat, e.URL+"/v1", way))
		if play(t, m, 1); m.Notes().Failures[model.Unreachable] != 1 || there.Load() != 1 {
			t.Errorf("%s: %+v", what, m.Notes())
		}
	}
}

// follower is a way as careless programs have it.
type follower struct{}

func (follower) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	t := &http.Transport{}
	defer t.CloseIdleConnections()
	return (&http.Client{Transport: t}).Do(req)
}

const secret = "sk-test-0123456789abcdef"

func keyFile(t testing.TB, text string, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(name, []byte(text), mode))
	must(t, os.Chmod(name, mode))
	return name
}

// The key goes to the endpoint, in its header, and is nowhere else: not in what is
// printed of a mind, its notes, its errors or a cassette, nor in a call.
func TestKey(t *testing.T) {
	shown := func(m any, more ...string) bool {
		return strings.Contains(fmt.Sprintf("%v %+v %#v ", m, m, m)+strings.Join(more, " "), secret)
	}
	for _, d := range dialects {
		e := serve(t, d, []act{
			{tool: "write_file", args: `{"path":"a","content":"here it is: ` + secret + `"}`},
			{tool: "read_file", args: `{"path":"\u0073k-test-0123456789abcdef"}`},
			{status: http.StatusUnauthorized, kind: "application/json", raw: `{"error":"bad key ` + secret + `"}`},
			{tool: "read_file", args: `{"` + secret + `":"x"}`},
			{tool: "list_files", args: `{}`},
		})
		o := options(d, e.URL+"/v1", granted(t, e.URL+"/v1"))
		o.KeyFile = keyFile(t, secret+"\n", 0o600)
		m := mind(t, o)
		calls := play(t, m, 5)
		n := m.Notes()
		if len(calls) != 1 || n.Failures[model.Leak] != 2 || n.Failures[model.StatusOther] != 1 || n.Failures[model.ArgumentsBad] != 1 {
			t.Errorf("%s: %v %+v", d, calls, n)
		}
		if shown(m, n.Last, fmt.Sprint(n), fmt.Sprint(calls), strings.Join(e.requests(), " ")) {
			t.Errorf("%s: the key is shown", d)
		}
		for i, h := range e.headers {
			if (h.Get("Authorization") == "Bearer "+secret) != (d == model.Chat) || (h.Get("X-Api-Key") == secret) != (d == model.Messages) {
				t.Errorf("%s: request %d has %v", d, i, h)
			}
		}
	}
	if !shown(struct{ key string }{secret}) {
		t.Error("the check does not see what it looks for")
	}
}

func TestKeyFiles(t *testing.T) {
	o := options(model.Chat, "https://api.example.com/v1", &model.Player{})
	for what, file := range map[string]string{
		"others read": keyFile(t, secret, 0o644), "the group reads": keyFile(t, secret, 0o640), "empty": keyFile(t, "", 0o600),
		"two lines": keyFile(t, secret+"\nx\n", 0o600), "a header": keyFile(t, secret+"\r\nX: y", 0o600), "blank": keyFile(t, "a "+secret, 0o600),
		"large": keyFile(t, strings.Repeat(secret, 1000), 0o600), "not ascii": keyFile(t, secret+"\u00e4", 0o600),
	} {
		o.KeyFile = file
		if _, err := model.New(o); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", what, err)
		}
	}
	o.KeyFile = keyFile(t, secret, 0o400)
	mind(t, o)
	for base, good := range map[string]bool{
		"http://127.0.0.1:8080/v1": true, "http://localhost:8080/v1": true, "http://[::1]:8080/v1": true,
		"http://api.example.com/v1": false, "http://192.168.0.2:8080/v1": false, "http://localhost.example.com/v1": false,
	} {
		o.URL = base
		if _, err := model.New(o); (err == nil) != good {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// A reply of the gate, however large or odd, makes a request that is bounded.
func TestOddReplies(t *testing.T) {
	for _, d := range dialects {
		e := serve(t, d, []act{{tool: "list_files", args: "{}"}, {tool: "list_files", args: "{}"}, {tool: "list_files", args: "{}"}, {tool: "list_files", args: "{}"}})
		m := mind(t, options(d, e.URL+"/v1", granted(t, e.URL+"/v1")))
		turn := ensemble.Turn{Rounds: 5}
		for _, r := range []gate.Reply{
			{}, {Status: gate.Done, Result: []byte("\xff not json")},
			{Status: gate.Done, Result: []byte(`{"content":` + quoted(strings.Repeat("\x00", 1<<20)) + `}`)},
			{Status: gate.Denied, Message: strings.Repeat("\xff", 1<<20), Allowed: strings.Split(strings.Repeat("fs.read,", 1000), ",")},
			{Status: gate.Done},
		} {
			_, _, err := m.Next(t.Context(), turn)
			must(t, err)
			turn.Last = r
		}
		if y := m.Tally(); y.Calls != 4 || y.Nothing != 1 {
			t.Errorf("%s: %+v", d, y)
		}
		for i, body := range e.requests() {
			if len(body) > 64<<10 {
				t.Errorf("%s: request %d has %d bytes", d, i, len(body))
			}
		}
	}
}
