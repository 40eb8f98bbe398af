package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
)

func compiled(t testing.TB, r Rule) *mapping {
	t.Helper()
	if r.Name == "" {
		r.Name = "t"
	}
	m, err := r.compile()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func object(t testing.TB, json string) []member {
	t.Helper()
	raw, err := canonical.NewRaw([]byte(json), canonical.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return members(raw.String())
}

// What calls are, by the shape of the capability; or why they are none.
func TestTargets(t *testing.T) {
	p := places{{"work", "/w"}, {"inner", "/w/in"}, {"other", "/o"}}
	for _, c := range []struct {
		class, template, args string
		want                  string // target, or the reason
	}{
		{"fs.read", "{path}", `{"path":"/w/a/b.txt"}`, "a/b.txt"},
		{"fs.read", "{path}", `{"path":"/w"}`, "."},
		{"fs.read", "{path}", `{"path":"/w/in/x"}`, "inner:x"},
		{"fs.read", "{path}", `{"path":"/w/a*b"}`, `a\*b`},
		{"fs.read", "{path}", `{"path":"/o/a:b"}`, "other:a:b"},
		{"fs.read", "{path}", `{"path":["/w/a"]}`, "a"},
		{"fs.read", "{path}", `{"path":["/w/a","/w/b"]}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":[]}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":["/w/a",1]}`, "arguments-invalid"},
		{"fs.read", "{path}", `{}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":1}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":{"a":"/w/a"}}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":null}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":""}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"a"}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"~/a"}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"/w/../o/a"}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"/w//a"}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"/w/a/"}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"/w/a\u0000"}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"/etc/passwd"}`, "no-corpus"},
		{"fs.read", "{path}", `{"path":"/wide/a"}`, "no-corpus"},
		{"fs.read", "{path}", `{"path":"/w/a","other_path":"/w/b"}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"/w/a","destination":"/w/b"}`, "arguments-invalid"},
		{"fs.read", "{path}", `{"path":"/w/a","head":3}`, "a"},
		{"fs.read", "notes/{name}.md", `{"name":"x"}`, "notes/x.md"},
		{"fs.read", "notes/{name}.md", `{"name":"a*"}`, `notes/a\*.md`},
		{"fs.read", "notes/{name}.md", `{"name":"../x"}`, "arguments-invalid"},
		{"fs.read", "{name}/x", `{"name":".."}`, "arguments-invalid"},
		{"fs.read", "{name}/x", `{"name":"other:a"}`, "arguments-invalid"},
		{"fs.read", "/w/{name}", `{"name":"a*"}`, `a\*`},
		{"fs.read", "/etc/{name}", `{"name":"passwd"}`, "no-corpus"},
		{"fs.read", "other:db", `{}`, "other:db"},
		{"net.egress", "{url}", `{"url":"https://example.com/a?b#c"}`, "example.com"},
		{"net.egress", "{url}", `{"url":"http://example.com"}`, "example.com:80"},
		{"net.egress", "{url}", `{"url":"http://example.com:443/"}`, "example.com"},
		{"net.egress", "{url}", `{"url":"https://example.com:443/"}`, "example.com"},
		{"net.egress", "{url}", `{"url":"https://[::1]:8443/"}`, "[::1]:8443"},
		{"net.egress", "{url}", `{"url":"https://[::1]/"}`, "[::1]"},
		{"net.egress", "{url}", `{"url":"https://EXAMPLE.com/"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":"HTTPS://example.com/"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":"https://user@example.com/"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":"https://good.com\\@evil.com/"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":"https://a.com%2f.evil.com/"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":"https://2130706433/"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":"https://exämple.com/"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":" https://example.com"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":"file:///etc/passwd"}`, "arguments-invalid"},
		{"net.egress", "{url}", `{"url":"https://"}`, "arguments-invalid"},
		{"net.egress", "{host}:8443", `{"host":"example.com"}`, "example.com:8443"},
		{"net.egress", "{host}:8443", `{"host":"example.com:1"}`, "arguments-invalid"},
		{"publish", "slack:#{channel}", `{"channel":"rel*"}`, `slack:#rel\*`},
		{"mutate.schema", "db.{table}", `{"table":"t"}`, "db.t"},
		{"pay", "usd,{amount}", `{"amount":"10.5"}`, "usd,10.5"},
		{"pay", "usd,{amount}", `{"amount":"1e3"}`, "arguments-invalid"},
		{"pay", "usd,{amount}", `{"amount":10}`, "arguments-invalid"},
		{"spawn.proc", "git log {rev}", `{"rev":"a b"}`, `git log a\ b`},
		{"spawn.proc", "git {args}", `{"args":["a","*"]}`, `git a \*`},
		{"", "", `{"anything":1}`, "srv/t"},
	} {
		m := compiled(t, Rule{Capability: c.class, Target: c.template})
		d, err := m.derive("srv", p, object(t, c.args))
		got := string(reason(err))
		if err == nil {
			got = d.target.String()
		}
		if got != c.want {
			t.Errorf("%s %s %s: %q (%v), want %q", c.class, c.template, c.args, got, err, c.want)
		}
	}
}

func TestRulesRefused(t *testing.T) {
	for _, r := range []Rule{
		{Name: ""}, {Name: "a/b"}, {Name: strings.Repeat("a", 129)},
		{Name: "t", Capability: "fs.write"},
		{Name: "t", Capability: "fs.write.rev", Target: "{path}"},
		{Name: "t", Capability: "fs.read"},
		{Name: "t", Target: "{path}"},
		{Name: "t", Capability: "fs.read", Target: "{path"},
		{Name: "t", Capability: "fs.read", Target: "path}"},
		{Name: "t", Capability: "fs.read", Target: "{}"},
		{Name: "t", Capability: "fs.read", Target: "{a.b}"},
		{Name: "t", Capability: "fs.read", Target: "{path}", Op: "write"},
		{Name: "t", Capability: "fs.read", Target: "{path}", Also: []string{"{b}"}},
		{Name: "t", Capability: "fs.read", Target: "{path}", Reach: gate.Bounded, Plan: map[string]string{"op": "write"}},
		{Name: "t", Capability: "fs.write.irrev", Target: "{path}", Reach: gate.Exact},
		{Name: "t", Capability: "fs.write.irrev", Target: "{path}", Reach: "total"},
		{Name: "t", Capability: "fs.write.irrev", Target: "{path}", Plan: map[string]string{"op": "write"}},
		{Name: "t", Capability: "fs.write.irrev", Target: "{path}", Reach: gate.Exact, Plan: map[string]string{"op": "read"}},
		{Name: "t", Capability: "net.egress", Target: "{url}", Reach: gate.Bounded},
		{Name: "t", Capability: "net.egress", Target: "{url}", Reach: gate.Exact, Plan: map[string]string{"op": "write"}},
		{Name: "t", Reach: gate.Opaque, Also: []string{"a"}},
		{Name: "t", Capability: "fs.read", Target: "~/notes.md"},
		{Name: "t", Capability: "fs.read", Target: "~/{name}"},
		{Name: "t", Capability: "fs.read", Target: "./notes.md"},
		{Name: "t", Capability: "fs.read", Target: "notes/*"},
		{Name: "t", Capability: "fs.read", Target: "a/../b"},
		{Name: "t", Capability: "fs.read", Target: "{path}", Reads: []string{"notes/"}},
		{Name: "t", Also: []string{"~/memory.json"}},
		{Name: "t", Capability: "net.egress", Target: "https://EXAMPLE.com/"},
		{Name: "t", Capability: "pay", Target: "usd"},
		{Name: "t", Capability: "fs.write.irrev", Target: "{path}", Reach: gate.Exact, Plan: map[string]string{"op": "{op}"}},
		{Name: "t", Capability: "fs.write.irrev", Target: "{path}", Reach: gate.Exact, Plan: map[string]string{"op": "delete", "recursive": "{all}"}},
	} {
		if m, err := r.compile(); err == nil {
			t.Errorf("%+v: taken as %+v", r, m)
		}
	}
	for name := range ready {
		rules, _ := Ready(name)
		for _, r := range rules {
			compiled(t, r)
		}
	}
}

var writer = []Rule{
	{Name: "write", Capability: "fs.write.irrev", Target: "{path}", Takes: []string{"content"}},
	{Name: "echo", Capability: "fs.read", Target: "{say}"},
	{Name: "count", Capability: "fs.read", Target: "{dir}", Op: "list"},
	{Name: "rename", Capability: "fs.write.irrev", Target: "{from}", Reach: gate.Exact, Plan: map[string]string{"op": "rename", "to": "{into}"}, Takes: only},
	{Name: "fail", Capability: "fs.write.irrev", Target: "{from}", Reach: gate.Exact, Plan: map[string]string{"op": "rename", "to": "{into}"}, Takes: only},
	{Name: "shout", Also: []string{"work:memory.json"}},
	{Name: "env", Capability: "fs.write.irrev", Target: "{path}", Reads: []string{"{path}"}, Also: []string{"{more}"}, Takes: only},
}

func TestBounded(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain", writer...))
	if err := os.WriteFile(filepath.Join(w.dir, "a"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := w.call("write", `{"path":"sub/../a","content":"new"}`)
	if env.Target().String() != "a" || !strings.Contains(env.Arguments(), `"path":"`+filepath.Join(w.dir, "a")+`"`) {
		t.Fatalf("%s %s", env.Target(), env.Arguments())
	}
	touches, err := w.h.Touches(env)
	if err != nil || len(touches.Changes) != 1 || touches.Changes[0] != "work/a" || touches.Reversible || touches.Op != "write" {
		t.Fatalf("touches %+v, %v", touches, err)
	}
	plan, err := w.h.Plan(t.Context(), env, nil)
	if err != nil || plan.Reach != gate.Bounded || len(plan.Changes) != 1 || len(plan.After) != 1 {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	if c := plan.Changes[0]; c.After != corpus.Any || c.Before != plan.Before[0].State() || plan.Before[0].Data != "old" {
		t.Errorf("change %+v", c)
	}
	if got := w.run("write", `{"path":"a","content":"new"}`); got != said("written") {
		t.Error(got)
	}
	if b, _ := os.ReadFile(filepath.Join(w.dir, "a")); string(b) != "new" {
		t.Errorf("it holds %q", b)
	}
	env = w.call("shout", `{}`)
	plan, err = w.h.Plan(t.Context(), env, nil)
	if err != nil || env.Target().String() != "fake/shout" || len(plan.Changes) != 1 || plan.Changes[0].Object != "work/memory.json" {
		t.Errorf("%s: plan %+v, %v", env.Target(), plan, err)
	}
	env = w.call("env", `{"path":"a","more":["b","c"]}`)
	touches, err = w.h.Touches(env)
	if err != nil || len(touches.Changes) != 3 || len(touches.Reads) != 1 || touches.Outline {
		t.Errorf("touches %+v, %v", touches, err)
	}
}

func TestExact(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain", writer...))
	if err := os.WriteFile(filepath.Join(w.dir, "a"), []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	env := w.call("rename", `{"from":"a","into":"b"}`)
	touches, err := w.h.Touches(env)
	if err != nil || len(touches.Changes) != 2 {
		t.Fatalf("touches %+v, %v", touches, err)
	}
	plan, err := w.h.Plan(t.Context(), env, nil)
	if err != nil || plan.Reach != gate.Exact || len(plan.Changes) != 2 || plan.Changes[1].After != plan.Changes[0].Before {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	if got := w.run("rename", `{"from":"a","into":"b"}`); got != said("renamed") {
		t.Error(got)
	}
	// What says that it failed did not do as planned.
	if _, err := w.do(w.call("fail", `{"from":"b","into":"c"}`)); reason(err) != UpstreamRefused || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("%v", err)
	}
}

func TestReads(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain", writer...))
	for name, content := range map[string]string{"a": "x", "twin": "x"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Symlink("a", filepath.Join(w.dir, "link")), os.Mkdir(filepath.Join(w.dir, "d"), 0o755), os.Symlink("d", filepath.Join(w.dir, "dirlink")),
		os.Link(filepath.Join(w.dir, "twin"), filepath.Join(w.dir, "twin2")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]gate.Reason{
		"a": "", "link": gate.IsLink, "dirlink/x": gate.IsLink, "nothing": gate.NotFound, "twin": gate.HardLinked,
	} {
		if _, err := w.do(w.call("echo", `{"say":"`+path+`"}`)); reason(err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, err := w.h.Touches(w.call("echo", `{"say":".iff-x"}`)); err == nil {
		t.Error("a reserved name is read")
	}
	touches, err := w.h.Touches(w.call("count", `{"dir":"d"}`))
	if err != nil || !touches.Outline || touches.Op != "list" {
		t.Errorf("touches %+v, %v", touches, err)
	}
}

type staged []corpus.Object

func (s staged) Copy(corpus.Object) (corpus.Copy, bool) { return corpus.Copy{}, false }
func (s staged) Objects() []corpus.Object               { return s }

func TestStaged(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain", writer...))
	for tool, args := range map[string]string{"write": `{"path":"d/a","content":""}`, "echo": `{"say":"d/a"}`, "count": `{"dir":"d"}`} {
		env := w.call(tool, args)
		if _, err := w.h.Plan(t.Context(), env, staged{"work/d/a"}); reason(err) != gate.Busy {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if _, err := w.h.Plan(t.Context(), w.call("write", `{"path":"e","content":""}`), staged{"work/d/a"}); err != nil {
		t.Error(err)
	}
}

// An agent that speaks the raw API says what it likes; only what the mapping says
// counts.
func TestMismatch(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain", writer...), upstreamOf(t, "two", "sdk"))
	if wrong := w.mismatches(); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
	// A host that believes what a call says of itself has to be found out.
	w.h.same = func(derived, capability.Envelope) bool { return true }
	wrong := strings.Join(w.mismatches(), "\n")
	for _, name := range []string{"a read:", "reversible:", "a tool:", "another tool:", "another object:"} {
		if !strings.Contains(wrong, name) {
			t.Errorf("the planted bug is not found by %q; found: %s", name, wrong)
		}
	}
}

// mismatches are the calls that the host does not take as it should.
func (w *world) mismatches() []string {
	abs := filepath.Join(w.dir, "a")
	hash, other := w.h.upstreams["fake"].find("write").hash, w.h.upstreams["fake"].find("echo").hash
	good := `{"via":"fake/write","schema":"` + hash + `","arguments":{"path":"` + abs + `","content":"x"}}`
	edit := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	var out []string
	for _, c := range []struct {
		name, class, target, args string
		want                      gate.Reason
	}{
		{"honest", "fs.write.irrev", "a", good, ""},
		{"a read", "fs.read", "a", good, gate.ArgumentsBad},
		{"reversible", "fs.write.rev", "a", good, gate.ArgumentsBad},
		{"a tool", "tool.invoke", "fake/write", good, gate.ArgumentsBad},
		{"another tool", "tool.invoke", "fake/echo", good, gate.ArgumentsBad},
		{"another object", "fs.write.irrev", "b", good, gate.ArgumentsBad},
		{"another schema", "fs.write.irrev", "a", edit(hash, other), ToolChanged},
		{"no schema", "fs.write.irrev", "a", edit(hash, ""), ToolChanged},
		{"another server", "fs.write.irrev", "a", edit("fake/write", "two/write"), ToolUnknown},
		{"no server", "fs.write.irrev", "a", edit("fake/write", "write"), ToolUnknown},
		{"no such tool", "fs.write.irrev", "a", edit("fake/write", "fake/wrote"), ToolUnknown},
		{"more members", "fs.write.irrev", "a", edit(`{"via"`, `{"op":"write","via"`), gate.ArgumentsBad},
		{"a list", "fs.write.irrev", "a", `{"via":"fake/write","schema":"` + hash + `","arguments":["` + abs + `"]}`, gate.ArgumentsBad},
		{"relative path", "fs.write.irrev", "a", edit(abs, "a"), gate.ArgumentsBad},
		{"more arguments", "fs.write.irrev", "a", edit(`"content"`, `"mode":"0777","content"`), gate.ArgumentsBad},
		{"a resource as a tool", "tool.invoke", "fake/resources/memo", `{"via":"fake/resources/read","schema":"` + hash + `","arguments":{"uri":"memo"}}`, gate.ArgumentsBad},
		{"another resource", "tool.invoke", "fake/resources/memo", `{"via":"fake/resources/read","schema":"","arguments":{"uri":"other"}}`, gate.ArgumentsBad},
		{"native", "tool.invoke", "fake/write", `{}`, gate.NoHost},
	} {
		env := w.envelope(gate.Call{Capability: c.class, Target: c.target, Arguments: []byte(c.args)})
		if _, err := w.h.Touches(env); reason(err) != c.want {
			out = append(out, fmt.Sprintf("%s: %v, want %q", c.name, err, c.want))
		}
		if c.want == "" {
			continue
		}
		if _, err := w.h.Plan(context.Background(), env, nil); reason(err) != c.want {
			out = append(out, fmt.Sprintf("%s: plan: %v", c.name, err))
		}
		if _, err := w.h.do(context.Background(), gate.Order{Phase: gate.Commit, Envelope: env}); reason(err) != c.want {
			out = append(out, fmt.Sprintf("%s: do: %v", c.name, err))
		}
	}
	return out
}

func TestOutside(t *testing.T) {
	scheme, _ := label.Builtin("default")
	low, high := scheme.Bottom(), scheme.Top()
	s := upstreamOf(t, "fake", "plain", append([]Rule{{Name: "stall", Label: high}, {Name: "die", Capability: "fs.read", Target: "{path}", Label: high}}, writer...)...)
	s.Label = low
	w := newWorld(t, nil, s)
	for tool, want := range map[string]struct {
		args string
		list []label.Label
	}{
		"garbage": {`{}`, []label.Label{low}}, "stall": {`{}`, []label.Label{high}}, "echo": {`{"say":"a"}`, nil}, "die": {`{"path":"a"}`, []label.Label{high}},
	} {
		touches, err := w.h.Touches(w.call(tool, want.args))
		if err != nil || len(touches.Outside) != len(want.list) || len(want.list) > 0 && touches.Outside[0] != want.list[0] {
			t.Errorf("%s: %v, %v", tool, touches.Outside, err)
		}
	}
}
