package durabletest_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"pgregory.net/rapid"
)

const sector = durabletest.SectorSize

// sectors writes each letter over a sector.
func sectors(letters string) []byte {
	var out []byte
	for _, c := range []byte(letters) {
		out = append(out, bytes.Repeat([]byte{c}, sector)...)
	}
	return out
}

// letters is the opposite, with what is not a whole sector of one letter as "?".
func letters(data []byte) string {
	var out strings.Builder
	for part := range slices.Chunk(data, sector) {
		if len(part) == sector && bytes.Count(part, part[:1]) == sector {
			out.WriteByte(part[0])
		} else {
			out.WriteByte('?')
		}
	}
	return out.String()
}

func overwritten(t testing.TB) (*durabletest.Disk, durable.FileAt) {
	t.Helper()
	d := durabletest.New()
	must(t, durable.WriteFile(d, "/f", sectors("oooo"), 0o600))
	f, err := d.OpenAt("/f")
	must(t, err)
	_, err = f.WriteAt(sectors("nnn"), sector)
	must(t, err)
	return d, f
}

func TestOverwriteSurvivesInAnySectors(t *testing.T) {
	d, f := overwritten(t)
	want := map[string]string{
		"lost": "oooo", "kept": "onnn", "torn": "on?o", "reordered pages": "oo?n", "names without data": "oooo",
		"data without names": "onnn", "even sectors": "oono", "odd sectors": "onon", "last sectors": "ooon", "first bytes": "o?oo",
	}
	all := append(durabletest.Survivals(), durabletest.FirstBytes(100))
	for _, s := range all {
		data, err := d.Restart(s).ReadFile("/f")
		if got := letters(data); err != nil || !strings.HasPrefix(s.Name, "random") && got != want[s.Name] {
			t.Errorf("%s: %s, %v", s.Name, got, err)
		}
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Errorf("no such survivals: %v", want)
	}
	seen := map[string]bool{}
	for seed := range uint64(200) {
		data, _ := d.Restart(durabletest.RandomSectors(seed)).ReadFile("/f")
		seen[letters(data)] = true
	}
	if len(seen) != 8 {
		t.Errorf("of the 8 ways three sectors can survive: %v", seen)
	}
	must(t, f.Sync())
	for _, s := range all {
		if data, err := d.Restart(s).ReadFile("/f"); err != nil || letters(data) != "onnn" {
			t.Errorf("synced, %s: %s, %v", s.Name, letters(data), err)
		}
	}
}

// Of two overwrites of one place the later may be there and the earlier not.
func TestOverwritesAreReordered(t *testing.T) {
	d, f := overwritten(t)
	_, err := f.WriteAt(sectors("l"), 2*sector)
	must(t, err)
	seen := map[string]bool{}
	for seed := range uint64(500) {
		data, _ := d.Restart(durabletest.RandomSectors(seed)).ReadFile("/f")
		seen[letters(data)] = true
	}
	for _, want := range []string{"oooo", "oolo", "ooln", "onoo", "onnn", "onln", "onlo", "oono"} {
		if !seen[want] {
			t.Errorf("never %s: %v", want, seen)
		}
	}
}

func TestSyncOfAnotherFileAndTruncation(t *testing.T) {
	d, f := overwritten(t)
	must(t, durable.WriteFile(d, "/g", nil, 0o600))
	g, err := d.OpenAt("/g")
	must(t, err, g.Sync(), d.SyncDir("/"))
	lost := durabletest.Survivals()[0]
	if data, _ := d.Restart(lost).ReadFile("/f"); letters(data) != "oooo" {
		t.Errorf("syncing another file covers it: %s", letters(data))
	}
	must(t, f.Sync(), f.Truncate(sector))
	if data, _ := d.Restart(lost).ReadFile("/f"); letters(data) != "onnn" {
		t.Errorf("a truncation that was not synced: %s", letters(data))
	}
	// The descriptor does not matter: a sync is of the file.
	appending, err := d.OpenAppend("/f")
	must(t, err, appending.Sync())
	if data, _ := d.Restart(lost).ReadFile("/f"); letters(data) != "o" {
		t.Errorf("a truncation that was synced: %s", letters(data))
	}
}

func TestWriteAtModes(t *testing.T) {
	for mode, want := range map[durabletest.Mode]struct {
		n    int
		err  error
		text string
	}{
		0:                     {4, nil, "oonnnn"},
		durabletest.FailLost:  {0, syscall.EIO, "oooooo"},
		durabletest.FailKept:  {0, syscall.EIO, "oonnnn"},
		durabletest.Short:     {2, io.ErrShortWrite, "oonnoo"},
		durabletest.ShortFull: {2, syscall.ENOSPC, "oonnoo"},
		durabletest.Crash:     {0, durabletest.ErrCrashed, "oooooo"},
	} {
		d := durabletest.New()
		create(t, d, "/f", "oooooo")
		f, err := d.OpenAt("/f")
		must(t, err)
		d.Arm(durabletest.Fault{At: 0, Mode: mode})
		n, err := f.WriteAt([]byte("nnnn"), 2)
		if text, _ := d.ReadFile("/f"); n != want.n || !errors.Is(err, want.err) || string(text) != want.text {
			t.Errorf("%v: %d, %v, %q", mode, n, err, text)
		}
	}
}

// Whatever survives, each byte is one that was written there or was there at the last sync, and where nothing was written
// since, it is the one that was synced. The disk goes on unharmed, and so do its copies.
func TestWhatSurvivesWasThere(t *testing.T) {
	const size = 3 * sector
	rapid.Check(t, func(t *rapid.T) {
		d := durabletest.New()
		must(t, durable.WriteFile(d, "/f", make([]byte, size), 0o600))
		f, err := d.OpenAt("/f")
		must(t, err)
		live := make([]byte, size)
		may := make([][]byte, size) // what may be found at each byte
		synced := func() {
			for i := range may {
				may[i] = []byte{live[i]}
			}
		}
		synced()
		for n := range rapid.IntRange(1, 12).Draw(t, "calls") {
			if rapid.IntRange(0, 3).Draw(t, "sync") == 0 {
				must(t, f.Sync())
				synced()
				continue
			}
			off := rapid.IntRange(0, size-1).Draw(t, "off")
			to := rapid.IntRange(off+1, size).Draw(t, "to")
			_, err := f.WriteAt(bytes.Repeat([]byte{byte(n + 1)}, to-off), int64(off))
			must(t, err)
			for i := off; i < to; i++ {
				live[i] = byte(n + 1)
				may[i] = append(may[i], live[i])
			}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		for _, s := range append(durabletest.Survivals(), durabletest.Random(seed), durabletest.RandomSectors(seed)) {
			next := d.Restart(s)
			data, err := next.ReadFile("/f")
			must(t, err)
			for i := range may {
				if !bytes.Contains(may[i], data[i:i+1]) {
					t.Fatalf("%s: byte %d is %d, of %v", s.Name, i, data[i], may[i])
				}
			}
			g, err := next.OpenAt("/f")
			must(t, err)
			_, err = g.WriteAt(sectors("xxx"), 0)
			must(t, err, g.Sync())
		}
		if data, err := d.ReadFile("/f"); err != nil || !bytes.Equal(data, live) {
			t.Fatalf("the process sees something else: %v", err)
		}
	})
}
