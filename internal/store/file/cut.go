package file

import (
	"context"
	"io"

	"github.com/iff-run/iff/audit"
)

// Cut makes a place between two lines the end of the store, durably. One behind an empty line, or one that ends in a zero, is
// refused, for the end of the lines would not be found there again. Later segments are removed first, the newest before the
// others, each durably: a crash in between leaves the old store with less behind the place, and the same Cut completes it.
func (s *Store) Cut(ctx context.Context, at audit.Position) error {
	s.owner.Lock()
	defer s.owner.Unlock()
	if err := s.usable(ctx, true); err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed
	}
	i, offset, err := s.locate(s.extent, at)
	if err != nil || s.tail == nil {
		return err
	}
	if err := s.owned(); err != nil {
		return s.poison(err)
	}
	if err := s.exists(i, offset); err != nil {
		return err
	}
	if err := s.cut(i, offset); err != nil {
		return s.poison(err)
	}
	return nil
}

// exists refuses an offset in segment i that is not a place between two lines.
func (s *Store) exists(i int, offset int64) error {
	first := s.extent.firsts[i]
	r, err := s.fsys.Open(s.segment(first))
	if err != nil {
		return err
	}
	defer r.Close()
	end, err := part{first, i == len(s.extent.firsts)-1, s.extent.end}.until(r)
	if err != nil {
		return err
	}
	if !between(r, offset, end) || !lineBefore(r, offset) {
		return s.nowhere(audit.Position{Segment: first, Offset: offset})
	}
	return nil
}

// lineBefore says whether room behind at would be told from the line before it.
func lineBefore(r io.ReaderAt, at int64) bool {
	var last [1]byte
	return at == 0 || at > 1 && readFull(r, last[:], at-2) == nil && !blankByte(last[0])
}

// cut keeps segment i up to offset and nothing behind.
func (s *Store) cut(i int, offset int64) error {
	firsts := s.extent.firsts
	for j := len(firsts) - 1; j > i; j-- {
		if err := s.fsys.Remove(s.segment(firsts[j])); err != nil {
			return err
		}
		if err := s.syncDir(); err != nil {
			return err
		}
		if err := s.owned(); err != nil {
			return err
		}
	}
	if i < len(firsts)-1 {
		_ = s.tail.file.Close() // it is removed
		last, err := s.openTail(firsts[i])
		if err != nil {
			return err
		}
		s.tail = last
	}
	if err := s.tail.cut(offset); err != nil {
		return err
	}
	s.publish(extent{firsts[: i+1 : i+1], offset})
	return nil
}
