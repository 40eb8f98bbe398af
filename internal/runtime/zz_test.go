package runtime_test

import "testing"

func TestZZ(t *testing.T) {
	w := newEnv(t).start()
	s := w.session("a")
	t.Logf("%+v", s.Call(t.Context(), call(irrev, "a.md", to("./skills/helper/run.sh"))))
	t.Logf("%+v", s.Call(t.Context(), call(irrev, "a.md", to("../work/AGENTS.md"))))
	t.Log(len(w.ask.questions()))
	w.stop()
}
