package file

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
)

// mostReserve bounds what one batch may fill the disk with. For more there is no room.
const mostReserve = 1 << 30

// firstPad is by how much the room that is prepared ahead is smaller while little was appended; it is whole pages.
const (
	firstPad = 64
	page     = 4 << 10
)

// Append makes a batch durable, as [audit.Store] says and in the order that the package's doc gives. A batch that is not one (no
// whole lines, numbers that do not fit) and a context that is done are refused before anything is changed, and the
// store can go on.
func (s *Store) Append(ctx context.Context, b audit.Batch) error {
	s.owner.Lock()
	defer s.owner.Unlock()
	if err := s.usable(ctx, true); err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed
	}
	if err := s.check(b); err != nil {
		return fmt.Errorf("%q: batch %d: %w", s.dir, b.First, err)
	}
	if !s.fits(b) {
		if err := s.owned(); err != nil {
			return s.poison(err)
		}
		full, err := s.prepare(b)
		if err != nil {
			return s.poison(err)
		}
		if full != nil {
			return fmt.Errorf("%w: %q has no room for %d bytes and %d in reserve; make room on the disk: %w", audit.ErrFull, s.dir, len(b.Lines), b.Reserve, full)
		}
	}
	if err := s.owned(); err != nil { // also after preparing, which may have taken long
		return s.poison(err)
	}
	if err := s.tail.write(b.Lines); err != nil {
		return s.poison(err)
	}
	s.appended += int64(len(b.Lines))
	s.publish(extent{s.extent.firsts, s.tail.end})
	return nil
}

// check refuses what would break the form of the files.
func (s *Store) check(b audit.Batch) error {
	last, ended := bytes.CutSuffix(b.Lines, []byte("\n"))
	switch {
	case !ended || len(last) == 0 || blankByte(last[len(last)-1]):
		return errors.New("it does not end in a line, of which the last byte is no newline and no zero, and one newline")
	case b.First < 0 || b.Reserve < 0:
		return fmt.Errorf("a number is out of range: first %d, reserve %d", b.First, b.Reserve)
	case s.tail == nil:
		return nil
	case s.tail.torn:
		return fmt.Errorf("the log ends in something without a newline at byte %d of %q; cut it off first", s.tail.end, s.tail.path)
	}
	first := s.extent.last()
	if b.First < first || (b.First == first) != (s.tail.end == 0) {
		return fmt.Errorf("the last segment begins with line %d and has %d bytes of lines, so this batch cannot be next", first, s.tail.end)
	}
	return nil
}

// fits says whether there is room for a batch and its reserve already, so that
// prepare would change nothing. Most batches find it.
func (s *Store) fits(b audit.Batch) bool {
	t := s.tail
	return b.Reserve <= mostReserve && t != nil && !t.soiled && t.end < s.opts.SegmentBytes && int64(len(b.Lines))+b.Reserve <= t.room()
}

// prepare makes room for a batch and its reserve, in a new segment if the old one is long enough. full says why there is none; then
// nothing has changed.
func (s *Store) prepare(b audit.Batch) (full, err error) {
	if b.Reserve > mostReserve {
		return fmt.Errorf("at most %d bytes are reserved", mostReserve), nil
	}
	need, more := int64(len(b.Lines))+b.Reserve, s.opts.Pad/firstPad&^(page-1)
	if s.appended >= s.opts.PadAfter {
		more = s.opts.Pad
	}
	// room behind the size of a segment would be given back soon
	if s.tail == nil || s.tail.end >= s.opts.SegmentBytes {
		full, err := s.begin(b.First, max(need, min(more, s.opts.SegmentBytes)))
		if full == nil || err != nil || s.tail == nil {
			return full, err
		}
	}
	return s.tail.grow(&s.blanks, need, min(more, s.opts.SegmentBytes-s.tail.size))
}

// begin starts a segment with room bytes of room. Only when they are on the disk is the room of the old one given back; only when that is
// done does the new one get its name. full says that there is no space, and that the old one must do.
func (s *Store) begin(first, room int64) (full, err error) {
	temp := filepath.Join(s.dir, durable.TempPrefix+rand.Text())
	err = s.blankFile(temp, room)
	if err == nil {
		err = s.owned() // the name may be that of another's segment by now
	}
	if err != nil {
		return s.notBegun(temp, err)
	}
	if s.tail != nil {
		if err := s.tail.seal(); err != nil {
			return nil, err
		}
	}
	if err := s.fsys.Rename(temp, s.segment(first)); err != nil {
		return s.notBegun(temp, err)
	}
	if err := s.syncDir(); err != nil {
		return nil, err
	}
	if s.tail == nil { // whoever made the directory may have been killed before its name was on the disk
		if err := s.syncName(); err != nil {
			return nil, err
		}
	}
	f, err := s.fsys.OpenAt(s.segment(first))
	if err != nil {
		return nil, err
	}
	if s.tail != nil {
		_ = s.tail.file.Close() // it is sealed: what it holds was confirmed
	}
	s.tail = &tail{file: f, path: s.segment(first), place: place{size: room}}
	s.publish(s.extent.grown(first))
	return nil, nil
}

// notBegun tells want of space from other errors.
func (s *Store) notBegun(temp string, err error) (full, final error) {
	_ = s.fsys.Remove(temp) // if that fails it is swept away at the next start
	if !noSpace(err) {
		return nil, err
	}
	return err, nil
}

// blankFile makes a file of newlines, on the disk but for its name.
func (s *Store) blankFile(path string, size int64) error {
	f, err := s.fsys.Create(path, fileMode)
	if err != nil {
		return err
	}
	if _, err := s.blanks.write(size, f.Write); err != nil {
		_ = f.Close() // it is removed
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close() // the sync is what counts
		return &durable.SyncError{Path: path, Err: err}
	}
	return f.Close()
}
