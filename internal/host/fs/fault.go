package fs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// fault is why something cannot be done, before it is said of what object.
type fault struct {
	reason gate.Reason
	detail string
	named  string // a path as the agent spelled it, where that is what is wrong
	err    error
}

func (f *fault) Error() string { return f.detail }
func (f *fault) Unwrap() error { return f.err }

func wrong(reason gate.Reason, format string, args ...any) *fault {
	return &fault{reason: reason, detail: fmt.Sprintf(format, args...)}
}

func (f *fault) because(err error) *fault {
	f.err = err
	return f
}

var (
	errTooMany = errors.New("too many entries")
	errClosed  = errors.New("the host is closed")
)

// reasons are what errors of the system mean. The first that fits counts.
var reasons = []struct {
	err    error
	reason gate.Reason
	detail string
}{
	{errTooMany, gate.TooMany, "more than 10000 objects; take a part of it"},
	{syscall.EXDEV, gate.IsMount, "another file system or a bind mount starts there; unmount it, or name something else"},
	{syscall.ELOOP, gate.IsLink, "a symbolic link is there or on the way there; name what it points to"},
	{syscall.ENOTDIR, gate.NotADirectory, "a file or a link where a directory should be; name a directory"},
	{syscall.EISDIR, gate.NotAFile, "a directory where a file should be; name a file"},
	{syscall.ENAMETOOLONG, gate.ArgumentsBad, "the name is too long for the file system; shorten it"},
	{syscall.EILSEQ, gate.ArgumentsBad, "the file system does not take that name; change it"},
	{syscall.ENOTEMPTY, gate.NotEmpty, "the directory is not empty; delete it with recursive"},
	{syscall.ENOSPC, gate.NoRoom, "the disk is full; make room"},
	{syscall.EDQUOT, gate.NoRoom, "the quota is used up; make room"},
	{syscall.EFBIG, gate.NoRoom, "larger than the file system or a limit allows; make it smaller"},
	{syscall.EROFS, gate.NoAccess, "the file system is read-only"},
	{syscall.ENXIO, gate.IsSpecial, "a device, FIFO or socket, which is not opened"},
	{syscall.ENODEV, gate.IsSpecial, "a device, FIFO or socket, which is not opened"},
	{syscall.EAGAIN, gate.Changing, "somebody works on it; try again"},
	{syscall.ESTALE, gate.Changing, "it changed meanwhile; try again"},
	{fs.ErrNotExist, gate.NotFound, "it is not there; check the spelling"},
	{fs.ErrExist, gate.AlreadyThere, "it is there already"},
	{fs.ErrPermission, gate.NoAccess, "the system does not allow it; grant the right to the user this runs as"},
}

// refusal says of what object a fault is. What is not a fault and not the
// system's is host-failed; the end of a context stays what it is.
func refusal(o corpus.Object, err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e := e.(type) {
		case *gate.Refusal:
			return e
		case *fault:
			return &gate.Refusal{Reason: e.reason, Object: o, Named: e.named, Detail: e.detail, Err: e.err}
		}
	}
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return &gate.Refusal{Reason: r.reason, Object: o, Detail: r.detail, Err: err}
		}
	}
	return &gate.Refusal{Reason: gate.HostFailed, Object: o, Detail: printable(err.Error()) + "; check the file system", Err: err}
}

// reasonOf is the reason that refusal gives, empty for none.
func reasonOf(err error) gate.Reason {
	if r, ok := errors.AsType[*gate.Refusal](refusal("", err)); ok {
		return r.Reason
	}
	return ""
}

func printable(s string) string {
	q := strconv.Quote(s)
	if q == `"`+s+`"` {
		return s
	}
	return q
}
