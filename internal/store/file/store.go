package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
)

// Permission bits of what a store makes.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// lockName is the file in the directory that stands for the right to write there.
const lockName = "lock"

// Options are for tests; programs use the zero value, or nil. Negative values are refused.
type Options struct {
	// SegmentBytes is how long a segment gets before the next one is begun; 0 means 64 MiB.
	SegmentBytes int64
	// Pad is how much room is prepared at once; 0 means 4 MiB.
	Pad int64
	// PadAfter is how many bytes must have been appended through a Store before it prepares that much, so that short commands
	// do not write megabytes of newlines; 0 means 256 KiB. Until then it is a 64th, in whole pages
	// of 4 KiB.
	PadAfter int64
}

func (o *Options) filled() (Options, error) {
	var f Options
	if o != nil {
		f = *o
	}
	for _, v := range []struct {
		value *int64
		usual int64
	}{{&f.SegmentBytes, 64 << 20}, {&f.Pad, 4 << 20}, {&f.PadAfter, 256 << 10}} {
		if *v.value < 0 {
			return f, fmt.Errorf("options %+v: a size is negative", f)
		}
		if *v.value == 0 {
			*v.value = v.usual
		}
	}
	return f, nil
}

// Store is an [audit.Store] in a directory. Make one with [Open], [Create] or [OpenRead]. One Append, Cut or Close runs at a
// time and the others wait; the rest may run beside it.
type Store struct {
	fsys durable.FS
	dir  string
	opts Options
	lock durable.Lock // nil if opened for reading

	owner    sync.Mutex // held by Append, Cut and Close; guards what follows
	tail     *tail      // nil if there is no segment
	blanks   blanks     // to prepare room with
	appended int64      // bytes, through this Store
	failed   error      // why nothing more is taken

	view   sync.Mutex // guards what readers go by, which the owner changes
	extent extent
	closed bool
	lost   error // why the lock is not the store's own any more

	kept sync.Mutex // held by Load, Save and Extend, one at a time
}

// extent is how far a store goes.
type extent struct {
	firsts []int64 // of the segments; never changed in place
	end    int64   // of the lines in the last one; unknown if negative
}

var _ audit.Store = (*Store)(nil)

// Open opens the store in dir for its one writer. What it finds there it makes durable, so that nothing is read that a power cut
// could take back; it sweeps temporary files away. If another process writes there the error is a [*durable.BusyError].
// A directory that does not exist is fs.ErrNotExist; one without segments is an empty store.
func Open(fsys durable.FS, dir string, opts *Options) (*Store, error) {
	filled, err := opts.filled()
	if err != nil {
		return nil, notOpened(dir, err)
	}
	lock, err := fsys.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, notOpened(dir, err)
	}
	s := &Store{fsys: fsys, dir: dir, opts: filled, lock: lock}
	if err := s.find(); err != nil {
		return nil, notOpened(dir, errors.Join(err, lock.Close()))
	}
	return s, nil
}

// Create makes dir and opens a new store in it; dir may exist, its parent must. If there are lines in it already the error is
// fs.ErrExist.
func Create(fsys durable.FS, dir string, opts *Options) (*Store, error) {
	if err := durable.Mkdir(fsys, dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, notOpened(dir, err)
	}
	s, err := Open(fsys, dir, opts)
	if err != nil {
		return nil, err
	}
	if s.extent.end > 0 || len(s.extent.firsts) > 1 {
		err := fmt.Errorf("there is a log already: %w", fs.ErrExist)
		return nil, notOpened(dir, errors.Join(err, s.Close()))
	}
	return s, nil
}

// OpenRead opens the store in dir for reading, while another process may write there. What it gives can end in a batch that is
// being written. Append, Cut, Save and Extend are refused.
func OpenRead(fsys durable.FS, dir string) (*Store, error) {
	s := &Store{fsys: fsys, dir: dir}
	firsts, err := s.list()
	if err == nil && len(firsts) > 0 {
		s.extent.firsts = firsts
		var seen place
		seen, err = s.measure(s.segment(s.extent.last()))
		s.extent.end = seen.end
	}
	if err != nil {
		return nil, notOpened(dir, err)
	}
	return s, nil
}

func notOpened(dir string, err error) error {
	return fmt.Errorf("%q: the log was not opened: %w", dir, err)
}

// find takes stock of the directory, for the writer.
func (s *Store) find() error {
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return err
	}
	firsts, err := segments(names)
	if err != nil {
		return err
	}
	if err := s.sweep(names); err != nil {
		return err
	}
	if len(firsts) == 0 {
		return nil
	}
	s.extent = extent{firsts: firsts}
	if s.tail, err = s.openTail(s.extent.last()); err != nil {
		return err
	}
	if err := s.tail.sync(); err != nil {
		return errors.Join(err, s.tail.file.Close())
	}
	if err := s.syncDir(); err != nil {
		return errors.Join(err, s.tail.file.Close())
	}
	s.extent.end = s.tail.end
	return nil
}

// sweep removes what killed writers left.
func (s *Store) sweep(names []string) error {
	for _, name := range names {
		if !strings.HasPrefix(name, durable.TempPrefix) {
			continue
		}
		if err := s.fsys.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// openTail opens the last segment for writing and finds where its lines end.
func (s *Store) openTail(first int64) (*tail, error) {
	path := s.segment(first)
	seen, err := s.measure(path)
	if err != nil {
		return nil, err
	}
	f, err := s.fsys.OpenAt(path)
	if err != nil {
		return nil, err
	}
	return &tail{file: f, path: path, place: seen}, nil
}

func (s *Store) measure(path string) (place, error) {
	r, err := s.fsys.Open(path)
	if err != nil {
		return place{}, err
	}
	defer r.Close()
	seen, err := measure(r)
	if err != nil {
		return place{}, fmt.Errorf("%q: %w", path, err)
	}
	return seen, nil
}

// list is the segments that are there now.
func (s *Store) list() ([]int64, error) {
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return nil, err
	}
	return segments(names)
}

func (s *Store) segment(first int64) string { return filepath.Join(s.dir, segmentName(first)) }

// syncDir puts on the disk which names the store's directory holds, syncName its own name.
func (s *Store) syncDir() error  { return s.syncNames(s.dir) }
func (s *Store) syncName() error { return s.syncNames(filepath.Dir(s.dir)) }

func (s *Store) syncNames(dir string) error {
	if err := s.fsys.SyncDir(dir); err != nil {
		return &durable.SyncError{Path: dir, Err: err}
	}
	return nil
}

// current is what readers go by.
func (s *Store) current() (extent, error) {
	s.view.Lock()
	defer s.view.Unlock()
	if s.closed {
		return extent{}, s.isClosed()
	}
	if s.lock != nil {
		return s.extent, nil
	}
	firsts, err := s.list()
	return extent{firsts, -1}, err
}

func (s *Store) publish(e extent) {
	s.view.Lock()
	s.extent = e
	s.view.Unlock()
}

// End is where the lines end, or what else is in the last segment before its room. Of a store opened for reading it is
// where they ended then.
func (s *Store) End() audit.Position {
	s.view.Lock()
	defer s.view.Unlock()
	if len(s.extent.firsts) == 0 {
		return audit.Position{}
	}
	return audit.Position{Segment: s.extent.last(), Offset: s.extent.end}
}

// last is the number of the last segment, of which there must be one.
func (e extent) last() int64 { return e.firsts[len(e.firsts)-1] }

// grown is an extent with one more segment.
func (e extent) grown(first int64) extent {
	return extent{append(slices.Clip(e.firsts), first), 0}
}

// usable says whether what needs the store open, and open for writing, may start.
func (s *Store) usable(ctx context.Context, writing bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.view.Lock()
	defer s.view.Unlock()
	if s.closed {
		return s.isClosed()
	}
	if writing && s.lock == nil {
		return fmt.Errorf("%q: the log is open for reading only: %w", s.dir, fs.ErrPermission)
	}
	return nil
}

func (s *Store) isClosed() error { return fmt.Errorf("%q: the log: %w", s.dir, fs.ErrClosed) }

// owned is nil while the lock is the store's own. Once it was not, the error stays, for what others wrote meanwhile is unknown here.
func (s *Store) owned() error {
	err := s.lock.Held()
	s.view.Lock()
	defer s.view.Unlock()
	if err != nil && s.lost == nil {
		s.lost = fmt.Errorf("%q: the log takes nothing more: %w", s.dir, err)
	}
	return s.lost
}

// poison ends writing for good.
func (s *Store) poison(err error) error {
	var lost *durable.LostError
	if errors.As(err, &lost) {
		s.failed = err // nothing was written since it was noticed
		return err
	}
	s.failed = fmt.Errorf("%q: the log takes nothing more, for what it holds behind its last good batch is unknown; "+
		"stop, check the disk, start again: %w", s.dir, err)
	return s.failed
}

// Close gives back the room that was prepared and not used, and the lock. A store through which nothing was appended, or that failed,
// is left as it is, and so is one that is no longer the store's own: that is a [*durable.LostError]. Close waits for calls that change the store; a reading under way goes on.
func (s *Store) Close() error {
	s.owner.Lock()
	defer s.owner.Unlock()
	s.kept.Lock()
	defer s.kept.Unlock()
	s.view.Lock()
	was := s.closed
	s.closed = true
	s.view.Unlock()
	if was || s.lock == nil {
		return nil
	}
	var err error
	if s.tail != nil {
		if s.failed == nil && s.appended > 0 {
			err = s.giveBack()
		}
		err = errors.Join(err, s.tail.file.Close())
	}
	return errors.Join(err, s.lock.Close())
}

// giveBack cuts off the room, in which another writer's lines may be if the lock was lost.
func (s *Store) giveBack() error {
	if err := s.owned(); err != nil {
		return err
	}
	return s.tail.seal()
}
