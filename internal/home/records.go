package home

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/record"
)

// recordFile is the sink for now: one plain file of canonical lines, appended
// and synced under the home's lock. It is neither chained nor signed. The
// audit log takes this file's place, and only this file's; everything else
// knows record.Sink and record.State.
type recordFile struct {
	fsys  durable.FS
	path  string
	now   func() time.Time
	state *record.State
	torn  int64 // size to cut the file back to before appending, -1 if whole
	// poisoned is the sync failure after which nothing is written any more.
	poisoned error
}

const recordsFile = "records.jsonl"

// Append implements record.Sink. The home's lock must be held.
func (f *recordFile) Append(ctx context.Context, bodies ...record.Body) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var out bytes.Buffer
	records := make([]record.Record, len(bodies))
	for i, b := range bodies {
		records[i] = record.Record{Time: f.now().UTC(), Body: b}
		line, err := records[i].Line()
		if err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	if err := f.write(out.Bytes()); err != nil {
		return err
	}
	for _, r := range records {
		f.state.Apply(r)
	}
	return nil
}

// write appends and syncs. Where a failed append left a torn line behind, the
// next one cuts it first; where a sync failed, what the disk holds is unknown
// and nothing more is written until the next start.
func (f *recordFile) write(data []byte) error {
	if f.poisoned != nil {
		return fmt.Errorf("an earlier record could not be made durable: %w", f.poisoned)
	}
	err := f.cut()
	if err == nil {
		err = durable.Append(f.fsys, f.path, data, 0o600)
	}
	var tail *durable.TailError
	var sync *durable.SyncError
	switch {
	case errors.As(err, &tail):
		f.torn = tail.Good
	case errors.As(err, &sync):
		f.poisoned = err
	}
	return err
}

// cut removes a torn last line.
func (f *recordFile) cut() error {
	if f.torn < 0 {
		return nil
	}
	file, err := f.fsys.OpenAppend(f.path)
	if err != nil {
		return err
	}
	err = file.Truncate(f.torn)
	if err == nil {
		if syncErr := file.Sync(); syncErr != nil {
			err = &durable.SyncError{Path: f.path, Err: syncErr}
		}
	}
	if err = errors.Join(err, file.Close()); err == nil {
		f.torn = -1
	}
	return err
}

// readRecords folds the file. A last line without a newline was never
// acknowledged: it is left out, and cut before the next append. Anything else
// that cannot be read is refused with its line.
func readRecords(fsys durable.FS, dir string, now func() time.Time) (*recordFile, error) {
	f := &recordFile{fsys: fsys, path: filepath.Join(dir, recordsFile), now: now, state: new(record.State), torn: -1}
	file, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Reason: RecordsBroken, Path: f.path, Detail: "the records are gone, so nothing says what was seen before; restore the file"}
	}
	if err != nil {
		return nil, &Error{Reason: Unreadable, Path: f.path, Detail: err.Error(), Err: err}
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, &Error{Reason: RecordsBroken, Path: f.path, Detail: "not a regular file; restore it", Err: err}
	}
	r := bufio.NewReaderSize(file, record.MaxLine+2)
	var whole int64
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		if err == io.EOF {
			if len(line) > 0 {
				f.torn = whole
			}
			return f, nil
		}
		if err != nil {
			return nil, &Error{Reason: RecordsBroken, Path: f.path, Detail: fmt.Sprintf("line %d: %v; restore the file", n, err), Err: err}
		}
		rec, err := record.ParseLine(line[:len(line)-1])
		if err != nil {
			return nil, &Error{Reason: RecordsBroken, Path: f.path, Detail: fmt.Sprintf("line %d: %s; restore the file", n, err), Err: err}
		}
		f.state.Apply(rec)
		whole += int64(len(line))
	}
}
