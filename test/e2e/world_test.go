package e2e

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/keyfile/keyfiletest"
)

const passphrase = "correct horse"

// world is a user's home directory and a project, with nothing else of the machine's user in reach.
type world struct {
	t       *testing.T
	dir     string // of everything
	home    string // $HOME; iff's home is .iff in it
	project string
	env     []string
}

// newWorld makes one, and ends its runtime with the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp(built.dir, "w")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	for _, d := range []string{w.home, w.project} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{
		"HOME=" + w.home, "LANG=C.UTF-8", "TERM=dumb", "SHELL=/bin/bash",
		"PATH=" + filepath.Join(*installed, "node_modules/.bin") + ":" + built.dir + ":" + os.Getenv("PATH"),
	}
	w.put("pass", passphrase+"\n")
	t.Cleanup(func() {
		if _, made := w.get("home/.iff/iff.toml"); !made {
			return
		}
		if r := w.run(time.Minute, built.iff, "serve", "--stop"); r.err != nil && !strings.Contains(r.out, "not-running") {
			t.Logf("iff serve --stop: %v\n%s", r.err, r.tail())
		}
	})
	return w
}

// put writes a file below the world's directory.
func (w *world) put(path, text string) {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// get is the content of a file below the world's directory, and whether there is one.
func (w *world) get(path string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(w.dir, path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(data), err == nil
}

// files are the paths of all files of the project.
func (w *world) files() map[string]bool {
	w.t.Helper()
	out := make(map[string]bool)
	err := filepath.WalkDir(w.project, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[strings.TrimPrefix(path, w.project+"/")] = true
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// appeared are the files of the project that were not there before.
func (w *world) appeared(before map[string]bool) []string {
	now := w.files()
	maps.DeleteFunc(now, func(path string, _ bool) bool { return before[path] || strings.HasPrefix(path, ".git/") })
	return slices.Sorted(maps.Keys(now))
}

// ran is how a program ended. Its output is what it wrote on both channels.
type ran struct {
	out    string
	stdout string
	code   int
	err    error
}

// tail is the end of the output, for failures.
func (r ran) tail() string {
	const most = 3000
	if len(r.out) > most {
		return "..." + r.out[len(r.out)-most:]
	}
	return r.out
}

// run runs a program in the project and kills it, with all that it has started, when its time is over.
func (w *world) run(within time.Duration, words ...string) ran {
	return w.runWith(within, nil, words...)
}

func (w *world) runWith(within time.Duration, env []string, words ...string) ran {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), within)
	defer cancel()
	cmd := w.command(ctx, words...)
	cmd.Env = append(slices.Clone(w.env), env...)
	var out output
	cmd.Stdout, cmd.Stderr = stdout{&out}, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return ran{out.all.String(), out.out.String(), cmd.ProcessState.ExitCode(), err}
}

// command is a program in a process group of its own, which ends with ctx.
func (w *world) command(ctx context.Context, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.program(words[0]), words[1:]...)
	cmd.Dir, cmd.Env = w.project, w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// program is where an installed program is; a path stays one.
func (w *world) program(name string) string {
	path := filepath.Join(*installed, "node_modules/.bin", name)
	if _, err := os.Stat(path); err == nil && !strings.Contains(name, "/") {
		return path
	}
	return name
}

// output is what a program writes on both channels, in order.
type output struct {
	mu       sync.Mutex
	all, out bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(p)
}

// stdout notes what is written to one of them too.
type stdout struct{ *output }

func (s stdout) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.out.Write(p)
	s.mu.Unlock()
	return s.output.Write(p)
}

// iff runs the program, which must end well.
func (w *world) iff(args ...string) string {
	w.t.Helper()
	r := w.run(time.Minute, append([]string{built.iff}, args...)...)
	if r.err != nil {
		w.t.Fatalf("iff %s: %v\n%s", strings.Join(args, " "), r.err, r.tail())
	}
	return r.out
}

// init makes a home with the project as corpus work, and its keys quick to open.
func (w *world) init() {
	w.t.Helper()
	w.iff("init", "--operator", "me", "--corpus", w.project, "--passphrase-file", w.dir+"/pass")
	w.quicken()
}

// quicken has the keys opened in no time: their derivation is slow on purpose.
func (w *world) quicken() {
	w.t.Helper()
	if err := keyfiletest.Quicken(filepath.Join(w.home, ".iff/keys"), passphrase); err != nil {
		w.t.Fatal(err)
	}
}

// configure adds to iff.toml.
func (w *world) configure(text string) {
	w.t.Helper()
	path := "home/.iff/iff.toml"
	old, _ := w.get(path)
	w.put(path, old+"\n"+text)
}
