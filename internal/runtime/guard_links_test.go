package runtime_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

func remake(at, text string) func(*env) {
	return func(e *env) {
		e.must(os.Remove(filepath.Join(e.work, at)))
		link(at, text)(e)
	}
}

// linked are control files that are links, or lie below one, as people keep them.
func linked(e *env) {
	e.write(filepath.Join(e.work, "docs", "guide.md"), "be good\n")
	e.write(filepath.Join(e.work, "tools", "claude", "settings.json"), "{}\n")
	e.write(filepath.Join(e.work, "tools", "gh", "readme.md"), "r\n")
	e.write(filepath.Join(e.work, "gh2", "copilot-instructions.md"), "r\n")
	dir("chain")(e)
	remake("AGENTS.md", "chain/first")(e)
	link("chain/first", "../docs/guide.md")(e)
	link(".claude", "tools/claude")(e)
	link(".github", "tools/gh")(e)
	link("notes/CLAUDE.md", "../docs/not-yet.md")(e)
	link("notes/GEMINI.md", filepath.Join(e.mail, "m.txt"))(e)
	link("notes/harmless", "../deep/er/x.md")(e)
	e.must(os.Link(filepath.Join(e.work, "docs", "guide.md"), filepath.Join(e.work, "notes", "twin.md")))
}

func behindLinks() []attempt {
	return []attempt{
		{name: "end", class: rev, target: "docs/guide.md", args: write, route: "target"},
		{name: "end, deleted", class: irrev, target: "docs/guide.md", args: remove, route: "target"},
		{name: "end, its mode", class: irrev, target: "docs/guide.md", args: chmod, route: "target"},
		{name: "end that is not there yet", class: rev, target: "docs/not-yet.md", args: write, route: "target"},
		{name: "renamed onto", class: irrev, target: "a.md", args: to("docs/not-yet.md"), route: "target"},
		{name: "below", class: rev, target: "tools/claude/settings.json", args: write, route: "target"},
		{name: "below, new", class: rev, target: "tools/claude/hooks.json", args: write, route: "target"},
		{name: "below, in another case", class: rev, target: "tools/Claude/settings.json", args: write, route: "target"},
		{name: "the directory", class: irrev, target: "tools/claude", args: tree, route: "target"},
		{name: "above", class: irrev, target: "tools", args: to("t"), route: "parent"},
		{name: "above a file", class: irrev, target: "docs", args: tree, route: "parent"},
		{name: "above a link on the way", class: irrev, target: "chain", args: to("other"), route: "parent"},
		{name: "controls below a link alone", class: rev, target: "tools/gh/copilot-instructions.md", args: write, route: "target"},
		{name: "a tree that controls there", class: irrev, target: "gh2", args: to("tools/gh/instructions"), route: "parent"},
		{name: "in another corpus", class: rev, target: "mail:m.txt", args: write, route: "target"},
		{name: "a hard link to it", class: rev, target: "notes/twin.md", args: write, route: "target"},
	}
}

// What a control file leads to is a control file.
func TestControlBehindLinks(t *testing.T) {
	e := newEnv(t)
	linked(e)
	w := e.start()
	s := w.session("agent")
	before := w.tree()
	for _, a := range behindLinks() {
		if reply := w.try(t, s, a, record.Deny); reply.Status != gate.Denied {
			t.Errorf("%s: %+v", a.name, reply)
		}
	}
	if w.tree() != before {
		t.Error("something changed")
	}
	for _, target := range []string{"deep/er/x.md", "tools/gh/readme.md", "docs/else.md"} {
		w.ask.says(record.Deny)
		if r := s.Call(t.Context(), call(rev, target, write)); r.Status != gate.Done || len(w.ask.questions()) > 0 {
			t.Errorf("%s: %+v", target, r)
		}
	}
	w.stop()
}

// The next barrier sees a link that somebody made, led elsewhere or took away.
func TestControlLinksChange(t *testing.T) {
	e := newEnv(t)
	e.write(filepath.Join(e.work, "docs", "guide.md"), "be good\n")
	w := e.start()
	s := w.session("agent")
	asks := func(target string, want bool) {
		t.Helper()
		w.must(w.rt.Barrier(t.Context()))
		w.ask.says(record.Deny)
		r := s.Call(t.Context(), call(rev, target, attach))
		if asked := len(w.ask.questions()) > 0; asked != want || (r.Status == gate.Done) == want {
			t.Errorf("%s: asked %v: %+v", target, asked, r)
		}
	}
	asks("docs/guide.md", false)
	remake("AGENTS.md", "docs/guide.md")(e)
	asks("docs/guide.md", true)
	remake("AGENTS.md", "docs")(e)
	asks("docs/guide.md", true)
	remake("AGENTS.md", "l")(e)
	asks("docs/guide.md", false)
	link("l", "docs/guide.md")(e)
	asks("docs/guide.md", true)
	e.must(os.Remove(filepath.Join(e.work, "l")))
	asks("docs/guide.md", false)
	link("l", "docs/guide.md")(e)
	e.must(os.Remove(filepath.Join(e.work, "AGENTS.md")))
	asks("docs/guide.md", false)
	w.stop()
}
