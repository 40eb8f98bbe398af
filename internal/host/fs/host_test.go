//go:build linux || darwin

package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

const staging = ".iff-test"

// bench is a host over one directory.
type bench struct {
	testing.TB
	h   *Host
	dir string
}

func newBench(t testing.TB, volatile ...string) *bench {
	t.Helper()
	s, err := system()
	if err != nil {
		t.Fatal(err)
	}
	return benchOver(t, s, t.TempDir(), volatile...)
}

func benchOver(t testing.TB, s sys, dir string, volatile ...string) *bench {
	t.Helper()
	p, err := corpus.ParsePatterns(volatile)
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHost(s, []Root{{Corpus: "work", Dir: dir, Volatile: p}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return &bench{t, h, dir}
}

func (b *bench) in(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) file(name, content string) {
	b.Helper()
	must(b, os.WriteFile(b.in(name), []byte(content), 0o644))
}

func (b *bench) mkdir(name string) {
	b.Helper()
	must(b, os.MkdirAll(b.in(name), 0o755))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func envelope(t testing.TB, class capability.Capability, target, args string) capability.Envelope {
	t.Helper()
	to, err := capability.ParseTarget(class, target)
	must(t, err)
	e, err := capability.NewEnvelope(capability.Call{Target: to, Arguments: []byte(args)})
	must(t, err)
	return e
}

func write(t testing.TB, target, args string) capability.Envelope {
	t.Helper()
	return envelope(t, capability.FSWriteIrrev, target, args)
}

// order is what a gate would order for a call planned now.
func (b *bench) order(env capability.Envelope) (gate.Order, error) {
	p, err := b.h.Plan(b.Context(), env, nil)
	return gate.Order{Phase: gate.Execute, Request: "test", Envelope: env, Plan: p, Staging: staging}, err
}

func (b *bench) mustOrder(env capability.Envelope) gate.Order {
	b.Helper()
	o, err := b.order(env)
	must(b, err)
	return o
}

// call plans and does.
func (b *bench) call(env capability.Envelope) (gate.Order, error) {
	o, err := b.order(env)
	if err == nil {
		_, err = b.h.do(b.Context(), o)
	}
	return o, err
}

func (b *bench) read(target, args string) (string, error) {
	b.Helper()
	r, err := b.h.do(b.Context(), gate.Order{Phase: gate.Read, Envelope: envelope(b, capability.FSRead, target, args)})
	return string(r.Data), err
}

// states are those of all objects below the root but the staging name.
func (b *bench) states() map[corpus.Object]corpus.State {
	b.Helper()
	fd, err := b.h.sys.root(b.dir)
	must(b, err)
	defer b.h.sys.close(fd)
	out := map[corpus.Object]corpus.State{}
	err = b.h.tree(b.Context(), fd, "", func(path string, f found) (keeping, error) {
		out[corpus.Name("work", path[1:])] = f.State()
		return anySize, nil
	}, anySize)
	must(b, err)
	return out
}

// asPlanned checks that the objects of a plan are in their states after.
func (b *bench) asPlanned(p gate.Plan) {
	b.Helper()
	now := b.states()
	for _, c := range p.Changes {
		state, ok := now[c.Object]
		if !ok {
			state = corpus.Absent
		}
		if !state.Is(c.After) {
			b.Errorf("%s is %s, planned %s", c.Object, state, c.After)
		}
	}
	b.noStaging()
}

func (b *bench) noStaging() {
	b.Helper()
	for o := range b.states() {
		if strings.Contains(string(o), Reserved) {
			b.Errorf("%s was left", o)
		}
	}
}

func (b *bench) holds(name, content string) {
	b.Helper()
	if got, err := os.ReadFile(b.in(name)); err != nil || string(got) != content {
		b.Errorf("%s holds %.40q, %v; want %.40q", name, got, err, content)
	}
}

func wantReason(t testing.TB, what string, err error, want gate.Reason) {
	t.Helper()
	var r *gate.Refusal
	if !errors.As(err, &r) || r.Reason != want {
		t.Errorf("%s: %v, want %s", what, err, want)
		return
	}
	if r.Detail == "" || strings.ContainsAny(r.Error(), "\n\x00") {
		t.Errorf("%s: the detail %q is no line", what, r.Detail)
	}
}

func TestWritesAreAsPlanned(t *testing.T) {
	for name, c := range map[string]struct {
		target, args string
		check        func(b *bench)
	}{
		"create":         {"new", `{"op":"write","content":"hello"}`, func(b *bench) { b.holds("new", "hello"); b.mode("new", 0o644) }},
		"create, mode":   {"new", `{"op":"write","content":"","mode":"0600"}`, func(b *bench) { b.holds("new", ""); b.mode("new", 0o600) }},
		"create below":   {"d/new", `{"op":"write","base64":"/w=="}`, func(b *bench) { b.holds("d/new", "\xff") }},
		"replace":        {"f", `{"op":"write","content":"new","mode":"0600"}`, func(b *bench) { b.holds("f", "new"); b.mode("f", 0o640) }},
		"same again":     {"f", `{"op":"write","content":"old"}`, func(b *bench) { b.holds("f", "old") }},
		"append":         {"f", `{"op":"append","content":"er"}`, func(b *bench) { b.holds("f", "older"); b.mode("f", 0o640) }},
		"append, new":    {"new", `{"op":"append","content":"x"}`, func(b *bench) { b.holds("new", "x") }},
		"mkdir":          {"d/new", `{"op":"mkdir"}`, func(b *bench) { b.mode("d/new", 0o755) }},
		"mkdir, mode":    {"new", `{"op":"mkdir","mode":"0777"}`, func(b *bench) { b.mode("new", 0o777) }},
		"chmod":          {"f", `{"op":"chmod","mode":"0400"}`, func(b *bench) { b.mode("f", 0o400) }},
		"chmod, dir":     {"d", `{"op":"chmod","mode":"0700"}`, func(b *bench) { b.mode("d", 0o700) }},
		"delete":         {"f", `{"op":"delete"}`, func(b *bench) { b.gone("f") }},
		"delete, dir":    {"d/empty", `{"op":"delete"}`, func(b *bench) { b.gone("d/empty") }},
		"delete, tree":   {"d", `{"op":"delete","recursive":true}`, func(b *bench) { b.gone("d") }},
		"rename":         {"f", `{"op":"rename","to":"d/moved"}`, func(b *bench) { b.gone("f"); b.holds("d/moved", "old"); b.mode("d/moved", 0o640) }},
		"rename, onto":   {"f", `{"op":"rename","to":"d/g"}`, func(b *bench) { b.gone("f"); b.holds("d/g", "old") }},
		"rename, beside": {"f", `{"op":"rename","to":"h"}`, func(b *bench) { b.gone("f"); b.holds("h", "old") }},
		"rename, tree":   {"d", `{"op":"rename","to":"e"}`, func(b *bench) { b.gone("d"); b.holds("e/g", "g"); b.mode("e/empty", 0o755) }},
		"expect":         {"none", `{"op":"write","content":"x","expect":"absent"}`, func(b *bench) { b.holds("none", "x") }},
		"a name":         {`a\*b`, `{"op":"write","content":"x"}`, func(b *bench) { b.holds("a*b", "x") }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.someFiles()
			others := b.states()
			o, err := b.call(write(t, c.target, c.args))
			must(t, err)
			b.asPlanned(o.Plan)
			c.check(b)
			for _, change := range o.Plan.Changes {
				delete(others, change.Object)
			}
			now := b.states()
			for object, state := range others {
				if now[object] != state {
					t.Errorf("%s changed, which is not in the plan", object)
				}
			}
		})
	}
}

// someFiles are f, h, d/g, d/empty/ and d/sub/link.
func (b *bench) someFiles() {
	b.mkdir("d/empty")
	b.mkdir("d/sub")
	b.file("f", "old")
	must(b, os.Chmod(b.in("f"), 0o640))
	b.file("h", "h")
	b.file("d/g", "g")
	must(b, os.Symlink("../g", b.in("d/sub/link")))
}

func (b *bench) mode(name string, want fs.FileMode) {
	b.Helper()
	if i, err := os.Lstat(b.in(name)); err != nil || i.Mode().Perm() != want {
		b.Errorf("%s: %v, %v, want %04o", name, i, err, want)
	}
}

func (b *bench) gone(name string) {
	b.Helper()
	if _, err := os.Lstat(b.in(name)); !errors.Is(err, fs.ErrNotExist) {
		b.Errorf("%s is there: %v", name, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		target, args string
		want         gate.Reason
	}{
		"no parent":           {"no/such/f", `{"op":"write","content":""}`, gate.NotFound},
		"file as parent":      {"f/x", `{"op":"write","content":""}`, gate.NotADirectory},
		"link as parent":      {"dirlink/x", `{"op":"write","content":""}`, gate.IsLink},
		"link":                {"link", `{"op":"write","content":""}`, gate.IsLink},
		"link, append":        {"link", `{"op":"append","content":""}`, gate.IsLink},
		"link, chmod":         {"link", `{"op":"chmod","mode":"0777"}`, gate.IsLink},
		"link, delete":        {"link", `{"op":"delete"}`, gate.IsLink},
		"onto link":           {"f", `{"op":"rename","to":"link"}`, gate.IsLink},
		"special":             {"fifo", `{"op":"write","content":""}`, gate.IsSpecial},
		"special in tree":     {"special", `{"op":"delete","recursive":true}`, gate.IsSpecial},
		"hard link":           {"hard", `{"op":"write","content":""}`, gate.HardLinked},
		"hard link, delete":   {"hard", `{"op":"delete"}`, gate.HardLinked},
		"hard link in tree":   {"hards", `{"op":"rename","to":"new"}`, gate.HardLinked},
		"directory":           {"d", `{"op":"write","content":""}`, gate.NotAFile},
		"mkdir, there":        {"d", `{"op":"mkdir"}`, gate.AlreadyThere},
		"mkdir, file":         {"f", `{"op":"mkdir"}`, gate.AlreadyThere},
		"not empty":           {"d", `{"op":"delete"}`, gate.NotEmpty},
		"delete, none":        {"none", `{"op":"delete"}`, gate.NotFound},
		"chmod, none":         {"none", `{"op":"chmod","mode":"0644"}`, gate.NotFound},
		"rename, none":        {"none", `{"op":"rename","to":"x"}`, gate.NotFound},
		"rename, no parent":   {"f", `{"op":"rename","to":"no/x"}`, gate.NotFound},
		"rename, onto dir":    {"f", `{"op":"rename","to":"d"}`, gate.AlreadyThere},
		"rename, dir on file": {"d", `{"op":"rename","to":"f"}`, gate.AlreadyThere},
		"rename, into itself": {"d", `{"op":"rename","to":"d/x"}`, gate.ArgumentsBad},
		"rename, same":        {"f", `{"op":"rename","to":"f"}`, gate.ArgumentsBad},
		"rename, corpus":      {"f", `{"op":"rename","to":"other:f"}`, gate.ArgumentsBad},
		"rename, bad path":    {"f", `{"op":"rename","to":"../f"}`, gate.ArgumentsBad},
		"volatile":            {".git/x", `{"op":"write","content":""}`, gate.IsVolatile},
		"volatile in tree":    {"v", `{"op":"delete","recursive":true}`, gate.IsVolatile},
		"to volatile":         {"f", `{"op":"rename","to":"f.swp"}`, gate.IsVolatile},
		"tree to volatile":    {"d", `{"op":"rename","to":".git/d"}`, gate.IsVolatile},
		"root":                {".", `{"op":"chmod","mode":"0700"}`, gate.ArgumentsBad},
		"reserved":            {".iff-x", `{"op":"write","content":""}`, gate.ArgumentsBad},
		"reserved, case":      {"d/.IFF-x", `{"op":"write","content":""}`, gate.ArgumentsBad},
		"reserved, to":        {"f", `{"op":"rename","to":".iff-x/y"}`, gate.ArgumentsBad},
		"long name":           {strings.Repeat("n", 256), `{"op":"write","content":""}`, gate.ArgumentsBad},
		"corpus":              {"other:f", `{"op":"write","content":""}`, gate.NoCorpus},
		"expect absent":       {"f", `{"op":"write","content":"","expect":"absent"}`, gate.Conflict},
		"expect other":        {"f", fmt.Sprintf(`{"op":"delete","expect":"%064d"}`, 0), gate.Conflict},
		"too large":           {"huge", `{"op":"write","content":""}`, gate.TooLarge},
		"too large, append":   {"large", `{"op":"append","content":"x"}`, gate.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, ".git/**", "**/*.swp")
			b.someFiles()
			b.oddities()
			before := b.looseStates()
			o, err := b.order(write(t, c.target, c.args))
			wantReason(t, "plan", err, c.want)
			if len(o.Plan.Changes) != 0 {
				t.Errorf("a refused plan changes %v", o.Plan.Changes)
			}
			if after := b.looseStates(); !slices.Equal(before, after) {
				t.Errorf("planning changed something:\n%v\n%v", before, after)
			}
		})
	}
}

func (b *bench) oddities() {
	must(b, os.Symlink("f", b.in("link")))
	must(b, os.Symlink("d", b.in("dirlink")))
	b.mkdir("special")
	b.mkdir("hards")
	b.mkdir("v")
	b.mkdir(".git")
	must(b, mkfifo(b.in("fifo")))
	must(b, mkfifo(b.in("special/fifo")))
	b.file("hard", "hard")
	must(b, os.Link(b.in("hard"), b.in("hards/hard")))
	b.file("v/a.swp", "")
	b.file("huge", "")
	b.file("large", "")
	must(b, os.Truncate(b.in("huge"), MaxWritten+1))
	must(b, os.Truncate(b.in("large"), MaxWritten))
}

// looseStates are names, modes and sizes, without reading.
func (b *bench) looseStates() []string {
	b.Helper()
	var out []string
	must(b, filepath.WalkDir(b.dir, func(path string, _ fs.DirEntry, _ error) error {
		i, err := os.Lstat(path)
		out = append(out, fmt.Sprint(path, i.Mode(), i.Size(), i.ModTime()))
		return err
	}))
	return out
}

func TestNotReversible(t *testing.T) {
	b := newBench(t)
	b.someFiles()
	for op, want := range map[string]bool{
		`{"op":"write","content":""}`: true, `{"op":"append","content":""}`: true, `{"op":"mkdir"}`: true,
		`{"op":"delete"}`: false, `{"op":"rename","to":"x"}`: false, `{"op":"chmod","mode":"0600"}`: false,
	} {
		target := "f"
		if strings.Contains(op, "mkdir") {
			target = "new"
		}
		env := envelope(t, capability.FSWriteRev, target, op)
		touches, err := b.h.Touches(env)
		must(t, err)
		if touches.Reversible != want {
			t.Errorf("%s: reversible %v", op, touches.Reversible)
		}
		p, err := b.h.Plan(t.Context(), env, nil)
		if want {
			must(t, err)
			continue
		}
		wantReason(t, op, err, gate.NotReversible)
		o := b.mustOrder(write(t, "f", op))
		o.Envelope = env
		_, err = b.h.do(t.Context(), o)
		wantReason(t, op, err, gate.NotReversible)
		_ = p
	}
}

func TestTouches(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		class          capability.Capability
		target, args   string
		op             string
		changes, reads []corpus.Object
	}{
		{capability.FSRead, "a/b", `{}`, opRead, nil, []corpus.Object{"work/a/b"}},
		{capability.FSRead, ".", `{"op":"list"}`, opList, nil, []corpus.Object{"work/."}},
		{capability.FSWriteRev, "a", `{"op":"write","content":""}`, opWrite, []corpus.Object{"work/a"}, nil},
		{capability.FSWriteIrrev, "a", `{"op":"rename","to":"b/c"}`, opRename, []corpus.Object{"work/a", "work/b/c"}, nil},
	} {
		got, err := b.h.Touches(envelope(t, c.class, c.target, c.args))
		must(t, err)
		if got.Op != c.op || !slices.Equal(got.Changes, c.changes) || !slices.Equal(got.Reads, c.reads) {
			t.Errorf("%s %s: %+v", c.target, c.args, got)
		}
	}
	_, err := b.h.Touches(capability.Envelope{})
	wantReason(t, "the zero envelope", err, gate.NoHost)
	_, err = b.h.Touches(envelope(t, capability.FSRead, "x:a", `{}`))
	wantReason(t, "no corpus", err, gate.NoCorpus)
}

func TestPermits(t *testing.T) {
	b := newBench(t)
	if _, err := b.h.Do(t.Context(), new(gate.Permit)); !errors.Is(err, gate.ErrPermit) {
		t.Errorf("the zero permit: %v", err)
	}
	if _, err := b.h.Do(t.Context(), nil); !errors.Is(err, gate.ErrPermit) {
		t.Errorf("no permit: %v", err)
	}
}
