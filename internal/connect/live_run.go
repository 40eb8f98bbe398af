package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iff-run/iff/internal/connect/model"
	"github.com/iff-run/iff/internal/visible"
)

// program finds the agent's program, as an absolute path.
func (o LiveOptions) program() (string, error) {
	if o.Program != "" {
		path, err := exec.LookPath(o.Program)
		if err == nil {
			return filepath.Abs(path)
		}
		return "", fmt.Errorf("%s cannot be run: %w", visible.Escape(o.Program), err)
	}
	for _, dir := range filepath.SplitList(variables(o.Env)["PATH"]) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, o.Agent.Program)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("its program %s is not on PATH", o.Agent.Program)
}

// variables reads an environment.
func variables(env []string) map[string]string {
	out := map[string]string{}
	for _, v := range env {
		if name, value, ok := strings.Cut(v, "="); ok {
			out[name] = value
		}
	}
	return out
}

// passed are the variables of the user that every agent gets. Credentials and
// proxies are none of them.
func passed() []string {
	return []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "USER", "LOGNAME", "SHELL", "TMPDIR"}
}

// env is the environment of the run.
func (r *liveRun) env(own map[string]string) []string {
	theirs := variables(r.options.Env)
	out := map[string]string{
		"HOME": r.options.Place.Home, "NO_COLOR": "1",
		"XDG_CACHE_HOME": filepath.Join(r.temp, "cache"), "npm_config_cache": filepath.Join(r.temp, "npm"), "npm_config_offline": "true",
	}
	for _, name := range slices.Concat(passed(), r.agent.passes) {
		if v, ok := theirs[name]; ok {
			out[name] = v
		}
	}
	maps.Copy(out, own)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(out)) {
		list = append(list, name+"="+out[name])
	}
	return list
}

// run starts the agent and waits for its end. The error is how it ended.
func (r *liveRun) run(ctx context.Context, url string) error {
	l := r.agent.launch(liveWorld{url: url, temp: r.temp, place: r.options.Place})
	cmd := exec.CommandContext(ctx, r.program, l.args...)
	cmd.Dir, cmd.Env = r.options.Place.Dir, r.env(l.env)
	cmd.Stdout, cmd.Stderr = &r.output, &r.output
	cmd.WaitDelay = 2 * time.Second // for output that something outside of its group holds open
	ownGroup(cmd)
	cmd.Cancel = func() error { endGroup(cmd.Process.Pid); return nil }
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	endGroup(cmd.Process.Pid) // what it has left behind
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it did not end within %v", LiveTimeout)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	return err
}

// probe calls a built-in tool that would leave a mark.
type probe struct {
	step model.Step
	mark string
}

// probes are the calls of the agent's shell.
func (r *liveRun) probes() []probe {
	var out []probe
	for i, step := range r.agent.shell {
		mark := filepath.Join(r.temp, fmt.Sprintf("ran-%d", i))
		command := "echo > '" + strings.ReplaceAll(mark, "'", `'\''`) + "'"
		step.Args = filled(step.Args, command)
		out = append(out, probe{step, mark})
	}
	return out
}

// filled puts the command where the arguments have %s.
func filled(in liveArgs, command string) liveArgs {
	out := liveArgs{}
	for k, v := range in {
		switch x := v.(type) {
		case string:
			v = strings.ReplaceAll(x, "%s", command)
		case liveArgs:
			v = filled(x, command)
		}
		out[k] = v
	}
	return out
}

const tailBytes = 8 << 10

// tail keeps the end of a program's output. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-tailBytes):]...)
	t.data = t.data[max(0, len(t.data)-tailBytes):]
	return len(p), nil
}

// last is the last line that says something, fit to be printed.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range slices.Backward(bytes.Split(t.data, []byte("\n"))) {
		if text := strings.TrimSpace(string(line)); text != "" {
			return visible.Escape(text[:min(len(text), 300)])
		}
	}
	return ""
}

// The copies are small: settings, and what is loaded beside them.
const (
	copyBytes = 64 << 20
	copyFiles = 5000
	copyDepth = 12
)

// copier copies settings within bounds.
type copier struct{ bytes, files int }

// copyState copies the user's settings to the run's own directory.
func (r *liveRun) copyState() error {
	env := variables(r.options.Env)
	c := &copier{}
	for _, s := range r.agent.state {
		from := filepath.Join(r.options.Place.Home, s.from)
		if named := env[s.named]; filepath.IsAbs(named) {
			from = filepath.Join(named, s.under)
		}
		to := filepath.Join(r.temp, s.to)
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		entries, err := os.ReadDir(from)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if !named(s.names, e.Name()) {
				continue
			}
			if err := c.copy(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), 0); err != nil {
				return fmt.Errorf("the settings cannot be copied: %w", err)
			}
		}
	}
	if r.agent.adjust != nil {
		return r.agent.adjust(r.temp)
	}
	return nil
}

func named(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := filepath.Match(p, name)
		return ok && err == nil
	})
}

// copy copies a file, or a directory but for what package managers keep in it.
// Links are followed, so that nothing is written through them.
func (c *copier) copy(from, to string, depth int) error {
	info, err := os.Stat(from)
	if errors.Is(err, os.ErrNotExist) { // a link that leads nowhere, for the agent too
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case info.Mode().IsRegular():
		return c.copyFile(from, to, info)
	case !info.IsDir():
		return nil
	case depth == copyDepth:
		return fmt.Errorf("%s: deeper than %d directories", visible.Escape(from), copyDepth)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "node_modules" || e.Name() == ".git" {
			continue
		}
		if err := c.copy(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) copyFile(from, to string, info os.FileInfo) error {
	c.files++
	if c.bytes += int(info.Size()); info.Size() > copyBytes || c.bytes > copyBytes || c.files > copyFiles {
		return fmt.Errorf("%s: more than %d files or %d MiB", visible.Escape(from), copyFiles, copyBytes>>20)
	}
	data, err := readFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm()&0o700|0o600)
}
