package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/observe/control"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// watched has the runtime observe an agent's settings outside of every corpus.
func (e *env) watched(keys ...string) (settings string, with func(*world)) {
	e.Helper()
	settings = filepath.Join(e.outside, "agent.json")
	if _, err := os.Stat(settings); err != nil {
		e.must(os.MkdirAll(e.outside, 0o755))
		e.must(os.WriteFile(settings, []byte(`{"starts":1,"tools":["iff"]}`), 0o600))
	}
	return settings, func(w *world) {
		o, err := control.New([]control.File{{Object: "~/agent.json", Path: settings, Keys: append(keys, "tools")}, {Object: "~/.agent/hooks", Path: filepath.Join(e.outside, "hooks")}})
		e.must(err)
		w.parts.Corpora = append(w.parts.Corpora, runtime.ControlFiles(o))
	}
}

// A change of a control file outside of every corpus is tampering, whoever made it;
// what does not count and what no file is, is not.
func TestControlFilesOutsideAreGuarded(t *testing.T) {
	for name, c := range map[string]struct {
		change func(settings string) error
		object corpus.Object
	}{
		"honest":  {func(s string) error { return os.WriteFile(s, []byte(`{"tools":["iff"],"starts":2}`), 0o600) }, ""},
		"tools":   {func(s string) error { return os.WriteFile(s, []byte(`{"starts":1,"tools":["iff","other"]}`), 0o600) }, "iff-control/~/agent.json"},
		"removed": {os.Remove, "iff-control/~/agent.json"},
		"a hook":  {func(s string) error { return os.WriteFile(filepath.Join(filepath.Dir(s), "hooks"), nil, 0o600) }, "iff-control/~/.agent/hooks"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			settings, with := e.watched()
			w := e.start(with)
			s := w.session("agent")
			if r := s.Call(t.Context(), call(rev, "notes/new.md", write)); r.Status == gate.Denied {
				t.Errorf("%+v", r)
			}
			w.must(c.change(settings))
			report, err := w.rt.Verdict(t.Context(), s.ID())
			w.must(err)
			if c.object == "" {
				if report.Result == record.Fail {
					t.Errorf("%+v", report.Findings)
				}
				w.stop()
				return
			}
			if report.Result != record.Fail || len(report.Findings) != 1 || report.Findings[0].Class != verdict.Tamper || report.Findings[0].Object != c.object {
				t.Errorf("%s: %+v", report.Result, report.Findings)
			}
			w.stop()
		})
	}
}

// No call reaches a control file, however it is spelled.
func TestNoCallTargetsControlFiles(t *testing.T) {
	e := newEnv(t)
	settings, with := e.watched()
	w := e.start(with)
	before, err := os.ReadFile(settings)
	w.must(err)
	w.ask.says(record.Approve)
	s := w.session("agent")
	for _, target := range []string{"iff-control:~/agent.json", "iff-control:agent.json", settings, "~/agent.json", "iff-control:."} {
		for _, class := range []string{rev, irrev, "fs.read"} {
			if r := s.Call(t.Context(), call(class, target, write)); r.Status != gate.Denied && r.Status != gate.Failed {
				t.Errorf("%s %s: %+v", class, target, r)
			}
		}
	}
	if after, err := os.ReadFile(settings); err != nil || string(after) != string(before) {
		t.Errorf("%s, %v", after, err)
	}
	w.stop()
}

// Between two lists of control files nothing can be compared: that is said, and no
// tampering is made of it.
func TestOtherControlFilesAreNoTampering(t *testing.T) {
	e := newEnv(t)
	_, with := e.watched()
	w := e.start(with)
	id := w.session("agent").ID()
	w.crash()
	_, with = e.watched("hooks")
	w = e.start(with)
	_, err := w.rt.Verdict(t.Context(), id)
	if err == nil || !strings.Contains(err.Error(), "guard.home") {
		t.Errorf("%v", err)
	}
	w.stop()
}

// A corpus that calls itself iff-control is none of control files.
func TestControlIsNoName(t *testing.T) {
	e := newEnv(t)
	_, err := e.tryStart(func(w *world) { w.parts.Corpora[0].Name = runtime.ControlCorpus })
	if err == nil || !strings.Contains(err.Error(), "choose another") {
		t.Errorf("%v", err)
	}
}
