//go:build linux || darwin

package fs

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

func TestReads(t *testing.T) {
	b := newBench(t)
	b.someFiles()
	b.file("bytes", "\xff\xfe")
	b.file("long", strings.Repeat("é", MaxRead))
	b.file("d/\xff\n", "")
	must(t, mkfifo(b.in("d/fifo")))
	state := func(name string) string { return string(b.states()[corpus.Object("work/"+name)]) }
	for _, c := range []struct{ target, args, want string }{
		{"f", `{}`, `{"content":"old","size":3,"state":"` + state("f") + `"}`},
		{"f", `{"op":"read","offset":1,"limit":1}`, `{"content":"l","size":3,"state":"` + state("f") + `"}`},
		{"f", `{"offset":9}`, `{"content":"","size":3,"state":"` + state("f") + `"}`},
		{"bytes", `{}`, `{"base64":"//4=","size":2,"state":"` + state("bytes") + `"}`},
		{"long", `{"offset":524288,"limit":2}`, `{"content":"é","size":2097152,"state":"` + state("long") + `"}`},
		{"long", `{"offset":1,"limit":1}`, `{"base64":"qQ==","size":2097152,"state":"` + state("long") + `"}`},
		{"d", `{"op":"list"}`, `{"entries":[{"kind":"directory","name":"empty"},{"kind":"special","name":"fifo"},` +
			`{"kind":"file","name":"g"},{"kind":"directory","name":"sub"},{"kind":"file","name":"\\xff\\x0a"}]}`},
		{"d/empty", `{"op":"list"}`, `{"entries":[]}`},
		{"f", `{"op":"stat"}`, `{"kind":"file","mode":"0640","size":3,"state":"` + state("f") + `"}`},
		{"d/sub/link", `{"op":"stat"}`, `{"kind":"link","mode":"0000","size":0,"state":"` + state("d/sub/link") + `"}`},
		{"d", `{"op":"stat"}`, `{"kind":"directory","mode":"0755","size":0,"state":"` + state("d") + `"}`},
		{"none", `{"op":"stat"}`, `{"kind":"absent"}`},
		{"none/such", `{"op":"stat"}`, `{"kind":"absent"}`},
	} {
		got, err := b.read(c.target, c.args)
		if err != nil || got != c.want {
			t.Errorf("%s %s: %.200s, %v\nwant %s", c.target, c.args, got, err, c.want)
		}
	}
	if got, err := b.read("long", `{}`); err != nil || len(got) < MaxRead || len(got) > MaxRead+200 {
		t.Errorf("a long file: %d bytes, %v", len(got), err)
	}
	for _, c := range []struct {
		target, args string
		want         gate.Reason
	}{
		{"none", `{}`, gate.NotFound}, {"d", `{}`, gate.NotAFile}, {"f", `{"op":"list"}`, gate.NotADirectory},
		{"d/sub/link", `{}`, gate.IsLink}, {"d/fifo", `{}`, gate.IsSpecial}, {"f/x", `{}`, gate.NotADirectory},
		{"none", `{"op":"list"}`, gate.NotFound}, {"f", `{"limit":1048577}`, gate.ArgumentsBad},
		{"f", `{"op":"write","content":""}`, gate.ArgumentsBad}, {"d/sub/link/x", `{}`, gate.IsLink},
	} {
		_, err := b.read(c.target, c.args)
		wantReason(t, c.target+" "+c.args, err, c.want)
	}
	must(t, os.Link(b.in("f"), b.in("f2")))
	_, err := b.read("f", `{}`)
	wantReason(t, "hard link", err, gate.HardLinked)
}

func TestListOfManyEntries(t *testing.T) {
	b := newBench(t)
	for range MaxList {
		b.file(rand.Text(), "")
	}
	got, err := b.read(".", `{"op":"list"}`)
	if err != nil || strings.Count(got, `"kind"`) != MaxList {
		t.Errorf("%d entries, %v", strings.Count(got, `"kind"`), err)
	}
	b.file("one-more", "")
	_, err = b.read(".", `{"op":"list"}`)
	wantReason(t, "too many", err, gate.TooMany)
}

// kept is what a session staged.
type kept map[corpus.Object]corpus.Copy

func (k kept) Copy(o corpus.Object) (corpus.Copy, bool) {
	c, ok := k[o]
	return c, ok
}

func (k kept) Objects() []corpus.Object {
	var out []corpus.Object
	for o := range k {
		out = append(out, o)
	}
	slices.Sort(out)
	return out
}

// A session stages calls one after the other and sees them; then they are done
// in order, and each finds and leaves what was planned over the staged ones.
func TestStaged(t *testing.T) {
	b := newBench(t)
	b.someFiles()
	before := b.states()
	k := kept{}
	var plans []gate.Plan
	calls := []capability.Envelope{
		envelope(t, capability.FSWriteRev, "new", `{"op":"mkdir"}`),
		envelope(t, capability.FSWriteRev, "new/f", `{"op":"write","content":"a"}`),
		envelope(t, capability.FSWriteRev, "new/f", `{"op":"append","content":"b"}`),
		envelope(t, capability.FSWriteRev, "new/deep", `{"op":"mkdir"}`),
		envelope(t, capability.FSWriteRev, "new/deep/g", `{"op":"write","content":"c","mode":"0600"}`),
		envelope(t, capability.FSWriteRev, "f", `{"op":"append","content":"er"}`),
	}
	for _, env := range calls {
		p, err := b.h.Plan(t.Context(), env, k)
		must(t, err)
		plans = append(plans, p)
		k[p.Changes[0].Object] = p.After[0]
	}
	b.same(before)
	read := func(target, args string) string {
		r, err := b.h.do(t.Context(), gate.Order{Phase: gate.Read, Envelope: envelope(t, capability.FSRead, target, args), Staged: k})
		must(t, err)
		return string(r.Data)
	}
	views := func() string {
		return fmt.Sprint(read("new/f", `{}`), read("f", `{"op":"stat"}`), read("new", `{"op":"list"}`), read(".", `{"op":"list"}`), read("new/deep/g", `{"op":"stat"}`))
	}
	seen := views()
	if !strings.Contains(seen, `"content":"ab"`) || !strings.Contains(seen, `"name":"deep"`) || !strings.Contains(seen, `"name":"new"`) {
		t.Errorf("the session does not see what it staged: %s", seen)
	}
	for _, args := range []string{`{"op":"delete","recursive":true}`, `{"op":"rename","to":"x"}`} {
		_, err := b.h.Plan(t.Context(), write(t, "new", args), k)
		wantReason(t, args, err, gate.Busy)
	}
	_, err := b.h.Plan(t.Context(), write(t, "new/none/x", `{"op":"write","content":""}`), k)
	wantReason(t, "no directory", err, gate.NotFound)
	_, err = b.h.Plan(t.Context(), write(t, "new/f/x", `{"op":"write","content":""}`), k)
	wantReason(t, "file as directory", err, gate.NotADirectory)
	for i, env := range calls {
		o := b.mustOrder(env)
		if !corpus.Admits(plans[i].Approvable(), o.Plan.Changes) {
			t.Errorf("call %d: staged %v, now %v", i, plans[i].Changes, o.Plan.Changes)
		}
		o.Phase = gate.Commit
		_, err := b.h.do(t.Context(), o)
		must(t, err)
	}
	k = nil
	if now := views(); now != seen {
		t.Errorf("seen when staged:\n%s\nand when done:\n%s", seen, now)
	}
	for i := len(plans) - 1; i >= 0; i-- {
		_, err := b.h.do(t.Context(), undone(gate.Order{Envelope: calls[i], Plan: plans[i], Staging: staging}))
		must(t, err)
	}
	b.same(before)
}

func TestNew(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	must(t, os.Symlink("a", filepath.Join(dir, "link")))
	for name, roots := range map[string][]Root{
		"twice":    {{Corpus: "work", Dir: dir}, {Corpus: "work", Dir: t.TempDir()}},
		"nested":   {{Corpus: "work", Dir: dir}, {Corpus: "a", Dir: filepath.Join(dir, "link")}},
		"around":   {{Corpus: "a", Dir: filepath.Join(dir, "a")}, {Corpus: "work", Dir: dir}},
		"bad name": {{Corpus: "Work", Dir: dir}},
		"no name":  {{Dir: dir}},
		"nowhere":  {{Corpus: "work", Dir: filepath.Join(dir, "none")}},
	} {
		if h, err := New(roots); err == nil {
			h.Close()
			t.Errorf("%s: it was opened", name)
		}
	}
	h, err := New([]Root{{Corpus: "work", Dir: filepath.Join(dir, "link")}})
	must(t, err)
	h.Close()
	h.Close()
	var zero Host
	_, err = zero.Plan(t.Context(), write(t, "f", `{"op":"delete"}`), nil)
	wantReason(t, "the zero host", err, gate.HostFailed)
}
