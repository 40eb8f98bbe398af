package runtime_test

import (
	"testing"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// The record of what was tried on a skill that lies in no corpus has the state of
// the file, as iff reads it.
func TestMutationOutsideOfEveryCorpus(t *testing.T) {
	e := newEnv(t)
	link("l-out", "OUTSIDE/remote/run.sh")(e)
	link("l-dir", "OUTSIDE/remote")(e)
	w := e.start()
	link("../outside/remote/l-away", "../plain.txt")(e)
	s := w.session("agent")
	run := corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644}, "echo remote\n", nil).State()
	away := corpus.NewCopy(corpus.Facts{Kind: corpus.Link}, "../plain.txt", nil).State()
	for _, c := range []struct {
		target, path string
		state        corpus.State
	}{
		{"l-out", "run.sh", run},
		{"l-dir/run.sh", "run.sh", run},
		{"OUTSIDE/remote/run.sh", "run.sh", run},
		{"../outside/remote/run.sh", "run.sh", run},
		{"../OutSide/remote/run.sh", "run.sh", run},
		{"../outside/remote/l-away", "l-away", away},
		{"../outside/remote/l-away/below", "l-away/below", corpus.Absent},
		{"l-dir/not-yet.sh", "not-yet.sh", corpus.Absent},
	} {
		w.ask.says(record.Deny)
		from := w.size()
		reply := s.Call(t.Context(), call(rev, w.text(c.target), write))
		all := of[record.Mutation](w.records(from), reply.Request)
		if len(all) != 1 {
			t.Errorf("%s: %d mutation records: %+v", c.target, len(all), reply)
			continue
		}
		m := all[0]
		if m.Object != "iff-skills/remote/"+c.path || m.Before != string(c.state) || m.After != m.Before || m.Proposed != string(corpus.Unreadable) {
			t.Errorf("%s: %+v, not %s", c.target, m, c.state)
		}
	}
	w.stop()
}
