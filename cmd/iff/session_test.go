package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/iff-run/iff/internal/serve"
)

// under is the script command under HOME DIR: the directory is made, and put
// under iff as corpus work; questions wait for a second.
func under(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: under HOME DIR")
	}
	ts.Check(os.MkdirAll(ts.MkAbs(args[1]), 0o755))
	f, err := os.OpenFile(filepath.Join(ts.MkAbs(args[0]), "iff.toml"), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = fmt.Fprintf(f, "\n[corpus.work]\nroot = %q\nlabel = \"PUBLIC\"\nvolatile = [\"**/*.swp\"]\n\n[gate]\nask = \"inbox\"\ntimeout = \"1s\"\n", ts.MkAbs(args[1]))
	ts.Check(errors.Join(err, f.Close()))
}

// writes is the script command writes FILE N: a script of N writes to 7 files.
func writes(ts *testscript.TestScript, neg bool, args []string) {
	var n int
	if _, err := fmt.Sscan(args[1], &n); err != nil || neg {
		ts.Fatalf("usage: writes FILE N")
	}
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `{"capability":"fs.write.rev","target":"d%d.md","arguments":{"op":"write","content":"number %d\n"}}`+"\n", i%7, i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(out.String()), 0o600))
}

// play is the script command play HOME FILE OUT: an agent plays a script and then
// waits, its session open, until the script ends.
func play(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: play HOME FILE OUT")
	}
	out, err := os.Create(ts.MkAbs(args[2]))
	ts.Check(err)
	program := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "iff")
	cmd := exec.Command(program, "session", "run", "--home", args[0], "--agent", "opencode", "-")
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"), "GORACE=" + endsAtOnce}
	cmd.Stdout, cmd.Stderr = out, out
	in, err := cmd.StdinPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = in.Close()  // it may have ended
		_ = cmd.Wait()  // its session may have been stopped
		_ = out.Close() // only written to
	})
	_, err = io.WriteString(in, ts.ReadFile(args[1]))
	ts.Check(err)
}

// killRuntime is the script command crash HOME: the runtime ends at once, as by a
// crash.
func killRuntime(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: crash HOME")
	}
	var now serve.Status
	c, err := serve.Dial(context.Background(), filepath.Join(ts.MkAbs(args[0]), "run", serve.OperatorSocket))
	ts.Check(err)
	ts.Check(errors.Join(c.Call(context.Background(), "status", nil, &now), c.Close()))
	ts.Check(syscall.Kill(now.PID, syscall.SIGKILL))
}

// stopRuntimes ends what a script has left running.
func stopRuntimes(dir string) error {
	homes, err := filepath.Glob(filepath.Join(dir, "*", "run"))
	for _, run := range homes {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if e := serve.Stop(ctx, run); e != nil && !notRunning(e) {
			err = errors.Join(err, e)
		}
		cancel()
	}
	return err
}

func TestSteps(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"", ""},
		{"\n  \n", ""},
		{`{"capability":"fs.read","target":"a"}`, "1 call fs.read a;"},
		{"{\"use\":\"notes\"}\n\n{\"use\":\"\"}\r\n{\"commit\":true}", "1 use notes;3 use ;4 commit;"},
		{`{"capability":"fs.read","target":"a","arguments":{},"reasoning":"r","key":"k"}`, "1 call fs.read a;"},
		{"{\"commit\":true}\n{\"commit\":false}", "1 commit;x:2: "},
		{`{"capability":"fs.read"}`, "x:1: "},
		{`{"target":"a"}`, "x:1: "},
		{`{"use":"notes","commit":true}`, "x:1: "},
		{`{"use":"notes","capability":"fs.read","target":"a"}`, "x:1: "},
		{`{"use":7}`, "x:1: "},
		{`{"capability":7,"target":"a"}`, "x:1: "},
		{`{"capability":"fs.read","target":"a","extra":1}`, "x:1: unknown-field"},
		{`{"capability":"fs.read","capability":"fs.read","target":"a"}`, "x:1: duplicate-key"},
		{"{}", "x:1: a line is a call"},
		{"\n[]", "x:2: "},
		{"nothing", "x:1: json-syntax"},
		{`{"commit":true} {"commit":true}`, "x:1: "},
		{`{"capability":"fs.read","target":"` + strings.Repeat("a", maxStep) + `"}`, "x:1: the line has more than"},
		{`{"capability":"fs.read","target":"a","arguments":` + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40) + "}", "x:1: too-deep"},
	} {
		got, err := readAll(strings.NewReader(c.script))
		if err != nil {
			got += err.Error()
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%.80q: %.120q, not %q", c.script, got, c.want)
		}
	}
}

// readAll says what the steps of a script are.
func readAll(in io.Reader) (string, error) {
	var out strings.Builder
	for s := newSteps(in, "x"); ; {
		next, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			return out.String(), nil
		case err != nil:
			return out.String(), err
		case next.call != nil:
			fmt.Fprintf(&out, "%d call %s %s;", next.line, next.call.Capability, next.call.Target)
		case next.use != nil:
			fmt.Fprintf(&out, "%d use %s;", next.line, *next.use)
		default:
			fmt.Fprintf(&out, "%d commit;", next.line)
		}
	}
}

// FuzzSteps holds that a script is read to its end or refused at a line that it
// has, and that a step is one thing alone.
func FuzzSteps(f *testing.F) {
	for _, seed := range []string{"", "{\"commit\":true}\n{\"use\":\"\"}", `{"capability":"fs.read","target":"a","arguments":{"op":"list"}}`, "{\n}", "\r\n\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		lines := strings.Count(script, "\n") + 1
		for s := newSteps(strings.NewReader(script), "x"); ; {
			next, err := s.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if s.line > lines {
				t.Fatalf("line %d of %d", s.line, lines)
			}
			if err != nil {
				var usage *usageError
				if !errors.As(err, &usage) || !strings.HasPrefix(err.Error(), fmt.Sprintf("x:%d: ", s.line)) {
					t.Fatalf("%v at line %d", err, s.line)
				}
				return
			}
			things := 0
			for _, is := range []bool{next.call != nil, next.use != nil, next.commit} {
				if is {
					things++
				}
			}
			if things != 1 || next.line != s.line || next.call != nil && (next.call.Capability == "" && next.call.Target == "" && !strings.Contains(script, `""`)) {
				t.Fatalf("%+v", next)
			}
		}
	})
}
