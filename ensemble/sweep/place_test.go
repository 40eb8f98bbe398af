package sweep

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNextSweepRemoves has a sweep begin where another one was killed: nobody holds
// what it left.
func TestNextSweepRemoves(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, place().Prefix+"1")
	need(t, os.MkdirAll(filepath.Join(left, "iff-ensemble-1", "work"), 0o700))
	need(t, os.WriteFile(filepath.Join(left, place().Marker), []byte(place().Text), 0o600))
	if _, err := Make(t.Context(), small(1), new(fake), Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		t.Errorf("%s: left is %v %v", left, there, err)
	}
}

// TestPlaces goes to the next place if a directory cannot be made in the first, and
// says why if there is none.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, "gone")
	at, err := inFirst(gone, dir)
	need(t, err)
	if filepath.Dir(at.Path()) != dir {
		t.Errorf("it is in %s", at.Path())
	}
	need(t, at.Close())
	if _, err := inFirst(gone, gone); err == nil {
		t.Error("a directory was made nowhere")
	}
}

func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
