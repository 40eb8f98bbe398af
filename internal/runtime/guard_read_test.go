package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
)

func levelIs(t *testing.T, w *world, s *runtime.Session, want string) {
	t.Helper()
	if at, err := w.rt.Standing(s.ID()); err != nil || at.Level != want {
		t.Errorf("%+v %v, not %s", at, err, want)
	}
}

// Whoever reads a file of an unverified skill, by whatever name, has been given
// it; also after a crash, and until a reset.
func TestReadOfASkillIsADelivery(t *testing.T) {
	e := newEnv(t)
	e.must(os.Link(filepath.Join(e.work, "skills", "wíld", "run.sh"), filepath.Join(e.work, "notes", "hard.sh")))
	w := e.start()
	for i, target := range []string{"skills/wíld/SKILL.md", "skills/wíld/sub/more.md", "notes/hard.sh"} {
		agent := "agent " + target
		s := w.session(agent)
		for _, args := range []string{`{"op":"stat"}`, `{"op":"list"}`} {
			s.Call(t.Context(), call("fs.read", target, args))
		}
		s.Call(t.Context(), call("fs.read", "skills/wíld", `{"op":"list"}`))
		s.Call(t.Context(), call("fs.read", "skills/helper/SKILL.md", `{}`))
		levelIs(t, w, s, "declared")
		r := s.Call(t.Context(), call("fs.read", target, `{}`))
		if i < 2 && r.Status != gate.Done {
			t.Errorf("%s: %+v", target, r)
		}
		levelIs(t, w, s, "unverified")
		if r := s.Call(t.Context(), call(rev, "notes/c.md", write)); r.Status != gate.StagedStatus {
			t.Errorf("%s: %+v", target, r)
		}
		if at, _ := w.rt.Standing(s.ID()); at.Skill != "" {
			t.Errorf("%s: %q is active", target, at.Skill)
		}
	}
	w.crash()
	w = e.start()
	levelIs(t, w, w.session("agent skills/wíld/SKILL.md"), "unverified")
	levelIs(t, w, w.session("agent notes/hard.sh"), "unverified")
	levelIs(t, w, w.session("somebody else"), "declared")
	w.must(w.rt.Forgive("agent notes/hard.sh", "me"))
	levelIs(t, w, w.session("agent notes/hard.sh"), "declared")
	w.stop()
}

// A skill that was refused, or is not trusted any more, is read as unverified.
func TestReadOfARefusedSkill(t *testing.T) {
	e := newEnv(t)
	e.write(filepath.Join(e.work, "skills", "helper", "run.sh"), "evil\n")
	w := e.start(func(w *world) {
		for dir := range w.refused {
			w.parts.Directories["refused"] = dir // as a bootstrap does
		}
	})
	if len(w.refused) != 1 {
		t.Fatal(w.refused)
	}
	s := w.session("agent")
	s.Call(t.Context(), call("fs.read", "skills/helper/SKILL.md", `{}`))
	levelIs(t, w, s, "unverified")
	w.stop()
}

// The active skill of a session stays, and a pause does too.
func TestReadOfASkillAndResume(t *testing.T) {
	e := newEnv(t)
	w := e.start()
	s := use(w, "helper")
	s.Call(t.Context(), call("fs.read", "skills/wíld/SKILL.md", `{}`))
	w.must(w.rt.Pause(t.Context(), s.ID()))
	w.crash()
	w = e.start()
	again, err := w.rt.Open(t.Context(), s.Agent(), runtime.OpenOptions{Resume: s.ID()})
	w.must(err)
	at, err := w.rt.Standing(again.ID())
	if err != nil || at.Skill != "helper" || at.Level != "unverified" || at.State != "paused" {
		t.Errorf("%+v %v", at, err)
	}
	w.stop()
}

// A key gives nobody after a reset what was read before it.
func TestKeysAfterAReset(t *testing.T) {
	e := newEnv(t)
	e.write(e.work+"/secret/s.md", "top\n")
	w := e.start(secret)
	s := w.session("agent")
	read := keyed(call("fs.read", "secret/s.md", `{}`), "K1")
	if r := s.Call(t.Context(), read); r.Status != gate.Done || !strings.Contains(string(r.Result), "top") {
		t.Errorf("%+v", r)
	}
	if r := s.Call(t.Context(), read); !strings.Contains(string(r.Result), "top") {
		t.Errorf("asked again: %+v", r)
	}
	w.must(w.rt.Forgive("agent", "me"))
	if r := s.Call(t.Context(), read); r.Status != gate.Done || r.Result != nil || r.Message == "" {
		t.Errorf("asked again after a reset: %+v", r)
	}
	if r := s.Call(t.Context(), call(irrev, "a.md", write)); r.Reason != gate.SinkBelowMark {
		t.Errorf("what is told again is not read: %+v", r)
	}
	w.must(w.rt.Forgive("agent", "me"))
	if r := s.Call(t.Context(), call(irrev, "a.md", write)); r.Status != gate.Done {
		t.Errorf("%+v", r)
	}
	w.stop()
}
