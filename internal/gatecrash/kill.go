package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
)

// Every second process lives for a while by the clock, however far it comes; the
// others, also on a busy machine, until so many calls were told to be done.
const (
	longest = 600 * time.Millisecond
	most    = 60
)

// run kills processes, one after the other, on one home.
type run struct {
	dir     string
	command []string
	rand    *rand.Rand

	seen int64 // records that were looked at

	killed, ended, told, resolved int64
	pass, open                    int64
	began                         time.Time
}

func (r *run) home() string { return filepath.Join(r.dir, "home") }
func (r *run) work() string { return filepath.Join(r.dir, "work") }

func (r *run) summary() string {
	return fmt.Sprintf("%d killed, %d let go; %d calls told as done; %d calls in doubt resolved; %d PASS, %d OPEN; %v",
		r.killed, r.ended, r.told, r.resolved, r.pass, r.open, time.Since(r.began).Round(time.Second))
}

// prepare makes the home, with a base manifest that grants all file calls.
func (r *run) prepare(ctx context.Context) error {
	for _, d := range []string{"shared", "own0", "own1", "own2", "own3", "own4", "own5"} {
		if err := os.MkdirAll(filepath.Join(r.work(), d), 0o755); err != nil {
			return err
		}
	}
	scheme, _ := label.Builtin("default")
	pass := []byte("of no use elsewhere")
	h, err := home.Init(ctx, r.home(), home.Plan{Operator: "me", Scheme: scheme, Passphrase: pass, Corpora: []home.CorpusPlan{{Name: "work", Root: r.work()}}}, home.Options{})
	if err != nil {
		return err
	}
	key, err := h.OpenKey("me", func(string) ([]byte, error) { return pass, nil })
	if err == nil {
		err = widen(h.BaseDir(), scheme, key)
	}
	return errors.Join(err, h.Close())
}

// widen signs a base manifest that grants all file calls.
func widen(dir string, scheme *label.Scheme, key *keyfile.Key) error {
	m, err := manifest.Fields{
		Schema: manifest.Schema, Name: skill.BaseName, Version: 2, Label: scheme.Bottom().Parts(), Signer: "me", Verification: level.Declared.String(),
		Caps: []string{"fs.read(**)", "fs.write.irrev(**)", "fs.write.rev(**)"},
	}.Freeze(scheme)
	if err != nil {
		return err
	}
	p, err := skill.Read(dir, skill.Limits{})
	if err != nil {
		return err
	}
	c, err := p.Content()
	if err != nil {
		return err
	}
	s, err := skill.Sign(c, m, key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, manifest.SignatureFileName), s.Signature, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifest.FileName), s.Manifest, 0o600)
}

// kills kills n processes.
func (r *run) kills(ctx context.Context, n int, progress func()) error {
	r.began = time.Now()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	for i := range n {
		if err := r.once(ctx); err != nil {
			return fmt.Errorf("process %d, home %s: %w", i, r.home(), err)
		}
		if i%20 == 19 {
			progress()
		}
	}
	return nil
}

// once runs a process, kills it, and looks.
func (r *run) once(ctx context.Context) error {
	c := exec.CommandContext(ctx, r.command[0], append(r.command[1:], r.home(), "-seed", strconv.FormatUint(r.rand.Uint64(), 10))...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	after, enough := time.Duration(r.rand.Int64N(int64(longest))), 1+r.rand.IntN(most)
	if (r.killed+r.ended)%2 == 0 {
		enough = 0
		wait := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		defer wait.Stop()
	}
	var told []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if id := lines.Text(); id != "started" {
			told = append(told, id)
		}
		if enough > 0 && len(told) == enough {
			_ = c.Process.Kill()
		}
	}
	err = c.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		r.ended++
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		r.killed++
	default:
		return fmt.Errorf("the process ended by itself: %w: %s", err, stderr.String())
	}
	if err := r.look(ctx, told); err != nil {
		return err
	}
	return r.restart(ctx)
}

// look judges what the killed process left, before anybody cleans up: whatever
// was told is in the log.
func (r *run) look(ctx context.Context, told []string) error {
	h, err := home.Open(ctx, r.home(), home.Read, home.Options{})
	if err != nil {
		return err
	}
	done, err := r.done(ctx, h)
	if err != nil {
		return errors.Join(err, h.Close())
	}
	for _, id := range told {
		if !done[id] {
			return errors.Join(fmt.Errorf("call %s was told to be done, and is not in the log", id), h.Close())
		}
	}
	r.told += int64(len(told))
	return h.Close()
}

// done reads which calls were done since it last looked.
func (r *run) done(ctx context.Context, h *home.Home) (map[string]bool, error) {
	done, from := make(map[string]bool), audit.Position{}
	if r.seen > 0 {
		last, err := h.View().Find(ctx, r.seen-1)
		if err != nil {
			return nil, err
		}
		from = last.At
	}
	for s, err := range audit.Records(ctx, h.LogStore(), from) {
		if err != nil || s.Seq >= h.View().Size() {
			break // a torn end, which nobody was told of
		}
		if s.Seq < r.seen {
			continue
		}
		switch s.Body.(type) {
		case record.Executed, record.Committed:
			done[s.Request] = true
		case record.Resolved:
			r.resolved++
		}
	}
	r.seen = h.View().Size()
	return done, nil
}

// restart starts a runtime, as the next process would, ends it, and judges.
func (r *run) restart(ctx context.Context) error {
	b, err := iff.Bootstrap(ctx, r.home(), iff.Options{})
	if err != nil {
		return fmt.Errorf("the next runtime: %w", err)
	}
	l, err := b.Lock()
	if err != nil {
		return err
	}
	rt, err := l.Start(ctx)
	if err != nil {
		return fmt.Errorf("the next runtime: %w", err)
	}
	if err := r.leftovers(); err != nil {
		return errors.Join(err, rt.Close(ctx))
	}
	if err := rt.Close(ctx); err != nil {
		return err
	}
	return r.judge(ctx)
}

// leftovers looks for staging names.
func (r *run) leftovers() error {
	return filepath.WalkDir(r.work(), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(filepath.Base(path), ".iff-") {
			err = fmt.Errorf("%s was left behind", path)
		}
		return err
	})
}

func (r *run) judge(ctx context.Context) error {
	h, err := home.Open(ctx, r.home(), home.Read, home.Options{})
	if err != nil {
		return err
	}
	from := int64(0)
	for s, err := range audit.Records(ctx, h.LogStore(), audit.Position{}) {
		if err != nil {
			return errors.Join(err, h.Close())
		}
		if _, ok := s.Body.(record.Barrier); ok {
			from = s.Seq
			break
		}
	}
	report, err := iff.Judge(ctx, h, iff.Asked{From: from}, time.Now())
	if err := errors.Join(err, h.Close()); err != nil {
		return err
	}
	switch report.Result {
	case record.Pass:
		r.pass++
		return nil
	case record.Open:
		r.open++
		return nil
	}
	return fmt.Errorf("%s: %+v", report.Result, report.Findings)
}
