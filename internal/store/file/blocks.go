package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/iff-run/iff/audit"
)

const (
	// firstBytes is how much is read at first, for many want a few records only, and blockBytes how much at once in the end.
	firstBytes = 16 << 10
	blockBytes = 512 << 10
	// longestLine bounds what is read in search of a newline. It is far more than a line may have, for a power cut can turn a
	// batch into zeros.
	longestLine = 32 * blockBytes
)

// Blocks gives the lines from a position on, as [audit.Store] says: those that were durable when the reading began or, in a store
// opened for reading, those that were visible. Each iteration begins anew.
func (s *Store) Blocks(ctx context.Context, from audit.Position) iter.Seq2[audit.Block, error] {
	return func(yield func(audit.Block, error) bool) {
		if err := s.read(ctx, from, yield); err != nil && !errors.Is(err, errEnough) {
			yield(audit.Block{}, err)
		}
	}
}

// errEnough says that the consumer wants no more.
var errEnough = errors.New("enough")

func (s *Store) read(ctx context.Context, from audit.Position, yield func(audit.Block, error) bool) error {
	if err := s.usable(ctx, false); err != nil {
		return err
	}
	e, err := s.current()
	if err != nil {
		return err
	}
	i, at, err := s.locate(e, from)
	if err != nil {
		return err
	}
	for ; i < len(e.firsts); i++ {
		p := part{first: e.firsts[i], last: i == len(e.firsts)-1, end: e.end}
		if err := s.readPart(ctx, p, at, yield); err != nil {
			return err
		}
		at = 0
	}
	return nil
}

// locate finds the segment that a position is in. The zero position is the beginning, whatever the first segment is called.
func (s *Store) locate(e extent, at audit.Position) (index int, offset int64, err error) {
	if at == (audit.Position{}) {
		return 0, 0, nil
	}
	i, ok := slices.BinarySearch(e.firsts, at.Segment)
	if !ok {
		return 0, 0, s.nowhere(at)
	}
	return i, at.Offset, nil
}

func (s *Store) nowhere(at audit.Position) error {
	return fmt.Errorf("%q: %v: the log has no such place between two lines", s.dir, at)
}

// part is a segment and how far it is read.
type part struct {
	first int64
	last  bool
	end   int64 // of the last one; unknown if negative
}

func (s *Store) readPart(ctx context.Context, p part, at int64, yield func(audit.Block, error) bool) error {
	r, err := s.fsys.Open(s.segment(p.first))
	if err != nil {
		return err
	}
	defer r.Close()
	end, err := p.until(r)
	if err == nil && end == 0 && !p.last {
		return fmt.Errorf("%q: %w", s.segment(p.first), audit.ErrEmptySegment)
	}
	if err == nil && at != end && !between(r, at, end) {
		return s.nowhere(audit.Position{Segment: p.first, Offset: at})
	}
	for want := int64(firstBytes); err == nil && at < end; want = min(4*want, blockBytes) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var data []byte
		if data, err = readLines(r, at, end, want); err == nil {
			if !yield(audit.Block{At: audit.Position{Segment: p.first, Offset: at}, Data: data}, nil) {
				return errEnough
			}
			at += int64(len(data))
		}
	}
	if err != nil {
		return fmt.Errorf("%q: byte %d: %w", s.segment(p.first), at, err)
	}
	return nil
}

// until is where the reading of a segment ends. In the last one it is found before anything is read: whatever lies before the last
// byte that can be seen was written whole before it, but for the batch that this byte belongs to.
func (p part) until(r reader) (int64, error) {
	if p.last && p.end >= 0 {
		return p.end, nil
	}
	if !p.last {
		return r.Size()
	}
	seen, err := measure(r)
	return seen.end, err
}

// between says whether a place in a file that is read up to end lies between two lines.
func between(r io.ReaderAt, at, end int64) bool {
	if at <= 0 || at > end {
		return at == 0
	}
	var before [1]byte
	return readFull(r, before[:], at-1) == nil && before[0] == '\n'
}

// readLines reads whole lines, about as many bytes as are wanted, or all that is left.
func readLines(r io.ReaderAt, at, end, want int64) ([]byte, error) {
	for ; ; want *= 4 {
		data := make([]byte, min(want, end-at))
		if err := readFull(r, data, at); err != nil {
			return nil, err
		}
		if at+int64(len(data)) == end {
			return data, nil
		}
		if i := bytes.LastIndexByte(data, '\n'); i >= 0 {
			return data[: i+1 : i+1], nil
		}
		if want >= longestLine {
			return nil, fmt.Errorf("no newline in %d bytes, so this is no log", want)
		}
	}
}
