package rehash

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/beneath"
)

const bogus = corpus.State("0000000000000000000000000000000000000000000000000000000000000000")

func observer(t *testing.T, path string, now func() time.Time) *Observer {
	t.Helper()
	o, err := New(path, "work", corpus.Patterns{}, Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

func stateBy(t *testing.T, s *corpus.Snapshot, err error) corpus.State {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return s.State("work/f")
}

// A fingerprint is taken for the file by Snapshot, never by Full or Read; a fresh one never.
func TestFingerprint(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := info.ModTime()
	for age, trusted := range map[time.Duration]bool{
		-time.Hour: false, 0: false, time.Millisecond: false, 10 * time.Millisecond: false, time.Second: true, time.Hour: true,
	} {
		o := observer(t, root, func() time.Time { return changed.Add(age) })
		s, err := o.Snapshot(t.Context())
		truth := stateBy(t, s, err)
		lie := *(*o.known.Load())["work/f"]
		if lie.settled != trusted {
			t.Errorf("seen %v after the change it has a fingerprint: %v", age, lie.settled)
		}
		lie.state = bogus
		o.known.Store(&prints{"work/f": &lie})
		if s, err = o.Snapshot(t.Context()); (stateBy(t, s, err) == bogus) != trusted {
			t.Errorf("seen %v after the change, the fingerprint is used: %v", age, !trusted)
		}
		o.known.Store(&prints{"work/f": &lie})
		if states, err := o.Read(t.Context(), []corpus.Object{"work/f"}); err != nil || states[0] != truth {
			t.Errorf("Read trusts a fingerprint: %v", err)
		}
		if s, err = o.Full(t.Context()); stateBy(t, s, err) != truth {
			t.Error("Full trusts a fingerprint")
		}
		if s, err = o.Snapshot(t.Context()); stateBy(t, s, err) != truth {
			t.Error("Full did not correct the fingerprint")
		}
	}
}

// Any field that differs is another file.
func TestFingerprintForgetsNothing(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "f"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return time.Now().Add(time.Hour) }
	o := observer(t, root, later)
	s, err := o.Snapshot(t.Context())
	truth := stateBy(t, s, err)
	seen := *(*o.known.Load())["work/f"]
	seen.state = bogus
	for what, change := range map[string]func(f *beneath.Facts){
		"times and inode": func(f *beneath.Facts) { f.Stamp = beneath.Stamp{} },
		"size":            func(f *beneath.Facts) { f.Size++ },
		"mode":            func(f *beneath.Facts) { f.Mode ^= 0o4000 },
		"owner":           func(f *beneath.Facts) { f.UID++ },
		"group":           func(f *beneath.Facts) { f.GID++ },
		"links":           func(f *beneath.Facts) { f.Links++ },
		"kind":            func(f *beneath.Facts) { f.Kind = beneath.Link },
	} {
		other := seen
		change(&other.facts)
		o.known.Store(&prints{"work/f": &other})
		if s, err := o.Snapshot(t.Context()); stateBy(t, s, err) != truth {
			t.Errorf("a fingerprint with another %s is trusted", what)
		}
	}
}

// A small tree is walked by one goroutine; one that nobody has seen, or with much in it, by several.
func TestFew(t *testing.T) {
	found := func(n int, size int64) prints {
		p := make(prints)
		for i := range n {
			p[corpus.Name("work", strconv.Itoa(i))] = &object{seen: seen{facts: beneath.Facts{Size: size}}}
		}
		return p
	}
	for _, c := range []struct {
		found prints
		few   bool
	}{
		{nil, false}, {found(1, 0), true}, {found(batch-1, 1), true}, {found(batch, 0), false},
		{found(2, fewBytes/2), true}, {found(2, fewBytes/2+1), false},
	} {
		if c.found.few() != c.few {
			t.Errorf("of %d objects: %v", len(c.found), !c.few)
		}
	}
}

// A file whose name is how that of another is spelled stays apart from it, also when both are known.
func TestSpelledAlike(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{`a\b`, `a\\b`, `a\x41`, "a\n", `a\x0a`, "aA"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := observer(t, root, time.Now)
	first, err := o.Snapshot(t.Context())
	if err != nil || first.Len() != 7 { // with the root
		t.Fatalf("%v, %v", first, err)
	}
	for range 2 {
		again, err := o.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again.Root() != first.Root() {
			t.Fatalf("%s, then %s", first.Text(), again.Text())
		}
	}
}
