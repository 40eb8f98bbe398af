package file

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
)

var (
	kills  = flag.Int("kills", 30, "how many processes TestKill kills")
	pourTo = flag.String("pour-to", "", "be the process that TestKill kills: append to the log in this directory")
	pourAt = flag.Int64("pour-at", 0, "the number of the next line")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *pourTo != "" {
		fmt.Fprintln(os.Stderr, pour(*pourTo, *pourAt))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func pour(dir string, next int64) error {
	s, err := openOrCreate(durable.OS(), dir, &small)
	if err != nil {
		return err
	}
	return audittest.Pour(context.Background(), s, next, os.Stdout)
}

// TestKill kills processes that append, at any moment, and looks each time that nothing acknowledged is lost. That the kernel loses
// nothing makes it no test of syncs; those are the others'.
func TestKill(t *testing.T) {
	const each = 50 // as many processes append to one log, which is read whole each time
	var dir string
	var next, all int64
	for i := range *kills {
		if i%each == 0 {
			dir, all, next = filepath.Join(t.TempDir(), "log"), all+next, 0
		}
		acked, err := pourAndKill(dir, next, time.Duration(rand.Int64N(int64(40*time.Millisecond))))
		if err != nil {
			t.Fatal(err)
		}
		if next, err = recovered(t.Context(), dir, max(acked, next)); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
	}
	if all += next; all == 0 {
		t.Error("nothing was ever appended")
	}
	t.Logf("%d kills, %d lines", *kills, all)
}

// pourAndKill gives what the process acknowledged.
func pourAndKill(dir string, next int64, after time.Duration) (int64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	child := exec.Command(self, "-pour-to", dir, "-pour-at", fmt.Sprint(next))
	acks, err := child.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := child.Start(); err != nil {
		return 0, err
	}
	first := make([]byte, 8) // then it is under way
	if _, err := io.ReadFull(acks, first); err != nil {
		return 0, errors.Join(fmt.Errorf("the process said nothing: %w", err), child.Wait())
	}
	time.AfterFunc(after, func() { _ = child.Process.Kill() })
	rest, err := io.ReadAll(acks)
	_ = child.Wait() // it was killed
	return audittest.Acked(append(first, rest...)), err
}

// recovered opens the log as the next process would, checks it and cuts what is torn.
func recovered(ctx context.Context, dir string, acked int64) (next int64, err error) {
	s, err := Open(durable.OS(), dir, &small)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	next, at, err := audittest.Poured(ctx, s, acked)
	if err != nil {
		return 0, err
	}
	if at != s.End() {
		return next, s.Cut(ctx, at)
	}
	return next, nil
}

// A process that loses what it acknowledged is caught.
func TestKillCatches(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	acked, err := pourAndKill(dir, 0, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	data[0] ^= 1
	if err := os.WriteFile(names[0], data, fs.FileMode(fileMode)); err != nil {
		t.Fatal(err)
	}
	if _, err := recovered(t.Context(), dir, acked); err == nil {
		t.Error("a changed bit is not noticed")
	}
}
