//go:build linux || darwin

package rehash_test

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/observe/rehash"
)

const secret = "the digest of this may appear nowhere"

// keep runs f again and again until the test ends or stop is called.
func keep(t *testing.T, f func() error) (stop func()) {
	done := make(chan struct{})
	var worker sync.WaitGroup
	worker.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if err := f(); err != nil {
					t.Errorf("the attack itself: %v", err)
					return
				}
			}
		}
	})
	end := sync.OnceFunc(func() { close(done); worker.Wait() })
	t.Cleanup(end)
	return end
}

// swapped is a tree in which a directory and a file keep turning into links to the outside and back.
func swapped(t *testing.T) (root string, outside corpus.State) {
	t.Helper()
	dir := t.TempDir()
	root = filepath.Join(dir, "root")
	hidden := filepath.Join(dir, "outside", "deep", "secret")
	write(t, hidden, secret, 0o644)
	write(t, filepath.Join(root, "sub/deep/secret"), "inside", 0o644)
	write(t, filepath.Join(root, "file"), "inside", 0o644)
	for name, target := range map[string]string{"sub": filepath.Join(dir, "outside"), "file": hidden} {
		victim, link, kept := filepath.Join(root, name), filepath.Join(dir, "link-"+name), filepath.Join(dir, "kept-"+name)
		keep(t, func() error {
			return errors.Join(os.Symlink(target, link), os.Rename(victim, kept), os.Rename(link, victim), os.Remove(victim), os.Rename(kept, victim))
		})
	}
	info, err := os.Lstat(hidden)
	must(t, err)
	return root, referenceState(t, hidden, info)
}

func TestNothingOutsideIsRead(t *testing.T) {
	root, outside := swapped(t)
	o := open(t, root, rehash.Options{Workers: 2})
	leased := []corpus.Object{"work/sub/deep/secret", "work/file", "work/sub/deep", "work/sub"}
	var known, other int
	for start := time.Now(); time.Since(start) < time.Second || (known == 0 || other == 0) && time.Since(start) < time.Minute; {
		states, err := o.Read(t.Context(), leased)
		must(t, err)
		for _, e := range slices.Concat(take(t, o.Snapshot).Entries(), take(t, o.Full).Entries()) {
			states = append(states, e.State)
		}
		if slices.Contains(states, outside) {
			t.Fatal("the secret was read")
		}
		if states[0] == corpus.Absent || states[0] == corpus.Unreadable {
			other++
		} else {
			known++
		}
	}
	t.Logf("inside %d times, not there %d times", known, other)
	if known == 0 || other == 0 {
		t.Error("the attack did not take place")
	}
}

// The planted bug: by path, looking first.
func TestNaiveReaderEscapes(t *testing.T) {
	root, _ := swapped(t)
	want := sha256.Sum256([]byte(secret))
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		for _, name := range []string{"file", "sub/deep/secret"} {
			path := filepath.Join(root, name)
			if i, err := os.Lstat(path); err != nil || !i.Mode().IsRegular() {
				continue
			}
			time.Sleep(time.Millisecond) // so that the attacker has a turn, also on a busy machine
			if data, err := os.ReadFile(path); err == nil && sha256.Sum256(data) == want {
				return
			}
		}
	}
	t.Error("the naive reader never escaped: the attack proves nothing")
}

const (
	cells    = 64
	cellSize = 4096
)

// cellsOf differ in their first bytes alone: of a longer write somebody might see a half, and rightly, while its processor is taken away.
func cellsOf(first, second byte, n int) string {
	rest := strings.Repeat(".", cellSize-1)
	return strings.Repeat(string(first)+rest, n) + strings.Repeat(string(second)+rest, cells-n)
}

// rewritten is a file whose cells a writer turns from A to B to C to A, from the first to the last, and the states that it has
// on the way. A reading that was overtaken sees another one.
func rewritten(t *testing.T) (root string, states map[corpus.State]bool) {
	t.Helper()
	root = t.TempDir()
	path := filepath.Join(root, "file")
	write(t, path, cellsOf('C', 'C', 0), 0o644)
	states = map[corpus.State]bool{}
	info, err := os.Lstat(path)
	must(t, err)
	for _, pair := range []string{"AC", "BA", "CB"} {
		for n := range cells + 1 {
			must(t, os.WriteFile(path, []byte(cellsOf(pair[0], pair[1], n)), 0o644))
			states[referenceState(t, path, info)] = true
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	n := 0
	keep(t, func() error {
		cell := []byte{"ABC"[n%3]}
		for i := range int64(cells) {
			if _, err := f.WriteAt(cell, i*cellSize); err != nil {
				return err
			}
		}
		n++
		time.Sleep(time.Duration(n%4) * time.Millisecond)
		return nil
	})
	return root, states
}

func TestWrittenWhileHashed(t *testing.T) {
	root, states := rewritten(t)
	o := open(t, root, rehash.Options{})
	still, restless := 0, 0
	for start := time.Now(); time.Since(start) < time.Second || still == 0 && time.Since(start) < time.Minute; {
		for _, s := range []corpus.State{read(t, o, "file")[0], take(t, o.Snapshot).State("work/file")} {
			switch {
			case s == corpus.Unreadable:
				restless++
			case states[s]:
				still++
			default:
				t.Fatal("a state that the file never had")
			}
		}
	}
	t.Logf("%d times at rest, %d times not", still, restless)
}

// The planted bug: a reading, piece by piece, without looking before and after.
func TestUncheckedReaderIsTorn(t *testing.T) {
	root, states := rewritten(t)
	path := filepath.Join(root, "file")
	info, err := os.Lstat(path)
	must(t, err)
	facts := corpus.Facts{Kind: corpus.File, Mode: 0o644, UID: uint32(os.Getuid()), GID: info.Sys().(*syscall.Stat_t).Gid}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if !states[corpus.NewCopy(facts, readInPieces(t, path), nil).State()] {
			return
		}
	}
	t.Error("the unchecked reader never saw a torn file: the test above proves nothing")
}

func readInPieces(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	data := make([]byte, cells*cellSize)
	for i := range cells {
		_, err := f.ReadAt(data[i*cellSize:(i+1)*cellSize], int64(i*cellSize))
		must(t, err)
		if i%16 == 8 {
			time.Sleep(time.Millisecond) // the writer's turn, also on a busy machine
		}
	}
	return string(data)
}

// Always written, it is Unreadable and the reading ends.
func TestNeverAtRest(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "file")
	write(t, path, strings.Repeat("x", 1<<20), 0o644)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	stop := keep(t, func() error { _, err := f.WriteAt([]byte("y"), 0); return err })
	o := open(t, root, rehash.Options{})
	unread := 0
	for end := time.Now().Add(time.Minute); unread == 0 && time.Now().Before(end); {
		unread = take(t, o.Snapshot).Unread()
	}
	stop()
	if s := take(t, o.Snapshot); unread == 0 || s.Unread() > 0 {
		t.Errorf("%d unread while it was written; afterwards %s", unread, s.Text())
	}
}

// Files on the move are somewhere, nowhere or unreadable, and what does not move is as it was.
func TestRacingRenames(t *testing.T) {
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"a/moving", "b/still", "c/tree/f", "x"} {
		write(t, in(name), name, 0o644)
	}
	want := reference(t, root, corpus.Patterns{})
	state := want.State("work/a/moving")
	there := func(from, to string) {
		keep(t, func() error { return errors.Join(os.Rename(from, to), os.Rename(to, from)) })
	}
	there(in("a/moving"), in("b/moving"))
	there(in("x"), in("y"))
	there(in("c/tree"), in("a/tree"))
	o := open(t, root, rehash.Options{Workers: 2})
	for start := time.Now(); time.Since(start) < time.Second; {
		s := take(t, o.Snapshot)
		for _, object := range []corpus.Object{"work/a/moving", "work/b/moving"} {
			if got := s.State(object); got != state && got != corpus.Absent && got != corpus.Unreadable {
				t.Fatalf("%s is %s", object, got)
			}
		}
		if got := s.State("work/b/still"); got != want.State("work/b/still") && got != corpus.Unreadable {
			t.Fatalf("what does not move is %s", got)
		}
	}
}

// A writer that puts size and times back is noticed by the change time, which it cannot set. The planted bug, a fingerprint
// of inode, size and modification time, misses it.
func TestTimesPutBack(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "file")
	write(t, path, "approved", 0o644)
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, old, old))
	time.Sleep(30 * time.Millisecond)
	o := open(t, root, rehash.Options{})
	before, look := take(t, o.Snapshot), stat(t, path)
	same(t, "at rest", take(t, o.Snapshot), before)
	must(t, os.WriteFile(path, []byte("attacked"), 0o644), os.Chtimes(path, old, old))
	naive := stat(t, path)
	if !os.SameFile(look, naive) || look.Size() != naive.Size() || !look.ModTime().Equal(naive.ModTime()) {
		t.Error("the planted bug would notice: nothing was shown")
	}
	if after := take(t, o.Snapshot); len(corpus.Diff(before, after)) != 1 {
		t.Error("not noticed")
	}
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	i, err := os.Lstat(path)
	must(t, err)
	return i
}
