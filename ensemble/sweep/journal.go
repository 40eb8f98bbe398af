package sweep

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/durable"
)

// What a sweep keeps in its directory.
const (
	JournalName = "sweep.jsonl"
	lockName    = "sweep.lock"
)

const (
	format    = "iff/sweep/v2"
	maxLine   = 16 << 10        // bytes; the first line has all cells and scenarios
	syncAfter = 1 * time.Second // what was written is on the disk about so long after
)

// Reason says why a journal is not gone on with. The set is closed.
type Reason string

// The reasons.
const (
	Differs Reason = "sweep-differs" // it is of another plan, or of another version of the program
	Foreign Reason = "sweep-foreign" // there is something else where it should be
	Busy    Reason = "sweep-busy"    // another process is at it
)

// Error is why a journal is not gone on with.
type Error struct {
	Reason Reason
	Detail string
	Err    error
}

// Error names the file, and the field or the byte.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Reason, e.Detail, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Reason, e.Detail)
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Journal keeps outcomes on a disk. It is not safe for concurrent use.
type Journal struct {
	path     string
	lock     durable.Lock // nil where the system has none
	file     durable.File
	plan     Plan
	outcomes []Outcome // of all runs of the plan
	done     int
	damaged  int // lines that do not hold
	size     int64
	synced   time.Time
	broken   error // after which nothing is written any more
}

// OpenJournal goes on with the journal in a directory, or begins one: the directory
// may be there if it is empty. An *[Error] says that it is not to be gone on with.
func OpenJournal(dir string, p Plan) (*Journal, error) { return openJournal(durable.OS(), dir, p) }

func openJournal(fsys durable.FS, dir string, p Plan) (_ *Journal, err error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := durable.Mkdir(fsys, dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	j := &Journal{path: filepath.Join(dir, JournalName), plan: p, outcomes: make([]Outcome, p.Runs()), synced: time.Now()}
	if _, err := unused(fsys, dir); err != nil { // before a lock is put there
		return nil, err
	}
	if j.lock, err = lock(fsys, filepath.Join(dir, lockName)); err != nil {
		return nil, err
	}
	fresh, err := unused(fsys, dir)
	if err == nil {
		err = durable.Sweep(fsys, dir)
	}
	if err == nil && fresh {
		err = j.begin(fsys)
	}
	if err == nil {
		err = j.read(fsys)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// lock takes the lock of a journal; it is nil where the system has none.
func lock(fsys durable.FS, path string) (durable.Lock, error) {
	l, err := fsys.Lock(path)
	var busy *durable.BusyError
	switch {
	case errors.As(err, &busy):
		return nil, &Error{Reason: Busy, Detail: "another process makes the same sweep", Err: err}
	case errors.Is(err, errors.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return l, nil
}

// unused says whether a directory has no journal yet. One that has other things is
// not a sweep's.
func unused(fsys durable.FS, dir string) (bool, error) {
	there, err := fsys.List(dir)
	if err != nil || slices.Contains(there, JournalName) {
		return false, err
	}
	for _, name := range there {
		if name != lockName && !strings.HasPrefix(name, durable.TempPrefix) {
			return false, &Error{Reason: Foreign, Detail: fmt.Sprintf("%q has %q in it and no sweep", dir, name)}
		}
	}
	return true, nil
}

// Outcomes are those of all runs of the plan; what is not done is zero.
func (j *Journal) Outcomes() []Outcome { return slices.Clone(j.outcomes) }

// Done is how many runs are done.
func (j *Journal) Done() int { return j.done }

// Damaged is how many lines do not hold; their runs are not done.
func (j *Journal) Damaged() int { return j.damaged }

// begin writes the first line, so that it is there as a whole or not at all.
func (j *Journal) begin(fsys durable.FS) error {
	text, err := canonical.Marshal(j.plan.header())
	if err != nil {
		return err
	}
	return durable.WriteFile(fsys, j.path, append(text, '\n'), 0o644)
}

// open opens a journal to be read. A link or a pipe in its place is somebody else's.
func open(fsys durable.FS, path string) (durable.Reader, error) {
	r, err := fsys.Open(path)
	if errors.Is(err, durable.ErrNotRegular) || errors.Is(err, syscall.ELOOP) {
		return nil, &Error{Reason: Foreign, Detail: fmt.Sprintf("%q is no regular file", path), Err: err}
	}
	return r, err
}

// read reads what is there and leaves the file ready for the next line.
func (j *Journal) read(fsys durable.FS) error {
	r, err := open(fsys, j.path)
	if err != nil {
		return err
	}
	err = j.scan(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	if j.size == 0 { // somebody cut it
		if err := j.begin(fsys); err != nil {
			return err
		}
	}
	if j.file, err = fsys.OpenAppend(j.path); err != nil {
		return err
	}
	size, err := j.file.Size()
	if j.size == 0 || err != nil || size == j.size {
		j.size = size
		return err
	}
	return errors.Join(j.file.Truncate(j.size), j.sync())
}

// scan reads the lines, and sets size to where the last one with an end ends. Lines
// that do not hold are passed over: a power cut can take any that were not on the
// disk.
func (j *Journal) scan(from durable.Reader) error {
	in := bufio.NewReaderSize(io.NewSectionReader(from, 0, math.MaxInt64), maxLine)
	for n := 1; ; n++ {
		text, length, ends, err := next(in)
		if err != nil || length == 0 {
			return err
		}
		if n == 1 {
			if there, err := j.first(text, ends); err != nil || !there {
				return err
			}
		} else if !ends {
			return nil
		} else if j.take(text) != nil {
			j.damaged++
		}
		j.size += length
	}
}

// next reads a line, the beginning of one that is too long. The length counts all of
// its bytes, and is 0 at the end of the file.
func next(in *bufio.Reader) (text []byte, length int64, ends bool, err error) {
	text, err = in.ReadSlice('\n')
	length = int64(len(text))
	if errors.Is(err, bufio.ErrBufferFull) {
		text = slices.Clone(text)
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = in.ReadSlice('\n')
		length += int64(len(more))
	}
	if err == io.EOF {
		return text, length, false, nil
	}
	return text, length, err == nil, err
}

// first compares the first line with the plan. One that is torn, and could have
// become the right one, is none yet.
func (j *Journal) first(text []byte, ends bool) (there bool, err error) {
	want := j.plan.header()
	line, err := canonical.Marshal(want)
	if err != nil {
		return false, err
	}
	if !ends && strings.HasPrefix(string(line), string(text)) {
		return false, nil
	}
	h, err := readHeader(j.path, text)
	if err != nil {
		return false, err
	}
	if field, is, should := h.differs(want); field != "" {
		return false, &Error{Reason: Differs, Detail: fmt.Sprintf("%q is of a sweep with %s %s, and not %s", j.path, field, is, should)}
	}
	return true, nil
}

// take reads a line of a run.
func (j *Journal) take(text []byte) error {
	var l line
	if err := canonical.Parse(text, &l, canonical.Limits{Bytes: maxLine}); err != nil {
		return err
	}
	o, err := l.outcome(j.plan)
	if err != nil {
		return err
	}
	if j.outcomes[l.Run].Made() {
		return fmt.Errorf("run %d is there twice", l.Run)
	}
	j.outcomes[l.Run] = o
	j.done++
	return nil
}

// add keeps an outcome. After an error the journal has what it had before, and
// takes no more.
func (j *Journal) add(run int, o Outcome) error {
	if err := j.append(o.line(run)); err != nil {
		return err
	}
	j.outcomes[run] = o
	j.done++
	if time.Since(j.synced) < syncAfter {
		return nil
	}
	return j.sync()
}

func (j *Journal) append(v any) error {
	if j.broken != nil {
		return j.broken
	}
	text, err := canonical.Marshal(v)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	n, err := j.file.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err != nil {
		// What stays of the line is cut off when the journal is read.
		_ = j.file.Truncate(j.size)
		j.broken = fmt.Errorf("%q: %w", j.path, err)
		return j.broken
	}
	j.size += int64(len(text))
	return nil
}

func (j *Journal) sync() error {
	j.synced = time.Now()
	if err := j.file.Sync(); err != nil {
		j.broken = &durable.SyncError{Path: j.path, Err: err}
	}
	return j.broken
}

// Close puts on the disk what was kept, and gives the journal up.
func (j *Journal) Close() error {
	var err error
	if j.file != nil && j.broken == nil {
		err = j.sync()
	}
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	return err
}
