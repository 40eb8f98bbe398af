package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const childWord = "serve-test-child"

// runChild is a runtime process of a test: args are a mode, then the mode's.
func runChild(dir string, args []string) int {
	note(filepath.Join(filepath.Dir(dir), "spawned"))
	if args[0] == "fail" {
		fmt.Fprintln(os.Stderr, "starting\niff: the configuration is \x1b[31mwrong\x1b[0m; correct iff.toml")
		return 3
	}
	f := newFake()
	s, err := Listen(dir, Options{Agents: f, Operator: operator{f}, Idle: time.Minute}) // it outlives no failed test for long
	if err != nil {
		note(filepath.Join(filepath.Dir(dir), "lost"))
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	note(filepath.Join(filepath.Dir(dir), "listening"))
	fmt.Println(strings.Join(os.Environ(), " "))
	if err := errors.Join(s.Serve(context.Background()), s.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70
	}
	return 0
}

// note appends a line to a file.
func note(path string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, os.Getpid())
	f.Close()
}

func lines(t *testing.T, path string) int {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

func own(t *testing.T) string {
	t.Helper()
	return unwrap(os.Executable())(t)
}

// shut ends a runtime that a test has started, and waits until its directory is free.
func shut(t *testing.T, dir string) {
	t.Helper()
	c := unwrap(Dial(context.Background(), filepath.Join(dir, OperatorSocket)))(t)
	must(t, c.Call(context.Background(), "shutdown", nil, nil))
	must(t, c.Close())
	l := unwrap(lockRun(dir))(t)
	must(t, l.Close())
}

func TestStartRace(t *testing.T) {
	t.Setenv("GODEBUG", "x509sha1=1")
	home := t.TempDir()
	dir := filepath.Join(home, "run")
	for round := 1; round <= 2; round++ {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := Start(t.Context(), own(t), []string{childWord, dir, "serve"}, dir); err != nil {
					t.Error(err)
					return
				}
				c, err := Dial(t.Context(), filepath.Join(dir, AgentSocket))
				if err == nil {
					err = errors.Join(c.Call(t.Context(), "session.open", OpenRequest{Agent: "a"}, nil), c.Close())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := lines(t, filepath.Join(home, "listening")); n != round {
			t.Errorf("%d runtimes after %d rounds", n, round)
		}
		if n := lines(t, filepath.Join(home, "spawned")); n != round {
			t.Errorf("%d processes after %d rounds", n, round)
		}
		shut(t, dir)
	}
	log := string(unwrap(os.ReadFile(filepath.Join(dir, logFile)))(t))
	if !strings.Contains(log, "PATH=/usr/bin:/bin") || strings.Contains(log, "GODEBUG") {
		t.Errorf("the environment is not scrubbed: %s", log)
	}
}

// Processes that are started past Start, by hand, still leave one runtime.
func TestStartBesideAnother(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "run")
	s := unwrap(openPlace(dir))(t)
	defer s.Close()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			log, from, err := openLog(filepath.Join(dir, logFile))
			if err != nil || from < 0 {
				t.Error(err)
				return
			}
			defer log.Close()
			c, err := spawn(own(t), []string{childWord, dir, "serve"}, log, environment())
			if err != nil {
				t.Error(err)
				return
			}
			c.leave()
		})
	}
	must(t, Start(t.Context(), own(t), []string{childWord, dir, "serve"}, dir))
	all.Wait()
	for n := 0; n < 3 || lines(t, filepath.Join(home, "lost")) < n-1; n = lines(t, filepath.Join(home, "spawned")) {
		must(t, pause(t.Context()))
	}
	if n := lines(t, filepath.Join(home, "listening")); n != 1 {
		t.Errorf("%d runtimes", n)
	}
	shut(t, dir)
}

func TestStartFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := Start(t.Context(), "iff", nil, dir); !is(err, StartFailed) {
		t.Errorf("a relative path: %v", err)
	}
	if err := Start(t.Context(), filepath.Join(dir, "absent"), nil, dir); !is(err, StartFailed) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
	err := Start(t.Context(), own(t), []string{childWord, dir, "fail"}, dir)
	if !is(err, StartFailed) || !strings.Contains(err.Error(), "exit code 3") || !strings.Contains(err.Error(), `starting / iff: the configuration is \u{1b}[31mwrong`) {
		t.Errorf("%v", err)
	}
	must(t, os.Truncate(filepath.Join(dir, logFile), mostLog+1))
	if err := Start(t.Context(), own(t), []string{childWord, dir, "fail"}, dir); !is(err, StartFailed) {
		t.Errorf("%v", err)
	}
	if info := unwrap(os.Stat(filepath.Join(dir, logFile)))(t); info.Size() > 1000 {
		t.Errorf("the log has %d bytes", info.Size())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Start(ctx, own(t), []string{childWord, dir, "fail"}, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
