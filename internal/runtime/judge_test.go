package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/verdict"
)

// at gives a skill of a set a level that no loader gives out yet.
func at(e *env, set *skill.Set, name string, lv level.Level) *skill.Set {
	loaded := make(map[string]skill.Loaded)
	for _, n := range set.Names() {
		k, _ := set.Skill(n)
		if n == name {
			f := k.Manifest.Fields()
			f.Verification = lv.String()
			m, err := f.Freeze(template.scheme)
			e.must(err)
			k = skill.Loaded{Manifest: m, Content: k.Content, Subject: skill.Subject(k.Content, m)}
		}
		loaded[n] = k
	}
	out := new(skill.Set)
	field := reflect.ValueOf(out).Elem().FieldByName("skills")
	*(*map[string]skill.Loaded)(unsafe.Pointer(field.UnsafeAddr())) = loaded
	return out
}

// A session at level tested goes on only while its verdict is PASS: at the next
// barrier it is aborted, and what it committed put back.
func TestTestedIsAborted(t *testing.T) {
	for _, lv := range []level.Level{level.Declared, level.Tested, level.Formal} {
		for _, touched := range []string{"stealth.md", "notes/b.md"} {
			t.Run(lv.String()+" "+touched, func(t *testing.T) {
				e := newEnv(t)
				w := e.start(func(w *world) { w.parts.Skills = at(w.env, w.parts.Skills, "helper", lv) })
				s, other := use(w, "helper"), w.session("other")
				for _, c := range []gate.Call{call(rev, "notes/b.md", write), call(rev, "new.md", write), call(irrev, "notes/c.md", remove)} {
					if r := s.Call(t.Context(), c); r.Status != gate.Done {
						t.Errorf("%+v", r)
					}
				}
				w.must(w.rt.Barrier(t.Context()))
				if _, err := w.rt.Standing(s.ID()); err != nil {
					t.Fatal("an honest session was aborted")
				}
				e.write(filepath.Join(e.work, touched), "stealth\n")
				w.must(w.rt.Barrier(t.Context()))
				_, err := w.rt.Standing(s.ID())
				if aborted := errors.Is(err, &gate.SessionError{Reason: gate.SessionUnknown}); aborted != lv.AtLeast(level.Tested) {
					t.Fatalf("aborted: %v", aborted)
				}
				if _, err := w.rt.Standing(other.ID()); err != nil {
					t.Error("another session was aborted")
				}
				if e.read(filepath.Join(e.work, touched)) != "stealth\n" {
					t.Error("what somebody else wrote was overwritten")
				}
				if lv.AtLeast(level.Tested) {
					undone(t, w, s, touched)
				}
				w.stop()
			})
		}
	}
}

func undone(t *testing.T, w *world, s *runtime.Session, touched string) {
	t.Helper()
	<-s.Over()
	if r := s.Call(t.Context(), call("fs.read", "a.md", `{}`)); r.Reason != gate.SessionUnknown && r.Reason != gate.SessionEnded {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(w.work, "new.md")); err == nil {
		t.Error("new.md was not put back")
	}
	if touched != "notes/b.md" && w.env.read(filepath.Join(w.work, "notes/b.md")) != "b\n" {
		t.Error("notes/b.md was not put back")
	}
	if n := len(of[record.RolledBack](w.records(0), "")); n != map[bool]int{true: 1, false: 2}[touched == "notes/b.md"] {
		t.Errorf("%d were put back", n)
	}
	sessions := of[record.Session](w.records(0), "")
	if !slices.ContainsFunc(sessions, func(b record.Session) bool { return b.Transition == record.SessionAborted }) {
		t.Error("nothing says that it was aborted")
	}
}

// history makes sessions over two runtimes: s1 honest and closed, a stealth write
// between runtimes, s2 honest and left open, and a stealth write at the end.
func history(t *testing.T) (w *world, first, second string) {
	e := newEnv(t)
	w = e.start()
	s := w.session("one")
	s.Call(t.Context(), call(rev, "a.md", write))
	first = s.ID()
	w.must(s.Close(t.Context()))
	w.stop()
	e.write(filepath.Join(e.work, "between.md"), "x\n")
	w = e.start()
	s = w.session("two")
	s.Call(t.Context(), call(irrev, "notes/c.md", remove))
	return w, first, s.ID()
}

// offline judges without a runtime.
func (w *world) offline(c runtime.Case) (verdict.Report, error) {
	_, err := w.parts.Log.Checkpoint(w.Context())
	w.must(err)
	c.View, c.Store, c.Trust = w.parts.Log.View(), w.parts.Log.Store(), w.parts.Trust
	return runtime.Judge(w.Context(), c)
}

func (w *world) final() map[string]*corpus.Snapshot {
	out := make(map[string]*corpus.Snapshot)
	for _, c := range w.parts.Corpora {
		s, err := c.Observer.Snapshot(w.Context())
		w.must(err)
		out[c.Name] = s
	}
	return out
}

func TestIntervals(t *testing.T) {
	w, first, second := history(t)
	for name, c := range map[string]struct {
		c      runtime.Case
		result record.Result
		object corpus.Object
	}{
		"first session":        {runtime.Case{Session: first}, record.Pass, ""},
		"first session, now":   {runtime.Case{Session: first, Final: w.final(), At: time.Now()}, record.Pass, ""},
		"second session, now":  {runtime.Case{Session: second, Final: w.final(), At: time.Now()}, record.Pass, ""},
		"newest, now":          {runtime.Case{Final: w.final(), At: time.Now()}, record.Pass, ""},
		"from the first on":    {runtime.Case{From: w.opened(first), Final: w.final(), At: time.Now()}, record.Fail, "work/between.md"},
		"up to the second's":   {runtime.Case{From: w.opened(first), To: w.opened(second)}, record.Fail, "work/between.md"},
		"the first's alone":    {runtime.Case{From: w.opened(first), To: w.opened(first) + 3}, record.Pass, ""},
		"from the second's on": {runtime.Case{From: w.opened(second), Final: w.final(), At: time.Now()}, record.Pass, ""},
		"the end":              {runtime.Case{From: w.size() - 3, Final: w.final(), At: time.Now()}, record.Pass, ""},
	} {
		report, err := w.offline(c.c)
		if err != nil || report.Result != c.result {
			t.Errorf("%s: %s %+v %v", name, report.Result, report.Findings, err)
		}
		if c.object != "" && (len(report.Findings) != 1 || report.Findings[0].Object != c.object || report.Findings[0].Class != verdict.Bypass) {
			t.Errorf("%s: %+v", name, report.Findings)
		}
	}
	for name, c := range map[string]runtime.Case{
		"open, and nobody looked": {Session: second}, "unknown": {Session: "s9.9"}, "before any snapshot": {From: 1, To: 3}, "backwards": {From: 9, To: 5},
		"nothing": {From: 5, To: 5}, "behind the end": {From: w.size(), Final: w.final()}, "negative": {From: -1}, "negative end": {To: -1}, "both": {From: 3, Session: first},
		"not over": {From: w.size() - 3},
	} {
		if report, err := w.offline(c); err == nil || report.Result == record.Pass {
			t.Errorf("%s: %s", name, report.Result)
		}
	}
	w.stop()
}

func (w *world) opened(session string) int64 {
	w.Helper()
	_, err := w.parts.Log.Checkpoint(w.Context())
	w.must(err)
	r, err := runtime.Opening(w.Context(), w.parts.Log.View(), w.parts.Log.Store(), session)
	w.must(err)
	return r.Seq
}

// After a stealth write live and offline say the same.
func TestOfflineIsLive(t *testing.T) {
	w, _, second := history(t)
	w.env.write(filepath.Join(w.work, "stealth.md"), "x\n")
	w.env.write(filepath.Join(w.work, "skills/helper/run.sh"), "x\n")
	w.env.write(filepath.Join(w.work, "notes/agents.md"), "x\n")
	live, err := w.rt.Verdict(t.Context(), second)
	w.must(err)
	guards, err := runtime.GuardOf(w.parts.Corpora, w.parts.ControlFiles, w.parts.Directories)
	w.must(err)
	offline, err := w.offline(runtime.Case{Session: second, Final: w.final(), At: time.Now(), Observers: runtime.Observers(w.parts.Corpora), Guarded: guards})
	w.must(err)
	short := func(r verdict.Report) (out []string) {
		for _, f := range r.Findings {
			out = append(out, string(f.Class)+" "+string(f.Object))
		}
		slices.Sort(out)
		return out
	}
	want := []string{"bypass work/stealth.md", "tamper work/notes/agents.md", "tamper work/skills/helper/run.sh"}
	if live.Result != record.Fail || !slices.Equal(short(live), want) || !slices.Equal(short(offline), want) {
		t.Errorf("live %s %v, offline %s %v", live.Result, short(live), offline.Result, short(offline))
	}
	if got := of[record.Verdict](w.records(0), ""); len(got) != 1 || got[0].Result != record.Fail {
		t.Errorf("recorded: %+v", got)
	}
	w.stop()
}

// Behind many barriers whole snapshots are there again, and intervals begin at
// any of them.
func TestManyBarriers(t *testing.T) {
	w := newEnv(t).start()
	s := w.session("agent")
	for range 300 {
		if r := s.Call(t.Context(), call("fs.read", "a.md", `{}`)); r.Status != gate.Done {
			t.Fatalf("%+v", r)
		}
		w.must(w.rt.Barrier(t.Context()))
	}
	whole := 0
	for _, b := range of[record.Barrier](w.records(0), "") {
		if b.Corpora[0].Base == (record.Hash{}) {
			whole++
		}
	}
	if whole != 2 {
		t.Errorf("%d are whole", whole)
	}
	if w.verdict(s.ID()) != record.Pass {
		t.Error("not PASS")
	}
	for _, from := range []int64{20, w.size() / 2, w.size() - 30} {
		if report, err := w.offline(runtime.Case{From: from, Final: w.final(), At: time.Now()}); err != nil || report.Result != record.Pass {
			t.Errorf("from %d: %s %v", from, report.Result, err)
		}
	}
	w.stop()
}

// A store that was tampered with is never PASS.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string){
		"a snapshot is gone": func(t *testing.T, dir string) { blobs(t, dir, os.Remove) },
		"a snapshot is another": func(t *testing.T, dir string) {
			blobs(t, dir, func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) })
		},
		"a record is another":  func(t *testing.T, dir string) { edit(t, dir, `"target":"a.md"`, `"target":"b.md"`) },
		"a barrier is another": func(t *testing.T, dir string) { edit(t, dir, `"round":2`, `"round":9`) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			for i := range 200 {
				e.write(filepath.Join(e.work, "many", strings.Repeat("x", i+1)), "x\n")
			}
			w := e.start()
			s := w.session("agent")
			for range 50 {
				s.Call(t.Context(), call(rev, "a.md", attach))
			}
			c := runtime.Case{Session: s.ID(), Final: w.final(), At: time.Now()}
			if report, err := w.offline(c); err != nil || report.Result != record.Pass {
				t.Fatalf("%s %v", report.Result, err)
			}
			damage(t, filepath.Join(e.home, "log"))
			report, err := w.offline(c)
			if err == nil || report.Result == record.Pass {
				t.Errorf("%s %v", report.Result, err)
			}
			t.Log(err)
			w.must(w.release())
		})
	}
}

// What stands behind an interval vouches for it: where the chain does not hold up
// to the end, nothing is judged.
func TestDamageBehind(t *testing.T) {
	w, first, _ := history(t)
	if report, err := w.offline(runtime.Case{Session: first}); err != nil || report.Result != record.Pass {
		t.Fatalf("%s %v", report.Result, err)
	}
	edit(t, filepath.Join(w.home, "log"), `"target":"notes/c.md"`, `"target":"notes/d.md"`)
	report, err := w.offline(runtime.Case{Session: first})
	if err == nil || report.Result == record.Pass {
		t.Errorf("%s %v", report.Result, err)
	}
	w.must(w.release())
}

func blobs(t *testing.T, dir string, f func(string) error) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "blob-") {
			n++
			err = f(path)
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatalf("%d blobs: %v", n, err)
	}
}

func edit(t *testing.T, dir, old, text string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || len(text) != len(old) {
			return errors.Join(err, errors.New("another length"))
		}
		n += strings.Count(string(data), old)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte(strings.Replace(string(data), old, text, 1)), 0)
		return errors.Join(err, f.Close())
	})
	if err != nil || n == 0 {
		t.Fatalf("%d places: %v", n, err)
	}
}
