package beneath

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// A writer counts up in place, one cell after the other from the first to the last. At every instant the file is some
// number of cells at n+1 followed by the rest at n; a reader that was overtaken sees a later cell ahead of an earlier one.
const (
	cells    = 64
	cellSize = 4096
)

func consistent(data []byte) bool {
	if len(data) != cells*cellSize {
		return false
	}
	first := binary.LittleEndian.Uint64(data)
	before := first
	for i := 1; i < cells; i++ {
		n := binary.LittleEndian.Uint64(data[i*cellSize:])
		if n > before || first-n > 1 {
			return false
		}
		before = n
	}
	return true
}

// counting keeps a writer at work on dir/f until stop. It rests now and then, so that some readings find the file still.
func counting(t *testing.T, dir string) (stop func()) {
	t.Helper()
	path := filepath.Join(dir, "f")
	write(t, path, string(make([]byte, cells*cellSize)), 0o644)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		defer f.Close()
		for n := uint64(1); ; n++ {
			for i := range int64(cells) {
				if _, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, n), i*cellSize); err != nil {
					t.Errorf("the writer itself: %v", err)
					return
				}
			}
			select {
			case <-done:
				return
			case <-time.After(time.Duration(n%4) * time.Millisecond):
			}
		}
	})
	return func() { close(done); writer.Wait() }
}

// seenBy reads until enough is true.
func seenBy(t *testing.T, read func() ([]byte, error), enough func(still, torn, refused int) bool) (still, torn, refused int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !enough(still, torn, refused); {
		data, err := read()
		switch {
		case err != nil:
			wantReason(t, "while it is written", err, FileChanging)
			refused++
		case consistent(data):
			still++
		default:
			torn++
		}
	}
	return still, torn, refused
}

func TestWrittenWhileRead(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		stop := counting(t, dir)
		defer stop()
		d := mustOpen(t, open, dir)
		end := time.Now().Add(time.Second)
		still, torn, refused := seenBy(t, func() ([]byte, error) {
			f, err := d.ReadFile("f", cells*cellSize)
			return f.Data, err
		}, func(still, _, refused int) bool { return time.Now().After(end) && still > 0 && refused > 0 })
		if torn > 0 || still == 0 || refused == 0 {
			t.Errorf("%d consistent, %d torn, %d refused", still, torn, refused)
		}
		t.Logf("%d consistent, %d torn, %d refused", still, torn, refused)
	})
}

// The planted bug: the same reading without looking before and after. It rests
// in the middle, so that the writer has a turn, also on a busy machine.
func TestWrittenWhileReadCatchesUncheckedReader(t *testing.T) {
	dir := t.TempDir()
	stop := counting(t, dir)
	defer stop()
	unchecked := func() ([]byte, error) {
		f, err := os.Open(filepath.Join(dir, "f"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		data := make([]byte, cells*cellSize)
		if _, err := io.ReadFull(f, data[:len(data)/2]); err != nil {
			return nil, err
		}
		time.Sleep(time.Millisecond)
		_, err = io.ReadFull(f, data[len(data)/2:])
		return data, err
	}
	_, torn, _ := seenBy(t, unchecked, func(_, torn, _ int) bool { return torn > 0 })
	if torn == 0 {
		t.Error("the unchecked reader never saw a torn file")
	}
}
