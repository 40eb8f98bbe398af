package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/internal/keyfile/keyfiletest"
)

// user is somebody a program is run as. Nobody has to know the number.
type user struct {
	uid, gid uint32
	group    uint32 // one more, or zero
	dir      string // home and working directory
}

// town is a machine with an operator, whose home is in profile strict, and an agent,
// who is another user and shares a group with nobody but the directory of the sockets.
type town struct {
	t                                       *testing.T
	operator, agent, stranger               user
	dir, home, notes, agents, pass, program string
}

const (
	operatorID = 61001
	agentID    = 61002
	strangerID = 61003
	groupID    = 61010
)

// newTown makes the directories, and no home.
func newTown(t *testing.T) *town {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: profile strict with a second user, because only root can run programs as two users: sudo go test ./cmd/iff -run TestStrictUsers")
	}
	dir, err := os.MkdirTemp("", "iff-strict")
	need(t, err)
	w := &town{
		t: t, dir: dir, home: filepath.Join(dir, "operator/iff"), notes: filepath.Join(dir, "operator/notes"),
		agents: filepath.Join(dir, "run/agents"), pass: filepath.Join(dir, "operator/pass"), program: filepath.Join(dir, "bin/iff"),
		operator: user{operatorID, operatorID, 0, filepath.Join(dir, "operator")},
		agent:    user{agentID, agentID, groupID, filepath.Join(dir, "agent")},
		stranger: user{strangerID, strangerID, groupID, filepath.Join(dir, "stranger")},
	}
	t.Cleanup(func() {
		w.serveStop()
		need(t, os.RemoveAll(dir))
	})
	need(t, os.Chmod(dir, 0o755))
	w.mkdir("bin", 0o755, 0, 0)
	w.mkdir("run", 0o755, operatorID, operatorID)
	for _, u := range []user{w.operator, w.agent, w.stranger} {
		w.mkdir(filepath.Base(u.dir), 0o755, u.uid, u.gid)
	}
	w.mkdir("operator/notes", 0o700, operatorID, operatorID)
	w.mkdir("operator/anchor", 0o700, operatorID, operatorID)
	w.mkdir("run/agents", 0o750|os.ModeSetgid, operatorID, groupID)
	for name, text := range map[string]string{"pass": "correct horse\n", "notes/todo.md": "- renew the lease\n", "notes/old.md": "old\n", "notes/older.md": "older\n"} {
		w.write(filepath.Join(w.operator.dir, name), text)
	}
	w.copyProgram()
	return w
}

func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *town) mkdir(name string, mode os.FileMode, uid, gid uint32) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	need(w.t, os.Mkdir(path, 0o700))
	need(w.t, os.Chown(path, int(uid), int(gid)))
	need(w.t, os.Chmod(path, mode)) // after chown, which takes setgid away
}

// write makes a file that is the operator's alone.
func (w *town) write(path, text string) {
	w.t.Helper()
	need(w.t, os.WriteFile(path, []byte(text), 0o600))
	need(w.t, os.Chown(path, operatorID, operatorID))
}

// copyProgram puts the program where everybody can run it: this one, which is iff
// when it is called that.
func (w *town) copyProgram() {
	w.t.Helper()
	self, err := os.Executable()
	need(w.t, err)
	from, err := os.Open(self)
	need(w.t, err)
	defer from.Close()
	to, err := os.OpenFile(w.program, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	need(w.t, err)
	_, err = io.Copy(to, from)
	need(w.t, errors.Join(err, to.Chmod(0o755), to.Close()))
}

// command is a program that runs as a user.
func (w *town) command(u user, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = u.dir, []string{"HOME=" + u.dir, "PATH=" + filepath.Dir(w.program) + ":/usr/bin:/bin"}
	id := &syscall.Credential{Uid: u.uid, Gid: u.gid}
	if u.group != 0 {
		id.Groups = []uint32{u.group}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: id}
	return cmd
}

// iff runs iff as a user, who says in, and gives all that it prints.
func (w *town) iff(u user, in string, args ...string) (string, int) {
	w.t.Helper()
	return w.finish(w.command(u, w.program, args...), in)
}

func (w *town) finish(cmd *exec.Cmd, in string) (string, int) {
	w.t.Helper()
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		w.t.Errorf("%s: %v", cmd, err)
		return out.String(), -1
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// operate runs iff as the operator, in the home, and wants an exit code and some words.
func (w *town) operate(code int, words string, args ...string) string {
	w.t.Helper()
	out, got := w.iff(w.operator, "", append(args, "--home", w.home)...)
	if got != code || !strings.Contains(out, words) {
		w.t.Fatalf("iff %s: exit %d, want %d and %q:\n%s", strings.Join(args, " "), got, code, words, out)
	}
	return out
}

// sh says whether a shell command works for a user.
func (w *town) sh(u user, script string) bool {
	w.t.Helper()
	_, code := w.finish(w.command(u, "/bin/sh", "-c", script), "")
	return code == 0
}

// found has the operator make the home, and sign what is said in it.
func (w *town) found() {
	w.t.Helper()
	init := w.command(w.operator, "/bin/sh", "-c", `umask 000; exec "$@"`, "sh", w.program, "init", "--home", w.home, "--operator", "me", "--corpus", w.notes, "--passphrase-file", w.pass)
	if out, code := w.finish(init, ""); code != exitHolds {
		w.t.Fatalf("iff init: exit %d: %s", code, out)
	}
	need(w.t, filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			w.t.Errorf("iff init with umask 000: %s has mode %04o", path, info.Mode().Perm())
		}
		return err
	}))
	need(w.t, keyfiletest.Quicken(filepath.Join(w.home, "keys"), "correct horse"))
	keys, err := filepath.Glob(filepath.Join(w.home, "keys", "*"))
	need(w.t, err)
	for _, key := range keys {
		need(w.t, os.Chown(key, operatorID, operatorID))
	}
	w.settings(fmt.Sprintf("\n[serve]\nagent_dir = %q\nagents = [\"%d\"]\n\n[[log.anchor]]\nplace = %q\n", w.agents, agentID, filepath.Join(w.operator.dir, "anchor/log")))
}

// settings puts the home into profile strict, with more settings, and signs them.
func (w *town) settings(more string) {
	w.t.Helper()
	path := filepath.Join(w.home, "iff.toml")
	text, err := os.ReadFile(path)
	need(w.t, err)
	w.write(path, strings.Replace(string(text), `profile = "dev"`, `profile = "strict"`, 1)+more)
	w.operate(exitHolds, "signed iff.toml", "config", "sign", "--passphrase-file", w.pass)
}

func (w *town) serve() {
	w.t.Helper()
	w.operate(exitHolds, "serves", "serve", "--detach")
}

func (w *town) serveStop() {
	if out, code := w.iff(w.operator, "", "serve", "--stop", "--home", w.home); code != exitHolds && !strings.Contains(out, "home-") {
		w.t.Errorf("a runtime is left: exit %d: %s", code, out)
	}
}

func (w *town) socket(name string) string { return filepath.Join(w.agents, name) }

// mcp connects a client of the SDK to iff mcp, which a user runs.
func (w *town) mcp(u user) *demoAgent {
	w.t.Helper()
	cmd := w.command(u, w.program, "mcp", "--socket", w.socket("mcp.sock"))
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: iff.Version}, nil)
	session, err := client.Connect(w.t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	need(w.t, err)
	return &demoAgent{ClientSession: session}
}

// uses has an agent use a tool, and wants a status.
func (w *town) uses(agent *demoAgent, status, tool string, arguments map[string]any) demoReply {
	w.t.Helper()
	got, err := agent.use(w.t.Context(), tool, arguments)
	if err != nil || got.status != status {
		w.t.Errorf("%s %v: %+v, %v; want %s", tool, arguments, got, err, status)
	}
	return got
}

// decides has the operator answer the one question that will wait.
func (w *town) decides(verb string, more ...string) {
	w.t.Helper()
	for range 600 {
		out, code := w.iff(w.operator, "", "inbox", "--json", "--home", w.home)
		var in inboxJSON
		if code != exitHolds {
			w.t.Fatalf("iff inbox: exit %d: %s", code, out)
		}
		need(w.t, json.Unmarshal([]byte(out), &in))
		if len(in.Questions) > 0 && in.Questions[0].Answered == "" {
			w.operate(exitHolds, "", append([]string{verb, in.Questions[0].Request}, more...)...)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatal("nothing was asked")
}
