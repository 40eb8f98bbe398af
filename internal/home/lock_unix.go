//go:build unix

package home

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/internal/visible"
)

// lockPatience is how long a verb waits for another one to finish.
const lockPatience = 10 * time.Second

type lock struct{ f *os.File }

// takeLock takes the home's exclusive lock, waiting for a while.
func takeLock(ctx context.Context, path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, &Error{Reason: Unreadable, Path: path, Detail: err.Error() + "; this verb writes to the home", Err: err}
	}
	for deadline := time.Now().Add(lockPatience); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) || ctx.Err() != nil {
			holder := readHolder(f)
			return nil, errors.Join(&Error{Reason: Busy, Path: path, Detail: "held by process " + holder + "; wait for it to end", Err: err}, f.Close())
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	l := &lock{f: f}
	if err := errors.Join(f.Truncate(0), writeHolder(f)); err != nil {
		return nil, errors.Join(&Error{Reason: Unreadable, Path: path, Detail: err.Error(), Err: err}, l.release())
	}
	return l, nil
}

func writeHolder(f *os.File) error {
	_, err := f.WriteAt([]byte(fmt.Sprintf("%d\n", os.Getpid())), 0)
	return err
}

func readHolder(f *os.File) string {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if pid := strings.TrimSpace(string(data)); err == nil && pid != "" {
		return visible.Escape(pid)
	}
	return "unknown"
}

func (l *lock) release() error { return l.f.Close() }
