package durable

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// Only what a signal interrupted is repeated: repeating a sync that failed would turn it into one that succeeds.
func TestOnlyInterruptionsAreRepeated(t *testing.T) {
	for _, answers := range [][]error{
		{nil},
		{syscall.EINTR, syscall.EINTR, nil},
		{syscall.EIO, nil},
		{syscall.EINTR, syscall.ENOSPC, nil},
	} {
		want := slices.IndexFunc(answers, func(err error) bool { return err != syscall.EINTR })
		calls := 0
		err := uninterrupted(func() error { calls++; return answers[calls-1] })
		if calls != want+1 || !errors.Is(err, answers[want]) {
			t.Errorf("%v: %d calls, then %v", answers, calls, err)
		}
	}
}

// A lock on a file that was removed or replaced before it could be locked keeps nobody out.
func TestLockOfARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for what, then := range map[string]func() error{
		"removed":  func() error { return os.Remove(path) },
		"replaced": func() error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		f, err := openRegular(path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		if err := then(); err != nil {
			t.Fatal(err)
		}
		var lost *LostError
		if l, err := take(f); !errors.As(err, &lost) || l != nil || lost.Path != path {
			t.Errorf("%s: %v", what, err)
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: the file stays open: %v", what, err)
		}
	}
}
