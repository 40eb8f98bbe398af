package durabletest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// fataler is testing.TB or rapid.T.
type fataler interface {
	Helper()
	Fatal(...any)
}

func must(t fataler, errs ...error) {
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
		if strings.HasPrefix(s.Name, "random") {
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
	// Unfaulted, fail-lost and fail-kept: running on and 15 restarts each; crash: 15 restarts.
	if n != 63 || len(seen) != n || err == nil || !strings.HasSuffix(err.Error(), "and 58 more") {
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
