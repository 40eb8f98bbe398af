package serve

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/record"
)

// forgetful has no refusal recorded.
type forgetful struct{ *Attachment }

func (forgetful) Refused(Refusal) error { return nil }

// refusedIn is what the log of a home says of refusals: how often each, by session, agent, channel and reason, and in how many records.
func refusedIn(t *testing.T, dir string) (counts map[string]int64, records int) {
	t.Helper()
	h := unwrap(home.Open(t.Context(), dir, home.Read, home.Options{}))(t)
	defer h.Close()
	counts = map[string]int64{}
	for s, err := range audit.Records(t.Context(), h.LogStore(), audit.Position{}) {
		must(t, err)
		if b, ok := s.Body.(record.Refused); ok {
			records++
			counts[strings.Join([]string{s.Session, b.Agent, string(b.Channel), b.Reason}, " ")] += b.Count
		}
	}
	return counts, records
}

// differs says where refusals were recorded otherwise than they were told.
func differs(want, got map[string]int64) error {
	if !maps.Equal(want, got) {
		return fmt.Errorf("the log has\n%v\nand it should be\n%v", got, want)
	}
	return nil
}

// hostile speaks to agent.sock as nobody should, hears a reason for each, and gives what the log must say then.
func hostile(t *testing.T, run string) map[string]int64 {
	t.Helper()
	me, want := Peer{UID: os.Getuid()}.Principal(), map[string]int64{}
	connect := func() *raw {
		c := unwrap(dial(t.Context(), filepath.Join(run, AgentSocket)))(t)
		t.Cleanup(func() { c.Close() })
		return &raw{t, c, bufio.NewReader(c)}
	}
	refused := func(c *raw, session, reason string) {
		if f := fault(t, c.hear()); f.Reason != reason {
			t.Errorf("told %s, not %s", f.Reason, reason)
		}
		want[strings.Join([]string{session, me, "agent", reason}, " ")]++
	}
	c := connect()
	c.say(`{"jsonrpc":"2.0","id":1,"method":"status"}`)
	refused(c, "", "no-session")
	c.say(opening)
	session := sessionIn(t, c.hear())
	deep := strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	for line, reason := range map[string]string{
		`[` + strings.Repeat("[", 9_999) + strings.Repeat("]", 10_000):                                             "batch-refused",
		`{"jsonrpc":"2.0","id":1,"method":"call","params":` + deep + `}`:                                           "too-deep",
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"status"}`:                                                        "duplicate-key",
		`{"jsonrpc":"2.0","id":1,"method":"call","params":{"capability":"fs.read","capability":"pay"}}`:            "duplicate-key",
		`{"jsonrpc":"2.0","id":1,"method":"planted` + "\x1b" + `[2J"}`:                                             "json-syntax",
		`{"jsonrpc":"2.0","id":1,"method":"call","params":{"capability":"fs.read","target":1}}`:                    "wrong-type",
		`{"jsonrpc":"2.0","id":1,"method":"skill.use","params":{"name":"planted"}}`:                                "skill-unknown",
		`{"jsonrpc":"2.0","id":1,"method":"status","params":{},"more":"` + strings.Repeat("planted", 1<<13) + `"}`: "unknown-field",
	} {
		c.say(line)
		refused(c, session, reason)
	}
	const flooding = 10_000
	go func() { // what comes back says whether
		for range flooding {
			_, _ = io.WriteString(c, `{"jsonrpc":"2.0","id":1,"method":"nothing"}`+"\n")
		}
	}()
	for range flooding {
		refused(c, session, "method-unknown")
	}
	// A gigabyte without an end is not read to its end, let alone held.
	long := connect()
	long.say(opening)
	other := sessionIn(t, long.hear())
	go func() {
		part := bytes.Repeat([]byte("x"), 1<<20)
		for range gigabyte / len(part) {
			if _, err := long.Write(part); err != nil {
				return
			}
		}
	}()
	for range 2 { // when it is too long, and when the connection ends for it
		refused(long, other, "frame-too-large")
	}
	long.gone()
	// Nobody else has noticed: a call goes its way, and is no refusal.
	c.say(`{"jsonrpc":"2.0","id":9,"method":"call","params":{"capability":"fs.read","target":"nothing.md","arguments":{"op":"read"}}}`)
	if got := c.hear(); !strings.Contains(got, `"request":"r`) {
		t.Errorf("a call after it: %s", got)
	}
	stopped(t, run, c, session)
	want[strings.Join([]string{session, me, "agent", "session-unknown"}, " ")]++
	return want
}

// stopped has the session of a connection stopped, which goes on calling: no record says so but that of a refusal.
func stopped(t *testing.T, run string, c *raw, session string) {
	t.Helper()
	operator := unwrap(Dial(t.Context(), filepath.Join(run, OperatorSocket)))(t)
	defer operator.Close()
	must(t, operator.Call(t.Context(), "session.stop", sessionID{session}, nil))
	c.say(`{"jsonrpc":"2.0","id":10,"method":"call","params":{"capability":"fs.read","target":"nothing.md","arguments":{"op":"read"}}}`)
	if got := c.hear(); !strings.Contains(got, `"reason":"session-unknown"`) || !strings.Contains(got, `"status":"refused"`) {
		t.Errorf("a call of a session that was stopped: %s", got)
	}
}

func sessionIn(t *testing.T, line string) string {
	t.Helper()
	_, rest, ok := strings.Cut(line, `"session":"`)
	id, _, found := strings.Cut(rest, `"`)
	if !ok || !found {
		t.Fatalf("no session: %s", line)
	}
	return id
}

// TestRefusalsAreRecorded holds that what a whole runtime refuses on agent.sock is in its log to the last message, and in few records; and
// that it would be noticed if it was not.
func TestRefusalsAreRecorded(t *testing.T) {
	for name, agents := range map[string]func(*Attachment) Agents{
		"recorded": func(a *Attachment) Agents { return a }, "forgotten": func(a *Attachment) Agents { return forgetful{a} },
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			run, end := attachIn(t, base, agents)
			want := hostile(t, run)
			end()
			got, records := refusedIn(t, filepath.Join(base, "home"))
			err := differs(want, got)
			if name == "forgotten" {
				if err == nil {
					t.Error("that nothing is recorded is not noticed")
				}
				return
			}
			if err != nil {
				t.Error(err)
			}
			if records > 100 {
				t.Errorf("%d records", records)
			}
			for file, err := range logFiles(t, filepath.Join(base, "home", "log")) {
				must(t, err)
				if bytes.Contains(file, []byte("planted")) || bytes.Contains(file, []byte(`"a":{`)) {
					t.Error("the log has what was refused")
				}
			}
		})
	}
}

// logFiles reads the segments of a log.
func logFiles(t *testing.T, dir string) func(func([]byte, error) bool) {
	t.Helper()
	names := unwrap(filepath.Glob(filepath.Join(dir, "*.jsonl")))(t)
	if len(names) == 0 {
		t.Fatal("there is no log")
	}
	return func(yield func([]byte, error) bool) {
		for _, name := range names {
			if !yield(os.ReadFile(name)) {
				return
			}
		}
	}
}

// TestOperatorsRefusalsAreTheirOwn holds that an operator's socket records nothing of what it refuses, and agents' sockets also whom they
// do not let in.
func TestOperatorsRefusalsAreTheirOwn(t *testing.T) {
	r := run(t, func(s *Server) { s.limits.agents = 1 })
	op := r.raw(t, OperatorSocket)
	op.say(`{"jsonrpc":"2.0","id":1,"method":"nothing"}`)
	fault(t, op.hear())
	first := r.raw(t, AgentSocket)
	first.say(opening)
	first.hear()
	fault(t, r.raw(t, AgentSocket).hear())
	got := snapshot(r.fake, func() []Refusal { return r.fake.noted })
	if want := (Refusal{Peer{UID: os.Getuid()}.Principal(), "", record.ChannelAgent, string(TooManyConnections)}); len(got) != 1 || got[0] != want {
		t.Errorf("noted %+v", got)
	}
}
