package durable

import (
	"errors"
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
