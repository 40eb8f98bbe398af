package audittest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/iff-run/iff/audit"
)

// Memory is what lies on a disk in memory: [Memory.Open] opens the store there. The zero value is an empty disk. It may be used
// by several goroutines; its fields are set before that.
type Memory struct {
	// SegmentBytes is how long a segment gets before the next one is begun; 0 means that there is one.
	SegmentBytes int
	// Before, if set, is called before a batch is stored, outside of every lock: it can look, wait or fail. Its error is
	// that of the Append, and final unless it is audit.ErrFull.
	Before func(context.Context, audit.Batch) error

	mu       sync.Mutex
	segments []segment
	kept     map[string][]byte
	limited  bool
	free     int64 // what the disk has room for, if limited
	room     int64 // prepared behind the lines
	open     *memoryStore
}

// segment of a Memory. Its data are never changed in place.
type segment struct {
	first int64
	data  []byte
}

// Open opens the store for its one writer. If it is open already there is an error.
func (m *Memory) Open() (audit.Store, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open != nil {
		return nil, errors.New("audittest: the store is open")
	}
	m.open = &memoryStore{disk: m}
	return m.open, nil
}

// Kill ends the use of an open store as the end of its process would.
func (m *Memory) Kill(audit.Store) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = nil
}

// Free says how many bytes there is room for from now on, besides what is there; negative: as many as one likes.
func (m *Memory) Free(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limited, m.free = bytes >= 0, bytes
}

// Copy is another disk with the same content, not open, without Before. It is what the next start would find.
func (m *Memory) Copy() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	segments := slices.Clone(m.segments)
	for i := range segments {
		segments[i].data = slices.Clip(segments[i].data)
	}
	return &Memory{SegmentBytes: m.SegmentBytes, segments: segments, kept: maps.Clone(m.kept)}
}

// Edit replaces the content of the segment numbered first, as somebody with a hex editor would. The store must not be open.
func (m *Memory) Edit(first int64, edit func([]byte) []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.find(first)
	if m.open != nil || !ok {
		return fmt.Errorf("audittest: segment %d: the store is open, or there is none", first)
	}
	m.segments[i].data = slices.Clip(edit(bytes.Clone(m.segments[i].data)))
	return nil
}

// Target is for [Run].
func (m *Memory) Target() Target {
	return Target{Open: m.Open, Kill: m.Kill, Free: m.Free, Segments: m.SegmentBytes > 0 && m.SegmentBytes <= 1<<16}
}

func (m *Memory) find(first int64) (int, bool) {
	return slices.BinarySearchFunc(m.segments, first, func(s segment, first int64) int { return cmp.Compare(s.first, first) })
}

func (m *Memory) last() *segment { return &m.segments[len(m.segments)-1] }

// locate is where a position lies.
func (m *Memory) locate(at audit.Position) (int, error) {
	if at == (audit.Position{}) {
		return 0, nil
	}
	i, ok := m.find(at.Segment)
	if ok && at.Offset >= 0 && at.Offset <= int64(len(m.segments[i].data)) {
		data := m.segments[i].data
		if before := data[:at.Offset]; len(before) == 0 || len(before) == len(data) || before[len(before)-1] == '\n' {
			return i, nil
		}
	}
	return 0, fmt.Errorf("audittest: %v is no place between two lines", at)
}

// memoryStore is a Memory while it is open.
type memoryStore struct {
	disk   *Memory
	failed error
}

var _ audit.Store = (*memoryStore)(nil)

// begin says whether a call may be made. It leaves the disk locked.
func (s *memoryStore) begin(ctx context.Context) error {
	s.disk.mu.Lock()
	if s.disk.open != s {
		return errors.New("audittest: the store is closed")
	}
	return ctx.Err()
}

func (s *memoryStore) Append(ctx context.Context, b audit.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if before := s.disk.Before; before != nil {
		if err := before(ctx, b); err != nil {
			return s.fail(err)
		}
	}
	m := s.disk
	defer m.mu.Unlock()
	if err := s.begin(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed
	}
	size := int64(len(b.Lines))
	if missing := size + b.Reserve - m.room; missing > 0 {
		if m.limited && missing > m.free {
			return audit.ErrFull
		}
		m.free -= missing
		m.room += missing
	}
	m.room -= size
	if len(m.segments) == 0 || m.SegmentBytes > 0 && len(m.last().data) >= m.SegmentBytes {
		m.segments = append(m.segments, segment{first: b.First})
	}
	m.last().data = append(m.last().data, b.Lines...)
	return nil
}

func (s *memoryStore) fail(err error) error {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if s.failed == nil && !errors.Is(err, audit.ErrFull) {
		s.failed = err
	}
	return err
}

func (s *memoryStore) End() audit.Position {
	m := s.disk
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.segments) == 0 {
		return audit.Position{}
	}
	return audit.Position{Segment: m.last().first, Offset: int64(len(m.last().data))}
}

// memoryBlock is how long the blocks of a Memory are at most, unless a line is longer.
const memoryBlock = 64 << 10

func (s *memoryStore) Blocks(ctx context.Context, from audit.Position) iter.Seq2[audit.Block, error] {
	return func(yield func(audit.Block, error) bool) {
		segments, err := s.snapshot(ctx, from)
		at := from.Offset
		for _, part := range segments {
			for at < int64(len(part.data)) {
				if err := ctx.Err(); err != nil {
					yield(audit.Block{}, err)
					return
				}
				data := someLines(part.data[at:])
				if !yield(audit.Block{At: audit.Position{Segment: part.first, Offset: at}, Data: bytes.Clone(data)}, nil) {
					return
				}
				at += int64(len(data))
			}
			at = 0
		}
		if err != nil {
			yield(audit.Block{}, err)
		}
	}
}

func (s *memoryStore) snapshot(ctx context.Context, from audit.Position) ([]segment, error) {
	defer s.disk.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	i, err := s.disk.locate(from)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.disk.segments[i:]), nil
}

// someLines is a beginning of data that ends with a line, or all of it.
func someLines(data []byte) []byte {
	n := min(memoryBlock, len(data))
	if i := bytes.LastIndexByte(data[:n], '\n'); i >= 0 && n < len(data) {
		return data[:i+1]
	}
	if i := bytes.IndexByte(data[n:], '\n'); i >= 0 {
		return data[:n+i+1]
	}
	return data
}

func (s *memoryStore) Cut(ctx context.Context, at audit.Position) error {
	m := s.disk
	defer m.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	i, err := m.locate(at)
	if err != nil || len(m.segments) == 0 {
		return err
	}
	data := m.segments[i].data[:at.Offset]
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return fmt.Errorf("audittest: %v is not between two lines", at)
	}
	m.segments = m.segments[:i+1]
	m.segments[i].data = slices.Clip(data)
	return nil
}

func (s *memoryStore) Load(ctx context.Context, name string, limit int) ([]byte, error) {
	defer s.disk.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	data := s.disk.kept[name]
	if len(data) > limit {
		return nil, fmt.Errorf("audittest: %q has %d bytes", name, len(data))
	}
	return bytes.Clone(data), nil
}

func (s *memoryStore) Save(ctx context.Context, name string, data []byte) error {
	defer s.disk.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.keep(name, bytes.Clone(data))
	return nil
}

func (s *memoryStore) keep(name string, data []byte) {
	if s.disk.kept == nil {
		s.disk.kept = map[string][]byte{}
	}
	s.disk.kept[name] = data
}

func (s *memoryStore) Extend(ctx context.Context, name string, at int64, data []byte) error {
	defer s.disk.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	old := s.disk.kept[name]
	if at < 0 || at > int64(len(old)) {
		return fmt.Errorf("audittest: byte %d lies outside of %q", at, name)
	}
	s.keep(name, slices.Concat(old[:at], data))
	return nil
}

func (s *memoryStore) Close() error {
	m := s.disk
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open == s {
		m.open = nil
		m.free += m.room
		m.room = 0
	}
	return nil
}
