package sweep

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

const at = "/out"

// resumed makes what a journal does not have, corpora in dir, and says how much that
// was.
func resumed(t *testing.T, disk durable.FS, dir string, p Plan) (outcomes []Outcome, made int, err error) {
	t.Helper()
	j, err := openJournal(disk, at, p)
	if err != nil {
		return nil, 0, err
	}
	f := new(fake)
	outcomes, err = Make(t.Context(), p, f, Options{Workers: 2, Dir: dir, Journal: j})
	return outcomes, f.count(), errors.Join(err, j.Close())
}

// holding is a disk with a directory that has a file.
func holding(t *testing.T, name string, text []byte) *durabletest.Disk {
	t.Helper()
	disk := durabletest.New()
	if err := disk.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := disk.Create(at+"/"+name, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close(), disk.SyncDir(at)); err != nil {
		t.Fatal(err)
	}
	disk.Settle()
	return disk
}

// whole is a journal of a sweep that ended, and what it put out.
func whole(t *testing.T, p Plan) (journal []byte, out string) {
	t.Helper()
	disk := durabletest.New()
	outcomes, made, err := resumed(t, disk, t.TempDir(), p)
	if err != nil || made != p.Runs() {
		t.Fatalf("%d runs: %v", made, err)
	}
	journal, err = disk.ReadFile(at + "/" + JournalName)
	if err != nil {
		t.Fatal(err)
	}
	return journal, printed(t, p, outcomes)
}

// TestResumeAfterEveryCut cuts the journal behind each of its bytes.
func TestResumeAfterEveryCut(t *testing.T) {
	p, dir := small(1), t.TempDir()
	text, want := whole(t, p)
	for cut := range len(text) + 1 {
		disk := holding(t, JournalName, text[:cut])
		outcomes, made, err := resumed(t, disk, dir, p)
		if err != nil {
			t.Fatalf("cut behind byte %d: %v", cut, err)
		}
		if there := max(0, bytes.Count(text[:cut], []byte("\n"))-1); made != p.Runs()-there {
			t.Fatalf("cut behind byte %d: %d runs were there, and %d of %d made", cut, there, made, p.Runs())
		}
		if printed(t, p, outcomes) != want {
			t.Fatalf("cut behind byte %d: the result is another", cut)
		}
		if _, again, err := resumed(t, disk, dir, p); err != nil || again != 0 {
			t.Fatalf("cut behind byte %d: %d runs were made twice: %v", cut, again, err)
		}
	}
}

// TestResumeAfterEveryFault has each call to the disk fail in each way, stops the
// machine there, and goes on.
func TestResumeAfterEveryFault(t *testing.T) {
	p, dir := small(1), t.TempDir()
	_, want := whole(t, p)
	full := 0
	for _, mode := range []durabletest.Mode{durabletest.FailLost, durabletest.FailKept, durabletest.Short, durabletest.ShortFull, durabletest.Crash} {
		for call := 1; ; call++ {
			disk := durabletest.New()
			disk.Arm(durabletest.Fault{At: call, Mode: mode})
			_, _, err := resumed(t, disk, dir, p)
			if len(disk.Fired()) == 0 && len(disk.Calls()) < call {
				break
			}
			if errors.Is(err, syscall.ENOSPC) {
				full++
			}
			for _, s := range durabletest.Survivals() {
				outcomes, _, err := resumed(t, disk.Restart(s), dir, p)
				if err != nil {
					t.Fatalf("%v at %d, %+v: %v", mode, call, s, err)
				}
				if printed(t, p, outcomes) != want {
					t.Fatalf("%v at %d: the result is another", mode, call)
				}
			}
		}
	}
	if full < p.Runs() {
		t.Errorf("the disk was full %d times only", full)
	}
}

func TestAnotherPlanIsRefused(t *testing.T) {
	p := small(2)
	text, _ := whole(t, p)
	for field, bend := range map[string]func(*Plan){
		"version": func(p *Plan) { p.Version = "1.2.4" }, "seed ": func(p *Plan) { p.Seed++ }, "seeds": func(p *Plan) { p.Seeds++ },
		"cells": func(p *Plan) { p.Cells = p.Cells[:1] }, "scenarios": func(p *Plan) { p.Scenarios = ensemble.PaperScenarios()[1:3] },
	} {
		other := small(2)
		bend(&other)
		disk := holding(t, JournalName, text)
		_, _, err := resumed(t, disk, t.TempDir(), other)
		refused(t, err, Differs, "sweep with "+field)
		after, readErr := disk.ReadFile(at + "/" + JournalName)
		if readErr != nil || !bytes.Equal(after, text) {
			t.Errorf("%s: the journal was changed: %v", field, readErr)
		}
	}
	j, err := openJournal(holding(t, JournalName, text), at, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), small(1), new(fake), Options{Journal: j}); err == nil || !strings.Contains(err.Error(), "seeds differ") {
		t.Errorf("a journal of another plan is taken: %v", err)
	}
}

func refused(t *testing.T, err error, reason Reason, text string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Reason != reason || !strings.Contains(err.Error(), text) {
		t.Errorf("want %s with %q: %v", reason, text, err)
	}
}

// TestDamage puts lines that do not hold behind the second and at the end.
func TestDamage(t *testing.T) {
	p := small(2)
	text, want := whole(t, p)
	lines := bytes.SplitAfter(text, []byte("\n"))
	second := len(lines[0]) + len(lines[1])
	for name, bad := range map[string]string{
		"empty":         "\n",
		"zeros":         strings.Repeat("\x00", 40) + "\n",
		"long":          strings.Repeat("x", 3*maxLine) + "\n",
		"twice":         string(lines[1]),
		"no such run":   `{"asWanted":true,"calls":1,"classes":[],"fault":"","literal":true,"odd":0,"run":8,"set":true,"verdict":"PASS"}` + "\n",
		"below zero":    `{"asWanted":true,"calls":1,"classes":[],"fault":"","literal":true,"odd":0,"run":-1,"set":true,"verdict":"PASS"}` + "\n",
		"no verdict":    `{"asWanted":true,"calls":1,"classes":[],"fault":"","literal":true,"odd":0,"run":4,"set":true,"verdict":""}` + "\n",
		"another fault": `{"asWanted":true,"calls":1,"classes":[],"fault":"swap","literal":true,"odd":0,"run":4,"set":true,"verdict":"PASS"}` + "\n",
		"no calls":      `{"asWanted":true,"calls":-1,"classes":[],"fault":"","literal":true,"odd":0,"run":4,"set":true,"verdict":"PASS"}` + "\n",
	} {
		disk := holding(t, JournalName, slices.Concat(text[:second], []byte(bad), text[second:], []byte(bad)))
		j, err := openJournal(disk, at, p)
		if err != nil {
			t.Fatal(err)
		}
		if j.Done() != p.Runs() || j.Damaged() != 2 || printed(t, p, j.Outcomes()) != want {
			t.Errorf("%s: %d runs are done, %d lines damaged", name, j.Done(), j.Damaged())
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		// In the place of a line it costs that run.
		disk = holding(t, JournalName, slices.Concat(lines[0], []byte(bad), text[second:]))
		outcomes, made, err := resumed(t, disk, t.TempDir(), p)
		if name == "twice" {
			continue // it is the line itself
		}
		if err != nil || made != 1 || printed(t, p, outcomes) != want {
			t.Errorf("%s instead of a line: %d runs made: %v", name, made, err)
		}
	}
}

func TestForeign(t *testing.T) {
	p := small(1)
	for name, disk := range map[string]*durabletest.Disk{
		"notes.md":      holding(t, "notes.md", []byte("mine")),
		"line 1":        holding(t, JournalName, []byte("mine\n")),
		"line 1 is not": holding(t, JournalName, []byte(strings.Repeat("x", 3*maxLine))),
	} {
		_, _, err := resumed(t, disk, t.TempDir(), p)
		refused(t, err, Foreign, name)
		if _, err := disk.ReadFile(at + "/runs.csv"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something was written: %v", name, err)
		}
	}
	disk := durabletest.New()
	j, err := openJournal(disk, at, p)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = resumed(t, disk, t.TempDir(), p)
	refused(t, err, Busy, "")
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if _, made, err := resumed(t, disk, t.TempDir(), p); err != nil || made != p.Runs() {
		t.Errorf("after it was given up: %d %v", made, err)
	}
}

// What is no regular file in the place of a journal is neither followed nor waited for.
func TestForeignKind(t *testing.T) {
	for _, put := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink(t.TempDir(), path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir := t.TempDir()
		if err := put(filepath.Join(dir, JournalName)); err != nil {
			t.Fatal(err)
		}
		_, _, err := Planned(dir)
		refused(t, err, Foreign, "no regular file")
		_, err = OpenJournal(dir, small(1))
		refused(t, err, Foreign, "no regular file")
	}
}

func TestPlanned(t *testing.T) {
	dir := t.TempDir() + "/out"
	if _, ok, err := Planned(dir); ok || err != nil {
		t.Errorf("where nothing is: %v %v", ok, err)
	}
	p := Plan{Version: "1", Seed: 1<<64 - 1, Seeds: 3, Cells: Cells(), Scenarios: ensemble.Scenarios()}
	j, err := OpenJournal(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got, ok, err := Planned(dir)
	if field, _, _ := got.header().differs(p.header()); !ok || err != nil || field != "" {
		t.Errorf("%v, %v, %s differs", ok, err, field)
	}
}

// TestOddRunsAreMadeAgain has a disk that was full in the middle of a run.
func TestOddRunsAreMadeAgain(t *testing.T) {
	p, dir, disk := small(2), t.TempDir(), durabletest.New()
	_, want := whole(t, p)
	j, err := openJournal(disk, at, p)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{bend: func(c ensemble.Config, r *ensemble.Result) error {
		if c.Seed == p.At(3).Seed {
			r.Odd = []string{"no space left on device"}
		}
		return nil
	}}
	outcomes, err := Make(t.Context(), p, f, Options{Dir: dir, Journal: j})
	if err != nil || Judge(p, outcomes, ensemble.ByIff).Odd != 1 {
		t.Errorf("the odd run is not counted: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	outcomes, made, err := resumed(t, disk, dir, p)
	if err != nil || made != 1 || printed(t, p, outcomes) != want {
		t.Errorf("%d runs were made again: %v", made, err)
	}
}
