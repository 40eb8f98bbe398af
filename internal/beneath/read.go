package beneath

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// settle is how old a change must be for the next one to be sure to carry another time: two ticks of the slowest usual
// kernel clock (100 Hz).
const settle = 20 * time.Millisecond

// readUnchanged reads the whole of f, which must be what before describes, now and after the last byte.
func readUnchanged(f object, before info) ([]byte, error) {
	// Before the first read: what was opened may by now be another file, or a device.
	if opened, err := f.stat(); err != nil || opened != before {
		return nil, cmp.Or(err, errChanged)
	}
	recent := before.recent()
	data := make([]byte, before.size)
	if err := readExactly(f, data); err != nil {
		return nil, err
	}
	if recent {
		if err := readAgain(f, data); err != nil {
			return nil, err
		}
	}
	if after, err := f.stat(); err != nil || after != before {
		return nil, cmp.Or(err, errChanged)
	}
	return data, nil
}

// recent says that a further change could leave the times as they are.
func (i info) recent() bool {
	t := i.stamp.ctime
	return time.Since(time.Unix(t.sec, t.nsec)) < settle
}

// readExactly fills data and expects the end of the file behind it. Files of /proc say they are empty and are not.
func readExactly(f io.ReaderAt, data []byte) error {
	if n, err := f.ReadAt(data, 0); n < len(data) {
		if errors.Is(err, io.EOF) {
			return errChanged
		}
		return err
	}
	n, err := f.ReadAt(make([]byte, 1), int64(len(data)))
	if n != 0 {
		return errChanged
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// readAgain compares data with what the file holds now.
func readAgain(f io.ReaderAt, data []byte) error {
	chunk := make([]byte, min(len(data), 64<<10))
	for off := 0; off < len(data); off += len(chunk) {
		part := data[off:min(off+len(chunk), len(data))]
		n, err := f.ReadAt(chunk[:len(part)], int64(off))
		if n < len(part) && !errors.Is(err, io.EOF) {
			return err
		}
		if !bytes.Equal(part, chunk[:n]) {
			return errChanged
		}
	}
	return nil
}

func sortEntries(entries []Entry) error {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(entries); i++ {
		if entries[i].Name == entries[i-1].Name {
			return errChanged
		}
	}
	return nil
}

// listFile lists an open directory by name and asks lstat for each kind.
func listFile(f *os.File, max int, lstat func(string) (info, error)) ([]Entry, error) {
	var entries []Entry
	for {
		names, err := f.Readdirnames(256)
		if len(entries)+len(names) > max {
			return nil, manyError(max)
		}
		for _, name := range names {
			i, err := lstat(name)
			if err != nil {
				return nil, vanished(err)
			}
			entries = append(entries, Entry{name, i.kind})
		}
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// vanished turns "not found", of a name that was just listed, into a change.
func vanished(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return errChanged
	}
	return err
}
