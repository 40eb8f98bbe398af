package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
)

// create makes a store on the real disk, for t.
func create(t *testing.T, opts *Options) (s *Store, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	s, err := Create(durable.OS(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

func appendTo(t *testing.T, s audit.Store, first int64, text string, reserve int64) {
	t.Helper()
	if err := s.Append(t.Context(), audit.Batch{First: first, Lines: []byte(text), Reserve: reserve}); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, s audit.Store) string {
	t.Helper()
	var all []byte
	for b, err := range s.Blocks(t.Context(), audit.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Data...)
	}
	return string(all)
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, dir, name string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestLayout(t *testing.T) {
	s, dir := create(t, &Options{SegmentBytes: 5})
	appendTo(t, s, 0, "0 a\n1 b\n", 100)
	appendTo(t, s, 2, "2 c\n", 0)
	for name, err := range map[string]error{
		"state":  s.Save(t.Context(), "state", []byte("s")),
		"tree-1": s.Extend(t.Context(), "tree-1", 0, []byte("t")),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
	want := "00000000000000000000.jsonl 00000000000000000002.jsonl lock state tree-1"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the directory has %s, not %s", got, want)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the directory has mode %v, %v", info.Mode(), err)
	}
	if a, b := sizeOf(t, dir, names[0]), sizeOf(t, dir, names[1]); a != 8 || b != 4 {
		t.Errorf("closed, the segments have %d and %d bytes", a, b)
	}
}

func TestOneWriter(t *testing.T) {
	s, dir := create(t, nil)
	var busy *durable.BusyError
	for range 2 {
		if _, err := Open(durable.OS(), dir, nil); !errors.As(err, &busy) || !strings.Contains(err.Error(), "process ") {
			t.Errorf("opened twice: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(durable.OS(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestCreateRefusesALog(t *testing.T) {
	s, dir := create(t, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Create(durable.OS(), dir, nil) // nothing was written yet
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, again, 0, "0 a\n", 0)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the lock is given back
		if _, err := Create(durable.OS(), dir, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("created over a log: %v", err)
		}
	}
	if _, err := Open(durable.OS(), filepath.Join(dir, "absent"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opened, and there is no directory: %v", err)
	}
	if _, err := Open(durable.OS(), dir, &Options{Pad: -1}); err == nil {
		t.Error("a negative option")
	}
}

func TestOpenRead(t *testing.T) {
	s, dir := create(t, &Options{Pad: 100, PadAfter: 1})
	appendTo(t, s, 0, "0 a\n", 1000)
	r, err := OpenRead(durable.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if end := r.End(); end != (audit.Position{Offset: 4}) {
		t.Errorf("it ends at %v", end)
	}
	appendTo(t, s, 1, "1 b\n", 1000)
	if got := content(t, r); got != "0 a\n1 b\n" {
		t.Errorf("beside the writer: %q", got)
	}
	if err := s.Save(t.Context(), "state", []byte("s")); err != nil {
		t.Error(err)
	}
	if data, err := r.Load(t.Context(), "state", 10); string(data) != "s" {
		t.Errorf("loads %q, %v", data, err)
	}
	for what, err := range map[string]error{
		"append": r.Append(t.Context(), audit.Batch{First: 2, Lines: []byte("2 c\n")}),
		"cut":    r.Cut(t.Context(), audit.Position{}),
		"save":   r.Save(t.Context(), "state", nil),
		"extend": r.Extend(t.Context(), "state", 0, nil),
	} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	if _, err := OpenRead(durable.OS(), filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

func TestForeignNames(t *testing.T) {
	s, dir := create(t, nil)
	appendTo(t, s, 0, "0 a\n", 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1.jsonl", "00000000000000000001.json", "0000000000000000000x.jsonl", "000000000000000000001.jsonl", "README", ".iff-tmp-ABC", "00000000000000000001.jsonl.gz"} {
		put(t, dir, name, "foreign\n")
	}
	s, err := Open(durable.OS(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != "0 a\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, ".iff-tmp-ABC")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a temporary file is there still: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "README")); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "09223372036854775808.jsonl", "")
	if _, err := Open(durable.OS(), dir, nil); err == nil || !strings.Contains(err.Error(), "09223372036854775808.jsonl") {
		t.Errorf("a number that no line has: %v", err)
	}
	if _, err := OpenRead(durable.OS(), dir); err == nil {
		t.Error("read: a number that no line has")
	}
}

// What is named like a segment and is no regular file is an error for everybody, in front, in the middle and at the end.
func TestNotRegular(t *testing.T) {
	for what, make := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":      func(path string) error { return os.Symlink("00000000000000000001.jsonl", path) },
		"dangling":  func(path string) error { return os.Symlink("absent", path) },
	} {
		for _, first := range []int64{0, 2, 4} {
			dir := t.TempDir()
			for _, regular := range []int64{1, 3} {
				put(t, dir, segmentName(regular), "1 a\n")
			}
			if err := make(filepath.Join(dir, segmentName(first))); err != nil {
				t.Fatal(err)
			}
			for _, open := range []func() (*Store, error){
				func() (*Store, error) { return Open(durable.OS(), dir, nil) },
				func() (*Store, error) { return OpenRead(durable.OS(), dir) },
			} {
				s, err := open()
				if err == nil {
					_, err = audittest.ReadAll(t.Context(), s)
					_ = s.Close()
				}
				if err == nil {
					t.Errorf("%s in place of segment %d: no error", what, first)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	s, _ := create(t, nil)
	for _, name := range []string{"", "lock", "../x", "a/b", "A", "a.b", ".iff-tmp-x", "00000000000000000000.jsonl", "a\x00", strings.Repeat("a", 81)} {
		_, err := s.Load(t.Context(), name, 10)
		if err == nil || s.Save(t.Context(), name, nil) == nil || s.Extend(t.Context(), name, 0, nil) == nil {
			t.Errorf("%q is a name", name)
		}
	}
	for _, name := range []string{"a", "tree-1", strings.Repeat("a", 80), "00000000000000000000"} {
		if err := s.Save(t.Context(), name, []byte(name)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if data, err := s.Load(t.Context(), "tree-1", 5); !errors.Is(err, durable.ErrTooLarge) {
		t.Errorf("too large: %q, %v", data, err)
	}
}

// withoutRoom is what Blocks should give of the last segment.
func withoutRoom(data string) string {
	text := strings.TrimRight(data, "\n\x00")
	if strings.HasPrefix(data[len(text):], "\n") && text != "" {
		text += "\n"
	}
	return text
}

// A torn end is handed out, with what looks like room before it, and nothing can be appended until it is cut. Room that was
// turned to zeros is no torn end.
func TestTornEnd(t *testing.T) {
	const good = "0 a\n1 b\n"
	newlines, zeros := strings.Repeat("\n", 3*scanBytes), strings.Repeat("\x00", 3*scanBytes)
	for _, behind := range []string{
		"", "x", "2 c", "2 c\n", "\n\n\n2", "\x00\x002\n", "2\x00\n", "2\x00", "2\n\x00", "\x00\x00", "\n\x00", newlines, zeros, newlines + zeros,
		newlines + "x", zeros + "x\n", newlines + "x\n" + zeros, "x" + zeros + "\n", "x" + newlines + zeros + newlines,
	} {
		dir, what := t.TempDir(), behind[:min(len(behind), 10)]
		put(t, dir, segmentName(0), good+behind)
		s, err := Open(durable.OS(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := withoutRoom(good + behind)
		if got := content(t, s); got != want {
			t.Errorf("%q: %d bytes come back, not %d", what, len(got), len(want))
		}
		batch := audit.Batch{First: 2, Lines: []byte("2 new\n"), Reserve: 10}
		torn := !strings.HasSuffix(want, "\n")
		if err := s.Append(t.Context(), batch); (err != nil) != torn {
			t.Errorf("%q: append: %v", what, err)
		}
		if raw := read(t, dir, segmentName(0)); !torn && strings.TrimRight(raw, "\n") != want+"2 new" {
			t.Errorf("%q: after an append the file has %d bytes", what, len(raw))
		}
		if err := s.Cut(t.Context(), audit.Position{Offset: int64(len(good))}); err != nil {
			t.Error(err)
		}
		if err := s.Append(t.Context(), batch); err != nil {
			t.Errorf("%q: after the cut: %v", what, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if raw := read(t, dir, segmentName(0)); raw != good+"2 new\n" {
			t.Errorf("%q: %d bytes in the end", what, len(raw))
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The end of a store that ends in something torn can be read from, and not be cut at.
func TestTheEndOfATornStore(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, segmentName(0), "0 a\n1")
	s, err := Open(durable.OS(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for b, err := range s.Blocks(t.Context(), s.End()) {
		t.Errorf("%q, %v", b.Data, err)
	}
	if err := s.Cut(t.Context(), s.End()); err == nil {
		t.Error("cut in the middle of a line")
	}
}

// An empty line cannot be the last one: its newline would be taken for room.
func TestCutBehindAnEmptyLine(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, segmentName(0), "0 a\n\n\n1 b\n2")
	s, err := Open(durable.OS(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for at := int64(11); at >= 0; at-- { // from the back, so that each place is there when it is tried
		err := s.Cut(t.Context(), audit.Position{Offset: at})
		if want := at == 0 || at == 4 || at == 10; (err == nil) != want {
			t.Errorf("cut at %d: %v", at, err)
		}
	}
}

// A segment without lines is the last one, or it was put there.
func TestEmptySegment(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, segmentName(0), "0 a\n")
	put(t, dir, segmentName(1), "")
	s, err := OpenRead(durable.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != "0 a\n" {
		t.Errorf("%q", got)
	}
	put(t, dir, segmentName(7), "7 a\n")
	if got, err := audittest.ReadAll(t.Context(), s); err == nil {
		t.Errorf("%q, and an empty segment in the middle", got)
	}
}

func TestLongLines(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 5*blockBytes) + "\n"
	put(t, dir, segmentName(0), "0 a\n"+long+"2 c\n")
	s, err := OpenRead(durable.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != "0 a\n"+long+"2 c\n" {
		t.Errorf("%d bytes come back", len(got))
	}
	put(t, dir, segmentName(0), "0 a\n"+strings.Repeat("x", longestLine+1)+"\n2 c\n")
	got, err := audittest.ReadAll(t.Context(), s)
	if err == nil || string(got) != "0 a" || !strings.Contains(err.Error(), "byte 4") {
		t.Errorf("what is no log: %d bytes, %v", len(got), err)
	}
}

func FuzzSegment(f *testing.F) {
	for _, seed := range []string{"", "\n", "0 a\n", "0 a\n\n\n", "0 a\n\n\nb", "\x00\x00\n", "0 a\n1"} {
		f.Add([]byte(seed), uint16(3))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		put(t, dir, segmentName(0), string(data))
		s, err := Open(durable.OS(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got := content(t, s)
		if want := withoutRoom(string(data)); got != want {
			t.Errorf("%q gives %q, not %q", data, got, want)
		}
		if end := s.End(); end.Offset != int64(len(got)) {
			t.Errorf("%q ends at %v", data, end)
		}
		place := int(at) <= len(got) && withoutRoom(got[:at]) == got[:at] && (at == 0 || got[at-1] == '\n')
		if err := s.Cut(t.Context(), audit.Position{Offset: int64(at)}); (err == nil) != place {
			t.Errorf("%q: cut at %d: %v", data, at, err)
		} else if err == nil && content(t, s) != got[:at] {
			t.Errorf("%q: cut at %d: %q", data, at, content(t, s))
		}
	})
}
