package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// A slot holds one record, over four sectors and with its borders in none.
const slotSize = 1500

const other = "/home/other"

func record(i int) []byte { return append(bytes.Repeat([]byte{byte('a' + i)}, slotSize-1), '\n') }

// withRoom is a disk on which target, and other, have room for three records.
func withRoom(fsys durable.FS) error {
	room := bytes.Repeat([]byte("\n"), 3*slotSize)
	return errors.Join(without(fsys),
		durable.WriteFile(fsys, target, room, 0o600), durable.WriteFile(fsys, other, room, 0o600))
}

// filler fills slots one by one until something fails, with one bug or none, and keeps how many were acknowledged.
type filler struct {
	bug   string
	acked int
	whole func(slot []byte, i int) bool // what it takes for a record when it starts again
}

func (f *filler) run(fsys durable.FS) error {
	f.acked = 0
	file, err := fsys.OpenAt(target)
	if err != nil {
		return err
	}
	synced := file
	if f.bug == "another file synced" {
		if synced, err = fsys.OpenAt(other); err != nil {
			return err
		}
	}
	for i := range 3 {
		if err := f.put(file, synced, i); err != nil {
			return err
		}
		f.acked++
	}
	return nil
}

func (f *filler) put(file, synced durable.FileAt, i int) error {
	at := int64(i) * slotSize
	if f.bug == "overwrites the record before" && i > 0 {
		at -= slotSize
	}
	if f.bug == "synced before" {
		if err := synced.Sync(); err != nil {
			return err
		}
	}
	if _, err := file.WriteAt(record(i), at); err != nil && f.bug != "error of the write ignored" {
		return err
	}
	switch f.bug {
	case "not synced", "synced before":
		return nil
	case "error of sync ignored":
		synced.Sync()
		return nil
	case "sync repeated":
		if synced.Sync() == nil {
			return nil
		}
	}
	return synced.Sync()
}

// check: what was acknowledged is there, and what is taken for a record is one.
func (f *filler) check(c *durabletest.Case) error {
	data, err := durable.Load(c.Disk.Reopen(), target, 1<<20)
	if err != nil {
		return err
	}
	if len(data) != 3*slotSize {
		return fmt.Errorf("%d bytes of room are left", len(data))
	}
	for i := range 3 {
		slot := data[i*slotSize:][:slotSize]
		isRecord := bytes.Equal(slot, record(i))
		if i < f.acked && !isRecord {
			return fmt.Errorf("record %d was acknowledged and is not there", i)
		}
		if f.whole(slot, i) != isRecord {
			return fmt.Errorf("record %d is taken for whole and is torn", i)
		}
	}
	return nil
}

func byAllBytes(slot []byte, i int) bool { return bytes.Equal(slot, record(i)) }

func byLastByte(slot []byte, i int) bool { return slot[slotSize-2] == byte('a'+i) }

func byFirstAndLastByte(slot []byte, i int) bool {
	return slot[0] == byte('a'+i) && byLastByte(slot, i)
}

func TestOpenAtMatrix(t *testing.T) {
	f := &filler{whole: byAllBytes}
	n, err := durabletest.Matrix(withRoom, f.run, f.check)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d cases", n)
}

func TestOpenAtMatrixCatches(t *testing.T) {
	for _, bug := range []string{
		"not synced", "synced before", "another file synced", "error of sync ignored", "sync repeated",
		"error of the write ignored", "overwrites the record before",
	} {
		f := &filler{bug: bug, whole: byAllBytes}
		if _, err := durabletest.Matrix(withRoom, f.run, f.check); err == nil {
			t.Errorf("%s: not caught", bug)
		}
	}
	for bug, whole := range map[string]func([]byte, int) bool{
		"a record known by its last byte": byLastByte, "by its first and last": byFirstAndLastByte,
	} {
		f := &filler{whole: whole}
		if _, err := durabletest.Matrix(withRoom, f.run, f.check); err == nil {
			t.Errorf("%s: not caught", bug)
		}
	}
}

// A start that cuts what it cannot read must not do so because a read failed.
func TestMatrixReadsCatches(t *testing.T) {
	prepare := func(fsys durable.FS) error {
		return errors.Join(without(fsys), durable.WriteFile(fsys, target, []byte("good\nto"), 0o600))
	}
	repair := func(bug bool) func(durable.FS) error {
		return func(fsys durable.FS) error {
			data, err := durable.Load(fsys, target, 100)
			if err != nil && !bug {
				return err
			}
			f, err := fsys.OpenAt(target)
			if err != nil {
				return err
			}
			return errors.Join(f.Truncate(int64(bytes.LastIndexByte(data, '\n')+1)), f.Sync(), f.Close())
		}
	}
	check := func(c *durabletest.Case) error {
		text, _, err := held(c.Disk)
		if err != nil || text != "good\n" && text != "good\nto" || c.Acked && text != "good\n" {
			return fmt.Errorf("it holds %q, %v", text, err)
		}
		return nil
	}
	for _, matrix := range []func(_, _ func(durable.FS) error, _ func(*durabletest.Case) error) (int, error){
		durabletest.Matrix, durabletest.MatrixReads,
	} {
		if _, err := matrix(prepare, repair(false), check); err != nil {
			t.Error(err)
		}
	}
	if _, err := durabletest.MatrixReads(prepare, repair(true), check); err == nil {
		t.Error("not caught")
	}
}
