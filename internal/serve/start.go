package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/visible"
)

const (
	pollTime  = 20 * time.Millisecond
	afterDie  = 50      // polls for somebody else to answer after the process has ended
	mostLog   = 1 << 20 // a longer log is begun anew by the next start
	tailBytes = 4 << 10 // of the log, in an error
	tailLines = 10
)

// keptVariables are all that a started process gets of the environment, beside a PATH of its own.
var keptVariables = [...]string{"HOME", "USER", "LOGNAME", "LANG", "LC_ALL"}

// Start sees to it that a runtime serves the directory dir: if nobody answers at operator.sock it starts exe, an absolute path,
// with args, and waits until somebody answers there. Of several starters at once, in any processes, one starts and the others
// wait for it.
//
// The process is in a session of its own, in the root directory, with an environment of HOME, USER, LOGNAME, LANG, LC_ALL and
// PATH=/usr/bin:/bin, reads nothing, and writes to runtime.log in dir. If it ends instead of answering, the error, an *[Error]
// with StartFailed, holds the last lines it wrote. If ctx ends it goes on.
func Start(ctx context.Context, exe string, args []string, dir string) error {
	if !filepath.IsAbs(exe) {
		return &Error{Reason: StartFailed, Path: exe, Detail: "the program to start has no absolute path; give one"}
	}
	at, err := openPlace(dir)
	if err != nil {
		return err
	}
	defer at.Close()
	turn, err := free(ctx, dir, startFile)
	if turn == nil {
		return err
	}
	defer turn.Close()
	// One that is ending holds its lock until its log is closed too.
	lock, err := free(ctx, dir, lockFile)
	if lock == nil {
		return err
	}
	if err := lock.Close(); err != nil {
		return &Error{SocketFailed, dir, "the lock cannot be given up; check the directory", err}
	}
	return start(ctx, exe, args, dir)
}

// Detach runs exe with args, which has to start the runtime of the directory dir as [Start] does and then end: so the runtime is no
// descendant of whoever asked for it. Some agents end all of theirs when they end. A runtime that answers already is left alone. The
// error is an *[Error] with StartFailed, and holds what the program said.
func Detach(ctx context.Context, exe string, args []string, dir string) error {
	if answers(ctx, dir) {
		return nil
	}
	said := &ring{}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", environment(), said, said
	err := cmd.Run()
	if err == nil {
		return nil
	}
	detail := said.line()
	if detail == "" {
		detail = err.Error()
	}
	return &Error{Reason: StartFailed, Path: exe, Detail: strings.TrimPrefix(detail, "iff: "+string(StartFailed)+": "+exe+": ")}
}

// ring keeps the last that is written to it.
type ring struct{ last []byte }

func (r *ring) Write(p []byte) (int, error) {
	r.last = append(r.last, p...)
	r.last = r.last[max(0, len(r.last)-tailBytes):]
	return len(p), nil
}

// line is all of it as one line.
func (r *ring) line() string { return oneLine(string(r.last)) }

// free waits for a lock in dir until it is free, or until a runtime answers; then the lock is nil and so is the error.
func free(ctx context.Context, dir, name string) (io.Closer, error) {
	for {
		if answers(ctx, dir) {
			return nil, nil
		}
		l, err := durable.OS().Lock(filepath.Join(dir, name))
		var busy *durable.BusyError
		if err == nil {
			if answers(ctx, dir) { // it came up before the lock was taken
				return nil, l.Close()
			}
			return l, nil
		}
		if !errors.As(err, &busy) {
			return nil, &Error{SocketFailed, filepath.Join(dir, name), "the lock cannot be taken; check the directory", err}
		}
		if err := pause(ctx); err != nil {
			return nil, &Error{NotRunning, dir, "another process starts or ends the runtime and is not done; see " + logFile, err}
		}
	}
}

// answers says whether a runtime answers. One that refuses answers too.
func answers(ctx context.Context, dir string) bool {
	c, err := Dial(ctx, filepath.Join(dir, OperatorSocket))
	if err != nil {
		return false
	}
	defer c.Close()
	err = c.Call(ctx, "status", nil, nil)
	var f *Fault
	return err == nil || errors.As(err, &f) && f.Reason != string(NotRunning)
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollTime):
		return nil
	}
}

func start(ctx context.Context, exe string, args []string, dir string) error {
	log, from, err := openLog(filepath.Join(dir, logFile))
	if err != nil {
		return err
	}
	defer log.Close()
	child, err := spawn(exe, args, log, environment())
	if err != nil {
		return &Error{StartFailed, exe, "it cannot be started; check the path", err}
	}
	defer child.leave()
	for left := afterDie; ; {
		if answers(ctx, dir) {
			return nil
		}
		if how, over := child.ended(); over {
			if left--; left < 0 {
				return &Error{Reason: StartFailed, Path: exe, Detail: fmt.Sprintf("it ended (%s) without answering; its last lines: %s", how, tail(log, from))}
			}
		}
		if err := pause(ctx); err != nil {
			return &Error{StartFailed, exe, "it runs and does not answer; see " + filepath.Join(dir, logFile), err}
		}
	}
}

// openLog is the log of what is started, and where its new part begins.
func openLog(path string) (*os.File, int64, error) {
	f, err := openAppend(path)
	if err != nil {
		return nil, 0, &Error{SocketFailed, path, "the log cannot be opened; check the directory", err}
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err == nil && info.Size() > mostLog {
		if err = f.Truncate(0); err == nil {
			return f, 0, nil
		}
	}
	if err != nil {
		return nil, 0, errors.Join(&Error{SocketFailed, path, "the log cannot be used; check the directory", err}, f.Close())
	}
	return f, info.Size(), nil
}

// tail is the last lines of a file from an offset on, as one line.
func tail(f *os.File, from int64) string {
	info, err := f.Stat()
	if err != nil {
		return "unreadable: " + err.Error()
	}
	from = max(from, info.Size()-tailBytes)
	data, err := io.ReadAll(io.NewSectionReader(f, from, max(info.Size()-from, 0)))
	if err != nil {
		return "unreadable: " + err.Error()
	}
	return oneLine(string(data))
}

// oneLine is the last lines of a text, escaped.
func oneLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	for i := range lines {
		lines[i] = visible.Escape(lines[i])
	}
	return strings.Join(lines, " / ")
}

func environment() []string {
	out := []string{"PATH=/usr/bin:/bin"}
	for _, name := range keptVariables {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}
