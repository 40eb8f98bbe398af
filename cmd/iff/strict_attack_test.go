package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// trespasses are what an agent would do to get around the gate, as shell commands
// that leave things as they were. $H is the home, $N the corpus, $S the directory of
// the agents' sockets, $P the runtime's process.
var trespasses = map[string]string{
	"lists the home":                 `ls $H`,
	"reads the configuration":        `cat $H/iff.toml`,
	"reads a key":                    `cat $H/keys/approver.key`,
	"reads the log's key":            `cat $H/keys/log*.key`,
	"reads the log":                  `ls $H/log && cat $H/log/*`,
	"writes into the home":           `: >$H/x && rm $H/x`,
	"puts the home elsewhere":        `mv $H $H.x && mv $H.x $H`,
	"lists the corpus":               `ls $N`,
	"reads the corpus":               `cat $N/todo.md`,
	"writes to the corpus":           `: >$N/x && rm $N/x`,
	"reads the passphrase":           `cat $H/../pass`,
	"reads the anchor":               `ls $H/../anchor`,
	"asks the operator's socket":     `iff inbox --home $H`,
	"reads the log with iff":         `iff audit show --home $H`,
	"ends the runtime's process":     `kill -0 $P`,
	"looks into the process":         `head -c 1 /proc/$P/environ && ls /proc/$P/fd/`,
	"takes a socket away":            `mv $S/mcp.sock $S/x && mv $S/x $S/mcp.sock`,
	"puts a file among the sockets":  `: >$S/x && rm $S/x`,
	"puts a link among the sockets":  `ln -s $N $S/x && rm $S/x`,
	"puts another directory there":   `mv $S $S.x && mv $S.x $S`,
	"opens the directory to others":  `chmod 2751 $S && chmod 2750 $S`,
	"makes the sockets somebody's":   `chmod 600 $S/mcp.sock && chmod 666 $S/mcp.sock`,
	"puts something beside the home": `mkdir $H/../x && rmdir $H/../x`,
}

// Nothing of it is open to an agent that is another user. The planted bug is an
// agent that runs as the operator: to that all of it is.
func TestStrictUsersTrespass(t *testing.T) {
	w := newTown(t)
	w.found()
	w.serve()
	env := fmt.Sprintf("H=%s N=%s S=%s P=%d; ", w.home, w.notes, w.agents, w.runtime())
	for what, script := range trespasses {
		if w.sh(w.agent, env+script) {
			t.Errorf("the agent %s", what)
		}
		if w.sh(w.stranger, env+script) {
			t.Errorf("a stranger %s", what)
		}
		if !w.sh(w.operator, env+script) {
			t.Errorf("the agent that runs as the operator does not get to this, so nothing is tried: it %s", what)
		}
	}
	w.kernelsWord()
	w.impostor()
	agent := w.mcp(w.agent)
	w.uses(agent, "done", "fs_read", map[string]any{"path": "todo.md"})
	need(t, agent.Close())
}

// runtime is the process of the runtime.
func (w *town) runtime() int {
	w.t.Helper()
	var now statusJSON
	need(w.t, json.Unmarshal([]byte(w.operate(exitHolds, "", "status", "--json")), &now))
	if now.Runtime.PID == 0 {
		w.t.Fatalf("no runtime runs: %+v", now)
	}
	return now.Runtime.PID
}

// refused wants a connection to be refused with a reason.
func (w *town) refused(u user, reason string, args ...string) {
	w.t.Helper()
	out, code := w.iff(u, "", args...)
	if code == exitHolds || !strings.Contains(out, reason) {
		w.t.Errorf("uid %d, iff %s: exit %d, want %s:\n%s", u.uid, strings.Join(args, " "), code, reason, out)
	}
}

// kernelsWord tries sockets whose modes let everybody in: who is connected decides.
func (w *town) kernelsWord() {
	w.t.Helper()
	run := filepath.Join(w.home, "run")
	sock := filepath.Join(run, "operator.sock")
	modes := func(dir, socket os.FileMode) {
		need(w.t, errors.Join(os.Chmod(w.home, dir), os.Chmod(run, dir), os.Chmod(sock, socket)))
	}
	w.refused(w.agent, "runtime-not-running", "session", "run", "--socket", sock, "-")
	modes(0o711, 0o666)
	w.refused(w.agent, "not-operator", "session", "run", "--socket", sock, "-")
	modes(0o700, 0o600)
	root := user{dir: w.dir}
	for _, u := range []user{w.operator, w.stranger, root} {
		w.refused(u, "not-agent", "session", "run", "--socket", w.socket("agent.sock"), "-")
	}
	w.refused(w.operator, "not-agent", "session", "run", "--home", w.home, "-")
	w.refused(w.operator, "not-agent", "mcp", "--home", w.home)
}

// impostor is an agent with a runtime of its own, which would be the operator's.
func (w *town) impostor() {
	w.t.Helper()
	before := w.runtime()
	home, pass := filepath.Join(w.agent.dir, "iff"), filepath.Join(w.agent.dir, "pass")
	if !w.sh(w.agent, fmt.Sprintf(`echo "correct horse" >%s && iff init --home %s --operator me --passphrase-file %s`, pass, home, pass)) {
		w.t.Fatal("the agent makes no home")
	}
	shared := fmt.Sprintf(`printf '\n[serve]\nagent_dir = "%s"\nagents = ["%d"]\n' >>%s/iff.toml && chmod 755 %s`, w.agents, strangerID, home, home)
	if !w.sh(w.agent, shared) {
		w.t.Fatal("the agent writes no settings")
	}
	w.refused(w.agent, "home-exposed", "serve", "--detach", "--home", home)
	w.refused(w.operator, "home-exposed", "inbox", "--home", home)
	w.serveStop()
	w.refused(w.agent, "home-exposed", "serve", "--detach", "--home", home)
	w.refused(w.agent, "runtime-not-running", "session", "run", "--socket", w.socket("agent.sock"), "-")
	w.serve()
	if after := w.runtime(); after == before {
		w.t.Errorf("process %d is the runtime before and after it was ended", after)
	}
}

// What is spoiled keeps the runtime from starting, and it starts when it is mended.
func TestStrictUsersSpoiled(t *testing.T) {
	w := newTown(t)
	w.found()
	socket, run := w.socket("mcp.sock"), filepath.Join(w.dir, "run")
	for what, c := range map[string]struct {
		reason      string
		spoil, mend func() error
	}{
		"the directory of the sockets is the agent's": {"home-exposed", owned(w.agents, agentID, groupID), asMade(w.agents)},
		"it is root's":                           {"home-exposed", owned(w.agents, 0, groupID), asMade(w.agents)},
		"its group writes to it":                 {"home-exposed", chmodded(w.agents, 0o770), asMade(w.agents)},
		"it is a link":                           {"home-exposed", linked(w.agents), unlinked(w.agents)},
		"the one above it is the agent's":        {"home-exposed", owned(run, agentID, agentID), owned(run, operatorID, operatorID)},
		"everybody writes to the one above it":   {"home-exposed", chmodded(run, 0o777), chmodded(run, 0o755)},
		"the home's group writes to it":          {"home-exposed", chmodded(w.home, 0o770), chmodded(w.home, 0o700)},
		"the home's group reads it":              {"keys-exposed", chmodded(w.home, 0o750), chmodded(w.home, 0o700)},
		"the home is the agent's":                {"home-exposed", owned(w.home, agentID, operatorID), owned(w.home, operatorID, operatorID)},
		"the one above the home is the agent's":  {"home-exposed", owned(w.operator.dir, agentID, 0), owned(w.operator.dir, operatorID, operatorID)},
		"everybody writes to the one above home": {"home-exposed", chmodded(w.operator.dir, 0o777), chmodded(w.operator.dir, 0o755)},
		"a key is the agent's":                   {"keys-exposed", owned(filepath.Join(w.home, "keys/approver.key"), agentID, 0), owned(filepath.Join(w.home, "keys/approver.key"), operatorID, operatorID)},
		"a link is where a socket will be": {"socket-occupied", func() error { return os.Symlink(filepath.Join(w.notes, "todo.md"), socket) },
			func() error { return os.Remove(socket) }},
	} {
		t.Run(what, func(t *testing.T) {
			w := *w
			w.t = t
			need(t, c.spoil())
			w.refused(w.operator, c.reason, "serve", "--detach", "--home", w.home)
			need(t, c.mend())
			w.operate(exitHolds, "strict agents", "doctor")
		})
	}
	w.squatted(socket)
	w.crashed()
	w.masked()
}

func owned(path string, uid, gid int) func() error {
	return func() error { return os.Lchown(path, uid, gid) }
}

func chmodded(path string, to os.FileMode) func() error {
	return func() error { return os.Chmod(path, to) }
}

// asMade gives the directory of the sockets the owner and the mode that it had.
func asMade(path string) func() error {
	return func() error {
		return errors.Join(os.Chown(path, operatorID, groupID), os.Chmod(path, 0o750|os.ModeSetgid))
	}
}

func linked(path string) func() error {
	return func() error { return errors.Join(os.Rename(path, path+".x"), os.Symlink(path+".x", path)) }
}

func unlinked(path string) func() error {
	return func() error { return errors.Join(os.Remove(path), os.Rename(path+".x", path)) }
}

// squatted has somebody answer where a socket will be.
func (w *town) squatted(socket string) {
	w.t.Helper()
	l, err := net.Listen("unix", socket)
	need(w.t, err)
	need(w.t, os.Chmod(socket, 0o666))
	w.refused(w.operator, "socket-occupied", "serve", "--detach", "--home", w.home)
	need(w.t, l.Close())
	w.serve()
}

// crashed leaves dead sockets: the next runtime takes their places.
func (w *town) crashed() {
	w.t.Helper()
	pid := w.runtime()
	need(w.t, syscall.Kill(pid, syscall.SIGKILL))
	for range 600 {
		if out, _ := w.iff(w.operator, "", "inbox", "--json", "--home", w.home); strings.Contains(out, `"running": false`) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := os.Lstat(w.socket("mcp.sock")); err != nil {
		w.t.Errorf("no dead socket is left: %v", err)
	}
	w.serve()
	agent := w.mcp(w.agent)
	w.uses(agent, "done", "fs_read", map[string]any{"path": "todo.md"})
	need(w.t, agent.Close())
	w.serveStop()
}

// masked starts with a mask that hides nothing, and one that hides all: modes are as
// they have to be.
func (w *town) masked() {
	w.t.Helper()
	for _, mask := range []string{"000", "077"} {
		need(w.t, os.Remove(w.agents))
		if !w.sh(w.operator, "umask "+mask+"; iff serve --detach --home "+w.home) {
			w.t.Fatalf("no runtime with umask %s", mask)
		}
		for path, want := range map[string]os.FileMode{
			w.home: 0o700, filepath.Join(w.home, "run"): 0o700, filepath.Join(w.home, "run/operator.sock"): 0o600,
			w.agents: 0o750, w.socket("agent.sock"): 0o666, w.socket("mcp.sock"): 0o666,
		} {
			info, err := os.Lstat(path)
			need(w.t, err)
			if info.Mode().Perm() != want {
				w.t.Errorf("umask %s: %s has mode %04o, not %04o", mask, path, info.Mode().Perm(), want)
			}
		}
		w.serveStop()
	}
}
