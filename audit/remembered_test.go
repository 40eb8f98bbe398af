package audit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
)

// keptLog makes a log of a number of calls in a directory.
func keptLog(t *testing.T, first, calls int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	store, err := file.Create(durable.OS(), dir, nil)
	must(t, err)
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), options())
	must(t, err)
	for i := range calls {
		_, err := l.Append(t.Context(), call(first+i)...)
		must(t, err)
	}
	must(t, l.Close())
	return dir
}

func TestRemembered(t *testing.T) {
	segment := func(dir string) string { return filepath.Join(dir, "00000000000000000000.jsonl") }
	snapshot := func(dir string) string { return filepath.Join(dir, "snapshot") }
	edit := func(t *testing.T, path string, f func([]byte) []byte) {
		data, err := os.ReadFile(path)
		must(t, err)
		changed := f(data)
		if bytes.Equal(changed, data) {
			t.Fatal("nothing was changed")
		}
		must(t, os.WriteFile(path, changed, 0o600))
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   audit.Reason
	}{
		"whole": {func(*testing.T, string) {}, ""},
		"no snapshot": {func(t *testing.T, dir string) {
			must(t, os.Remove(snapshot(dir)))
		}, ""},
		"a damaged snapshot": {func(t *testing.T, dir string) {
			edit(t, snapshot(dir), func(b []byte) []byte { return b[:len(b)/8] })
		}, ""},
		"a snapshot that the log did not sign": {func(t *testing.T, dir string) {
			edit(t, snapshot(dir), func(b []byte) []byte { return bytes.Replace(b, []byte(`\n41\n`), []byte(`\n99\n`), 1) })
		}, ""},
		"without the checkpoint's record": {func(t *testing.T, dir string) {
			edit(t, segment(dir), func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] })
		}, audit.RolledBack},
		"without half of it": {func(t *testing.T, dir string) {
			edit(t, segment(dir), func(b []byte) []byte { return b[:bytes.IndexByte(b[len(b)/2:], '\n')+len(b)/2+1] })
		}, audit.RolledBack},
		"another history": {func(t *testing.T, dir string) {
			data, err := os.ReadFile(segment(keptLog(t, 1000, 12)))
			must(t, err)
			must(t, os.WriteFile(segment(dir), data, 0o600))
		}, audit.Forked},
	} {
		t.Run(name, func(t *testing.T) {
			dir := keptLog(t, 0, 10)
			c.change(t, dir)
			store, err := file.OpenRead(durable.OS(), dir)
			must(t, err)
			defer store.Close()
			remembered, err := audit.Remember(t.Context(), store)
			must(t, err)
			report, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: pin()})
			must(t, err)
			if !report.Holds() {
				t.Fatalf("it does not hold by itself: %v", report.Problem)
			}
			must(t, remembered.Hold(t.Context(), store, report))
			if c.want == "" != report.Holds() || report.Problem != nil && report.Problem.Reason != c.want {
				t.Errorf("size %d: %+v, not %s", remembered.Size(), report.Problem, c.want)
			}
		})
	}
}

func TestReadCheckpoint(t *testing.T) {
	dir := keptLog(t, 0, 1)
	store, err := file.OpenRead(durable.OS(), dir)
	must(t, err)
	defer store.Close()
	v, err := audit.Read(t.Context(), store, pin(), options(), pin().Key)
	must(t, err)
	note, size := v.Newest()
	c, err := audit.ReadCheckpoint(note)
	if err != nil || c.Size != size || c.Origin != origin {
		t.Errorf("%+v, %v", c, err)
	}
	for name, bad := range map[string][]byte{"empty": nil, "no note": []byte("x\n"), "too long": append(bytes.Clone(note), make([]byte, 16<<10)...), "cut": note[:60]} {
		if c, err := audit.ReadCheckpoint(bad); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
