package durabletest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"pgregory.net/rapid"
)

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB, fsys durable.FS, path, text string) durable.File {
	t.Helper()
	f, err := fsys.Create(path, 0o600)
	must(t, err)
	_, err = f.Write([]byte(text))
	must(t, err)
	return f
}

// finds is what each survival leaves of one file: its content, or "absent".
func finds(t testing.TB, d *durabletest.Disk, path string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, s := range durabletest.Survivals() {
		if s.Name == "random" {
			continue
		}
		data, err := d.Restart(s).ReadFile(path)
		found[s.Name] = string(data)
		if errors.Is(err, fs.ErrNotExist) {
			found[s.Name] = "absent"
		}
	}
	return found
}

func TestWhatARestartFinds(t *testing.T) {
	for what, c := range map[string]struct {
		do   func(d *durabletest.Disk, f durable.File) error
		want map[string]string
	}{
		"nothing synced": {func(*durabletest.Disk, durable.File) error { return nil }, map[string]string{
			"lost": "absent", "kept": "12345678", "torn": "1234", "reordered pages": "\x00\x00\x00\x005678",
			"names without data": "", "data without names": "absent",
		}},
		"file synced, its name not": {func(_ *durabletest.Disk, f durable.File) error { return f.Sync() }, map[string]string{
			"lost": "absent", "kept": "12345678", "torn": "12345678", "reordered pages": "12345678",
			"names without data": "12345678", "data without names": "absent",
		}},
		"name synced, the file not": {func(d *durabletest.Disk, _ durable.File) error { return d.SyncDir("/") }, map[string]string{
			"lost": "", "kept": "12345678", "torn": "1234", "reordered pages": "\x00\x00\x00\x005678",
			"names without data": "", "data without names": "12345678",
		}},
		"both": {func(d *durabletest.Disk, f durable.File) error { return errors.Join(f.Sync(), d.SyncDir("/")) }, map[string]string{
			"lost": "12345678", "kept": "12345678", "torn": "12345678", "reordered pages": "12345678",
			"names without data": "12345678", "data without names": "12345678",
		}},
		"cut after the sync": {func(d *durabletest.Disk, f durable.File) error {
			return errors.Join(f.Sync(), d.SyncDir("/"), f.Truncate(2))
		}, map[string]string{
			"lost": "12345678", "kept": "12", "torn": "12", "reordered pages": "12",
			"names without data": "12345678", "data without names": "12",
		}},
		"renamed after the sync": {func(d *durabletest.Disk, f durable.File) error {
			return errors.Join(f.Sync(), d.SyncDir("/"), d.Rename("/f", "/g"))
		}, map[string]string{
			"lost": "12345678", "kept": "absent", "torn": "absent", "reordered pages": "absent",
			"names without data": "absent", "data without names": "12345678",
		}},
	} {
		d := durabletest.New()
		f := create(t, d, "/f", "12345678")
		must(t, c.do(d, f))
		got := finds(t, d, "/f")
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%s, %s: %q, want %q", what, name, got[name], want)
			}
		}
		killed := d.Reopen()
		if again := finds(t, killed, "/f"); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%s: after a kill %q, before it %q", what, again, got)
		}
	}
}

// What a failed sync should have written is never written, and the next sync says nothing of it.
func TestFailedSyncDrops(t *testing.T) {
	d := durabletest.New()
	f := create(t, d, "/f", "lost")
	must(t, d.SyncDir("/"))
	d.Arm(durabletest.Fault{At: 0, Mode: durabletest.FailLost})
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
	must(t, f.Sync())
	_, err := f.Write([]byte("+kept"))
	must(t, err, f.Sync())
	if live, _ := d.ReadFile("/f"); string(live) != "lost+kept" {
		t.Errorf("the process sees %q", live)
	}
	for name, got := range finds(t, d, "/f") {
		if got != "\x00\x00\x00\x00+kept" {
			t.Errorf("%s: %q", name, got)
		}
	}
	// The same for names.
	d = durabletest.New()
	d.Arm(durabletest.Fault{At: 1, Mode: durabletest.FailLost})
	must(t, d.Mkdir("/dir", 0o700))
	if err := d.SyncDir("/"); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
	must(t, d.SyncDir("/"))
	if _, err := d.Restart(durabletest.Survivals()[1]).Mode("/dir"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name whose sync failed survives: %v", err)
	}
}

func TestModes(t *testing.T) {
	for mode, want := range map[durabletest.Mode]struct {
		n    int
		err  error
		text string
	}{
		durabletest.FailLost:  {0, syscall.EIO, ""},
		durabletest.FailKept:  {0, syscall.EIO, "1234"},
		durabletest.Short:     {2, nil, "12"},
		durabletest.ShortFull: {2, syscall.ENOSPC, "12"},
		durabletest.Crash:     {0, durabletest.ErrCrashed, ""},
	} {
		d := durabletest.New()
		f := create(t, d, "/f", "")
		d.Arm(durabletest.Fault{At: 0, Mode: mode})
		n, err := f.Write([]byte("1234"))
		text, _ := d.ReadFile("/f")
		if n != want.n || !errors.Is(err, want.err) || string(text) != want.text || len(d.Fired()) != 1 {
			t.Errorf("%v: %d, %v, %q", mode, n, err, text)
		}
		if after := d.Mkdir("/x", 0o700); d.Crashed() != (mode == durabletest.Crash) || errors.Is(after, durabletest.ErrCrashed) != d.Crashed() {
			t.Errorf("%v: then %v", mode, after)
		}
	}
	d := durabletest.New()
	d.Arm(durabletest.Fault{At: 0, Mode: durabletest.FailKept}, durabletest.Fault{At: 1, Mode: durabletest.Short})
	if _, err := d.Create("/f", 0o600); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
	must(t, d.Rename("/f", "/g")) // it is there, and Short strikes no rename
	if got := fmt.Sprint(d.Calls(), d.Fired()); got != "[create /f rename /g] [fail-kept at 0]" {
		t.Error(got)
	}
	if got := durabletest.Mode(99).String(); got != "invalid" {
		t.Error(got)
	}
}

func TestMatrixReports(t *testing.T) {
	body := func(fsys durable.FS) error { return fsys.Mkdir("/d", 0o700) }
	var seen []string
	n, err := durabletest.Matrix(nil, body, func(c *durabletest.Case) error {
		seen = append(seen, c.String())
		return errors.New("no")
	})
	// Unfaulted, fail-lost and fail-kept: running on and ten restarts each; crash: ten restarts.
	if n != 43 || len(seen) != n || err == nil || !strings.HasSuffix(err.Error(), "and 38 more") {
		t.Errorf("%d cases: %v", n, err)
	}
	for _, want := range []string{
		"[mkdir /d] returned <nil>; running on",
		"[mkdir /d <fail-kept>] returned mkdir /d: input/output error; after a restart, lost",
		"[mkdir /d <crash>] returned durabletest: the machine stopped; after a restart, kept",
	} {
		if !slices.Contains(seen, want) {
			t.Errorf("no case %s in %q", want, seen)
		}
	}
	bad := errors.New("bad start")
	if _, err := durabletest.Matrix(func(durable.FS) error { return bad }, body, func(*durabletest.Case) error { return nil }); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	endless := func(fsys durable.FS) error {
		for range 2000 {
			fsys.SyncDir("/")
		}
		return nil
	}
	if _, err := durabletest.Matrix(nil, endless, func(*durabletest.Case) error { return nil }); err == nil {
		t.Error("a body of 2000 calls passes")
	}
}

// Without faults the disk answers every call as the operating system does.
func TestDiskIsLikeOS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		real, err := os.MkdirTemp("", "durabletest")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(real)
		pair := &pair{disk: durabletest.New(), os: durable.OS(), real: real}
		defer pair.closeAll()
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			pair.step(t)
		}
		pair.compare(t, "/")
	})
}

// pair makes each call on both.
type pair struct {
	disk  *durabletest.Disk
	os    durable.FS
	real  string
	files [][2]durable.File
}

var someNames = []string{"/a", "/b", "/d", "/d/a", "/d/b", "/d/e", "/a/x", "/"}

func (p *pair) step(t *rapid.T) {
	name := rapid.SampledFrom(someNames).Draw(t, "name")
	other := rapid.SampledFrom(someNames).Draw(t, "other")
	at := func(name string) string { return filepath.Join(p.real, name) }
	var one, two error
	call := rapid.SampledFrom([]string{"create", "open", "rename", "link", "remove", "mkdir", "syncdir", "file", "file", "file"}).Draw(t, "call")
	switch call {
	case "create", "open":
		f, err1 := p.opened(p.disk, call, name)
		g, err2 := p.opened(p.os, call, at(name))
		if one, two = err1, err2; one == nil && two == nil {
			p.files = append(p.files, [2]durable.File{f, g})
		}
	case "rename":
		if p.isDirectory(name) || p.isDirectory(other) {
			return // not modelled
		}
		one, two = p.disk.Rename(name, other), p.os.Rename(at(name), at(other))
	case "link":
		if p.isDirectory(name) {
			return
		}
		one, two = p.disk.Link(name, other), p.os.Link(at(name), at(other))
	case "remove":
		if name == "/" {
			return
		}
		one, two = p.disk.Remove(name), p.os.Remove(at(name))
	case "mkdir":
		one, two = p.disk.Mkdir(name, 0o700), p.os.Mkdir(at(name), 0o700)
	case "syncdir":
		if !p.isDirectory(name) {
			return // the system can sync a file by its name too
		}
		one, two = p.disk.SyncDir(name), p.os.SyncDir(at(name))
	case "file":
		p.useFile(t)
	}
	if class(one) != class(two) {
		t.Fatalf("%s %s %s: %v and %v", call, name, other, one, two)
	}
}

func (p *pair) opened(fsys durable.FS, call, path string) (durable.File, error) {
	if call == "create" {
		return fsys.Create(path, 0o640)
	}
	return fsys.OpenAppend(path)
}

func (p *pair) isDirectory(name string) bool {
	mode, err := p.disk.Mode(name)
	return err == nil && mode.IsDir()
}

func (p *pair) useFile(t *rapid.T) {
	if len(p.files) == 0 {
		return
	}
	files := p.files[rapid.IntRange(0, len(p.files)-1).Draw(t, "file")]
	var got [2]string
	call := rapid.SampledFrom([]string{"write", "truncate", "size", "sync", "close"}).Draw(t, "use")
	data := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "data")
	for i, f := range files {
		switch call {
		case "write":
			n, err := f.Write(data)
			got[i] = fmt.Sprint(n, class(err))
		case "truncate":
			got[i] = class(f.Truncate(int64(len(data))))
		case "size":
			n, err := f.Size()
			got[i] = fmt.Sprint(n, class(err))
		case "sync":
			got[i] = class(f.Sync())
		case "close":
			got[i] = class(f.Close())
		}
	}
	if got[0] != got[1] {
		t.Fatalf("%s: %s and %s", call, got[0], got[1])
	}
}

func (p *pair) closeAll() {
	for _, f := range p.files {
		f[1].Close()
	}
}

// class is what callers tell errors apart by.
func class(err error) string {
	for _, known := range []error{fs.ErrExist, fs.ErrNotExist, fs.ErrClosed, syscall.ENOTDIR, syscall.ENOTEMPTY, syscall.EISDIR} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if err != nil {
		return "other"
	}
	return "none"
}

func (p *pair) compare(t *rapid.T, dir string) {
	names, err := p.disk.List(dir)
	entries, err2 := os.ReadDir(filepath.Join(p.real, dir))
	var real []string
	for _, e := range entries {
		real = append(real, e.Name())
	}
	if err != nil || err2 != nil || !slices.Equal(names, real) {
		t.Fatalf("%s: %v (%v) and %v (%v)", dir, names, err, real, err2)
	}
	for i, e := range entries {
		path := filepath.Join(dir, names[i])
		if e.IsDir() {
			p.compare(t, path)
			continue
		}
		one, err := p.disk.ReadFile(path)
		two, err2 := os.ReadFile(filepath.Join(p.real, path))
		mode, _ := p.disk.Mode(path)
		info, _ := e.Info()
		if err != nil || err2 != nil || !bytes.Equal(one, two) || mode != info.Mode() {
			t.Fatalf("%s: %q %v %v and %q %v %v", path, one, mode, err, two, info.Mode(), err2)
		}
	}
}
