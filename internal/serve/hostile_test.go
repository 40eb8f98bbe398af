package serve

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/canonical"
)

func quoted(t testing.TB, s string) string {
	t.Helper()
	return string(unwrap(canonical.Marshal(s))(t))
}

func TestRefusedLines(t *testing.T) {
	r := run(t, nil)
	deep := strings.Repeat("[", 10000) + strings.Repeat("]", 10000)
	for _, c := range []struct {
		line   string
		code   int
		reason string
	}{
		{``, CodeParse, "json-syntax"},
		{`nothing`, CodeParse, "json-syntax"},
		{`{"jsonrpc":"2.0","id":1,"method":"status"} {}`, CodeParse, "trailing-bytes"},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"status"}`, CodeParse, "duplicate-key"},
		{`{"jsonrpc":"2.0","id":1,"ID":2,"method":"status"}`, CodeParse, "case-key"},
		{`{"jsonrpc":"2.0","id":1,"method":"call","params":{"target":"a","Target":"b","capability":"c"}}`, CodeParse, "case-key"},
		{`{"jsonrpc":"2.0","id":1,"method":"call","params":{"target":"a","t\u0061rget":"b","capability":"c"}}`, CodeParse, "duplicate-key"},
		{`{"jsonrpc":"2.0","id":1,"method":"call","params":` + deep + `}`, CodeParse, "too-deep"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", CodeParse, "bad-utf8"},
		{`{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, CodeParse, "lone-surrogate"},
		{"\ufeff" + opening, CodeParse, "byte-order-mark"},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"status"}`, CodeParse, "number-inexact"},
		{deep, CodeRequest, "batch-refused"},
		{` [` + opening + `]`, CodeRequest, "batch-refused"},
		{`"status"`, CodeRequest, "wrong-type"},
		{`null`, CodeRequest, "wrong-type"},
		{`{"jsonrpc":"2.0","id":1,"method":"status","more":1}`, CodeRequest, "unknown-field"},
		{`{"jsonrpc":"2.0","id":1,"method":3}`, CodeRequest, "wrong-type"},
		{`{"jsonrpc":"2.0","id":null,"method":"status"}`, CodeRequest, "wrong-type"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"status"}`, CodeRequest, "id-invalid"},
		{`{"jsonrpc":"2.0","id":1e300,"method":"status"}`, CodeParse, "number-inexact"},
		{`{"jsonrpc":"2.0","id":[1],"method":"status"}`, CodeRequest, "id-invalid"},
		{`{"jsonrpc":"2.0","id":{},"method":"status"}`, CodeRequest, "id-invalid"},
		{`{"jsonrpc":"2.0","id":true,"method":"status"}`, CodeRequest, "id-invalid"},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", maxID) + `","method":"status"}`, CodeRequest, "id-invalid"},
		{`{"jsonrpc":"2.0","method":"status"}`, CodeRequest, "notification-refused"},
		{`{"jsonrpc":"1.0","id":1,"method":"status"}`, CodeRequest, "version-invalid"},
		{`{"id":1,"method":"status"}`, CodeRequest, "version-invalid"},
		{`{"jsonrpc":"2.0","id":1}`, CodeRequest, "method-unknown"},
		{`{"jsonrpc":"2.0","id":1,"method":"nothing"}`, CodeMethod, "method-unknown"},
		{`{"jsonrpc":"2.0","id":1,"method":"status","params":[]}`, CodeParams, "wrong-type"},
		{`{"jsonrpc":"2.0","id":1,"method":"status","params":{"session":"s-1"}}`, CodeParams, "unknown-field"},
		{`{"jsonrpc":"2.0","id":1,"method":"session.close","params":{"session":"s-1"}}`, CodeParams, "unknown-field"},
		{`{"jsonrpc":"2.0","id":1,"method":"call","params":{"capability":"fs.read"}}`, CodeParams, "missing-field"},
		{`{"jsonrpc":"2.0","id":1,"method":"call","params":{"capability":"fs.read","target":["a"]}}`, CodeParams, "wrong-type"},
		{`{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"agent":"b"}}`, CodeRefused, "session-open"},
		{`{"jsonrpc":"2.0","id":1,"method":"skill.use","params":{"name":"other"}}`, CodeRefused, "skill-unknown"},
	} {
		conn := r.raw(t, AgentSocket)
		conn.say(opening)
		conn.hear()
		conn.say(c.line)
		if f := fault(t, conn.hear()); f.Code != c.code || f.Reason != c.reason {
			t.Errorf("%.100s: %d %v", c.line, f.Code, f)
		}
		conn.say(`{"jsonrpc":"2.0","id":77,"method":"status"}`)
		if got := conn.hear(); !strings.HasPrefix(got, `{"id":77,`) {
			t.Errorf("%.100s: the connection does not go on: %s", c.line, got)
		}
		must(t, conn.Close())
	}
}

func TestFirstASession(t *testing.T) {
	r := run(t, nil)
	for _, name := range names(agentMethods()) {
		if name == "session.open" || name == "hook.report" { // neither is of a session
			continue
		}
		c := r.raw(t, AgentSocket)
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, name))
		if f := fault(t, c.hear()); f.Reason != string(NoSession) {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestLongLines(t *testing.T) {
	r := run(t, nil)
	c := r.raw(t, AgentSocket)
	c.say(opening)
	c.hear()
	exact := `{"jsonrpc":"2.0","id":5,"method":"call","params":{"capability":"fs.read","target":"work/a","reasoning":""}}`
	exact = strings.Replace(exact, `"reasoning":"`, `"reasoning":"`+strings.Repeat("r", maxFrame-len(exact)), 1)
	c.say(exact)
	if got := c.hear(); !strings.HasPrefix(got, `{"id":5,`) {
		t.Errorf("a line of the largest size: %.200s", got)
	}
	go func() {
		_, _ = io.WriteString(c, " "+exact+"\n"+`{"jsonrpc":"2.0","id":6,"method":"status"}`+"\n") // what comes back says whether
	}()
	if f := fault(t, c.hear()); f.Reason != string(FrameTooLarge) || !strings.Contains(f.Message, fmt.Sprint(maxFrame)) {
		t.Errorf("one byte more: %v", f)
	}
	if got := c.hear(); !strings.HasPrefix(got, `{"id":6,`) {
		t.Errorf("after it: %.200s", got)
	}
}

// endless is a line of n bytes without an end.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.n)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.n -= n
	return n, nil
}

func (e *endless) SetReadDeadline(time.Time) error { return nil }

// allocated is how many bytes f allocates, in all goroutines.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

const gigabyte = 1 << 30

func TestEndlessLine(t *testing.T) {
	r := run(t, nil)
	c := r.raw(t, AgentSocket)
	c.say(opening)
	c.hear()
	part := bytes.Repeat([]byte("x"), 1<<20)
	sent := 0
	used := allocated(func() {
		for sent < gigabyte {
			n, err := c.Write(part)
			sent += n
			if err != nil {
				break
			}
		}
	})
	if got := c.gone(); strings.Count(got, string(FrameTooLarge)) != 2 {
		t.Errorf("told: %.500s", got)
	}
	if sent > 64<<20 || used > 64<<20 {
		t.Errorf("%d bytes were taken and %d allocated", sent, used)
	}
	drain := func(most int) uint64 {
		return allocated(func() {
			f := newFrames(&endless{256 << 20}, most, gigabyte, 0)
			for err := error(nil); err == nil || err == errTooLarge; {
				_, err = f.next()
			}
		})
	}
	if used := drain(maxFrame); used > 16<<20 {
		t.Errorf("a line of 256 MiB took %d", used)
	}
	if used := drain(gigabyte); used < 256<<20 {
		t.Errorf("the check does not see a reader without a bound: %d", used)
	}
}

func TestSlowSenders(t *testing.T) {
	// One limit at a time: the other would strike who is slow because the machine is.
	r := run(t, func(s *Server) { s.limits.frame = 100 * time.Millisecond })
	half := r.raw(t, OperatorSocket)
	_, err := io.WriteString(half, `{"jsonrpc":`)
	must(t, err)
	if got := half.gone(); fault(t, strings.TrimSpace(got)).Reason != string(FrameLate) {
		t.Errorf("half a line: %s", got)
	}
	drip := r.raw(t, AgentSocket)
	drip.say(opening)
	drip.hear()
	go func() {
		for { // a byte now and then resets no clock
			if _, err := drip.Write([]byte(" ")); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if got := drip.gone(); fault(t, strings.TrimSpace(got)).Reason != string(FrameLate) {
		t.Errorf("drip by drip: %s", got)
	}
	o, a := r.client(t, OperatorSocket), r.agent(t)
	r = run(t, func(s *Server) { s.limits.open = 100 * time.Millisecond })
	silent := r.raw(t, AgentSocket)
	if got := silent.gone(); fault(t, strings.TrimSpace(got)).Reason != string(OpenLate) {
		t.Errorf("no session: %s", got)
	}
	chatter := r.raw(t, AgentSocket)
	go func() {
		for {
			if _, err := io.WriteString(chatter, "{}\n"); err != nil {
				return
			}
		}
	}()
	if got := chatter.gone(); !strings.Contains(got, string(OpenLate)) {
		t.Errorf("no session, but lines: %.200s", got)
	}
	// An operator, and an agent that has a session, may be silent.
	open := r.raw(t, AgentSocket)
	for { // it has a tenth of a second to open one
		_, _ = io.WriteString(open, opening+"\n") // it may have been too slow
		if got, err := open.in.ReadString('\n'); err == nil && !strings.Contains(got, string(OpenLate)) {
			break
		}
		open = r.raw(t, AgentSocket)
	}
	time.Sleep(300 * time.Millisecond)
	must(t, o.Call(t.Context(), "status", nil, nil))
	must(t, a.Call(t.Context(), "status", nil, nil))
	open.say(`{"jsonrpc":"2.0","id":2,"method":"status"}`)
	if got := open.hear(); !strings.HasPrefix(got, `{"id":2,`) {
		t.Errorf("silent with a session: %s", got)
	}
}

// Who does not read is cut off, and does not keep the server.
func TestDeafClient(t *testing.T) {
	r := run(t, func(s *Server) { s.limits.write = 50 * time.Millisecond })
	c := r.raw(t, AgentSocket)
	c.say(opening)
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%d,"method":"skill.list"}`+"\n", i+2); err != nil {
			break
		}
	}
	must(t, r.Close())
	if closed := snapshot(r.fake, func() int { return len(r.fake.closed) }); closed != 1 {
		t.Errorf("%d sessions closed", closed)
	}
}

func TestBytesInFlight(t *testing.T) {
	const room = 10000
	r := run(t, func(s *Server) { s.limits.together = room })
	release := r.fake.hold("work/held")
	defer release()
	r.fake.begun = make(chan string, 1)
	big := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"call","params":{"capability":"fs.read","target":"work/held","reasoning":%q}}`, strings.Repeat("r", room*3/4))
	first, second := r.raw(t, AgentSocket), r.raw(t, AgentSocket)
	for _, c := range []*raw{first, second} {
		c.say(opening)
		c.hear()
	}
	first.say(big)
	<-r.fake.begun
	second.say(big)
	if f := fault(t, second.hear()); f.Reason != string(TooManyRequests) {
		t.Error(f)
	}
	release()
	first.hear()
	second.say(strings.Replace(big, "held", "free", 1))
	if got := second.hear(); !strings.HasPrefix(got, `{"id":2,`) {
		t.Error(got)
	}
}
