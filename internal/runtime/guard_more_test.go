package runtime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// What an unverified skill writes is staged; what is guarded is asked about at
// once, and another time for each.
func TestStagedMutation(t *testing.T) {
	w := newEnv(t).start()
	s := w.session("agent")
	_, err := s.Use(t.Context(), "wild")
	w.must(err)
	if r := s.Call(t.Context(), call(rev, "a.md", write)); r.Status != gate.StagedStatus {
		t.Errorf("%+v", r)
	}
	before := w.tree()
	for _, target := range []string{"skills/wíld/run.sh", "AGENTS.md", "skills/helper/SKILL.md"} {
		a := attempt{name: target, class: rev, target: target, args: write, route: "path"}
		if r := w.try(t, s, a, record.Deny); r.Status != gate.Denied {
			t.Errorf("%+v", r)
		}
	}
	if w.tree() != before {
		t.Error("something was written")
	}
	w.ask.says(record.Approve)
	if replies, err := s.Commit(t.Context()); err != nil || len(replies) != 1 || replies[0].Status != gate.Done {
		t.Errorf("%+v %v", replies, err)
	}
	if asked := w.ask.questions(); len(asked) != 1 || asked[0].Guarded != "" {
		t.Errorf("%+v", asked)
	}
	if w.verdict("") != record.Pass {
		t.Error("not PASS")
	}
	w.stop()
}

// outOfBand are changes that nobody asked iff for.
var outOfBand = map[string]func(*world){
	"edit":     func(w *world) { w.env.write(filepath.Join(w.work, "skills/helper/run.sh"), "evil\n") },
	"new file": func(w *world) { w.env.write(filepath.Join(w.work, "skills/helper/evil.sh"), "evil\n") },
	"delete":   func(w *world) { w.must(os.Remove(filepath.Join(w.work, "skills/helper/run.sh"))) },
	"rename onto": func(w *world) {
		w.must(os.Rename(filepath.Join(w.work, "a.md"), filepath.Join(w.work, "skills/helper/run.sh")))
	},
	"rename the skill": func(w *world) {
		w.must(os.Rename(filepath.Join(w.work, "skills/helper"), filepath.Join(w.work, "gone")))
	},
	"rename the parent": func(w *world) { w.must(os.Rename(filepath.Join(w.work, "skills"), filepath.Join(w.work, "gone"))) },
	"replace by a link": func(w *world) {
		dir := filepath.Join(w.work, "skills/helper")
		w.must(os.RemoveAll(dir))
		w.must(os.Symlink("../notes", dir))
	},
	"a control file":     func(w *world) { w.env.write(filepath.Join(w.work, "notes/AGENTS.md"), "evil\n") },
	"a control file too": func(w *world) { w.must(os.Chmod(filepath.Join(w.work, "deep/er/AGENTS.md"), 0o777)) },
}

// A change behind iff's back is a finding of class tamper, live and offline, and
// what is served does not change.
func TestOutOfBand(t *testing.T) {
	for name, change := range outOfBand {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t).start()
			s := w.session("agent")
			served := w.served(t, s)
			change(w)
			if w.served(t, s) != served {
				t.Error("what is served changed")
			}
			report, err := w.rt.Verdict(t.Context(), "")
			w.must(err)
			tampered := slices.ContainsFunc(report.Findings, func(f verdict.Finding) bool { return f.Class == verdict.Tamper })
			if report.Result != record.Fail || !tampered {
				t.Errorf("%s: %+v", report.Result, report.Findings)
			}
			guards, err := runtime.GuardOf(w.parts.Corpora, w.parts.ControlFiles, w.parts.Directories)
			w.must(err)
			for _, f := range report.Findings {
				if guards(f.Object) != (f.Class == verdict.Tamper) {
					t.Errorf("%s is %s, and offline the guard says %v", f.Object, f.Class, guards(f.Object))
				}
			}
			w.stop()
		})
	}
}

// What merely looks like it is nobody's business.
func TestOrdinaryFilesAreNotGuarded(t *testing.T) {
	e := newEnv(t)
	for _, path := range []string{"skills/helper2/run.sh", "skills-helper/run.sh", "helper/run.sh", "AGENTS.md.bak", "notes/xAGENTS.md", "notes/claude.txt", "env", "notes/many/0"} {
		e.write(filepath.Join(e.work, path), "x\n")
	}
	for i := range 500 {
		e.write(filepath.Join(e.work, "notes/many", fmt.Sprint(i)), "x\n")
	}
	w := e.start()
	s := w.session("agent")
	for _, c := range []gate.Call{
		call(rev, "skills/helper2/run.sh", write), call(rev, "skills-helper/run.sh", write), call(rev, "helper/run.sh", write), call(rev, "skills/new.md", write),
		call(rev, "AGENTS.md.bak", write), call(rev, "notes/xAGENTS.md", write), call(rev, "notes/claude.txt", write), call(rev, "notes/AGENTS", write),
		call(rev, "100%.md", write), call(rev, "50%2Foff.md", write), call(rev, "notes/näh.md", write), call(rev, "skills/other", mkdir),
		call(irrev, "notes/many", to("notes/more")), call(irrev, "notes/more", chmod), call(irrev, "notes/more", tree),
		call(irrev, "notes", to("memos")), call(irrev, "a.md", to("memos/a.md")), call(irrev, "env", remove), call("fs.read", "skills/helper/run.sh", `{}`),
		call("fs.read", "AGENTS.md", `{}`), call(rev, "mail:helper", write),
	} {
		if r := s.Call(t.Context(), c); r.Status != gate.Done {
			t.Errorf("%s %s: %+v", c.Capability, c.Target, r)
		}
	}
	if asked := w.ask.questions(); len(asked) > 0 {
		t.Errorf("asked about %s", asked[0].Guarded)
	}
	if w.verdict("") != record.Pass {
		t.Error("not PASS")
	}
	w.stop()
}

// The number of a file that is gone is given to the next one, which is no
// skill's for that.
func TestInodeOfAnotherTime(t *testing.T) {
	w := newEnv(t).start()
	s := w.session("agent")
	w.try(t, s, attempt{name: "delete", class: irrev, target: "skills/helper/run.sh", args: remove, route: "path"}, record.Approve)
	w.ask.says(record.Deny)
	for i := range 20 {
		for range 2 {
			if r := s.Call(t.Context(), call(rev, fmt.Sprintf("notes/n%d.md", i), write)); r.Status != gate.Done {
				t.Errorf("%+v", r)
			}
		}
	}
	w.stop()
}

// Texts that lead nowhere guarded are left to who refuses them.
func TestSpellingOfNothing(t *testing.T) {
	w := newEnv(t).start()
	g := runtime.GuardIn(w.rt)
	for _, target := range []string{"", ".", "..", "/", "//", "\x00", "%", "%%%", `\`, "work:", ":", "nowhere:a", "./a.md", "../../../../..", "notes//b.md", "file://", string(make([]byte, 100_000))} {
		if found, ok := g.FindSpelling(0, target); ok && target != "" && target != "." {
			// The root of a corpus holds skills; nothing can be done to it by any spelling.
			t.Errorf("%.20q: %+v", target, found)
		}
	}
	if _, ok := g.Find([]corpus.Object{"nowhere/AGENTS.md", ""}); ok {
		t.Error("an object of no corpus is guarded")
	}
	w.stop()
}

func TestSkillsCorpusIsTaken(t *testing.T) {
	if _, err := runtime.GuardOf([]runtime.Corpus{{Name: runtime.SkillsCorpus, Dir: "/nowhere"}}, corpus.Patterns{}, nil); err == nil {
		t.Error("a corpus took the name of the skills")
	}
}

func BenchmarkGuard(b *testing.B) {
	e := newEnv(b)
	for i := range 2000 {
		e.write(filepath.Join(e.work, "big", fmt.Sprint(i)), "")
	}
	w := e.start()
	defer w.stop()
	g := runtime.GuardIn(w.rt)
	for name, o := range map[string]corpus.Object{"file": "work/notes/b.md", "new": "work/notes/new.md", "deep": "work/a/b/c/d/e/f/g/h/i.md", "unicode": "work/nötes/ß.md", "2000 files": "work/big"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, ok := g.Find([]corpus.Object{o}); ok {
					b.Fatal("guarded")
				}
			}
		})
	}
	b.Run("spelling", func(b *testing.B) {
		for b.Loop() {
			g.FindSpelling(0, "./notes/../%6eotes//b.md")
		}
	})
}
