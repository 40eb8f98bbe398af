package runtime_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
)

// text fills in what is known only here.
func (e *env) text(target string) string {
	return strings.NewReplacer("WORK/", e.work+"/", "OUTSIDE/", e.outside+"/").Replace(target)
}

// try makes one attempt and checks what is recorded of it.
func (w *world) try(t *testing.T, s *runtime.Session, a attempt, choice record.Choice) gate.Reply {
	t.Helper()
	w.ask.says(choice)
	from := w.size()
	reply := s.Call(t.Context(), call(a.class, w.text(a.target), a.args))
	asked := w.ask.questions()
	if len(asked) != 1 || asked[0].Guarded == "" {
		t.Errorf("%s: asked %d times: %+v", a.name, len(asked), reply)
		return reply
	}
	records := w.records(from)
	guarded := ""
	for _, r := range of[record.Request](records, reply.Request) {
		guarded = r.Guarded
	}
	for _, r := range of[record.ReversibleRequest](records, reply.Request) {
		guarded = r.Guarded
	}
	if guarded == "" || guarded != asked[0].Guarded {
		t.Errorf("%s: the request says guarded %q, the question %q", a.name, guarded, asked[0].Guarded)
	}
	mutations := of[record.Mutation](records, reply.Request)
	if len(mutations) != 1 {
		t.Errorf("%s: %d mutation records", a.name, len(mutations))
		return reply
	}
	m := mutations[0]
	if m.Route != a.route || m.Before == "" || m.Proposed == "" || m.After == "" || m.Object == "" || m.Approved != (choice == record.Approve) {
		t.Errorf("%s: %+v, not route %s", a.name, m, a.route)
	}
	if (choice == record.Deny || a.hides) && m.After != m.Before {
		t.Errorf("%s: nothing happened, and %+v", a.name, m)
	}
	return reply
}

// served is all that a session is given of the skills.
func (w *world) served(t *testing.T, s *runtime.Session) string {
	t.Helper()
	var out strings.Builder
	for _, k := range w.rt.Skills() {
		c, err := s.Use(t.Context(), k.Name)
		w.must(err)
		out.WriteString(c.Text)
		for _, f := range c.Files {
			data, err := s.ReadSkill(t.Context(), k.Name, f.Path)
			w.must(err)
			out.WriteString(f.Path + "\n" + string(data))
		}
	}
	return out.String()
}

func setUp(e *env, attempts []attempt) {
	link("l-sub", "skills/helper/sub")(e)
	for _, a := range attempts {
		if a.setup != nil {
			a.setup(e)
		}
	}
}

// Every way to a guarded object asks somebody, and when they say no nothing has
// happened, and what was tried is recorded with the states.
func TestMutationsDenied(t *testing.T) {
	all := slices.Concat(plain(), hidden())
	e := newEnv(t)
	setUp(e, all)
	w := e.start()
	s := w.session("agent")
	before := w.tree()
	for _, a := range all {
		if reply := w.try(t, s, a, record.Deny); reply.Status != gate.Denied {
			t.Errorf("%s: %+v", a.name, reply)
		}
	}
	if w.tree() != before {
		t.Error("something changed")
	}
	if w.verdict("") != record.Pass {
		t.Error("not PASS")
	}
	w.stop()
}

// What hides where it leads is not done even if somebody approves it.
func TestHiddenMutationsApproved(t *testing.T) {
	e := newEnv(t)
	setUp(e, hidden())
	w := e.start()
	s := w.session("agent")
	before := w.tree()
	for _, a := range hidden() {
		if reply := w.try(t, s, a, record.Approve); reply.Status != gate.Failed || reply.Reason == "" {
			t.Errorf("%s: %+v", a.name, reply)
		}
	}
	if w.tree() != before {
		t.Error("something changed")
	}
	if w.verdict("") != record.Pass {
		t.Error("not PASS")
	}
	w.stop()
}

// In plain words and approved it is done; what is served stays as it was loaded,
// and the next bootstrap refuses a skill that is not what was signed.
func TestMutationsApproved(t *testing.T) {
	for _, a := range plain() {
		t.Run(a.name, func(t *testing.T) {
			e := newEnv(t)
			setUp(e, []attempt{a})
			w := e.start()
			s, reader := w.session("agent"), w.session("reader")
			served := w.served(t, reader)
			before := w.tree()
			if reply := w.try(t, s, a, record.Approve); reply.Status != gate.Done {
				t.Errorf("%+v", reply)
			}
			if w.tree() == before {
				t.Error("nothing changed")
			}
			if w.served(t, reader) != served {
				t.Error("what is served changed")
			}
			if w.verdict("") != record.Pass {
				t.Error("not PASS")
			}
			w.stop()
			e.nextRefuses(a)
		})
	}
}

// nextRefuses starts again: whatever touched a signed file is refused.
func (e *env) nextRefuses(a attempt) {
	e.Helper()
	w := e.start()
	defer w.stop()
	of, in := a.target, func(dir string) bool { return strings.Contains(a.target+a.args, dir) }
	changed := in("skills/helper") || in("skills/wíld") || of == "skills"
	harmless := a.route == "case" || a.route == "spelling" || a.name == "rename a tree into" || a.name == "mode of the skill" || a.name == "mode of the parent" || a.name == "new directory"
	if changed && !harmless && len(w.refused) == 0 {
		e.Errorf("a changed skill was loaded")
	}
	if !changed && len(w.refused) > 0 {
		e.Errorf("refused: %v", w.refused)
	}
}

// After it is signed again the next bootstrap takes it.
func TestSignedAgain(t *testing.T) {
	e := newEnv(t)
	w := e.start()
	s := w.session("agent")
	w.try(t, s, plain()[0], record.Approve)
	w.stop()
	w = e.start()
	if len(w.refused) != 1 {
		t.Errorf("refused: %v", w.refused)
	}
	w.stop()
	e.sign(filepath.Join(e.work, "skills", "helper"), "helper", "declared", allFiles, 2)
	w = e.start()
	c, err := w.session("agent").ReadSkill(t.Context(), "helper", "run.sh")
	if len(w.refused) > 0 || err != nil || string(c) != "evil\n" {
		t.Errorf("%v %v %q", w.refused, err, c)
	}
	w.stop()
}

// The planted bug: a guard that compares the text of the target with the skill's
// path lets most routes through.
func TestTextGuardIsNotEnough(t *testing.T) {
	naive := func(a attempt) bool {
		return strings.HasPrefix(a.target, "skills/helper/") || strings.HasPrefix(a.target, "skills/wíld/") || filepath.Base(a.target) == "AGENTS.md"
	}
	through := 0
	for _, a := range slices.Concat(plain(), hidden()) {
		if !naive(a) {
			through++
		}
	}
	if t.Logf("%d routes go past it", through); through < 20 {
		t.Error("the attempts do not show what a naive guard misses")
	}
}
