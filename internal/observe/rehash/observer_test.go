//go:build linux || darwin

package rehash_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/beneath"
	"github.com/iff-run/iff/internal/observe/rehash"
)

func objects(s *corpus.Snapshot) []corpus.Object {
	var out []corpus.Object
	for _, e := range s.Entries() {
		out = append(out, e.Object)
	}
	return out
}

func read(tb testing.TB, o *rehash.Observer, paths ...string) []corpus.State {
	tb.Helper()
	var list []corpus.Object
	for _, p := range paths {
		list = append(list, corpus.Name("work", p))
	}
	states, err := o.Read(tb.Context(), list)
	if err != nil || len(states) != len(list) {
		tb.Fatal(states, err)
	}
	return states
}

// All kinds, by snapshot and by reading, fresh and at rest, against a reading by other means.
func TestEveryKind(t *testing.T) {
	root := t.TempDir()
	everyKind(t, root)
	want := reference(t, root, corpus.Patterns{})
	if want.Len() < 25 || want.Unread() > 0 {
		t.Fatalf("%s", want.Text())
	}
	for _, workers := range []int{1, 7} {
		o := open(t, root, rehash.Options{Workers: workers})
		same(t, "first", take(t, o.Snapshot), want)
		time.Sleep(30 * time.Millisecond)
		same(t, "second", take(t, o.Snapshot), want)
		same(t, "third", take(t, o.Snapshot), want)
		same(t, "full", take(t, o.Full), want)
		states, err := o.Read(t.Context(), objects(want))
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range want.Entries() {
			if states[i] != e.State {
				t.Errorf("%s is read as %s, want %s", e.Object, states[i], e.State)
			}
		}
	}
}

// Everything that counts is noticed, and what does not count is not.
func TestChangesAreNoticed(t *testing.T) {
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"file", "sub/file"} {
		write(t, in(name), "hello", 0o644)
	}
	must(t, os.Symlink("file", in("link")), unix.Mkfifo(in("fifo"), 0o644))
	o := open(t, root, rehash.Options{})
	time.Sleep(30 * time.Millisecond)
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		what   string
		change func() error
		want   []corpus.Object
	}{
		{"nothing", func() error { return nil }, nil},
		{"times", func() error { return os.Chtimes(in("file"), old, old) }, nil},
		{"content, size and times as they were", func() error {
			return errors.Join(os.WriteFile(in("file"), []byte("HELLO"), 0o644), os.Chtimes(in("file"), old, old))
		}, []corpus.Object{"work/file"}},
		{"mode", func() error { return os.Chmod(in("file"), 0o645) }, []corpus.Object{"work/file"}},
		{"setuid", func() error { return os.Chmod(in("sub/file"), 0o644|fs.ModeSetuid) }, []corpus.Object{"work/sub/file"}},
		{"mode of a directory", func() error { return os.Chmod(in("sub"), 0o700) }, []corpus.Object{"work/sub"}},
		{"mode of the root", func() error { return os.Chmod(root, 0o711) }, []corpus.Object{"work/."}},
		{"a new file", func() error { return os.WriteFile(in("sub/new"), nil, 0o644) }, []corpus.Object{"work/sub/new"}},
		{"a hard link", func() error { return os.Link(in("file"), in("hard")) }, []corpus.Object{"work/hard"}},
		{"both names written through one", func() error { return os.WriteFile(in("hard"), []byte("again"), 0o644) }, []corpus.Object{"work/file", "work/hard"}},
		{"a link turned", func() error { return errors.Join(os.Remove(in("link")), os.Symlink("sub", in("link"))) }, []corpus.Object{"work/link"}},
		{"a FIFO's mode", func() error { return os.Chmod(in("fifo"), 0o600) }, []corpus.Object{"work/fifo"}},
		{"renamed", func() error { return os.Rename(in("sub/new"), in("sub/newer")) }, []corpus.Object{"work/sub/new", "work/sub/newer"}},
		{"a directory renamed", func() error { return os.Rename(in("sub"), in("other")) }, []corpus.Object{
			"work/other", "work/other/file", "work/other/newer", "work/sub", "work/sub/file", "work/sub/newer"}},
		{"a file for a directory", func() error { return errors.Join(os.RemoveAll(in("other")), os.WriteFile(in("other"), nil, 0o644)) },
			[]corpus.Object{"work/other", "work/other/file", "work/other/newer"}},
	} {
		before := take(t, o.Snapshot)
		must(t, c.change())
		after := take(t, o.Snapshot)
		var got []corpus.Object
		for _, d := range corpus.Diff(before, after) {
			got = append(got, d.Object)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v differ, want %v", c.what, got, c.want)
		}
		same(t, c.what, after, reference(t, root, corpus.Patterns{}))
	}
}

func TestXattrsAreNoticed(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	write(t, file, "x", 0o644)
	o := open(t, root, rehash.Options{})
	time.Sleep(30 * time.Millisecond)
	before := take(t, o.Snapshot).State("work/file")
	if err := unix.Setxattr(file, "user.note", []byte("1"), 0); err != nil {
		t.Logf("NOT CHECKED HERE: this file system has no extended attributes: %v", err)
		return
	}
	one := take(t, o.Snapshot).State("work/file")
	must(t, unix.Setxattr(file, "user.note", []byte("2"), 0))
	two := take(t, o.Snapshot).State("work/file")
	must(t, unix.Removexattr(file, "user.note"))
	none := take(t, o.Snapshot).State("work/file")
	if before.Is(one) || one.Is(two) || !none.Is(before) {
		t.Errorf("%s, %s, %s, %s", before, one, two, none)
	}
}

func TestWhereNothingIs(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret", 0o644)
	write(t, filepath.Join(root, "file"), "x", 0o644)
	write(t, filepath.Join(root, "sub/f"), "x", 0o644)
	must(t, os.Symlink(outside, filepath.Join(root, "out")), os.Symlink("sub", filepath.Join(root, "in")), os.Symlink("/proc/self/root", filepath.Join(root, "magic")))
	o := open(t, root, rehash.Options{})
	for _, path := range []string{"gone", "gone/f", "file/f", "out/secret", "in/f", "magic/etc/passwd", "sub/f/x/y", "caf\xe9"} {
		if s := read(t, o, path); s[0] != corpus.Absent {
			t.Errorf("%q is %s", path, s[0])
		}
	}
	if s := read(t, o); len(s) != 0 {
		t.Errorf("%v", s)
	}
}

func TestRefusals(t *testing.T) {
	var e *rehash.Error
	root := t.TempDir()
	o := open(t, root, rehash.Options{})
	for _, object := range []corpus.Object{"", "work", "other/a", "work/../a", "work//a", "work/a/", `work/\x41`, "work/\xff"} {
		if s, err := o.Read(t.Context(), []corpus.Object{"work/.", object}); !errors.As(err, &e) || e.Reason != rehash.ObjectInvalid || s != nil {
			t.Errorf("%q: %v, %v", object, s, err)
		}
	}
	must(t, o.Close(), o.Close())
	_, readErr := o.Read(t.Context(), []corpus.Object{"work/."})
	_, snapErr := o.Snapshot(t.Context())
	_, zeroErr := new(rehash.Observer).Full(t.Context())
	for _, err := range []error{readErr, snapErr, zeroErr} {
		if !errors.As(err, &e) || e.Reason != rehash.RootUnreadable {
			t.Errorf("closed: %v", err)
		}
	}
	if _, err := rehash.New(filepath.Join(root, "gone"), "work", corpus.Patterns{}, rehash.Options{}); !errors.As(err, &e) || e.Reason != rehash.RootUnreadable || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no root: %v", err)
	}
	for name, options := range map[string]rehash.Options{"": {}, "a/b": {}, "work": {Objects: -1}, "work-2": {Depth: -1}, "work-3": {Workers: -1}} {
		if _, err := rehash.New(root, name, corpus.Patterns{}, options); !errors.As(err, &e) || e.Reason != rehash.BadOptions {
			t.Errorf("corpus %q, %+v: %v", name, options, err)
		}
	}
}

func TestBounds(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a/b/c/f", "a/g", "nine-nine", "v/1", "v/2", "v/3"} {
		write(t, filepath.Join(root, name), name, 0o644)
	}
	for what, c := range map[string]struct {
		options rehash.Options
		want    rehash.Reason
		at      corpus.Object
	}{
		"as many as there are": {rehash.Options{Objects: 7}, "", ""},
		"one fewer":            {rehash.Options{Objects: 6}, rehash.TooManyObjects, ""},
		"fewer than listed":    {rehash.Options{Objects: 1}, rehash.TooManyObjects, "work/."},
		"as deep":              {rehash.Options{Depth: 4}, "", ""},
		"one less deep":        {rehash.Options{Depth: 3}, rehash.TooDeep, "work/a/b/c/f"},
		"as long":              {rehash.Options{Name: len("work/nine-nine")}, "", ""},
		"one shorter":          {rehash.Options{Name: len("work/nine-nine") - 1}, rehash.NameTooLong, "work/nine-nine"},
	} {
		o := open(t, root, c.options, "v/**", "v")
		s, err := o.Snapshot(t.Context())
		var e *rehash.Error
		if c.want == "" {
			if err != nil || s.Len() != 7 {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if !errors.As(err, &e) || e.Reason != c.want || c.at != "" && e.Object != c.at || !strings.Contains(err.Error(), "volatile") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestVolatile(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{".git/HEAD", ".git/caf\xe9/x", "a.swp", "sub/b.swp", "sub/c", "build/out"} {
		write(t, filepath.Join(root, name), name, 0o644)
	}
	texts := []string{".git/**", "**/*.swp", "build"}
	o := open(t, root, rehash.Options{}, texts...)
	for range 2 {
		got := objects(take(t, o.Snapshot))
		if want := []corpus.Object{"work/.", "work/.git", "work/sub", "work/sub/c"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	blind := strings.Join(o.Blind(), "\n")
	for _, text := range append(texts, "change-and-restore", "outside the corpus work", "reads") {
		if !strings.Contains(blind, text) {
			t.Errorf("%s is not in %s", text, blind)
		}
	}
	if o.Name() != "rehash" {
		t.Error(o.Name())
	}
}

func TestCancelled(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "large"), strings.Repeat("x", 1<<20), 0o644)
	o := open(t, root, rehash.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := o.Read(ctx, []corpus.Object{"work/large"})
	_, rootErr := o.Read(ctx, []corpus.Object{"work/."})
	_, snapErr := o.Snapshot(ctx)
	for _, err := range []error{err, rootErr, snapErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if s := take(t, o.Snapshot); s.Len() != 2 || s.Unread() > 0 {
		t.Errorf("afterwards: %s", s.Text())
	}
}

// Random trees at rest, against the other reading, through some random changes.
func TestLikeTheReference(t *testing.T) {
	volatile := []string{"**/v*", "d0/**"}
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 1))
		root := t.TempDir()
		o := open(t, root, rehash.Options{Workers: 1 + random.IntN(4)}, volatile...)
		for range 4 {
			for range 60 {
				disturb(random, root)
			}
			if random.IntN(2) == 0 {
				time.Sleep(25 * time.Millisecond)
			}
			want := reference(t, root, patterns(t, volatile...))
			same(t, fmt.Sprint("seed ", seed), take(t, o.Snapshot), want)
			states, err := o.Read(t.Context(), objects(want))
			must(t, err)
			for i, e := range want.Entries() {
				if states[i] != e.State {
					t.Errorf("seed %d: %s is read as %s, want %s", seed, e.Object, states[i], e.State)
				}
			}
		}
	}
}

// disturb does one random thing in a tree of few names; that it may be impossible does not matter.
func disturb(random *rand.Rand, root string) {
	pick := func() string {
		path := root
		for range 1 + random.IntN(3) {
			path = filepath.Join(path, fmt.Sprint([]string{"d", "f", "v", "\xff"}[random.IntN(4)], random.IntN(3)))
		}
		return path
	}
	path := pick()
	switch random.IntN(10) {
	case 0, 1, 2:
		os.MkdirAll(path, 0o755)
	case 3, 4, 5:
		os.WriteFile(path, []byte(strings.Repeat("x", random.IntN(3))), 0o644)
	case 6:
		os.Rename(path, pick())
	case 7:
		os.Symlink(pick(), path)
	case 8:
		if i, err := os.Lstat(path); err == nil && i.Mode()&fs.ModeSymlink == 0 {
			os.Chmod(path, []fs.FileMode{0o755, 0o700}[random.IntN(2)])
		}
	case 9:
		os.RemoveAll(path)
	}
}

// Many at once, beside a writer: under the race detector, and every state one that was.
func TestConcurrentUse(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		write(t, filepath.Join(root, fmt.Sprint(i%7), fmt.Sprint(i)), "0", 0o644)
	}
	o := open(t, root, rehash.Options{Workers: 3})
	want := take(t, o.Snapshot)
	var users sync.WaitGroup
	for i := range 6 {
		users.Go(func() {
			for range 20 {
				if i%2 == 0 {
					if s, err := o.Snapshot(t.Context()); err != nil || s.Root() != want.Root() {
						t.Error(err, "or another snapshot")
					}
				} else if s, err := o.Read(t.Context(), objects(want)); err != nil || s[1] != want.Entries()[1].State {
					t.Error(s, err)
				}
			}
		})
	}
	users.Wait()
	var e *beneath.Error
	must(t, os.RemoveAll(root))
	if s, err := o.Snapshot(t.Context()); errors.As(err, &e) || err == nil && s.Len() != 1 {
		t.Errorf("the root taken away: %v", err)
	}
}
