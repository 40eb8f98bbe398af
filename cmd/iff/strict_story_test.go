package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The operator's home is in profile strict, and the agent is another user: what is
// granted works, what is not asks the operator, and what happens beside the gate is found.
func TestStrictUsers(t *testing.T) {
	w := newTown(t)
	w.found()
	w.doctored()
	w.serve()
	w.operate(exitHolds, "strict", "status")

	agent := w.mcp(w.agent)
	w.uses(agent, "done", "fs_read", map[string]any{"path": "todo.md"})
	w.uses(agent, "done", "fs_write", map[string]any{"path": "report.md", "content": "# Report\n"})
	w.uses(agent, "denied", "fs_read", map[string]any{"path": "../pass"})
	w.asked("approve", []string{"--yes", "--passphrase-file", w.pass}, func() {
		w.uses(agent, "done", "fs_delete", map[string]any{"path": "old.md", "reasoning": "it is old"})
	})
	need(t, agent.Close())

	script := `{"capability":"fs.read","target":"todo.md"}` + "\n" +
		`{"capability":"fs.write.rev","target":"report.md","arguments":{"op":"append","content":"More.\n"}}` + "\n" +
		`{"capability":"fs.write.irrev","target":"older.md","arguments":{"op":"delete"}}` + "\n"
	w.asked("deny", nil, func() {
		out, code := w.iff(w.agent, script, "session", "run", "--socket", w.socket("agent.sock"), "-")
		if code != exitRefused || !strings.Contains(out, "uid-61002") || !strings.Contains(out, "2 done, 1 denied") {
			t.Errorf("iff session run: exit %d:\n%s", code, out)
		}
	})
	text, err := os.ReadFile(filepath.Join(w.notes, "report.md"))
	if need(t, err); string(text) != "# Report\nMore.\n" {
		t.Errorf("report.md is %q", text)
	}

	log := w.operate(exitHolds, "uid-61002", "audit", "show")
	if strings.Contains(log, "same user as the agent") || strings.Contains(log, "agents run as the approver") {
		t.Errorf("the log says that the agent is the operator's user:\n%s", log)
	}
	w.operate(exitHolds, "PASS", "verdict")
	w.write(filepath.Join(w.notes, "todo.md"), "- nothing\n")
	w.operate(exitDoesNot, "FAIL", "verdict")
}

// asked has the operator answer what comes up while an agent acts.
func (w *town) asked(verb string, more []string, act func()) {
	w.t.Helper()
	var acting sync.WaitGroup
	acting.Go(act)
	w.decides(verb, more...)
	acting.Wait()
}

// doctored has iff doctor say that strict holds, and what the modes of directories
// let the agent do.
func (w *town) doctored() {
	w.t.Helper()
	doctor := w.operate(exitHolds, "strict agents", "doctor")
	for _, want := range []string{"ok    strict signature", "ok    strict anchor", "ok    strict agents", "ok    strict keys", "as 61002, iff runs as uid 61001", "ok    user ", "ok    approver "} {
		if !strings.Contains(doctor, want) {
			w.t.Errorf("iff doctor does not say %q:\n%s", want, doctor)
		}
	}
	if gets := "61002 gets into it without iff"; strings.Contains(doctor, gets) {
		w.t.Errorf("iff doctor says %q of a corpus that is the operator's alone", gets)
	} else {
		need(w.t, os.Chmod(w.notes, 0o755))
		w.operate(exitHolds, gets, "doctor")
		need(w.t, os.Chmod(w.notes, 0o700))
	}
	if strings.Contains(doctor, "cannot enter") {
		w.t.Errorf("iff doctor knows the groups of somebody without a name:\n%s", doctor)
	}
	need(w.t, os.Chmod(w.agents, 0o700|os.ModeSetgid))
	w.operate(exitHolds, "61002 cannot enter "+w.agents, "doctor")
	need(w.t, os.Chmod(w.agents, 0o750|os.ModeSetgid))
}
