package beneath

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// childXattrs asks by name: of the file, of a link to it, whose own these are not, of a FIFO without a reader and of nothing.
func childXattrs(t *testing.T, d *Dir, user func(string) bool, want []Xattr, sorted func([]Xattr) []Xattr) {
	t.Helper()
	symlink(t, "f", filepath.Join(d.path, "link"))
	if err := unix.Mkfifo(filepath.Join(d.path, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Xattrs("f", user, 100); err != nil || !slices.Equal(sorted(got), want) {
		t.Errorf("by name: %v, %v", got, err)
	}
	for _, name := range []string{"link", "fifo"} {
		if got, err := d.Xattrs(name, user, 100); err != nil || len(got) > 0 {
			t.Errorf("of the %s: %v, %v", name, got, err)
		}
	}
	_, err := d.Xattrs("gone", user, 100)
	wantReason(t, "gone", err, NotFound)
	_, err = d.Xattrs("../f", user, 100)
	wantReason(t, "a path", err, FileName)
}
