//go:build linux || darwin

package fs

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/iff-run/iff/corpus"
)

// mood is how the system fails at one call.
type mood int

const (
	well      mood = iota
	refuses        // the call is not done and fails
	pretends       // the call is done and fails
	stopsDead      // the call is not done, nor is any after it
	stopsLate      // the call is done, none after it
)

var moods = map[string]mood{"refuses": refuses, "pretends": pretends, "stops dead": stopsDead, "stops late": stopsLate}

// errStopped is what calls answer after the end.
var errStopped = errors.New("stopped")

// faulty is a system that fails at its nth call. It counts all calls but close.
type faulty struct {
	sys
	mu      sync.Mutex
	calls   int
	at      int // from 1; 0 for never
	how     mood
	err     error
	stopped bool
	syncs   int
	slow    time.Duration // before each rename
	before  func(op string)
}

// fail decides what becomes of one call: do says whether it is made.
func (f *faulty) fail(op string) (do bool, err error) {
	if f.before != nil {
		f.before(op)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if op == "sync" {
		f.syncs++
	}
	if f.stopped {
		return false, errStopped
	}
	f.calls++
	if f.calls != f.at {
		return true, nil
	}
	switch f.how {
	case refuses:
		return false, f.err
	case pretends:
		return true, f.err
	case stopsDead:
		f.stopped = true
		return false, errStopped
	case stopsLate:
		f.stopped = true
		return true, errStopped
	}
	return true, nil
}

// call makes one call that gives nothing but an error.
func (f *faulty) call(op string, do func() error) error {
	made, err := f.fail(op)
	if !made {
		return err
	}
	if real := do(); err == nil {
		return real
	}
	return err
}

// ask makes one call that gives something.
func ask[T any](f *faulty, op string, do func() (T, error)) (T, error) {
	var zero T
	made, err := f.fail(op)
	if !made {
		return zero, err
	}
	got, real := do()
	if err == nil {
		return got, real
	}
	return zero, err
}

// opens is ask for calls that give a descriptor, which must not leak.
func (f *faulty) opens(op string, do func() (int, error)) (int, error) {
	made, err := f.fail(op)
	if !made {
		return -1, err
	}
	fd, real := do()
	if err == nil {
		return fd, real
	}
	if real == nil {
		f.sys.close(fd)
	}
	return -1, err
}

func (f *faulty) dir(at int, path string) (int, error) {
	return f.opens("dir", func() (int, error) { return f.sys.dir(at, path) })
}
func (f *faulty) open(at int, name string) (int, error) {
	return f.opens("open", func() (int, error) { return f.sys.open(at, name) })
}
func (f *faulty) create(at int, name string) (int, error) {
	return f.opens("create", func() (int, error) { return f.sys.create(at, name) })
}
func (f *faulty) lstat(at int, name string) (stat, error) {
	return ask(f, "lstat", func() (stat, error) { return f.sys.lstat(at, name) })
}
func (f *faulty) stat(fd int) (stat, error) {
	return ask(f, "stat", func() (stat, error) { return f.sys.stat(fd) })
}
func (f *faulty) list(at, most int) ([]dirent, error) {
	return ask(f, "list", func() ([]dirent, error) { return f.sys.list(at, most) })
}
func (f *faulty) readlink(at int, name string) (string, error) {
	return ask(f, "readlink", func() (string, error) { return f.sys.readlink(at, name) })
}
func (f *faulty) readAt(fd int, p []byte, off int64) (int, error) {
	return ask(f, "readAt", func() (int, error) { return f.sys.readAt(fd, p, off) })
}
func (f *faulty) xattrs(fd int) ([]corpus.Xattr, error) {
	return ask(f, "xattrs", func() ([]corpus.Xattr, error) { return f.sys.xattrs(fd) })
}
func (f *faulty) write(fd int, p []byte) (int, error) {
	return ask(f, "write", func() (int, error) { return f.sys.write(fd, p[:min(len(p), 3)]) })
}
func (f *faulty) setXattr(fd int, a corpus.Xattr) error {
	return f.call("setXattr", func() error { return f.sys.setXattr(fd, a) })
}
func (f *faulty) dropXattr(fd int, name string) error {
	return f.call("dropXattr", func() error { return f.sys.dropXattr(fd, name) })
}
func (f *faulty) chown(fd int, uid, gid uint32) error {
	return f.call("chown", func() error { return f.sys.chown(fd, uid, gid) })
}
func (f *faulty) chmod(fd int, mode uint32) error {
	return f.call("chmod", func() error { return f.sys.chmod(fd, mode) })
}
func (f *faulty) mkdir(at int, name string, mode uint32) error {
	return f.call("mkdir", func() error { return f.sys.mkdir(at, name, mode) })
}

// sync waits for no disk: nothing here loses power.
func (f *faulty) sync(int) error {
	return f.call("sync", func() error { return nil })
}
func (f *faulty) move(at int, name string, to int, as string) error {
	time.Sleep(f.slow)
	return f.call("move", func() error { return f.sys.move(at, name, to, as) })
}
func (f *faulty) swap(at int, name string, to int, as string) error {
	time.Sleep(f.slow)
	return f.call("swap", func() error { return f.sys.swap(at, name, to, as) })
}
func (f *faulty) unlink(at int, name string) error {
	return f.call("unlink", func() error { return f.sys.unlink(at, name) })
}
func (f *faulty) rmdir(at int, name string) error {
	return f.call("rmdir", func() error { return f.sys.rmdir(at, name) })
}

// reset makes the system fail at a call from now on.
func (f *faulty) reset(at int, how mood) {
	f.calls, f.at, f.how, f.stopped, f.syncs = 0, at, how, false, 0
	if f.err == nil {
		f.err = syscall.EIO
	}
}
