package mcpgate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// forgetful has no refusal recorded.
type forgetful struct{ *serve.Attachment }

func (forgetful) Refused(serve.Refusal) error { return nil }

// served is a runtime with its sockets and its gateway, over a home of its own.
type served struct {
	run, address, home string
	end                func()
}

func newServed(t *testing.T, agents func(*serve.Attachment) serve.Agents) *served {
	t.Helper()
	base := t.TempDir()
	w := &served{home: filepath.Join(base, "home")}
	work := filepath.Join(base, "work")
	must(t, os.Mkdir(work, 0o755))
	scheme, _ := label.Builtin("default")
	h := unwrap(home.Init(t.Context(), w.home, home.Plan{Operator: "me", Scheme: scheme, Passphrase: []byte("x y z"), Corpora: []home.CorpusPlan{{Name: "work", Root: work}}}, home.Options{}))(t)
	w.run = h.SocketDir()
	must(t, h.Close())
	var at serve.Attachment
	g := unwrap(New(t.Context(), Options{Agents: agents(&at), Tools: &upstreams{}}))(t)
	s := unwrap(serve.Listen(w.run, serve.Options{Agents: agents(&at), Operator: &at, MCP: g.ServeConn}))(t)
	r := unwrap(unwrap(unwrap(iff.Bootstrap(t.Context(), w.home, iff.Options{}))(t).Lock())(t).Start(t.Context()))(t)
	at.Attach(r, time.Now())
	l := unwrap(Listen(t.Context(), "127.0.0.1:0"))(t)
	w.address = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	errs := make([]error, 2)
	serving.Go(func() { errs[0] = s.Serve(ctx) })
	serving.Go(func() { errs[1] = g.Serve(ctx, l, []Token{{"local", secret}}) })
	w.end = sync.OnceFunc(func() {
		cancel()
		serving.Wait()
		g.Close()
		if err := errors.Join(errs[0], errs[1], r.Close(context.WithoutCancel(t.Context())), s.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.end)
	return w
}

func (w *served) raw(t *testing.T) *raw {
	t.Helper()
	c := unwrap(net.Dial("unix", filepath.Join(w.run, serve.MCPSocket)))(t)
	t.Cleanup(func() { _ = c.Close() })
	return &raw{t, c, bufio.NewReader(c)}
}

// entries are what the log says: of refusals how often each, by session, agent, channel and reason, and in how many records.
func (w *served) entries(t *testing.T) (counts map[string]int64, records int) {
	t.Helper()
	h := unwrap(home.Open(t.Context(), w.home, home.Read, home.Options{}))(t)
	defer h.Close()
	counts = map[string]int64{}
	for s, err := range audit.Records(t.Context(), h.LogStore(), audit.Position{}) {
		must(t, err)
		if b, ok := s.Body.(record.Refused); ok {
			records++
			counts[fmt.Sprint(s.Session != "", " ", b.Agent, " ", b.Channel, " ", b.Reason)] += b.Count
		}
	}
	return counts, records
}

// spoiled is a message that is refused.
type spoiled struct{ line, reason string }

// spoil are messages that are refused on a connection, over HTTP and through the relay alike, before any call.
func spoil() []spoiled {
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`
	return []spoiled{
		{`{"jsonrpc":"2.0","id":7,"method":"ping","params":` + strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_001), "too-deep"},
		{strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), "batch-refused"},
		{`{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}`, "duplicate-key"},
		{`{"jsonrpc":"2.0","id":7,`, "json-syntax"},
		{`{"jsonrpc":"2.0","id":7,"method":"nothing"}`, "method-unknown"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":3}}`, "invalid-value"},
		{fmt.Sprintf(call, "nothing", "{}"), "tool-unknown"},
		{fmt.Sprintf(call, "gone", "{}"), "tool-changed"},
		{fmt.Sprintf(call, "fs_read", `{"path":1}`), "arguments-invalid"},
		{fmt.Sprintf(call, "use_skill", `{"name":"nobody"}`), "skill-unknown"},
		{`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"iff-skill://nobody/SKILL.md"}}`, "resource-unknown"},
	}
}

const readNothing = `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"nothing.md"}}}`

// overSocket spoils a connection to mcp.sock, and floods it.
func overSocket(t *testing.T, w *served, me string, want map[string]int64) {
	c := w.raw(t)
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	c.hear()
	want["false "+me+" mcp protocol-refused"]++ // nothing comes before initialize
	c.say(helloWeb)
	c.hear()
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, s := range spoil() {
		c.say(s.line)
		c.hear()
		want["true "+me+" mcp "+s.reason]++
	}
	const flooding = 10_000
	go func() { // what comes back says whether
		for range flooding {
			_, _ = io.WriteString(c.conn, "{}\n")
		}
	}()
	for range flooding {
		if got := c.hear(); !strings.Contains(got, "version-invalid") {
			t.Fatalf("told %s", got)
		}
	}
	want["true "+me+" mcp version-invalid"] += flooding
	c.say(readNothing)
	if got := c.hear(); !strings.Contains(got, `"request":"r`) {
		t.Errorf("a call after it: %s", got)
	}
	stopAll(t, w)
	c.say(readNothing) // which no record of a call is of
	if got := c.hear(); !strings.Contains(got, "session-unknown") {
		t.Errorf("a call of a session that was stopped: %s", got)
	}
	want["true "+me+" mcp session-unknown"]++
}

// stopAll has an operator stop every session.
func stopAll(t *testing.T, w *served) {
	t.Helper()
	operator := unwrap(serve.Dial(t.Context(), filepath.Join(w.run, serve.OperatorSocket)))(t)
	defer operator.Close()
	var open struct {
		Sessions []serve.Session `json:"sessions"`
	}
	must(t, operator.Call(t.Context(), "session.list", nil, &open))
	if len(open.Sessions) == 0 {
		t.Error("no session is open")
	}
	for _, s := range open.Sessions {
		must(t, operator.Call(t.Context(), "session.stop", map[string]string{"session": s.Session}, nil))
	}
}

// throughRelay spoils the standard input of an agent's MCP server.
func throughRelay(t *testing.T, w *served, me string, want map[string]int64) {
	conn := unwrap(net.Dial("unix", filepath.Join(w.run, serve.MCPSocket)))(t).(*net.UnixConn)
	var heard strings.Builder
	must(t, Relay(t.Context(), conn, strings.NewReader("nothing\n"+readNothing[:len(readNothing)-1]+"\n"), &heard))
	if n := strings.Count(heard.String(), `"reason":"json-syntax"`); n != 2 {
		t.Errorf("told %s", heard.String())
	}
	want["false "+me+" mcp json-syntax"] += 2
}

// overWeb spoils MCP over HTTP.
func overWeb(t *testing.T, w *served, want map[string]int64) {
	post(t, w.address, "", helloWeb, nil)
	post(t, w.address, "wrong", helloWeb, nil)
	want["false  http token-invalid"] += 2
	post(t, w.address, secret, helloWeb, map[string]string{"Host": "evil.example"})
	want["false  http host-refused"]++
	post(t, w.address, secret, helloWeb, map[string]string{"Mcp-Session-Id": "x"})
	want["false http-local http session-unknown"]++
	post(t, w.address, secret, helloWeb, map[string]string{"Content-Type": "text/plain"})
	want["false http-local http protocol-refused"]++
	post(t, w.address, secret, strings.Repeat(" ", maxFrame+1), nil)
	want["false http-local http frame-too-large"]++
	_, _, head := post(t, w.address, secret, helloWeb, nil)
	with := map[string]string{"Mcp-Session-Id": head.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"}
	post(t, w.address, secret, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, with)
	for _, s := range spoil() {
		post(t, w.address, secret, s.line, with)
		if s.reason == "method-unknown" {
			s.reason = "protocol-refused" // the SDK says it by the status alone
		}
		want["true http-local http "+s.reason]++
	}
	if _, body, _ := post(t, w.address, secret, readNothing, with); !strings.Contains(body, `"request":"r`) {
		t.Errorf("a call after it: %s", body)
	}
}

// TestRefusalsAreRecorded holds that what a whole runtime refuses to those who speak MCP is in its log to the last message, and in few
// records; and that it would be noticed if it was not.
func TestRefusalsAreRecorded(t *testing.T) {
	for name, agents := range map[string]func(*serve.Attachment) serve.Agents{
		"recorded": func(a *serve.Attachment) serve.Agents { return a }, "forgotten": func(a *serve.Attachment) serve.Agents { return forgetful{a} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newServed(t, agents)
			me, want := serve.Peer{UID: os.Getuid()}.Principal(), map[string]int64{}
			overSocket(t, w, me, want)
			throughRelay(t, w, me, want)
			overWeb(t, w, want)
			w.end()
			got, records := w.entries(t)
			same := maps.Equal(want, got)
			switch {
			case name == "forgotten" && same:
				t.Error("that nothing is recorded is not noticed")
			case name == "recorded" && !same:
				t.Errorf("the log has\n%v\nand it should be\n%v", got, want)
			case records > 150:
				t.Errorf("%d records", records)
			}
		})
	}
}

// TestErrorsInAnswers holds that an answer over HTTP is taken for an error when it is one, whatever it says.
func TestErrorsInAnswers(t *testing.T) {
	for said, want := range map[string]string{
		`{"error":{"code":-32000,"data":{"reason":"too-deep"},"message":"m"},"id":1,"jsonrpc":"2.0"}`:                                "too-deep",
		"event: message\nid: 1_0\n" + `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}` + "\n\n": "method-unknown",
		`{"jsonrpc":"2.0","id":"\"result\":","error":{"code":-32600,"message":"\"result\":"}}`:                                       "protocol-refused",
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"data":{"reason":"pending","request":"r1.2"},"message":"m"}}`:                "",
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"error":{"code":-32601}}}`:                                                   "none",
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"error":{"code":1}}}`:                                           "none",
		`{"jsonrpc":"2.0","id":"\"error\":{","result":{}}`:                                                                           "none",
		"session not found\n": "none",
		"":                    "none",
	} {
		got := "none"
		if code, data, ok := errorIn([]byte(said)); ok {
			got = reasonIn(code, data)
		}
		if got != want {
			t.Errorf("%s: %q, not %q", said, got, want)
		}
	}
}
