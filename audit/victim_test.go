package audit_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/record"
)

// files are what lies in a log's directory.
type files map[string][]byte

// victim is a log of several segments with calls, payloads beside it, checkpoints and another key; and what somebody outside
// remembers of it.
type victim struct {
	files
	anchors []audit.Anchored
}

func newVictim(t testing.TB, origin string, seed int) *victim {
	t.Helper()
	disk := durabletest.New()
	store, err := file.Create(disk, "/log", &file.Options{SegmentBytes: 12_000})
	must(t, err)
	b := newBook()
	first := begin()
	first.Origin = origin
	l, err := audit.Create(t.Context(), b.watch(store), first, logKeys()[0], audit.Options{Now: ticking(), CheckpointEvery: 1 << 30, Workers: 1})
	must(t, err)
	for i := range 24 {
		entries := call(seed + i)
		if i%8 == 3 {
			p, err := l.Keep(t.Context(), bytes.Repeat([]byte{byte(seed), byte(i)}, record.MaxInline))
			must(t, err)
			r := entries[0].Body.(record.Request)
			r.Payload = p
			entries[0].Body = r
		}
		must(t, b.append(l, entries...))
		if i%6 == 5 {
			note, err := l.Checkpoint(t.Context())
			must(t, err)
			<-b.saved
			if origin == begin().Origin {
				_, key, _ := l.State().Log()
				must(t, b.anchor(note, key))
			}
		}
		if i == 12 {
			must(t, b.rotate(l, logKeys()[1]))
		}
	}
	must(t, l.Close())
	return &victim{files: filesOf(t, disk), anchors: b.anchors}
}

func filesOf(t testing.TB, disk *durabletest.Disk) files {
	t.Helper()
	names, err := disk.List("/log")
	must(t, err)
	f := files{}
	for _, name := range names {
		data, err := disk.ReadFile("/log/" + name)
		must(t, err)
		f[name] = data
	}
	return f
}

// disk has the files.
func (f files) disk(t testing.TB) *durabletest.Disk {
	t.Helper()
	disk := durabletest.New()
	must(t, disk.Mkdir("/log", 0o700))
	for name, data := range f {
		w, err := disk.Create("/log/"+name, 0o600)
		must(t, err)
		if len(data) > 0 {
			_, err = w.Write(data)
			must(t, err)
		}
		must(t, w.Close())
	}
	disk.Settle()
	return disk
}

func (f files) clone() files {
	next := files{}
	for name, data := range f {
		next[name] = bytes.Clone(data)
	}
	return next
}

func (f files) segments() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f)), func(name string) bool { return !strings.HasSuffix(name, ".jsonl") })
}

// lines are those of all segments.
func (f files) lines() [][]byte {
	var all [][]byte
	for _, name := range f.segments() {
		for line := range bytes.Lines(f[name]) {
			all = append(all, bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	return all
}

// set puts other lines into the segments, in which as many lines stand as before; the last one takes the rest. Without lines a segment is gone.
func (f files) set(lines [][]byte) {
	names := f.segments()
	for i, name := range names {
		n := bytes.Count(f[name], []byte("\n"))
		if i == len(names)-1 {
			n = len(lines)
		}
		n = min(n, len(lines))
		f[name] = nil
		for _, line := range lines[:n] {
			f[name] = append(append(f[name], line...), '\n')
		}
		if lines = lines[n:]; n == 0 {
			delete(f, name)
		}
	}
}
