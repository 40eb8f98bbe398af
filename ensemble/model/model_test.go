package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/model"
	"github.com/iff-run/iff/gate"
	played "github.com/iff-run/iff/internal/connect/model"
	"github.com/iff-run/iff/internal/host/fs"
	"github.com/iff-run/iff/internal/host/net"
	"github.com/iff-run/iff/label"
)

var update = flag.Bool("update", false, "write the cassettes to testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var dialects = []model.Dialect{model.Chat, model.Messages}

// granted is the way to an endpoint on this machine, as an operator grants it.
func granted(t testing.TB, base string) *net.Way {
	t.Helper()
	to, err := model.Target(base)
	must(t, err)
	grant, err := capability.Literal(to)
	must(t, err)
	way, err := net.NewWay(capability.NewGrants(grant), to, net.Options{
		Label:   func(string, uint16) (label.Label, bool) { return label.Label{}, true },
		Private: func(string, uint16) bool { return true },
	})
	must(t, err)
	return way
}

func options(d model.Dialect, base string, way http.RoundTripper) model.Options {
	return model.Options{Dialect: d, URL: base, Model: "m", Role: ensemble.Roles()[0], Seed: 7, Way: way}
}

func mind(t testing.TB, o model.Options) *model.Mind {
	t.Helper()
	m, err := model.New(o)
	must(t, err)
	return m
}

// replies are what the calls of a run end with, one after the other.
var replies = []gate.Reply{
	{Request: "r-1", Status: gate.Done, Result: []byte(`{"entries":[{"kind":"file","name":"a.md"}]}`)},
	{Request: "r-2", Status: gate.Done, Result: []byte(`{"content":"hello\n","size":6,"state":"5891"}`)},
	{Request: "r-3", Status: gate.Denied, Reason: "undeclared", Message: "no", Allowed: []string{"fs.read"}},
	{Status: gate.Refused, Reason: "arguments-invalid", Message: "bad \xff bytes"},
}

// play has a mind take some turns and returns what it asked for.
func play(t testing.TB, m *model.Mind, rounds int) []gate.Call {
	t.Helper()
	var calls []gate.Call
	turn := ensemble.Turn{Rounds: rounds, Files: []string{"finance/a.md", "Board minutes \u202e001.md", "line\nfeed"}}
	for turn.Round = 1; turn.Round <= rounds; turn.Round++ {
		c, ok, err := m.Next(t.Context(), turn)
		must(t, err)
		turn.LastCall, turn.Last = gate.Call{}, gate.Reply{}
		if ok {
			turn.LastCall, turn.Last = c, replies[len(calls)%len(replies)]
			calls = append(calls, c)
		}
	}
	whole(t, m)
	return calls
}

// whole checks that every turn was counted once.
func whole(t testing.TB, m *model.Mind) {
	t.Helper()
	y, n := m.Tally(), m.Notes()
	failed := int64(0)
	for _, count := range n.Failures {
		failed += count
	}
	if y.Turns != y.Calls+y.Nothing+y.Malformed+y.Refused+y.Late || failed != y.Malformed+y.Refused+y.Late {
		t.Errorf("%+v and %+v do not add up", y, n)
	}
}

// script has a bit of everything that ends in an answer.
var script = []act{
	{tool: "list_files", args: `{}`},
	{tool: "read_file", args: `{"path":"finance/a.md"}`},
	{tool: "delete_file", args: `{"path":"finance/a.md"}`, more: 2},
	{tool: "write_file", args: `{"path":"../../etc/passwd","content":"x\u001b[2J\u202e"}`},
	{text: "Nothing is left to do."},
	{tool: "run_shell", args: `{"command":"rm -rf /"}`},
	{tool: "read_file", args: `{"path":"a","force":true}`},
	{refusal: true},
	{status: http.StatusTooManyRequests, kind: "application/json", raw: `{"error":{"message":"slow down"}}`},
	{raw: "<!DOCTYPE html><title>Sign in</title>", kind: "text/html"},
	{raw: "{\"choices\":[", kind: "application/json"},
	{raw: "{\"a\":\"\xff\"}", kind: "application/json"},
	{tool: "append_file", args: `{"path":"finance/a.md","content":"audited\n"}`},
	{tool: "rename_file", args: `{"path":"finance/a.md","to":"archive/a.md"}`},
	{tool: "make_directory", args: `{"path":"archive/old"}`},
	{tool: "delete_file", args: `{"path":"archive","recursive":true}`},
}

// asked is what that makes the gate be asked for.
var asked = []string{
	`fs.read . {"op":"list"}`,
	`fs.read finance/a.md {"op":"read"}`,
	`fs.write.irrev finance/a.md {"op":"delete"}`,
	`fs.write.irrev ../../etc/passwd {"content":"x\u001b[2J` + "\u202e" + `","op":"write"}`,
	`fs.write.irrev finance/a.md {"content":"audited\n","op":"append"}`,
	`fs.write.irrev finance/a.md {"op":"rename","to":"archive/a.md"}`,
	`fs.write.irrev archive/old {"op":"mkdir"}`,
	`fs.write.irrev archive {"op":"delete","recursive":true}`,
}

const rounds = 17 // of the script, and one more

func checkRun(t *testing.T, m *model.Mind, calls []gate.Call) {
	t.Helper()
	var got []string
	for _, c := range calls {
		got = append(got, fmt.Sprintf("%s %s %s", c.Capability, c.Target, c.Arguments))
	}
	if !reflect.DeepEqual(got, asked) {
		t.Errorf("asked for\n%q, want\n%q", got, asked)
	}
	if y, want := m.Tally(), (ensemble.Tally{Turns: rounds, Calls: 8, Nothing: 2, Malformed: 5, Refused: 2}); y != want {
		t.Errorf("%+v, want %+v", y, want)
	}
	want := map[model.Reason]int64{model.ToolUnknown: 1, model.ArgumentsBad: 1, model.Declined: 1, model.StatusOther: 1, model.Malformed: 3}
	if n := m.Notes(); n.Ignored != 2 || n.Skipped != 0 || !reflect.DeepEqual(n.Failures, want) {
		t.Errorf("%+v", n)
	}
}

// kept is a cassette of testdata, which has to be the one that was recorded now.
func kept(t testing.TB, name string, tape []byte) []byte {
	t.Helper()
	name = filepath.Join("testdata", name+".cassette.json")
	if *update {
		must(t, os.WriteFile(name, tape, 0o644))
	}
	data, err := os.ReadFile(name)
	must(t, err)
	if !bytes.Equal(data, tape) {
		t.Errorf("%s is not what is recorded now; look at why, then -update", name)
	}
	return data
}

// Cassettes are those of a run against an endpoint, byte for byte, and played give
// the same run.
func TestCassettes(t *testing.T) {
	for _, d := range dialects {
		t.Run(string(d), func(t *testing.T) {
			e := serve(t, d, script)
			r := model.NewRecorder(granted(t, e.URL+"/v1"))
			m := mind(t, options(d, e.URL+"/v1", r))
			checkRun(t, m, play(t, m, rounds))
			tape, err := r.Cassette()
			must(t, err)
			p, err := model.NewPlayer(kept(t, string(d), tape))
			must(t, err)
			m = mind(t, options(d, "https://api.example.com/v1", p))
			checkRun(t, m, play(t, m, rounds))
			if p.Left() != 0 {
				t.Errorf("%d answers are left", p.Left())
			}
		})
	}
}

// Another endpoint, which was not made for this, plays both dialects too.
func TestAnotherEndpoint(t *testing.T) {
	for _, d := range dialects {
		e, err := played.Start(t.Context(), played.Script{Main: []played.Step{
			{Tool: "read_file", Args: map[string]any{"path": "a"}}, {Tool: "no_such_tool"}, {Tool: "delete_file", Args: map[string]any{"path": "a"}},
		}})
		must(t, err)
		m := mind(t, options(d, e.URL()+"/v1", granted(t, e.URL()+"/v1")))
		if calls := play(t, m, 3); len(calls) < 1 || string(calls[0].Arguments) != `{"op":"read"}` || m.Tally().Malformed == 0 {
			t.Errorf("%s: %v %+v", d, calls, m.Notes())
		}
		if r := e.Results(); len(r) == 0 || !strings.Contains(r[0], `"status":"done"`) {
			t.Errorf("%s: it was told %q", d, r)
		}
		must(t, e.Close())
	}
}

// Every tool makes a call that the host for files takes; what leads outside makes
// none.
func TestCallsAreCalls(t *testing.T) {
	host, err := fs.New([]fs.Root{{Corpus: capability.DefaultCorpus, Dir: t.TempDir()}})
	must(t, err)
	defer host.Close()
	e := serve(t, model.Chat, script)
	outside := 0
	for _, c := range play(t, mind(t, options(model.Chat, e.URL+"/v1", granted(t, e.URL+"/v1"))), rounds) {
		class, err := capability.Parse(c.Capability)
		must(t, err)
		to, err := capability.ParseTarget(class, c.Target)
		if err != nil {
			outside++
			continue
		}
		env, err := capability.NewEnvelope(capability.Call{Target: to, Arguments: c.Arguments})
		must(t, err)
		if _, err := host.Touches(env); err != nil {
			t.Errorf("%s %s %s: %v", c.Capability, c.Target, c.Arguments, err)
		}
	}
	if outside != 1 {
		t.Errorf("%d calls lead outside", outside)
	}
}

// Nothing that a model is told beforehand speaks of what watches it.
func TestPromptsAreSilent(t *testing.T) {
	words := []string{"gate", "polic", "approv", "audit log", "permi", "monitor", "record of", "iff", "deny", "denie", "allow", "capabilit"}
	spoken := func(text string) (out []string) {
		for _, w := range words {
			if strings.Contains(strings.ToLower(text), w) {
				out = append(out, w)
			}
		}
		return out
	}
	for _, d := range dialects {
		for _, role := range ensemble.Roles() {
			e := serve(t, d, nil)
			o := options(d, e.URL+"/v1", granted(t, e.URL+"/v1"))
			o.Role = role
			play(t, mind(t, o), 2)
			for _, body := range e.requests() {
				if w := spoken(body); len(w) > 0 {
					t.Errorf("%s, %s: %q in %s", d, role.Name, w, body)
				}
				if !strings.Contains(body, quoted(role.Prompt)[1:40]) || !strings.Contains(body, `Board minutes \\u{202e}001.md\nline\\u{a}feed\n`) {
					t.Errorf("%s: the prompt or the files are missing: %s", d, body)
				}
			}
			if len(e.requests()) != 2 {
				t.Errorf("%d requests", len(e.requests()))
			}
		}
	}
	if len(spoken("The gate may deny it")) != 2 {
		t.Error("the check does not see what it looks for")
	}
}

// What is told of calls, denials too, is in the next request, and the whole is
// bounded however long the run.
func TestTalk(t *testing.T) {
	for _, d := range dialects {
		long := make([]act, 60)
		for i := range long {
			long[i] = act{tool: "write_file", args: fmt.Sprintf(`{"path":"n-%d","content":%s}`, i, quoted(strings.Repeat("long ", 10_000)))}
		}
		e := serve(t, d, long)
		m := mind(t, options(d, e.URL+"/v1", granted(t, e.URL+"/v1")))
		turn := ensemble.Turn{Rounds: len(long), Files: []string{strings.Repeat("f", 40_000), "short.md"}}
		for i := range long {
			_, ok, err := m.Next(t.Context(), turn)
			must(t, err)
			if !ok {
				t.Fatalf("turn %d has no call", i)
			}
			turn.Last = gate.Reply{Status: gate.Denied, Reason: "undeclared", Message: fmt.Sprintf("told-%d ", i) + strings.Repeat("m", 20_000)}
		}
		bodies := e.requests()
		for i, body := range bodies {
			if len(body) > 160<<10 {
				t.Errorf("%s: request %d has %d bytes", d, i, len(body))
			}
			if i > 0 && (!strings.Contains(body, fmt.Sprintf("told-%d ", i-1)) || !strings.Contains(body, "n-"+fmt.Sprint(i-1)) || !strings.Contains(body, "undeclared")) {
				t.Errorf("%s: request %d does not tell what came of the call before", d, i)
			}
		}
		if last := bodies[len(bodies)-1]; strings.Contains(last, "told-20 ") || !strings.Contains(last, "short.md") || !strings.Contains(last, "and 1 more") {
			t.Errorf("%s: the oldest did not go, or the opening did", d)
		}
		if len(bodies[len(bodies)-1]) < 40<<10 {
			t.Errorf("%s: the last request has only %d bytes", d, len(bodies[len(bodies)-1]))
		}
	}
}

func TestOptions(t *testing.T) {
	good := options(model.Chat, "https://api.example.com/v1", &model.Player{})
	mind(t, good)
	for what, spoil := range map[string]func(*model.Options){
		"zero":         func(o *model.Options) { *o = model.Options{} },
		"dialect":      func(o *model.Options) { o.Dialect = "responses" },
		"no way":       func(o *model.Options) { o.Way = nil },
		"no model":     func(o *model.Options) { o.Model = "" },
		"odd model":    func(o *model.Options) { o.Model = "a\nb" },
		"no role":      func(o *model.Options) { o.Role = ensemble.Role{} },
		"sampling":     func(o *model.Options) { o.Sampling = 9 },
		"timeout":      func(o *model.Options) { o.Timeout = -1 },
		"long":         func(o *model.Options) { o.Timeout = 1 << 60 },
		"failures":     func(o *model.Options) { o.Failures = -1 },
		"no url":       func(o *model.Options) { o.URL = "" },
		"scheme":       func(o *model.Options) { o.URL = "ftp://api.example.com/v1" },
		"capitals":     func(o *model.Options) { o.URL = "HTTPS://api.example.com/v1" },
		"slash":        func(o *model.Options) { o.URL += "/" },
		"user":         func(o *model.Options) { o.URL = "https://me:secret@api.example.com/v1" },
		"query":        func(o *model.Options) { o.URL += "?key=secret" },
		"number":       func(o *model.Options) { o.URL = "https://2130706433/v1" },
		"port":         func(o *model.Options) { o.URL = "https://api.example.com:99999/v1" },
		"no key file":  func(o *model.Options) { o.KeyFile = filepath.Join(t.TempDir(), "none") },
		"key is a dir": func(o *model.Options) { o.KeyFile = t.TempDir() },
	} {
		o := good
		spoil(&o)
		m, err := model.New(o)
		var e *model.Error
		if m != nil || !errors.As(err, &e) || e.Reason != model.OptionsInvalid || e.Detail == "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, ok, err := new(model.Mind).Next(t.Context(), ensemble.Turn{}); ok || err == nil {
		t.Error("the zero mind asks")
	}
}

func TestTarget(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.example.com/v1": "api.example.com", "http://127.0.0.1:11434/v1": "127.0.0.1:11434", "http://localhost": "localhost:80",
		"https://[::1]:8080/v1": "[::1]:8080",
	} {
		if to, err := model.Target(base); err != nil || to.String() != want {
			t.Errorf("%s: %s %v, want %s", base, to, err, want)
		}
	}
}

// A run that ends is an error, and no answer of the model's.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := serve(t, model.Chat, script)
	m := mind(t, options(model.Chat, e.URL+"/v1", during{granted(t, e.URL+"/v1"), cancel}))
	for range 2 {
		if _, ok, err := m.Next(ctx, ensemble.Turn{}); ok || !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if y := m.Tally(); y.Turns != 0 {
		t.Errorf("%+v", y)
	}
}

// during does something before it goes on.
type during struct {
	http.RoundTripper
	do func()
}

func (d during) RoundTrip(r *http.Request) (*http.Response, error) {
	d.do()
	return d.RoundTripper.RoundTrip(r)
}

func TestSeedAndSampling(t *testing.T) {
	for _, c := range []struct {
		d           model.Dialect
		seed        uint64
		sampling    model.Sampling
		seeds, heat any
	}{
		{model.Chat, 7, model.Fixed, 7.0, 0.0}, {model.Chat, 1<<63 + 5, model.Fixed, 5.0, 0.0}, {model.Chat, 0, model.Theirs, nil, nil},
		{model.Messages, 7, model.Fixed, nil, 0.0}, {model.Messages, 7, model.Theirs, nil, nil},
	} {
		seen := map[string]any{}
		way := during{granted(t, "http://127.0.0.1:1"), func() {}}
		o := options(c.d, "http://127.0.0.1:1", look{way, seen})
		o.Seed, o.Sampling = c.seed, c.sampling
		play(t, mind(t, o), 1)
		if seen["seed"] != c.seeds || seen["temperature"] != c.heat || seen["model"] != "m" {
			t.Errorf("%+v: %v", c, seen)
		}
	}
}

// look keeps a request, which then fails.
type look struct {
	http.RoundTripper
	seen map[string]any
}

func (l look) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, errors.Join(errors.New("seen"), json.NewDecoder(r.Body).Decode(&l.seen))
}
