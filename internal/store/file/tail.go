package file

import (
	"bytes"
	"errors"
	"io"
	"syscall"

	"github.com/iff-run/iff/internal/durable"
)

// tail is the last segment as its writer sees it.
type tail struct {
	file durable.FileAt
	path string
	place
}

// room is how many bytes fit before the file must grow.
func (t *tail) room() int64 { return t.size - t.end }

// grow sees to it that need bytes fit, and more of them if the disk has them. full says why they do not; then no line has changed.
func (t *tail) grow(b *blanks, need, more int64) (full, err error) {
	if t.soiled {
		if err := t.cut(t.end); err != nil {
			return nil, err
		}
	}
	missing := need - t.room()
	if missing <= 0 {
		return nil, nil
	}
	at := t.size
	done, err := b.write(max(missing, more), func(p []byte) (int, error) {
		n, err := t.file.WriteAt(p, at)
		at += int64(n)
		return n, err
	})
	if err == nil {
		t.size += done
		return nil, nil
	}
	if !noSpace(err) {
		return nil, err
	}
	full, keep := err, t.size
	if done >= missing {
		full, keep = nil, t.size+missing
	}
	if err := t.file.Truncate(keep); err != nil {
		return nil, err
	}
	t.size = keep
	return full, nil
}

// write puts whole lines into the room and on the disk.
func (t *tail) write(lines []byte) error {
	n, err := t.file.WriteAt(lines, t.end)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	if err := t.sync(); err != nil {
		return err
	}
	t.end += int64(len(lines))
	return nil
}

// seal gives back the room, durably.
func (t *tail) seal() error {
	if t.size == t.end {
		return nil
	}
	return t.cut(t.end)
}

// cut makes the segment end at a place between two lines, durably.
func (t *tail) cut(at int64) error {
	if t.size != at {
		if err := t.file.Truncate(at); err != nil {
			return err
		}
	}
	if err := t.sync(); err != nil {
		return err
	}
	t.place = place{end: at, size: at}
	return nil
}

func (t *tail) sync() error {
	if err := t.file.Sync(); err != nil {
		return &durable.SyncError{Path: t.path, Err: err}
	}
	return nil
}

// blankBytes is how many newlines are written at once.
const blankBytes = 32 << 10

// blanks are newlines, made when they are first wanted.
type blanks []byte

// write writes n newlines. It says how many were written for certain.
func (b *blanks) write(n int64, write func([]byte) (int, error)) (done int64, err error) {
	if most := int(min(n, blankBytes)); len(*b) < most {
		*b = bytes.Repeat([]byte{'\n'}, most)
	}
	for done < n {
		p := (*b)[:min(n-done, int64(len(*b)))]
		wrote, err := write(p)
		done += int64(wrote)
		if err == nil && wrote < len(p) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// noSpace says that newlines could not be written for want of room. A short write means that too, a failed sync never.
func noSpace(err error) bool {
	var unsure *durable.SyncError
	if errors.As(err, &unsure) {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, io.ErrShortWrite)
}
