package fs

import (
	"os"
	"testing"

	"github.com/iff-run/iff/gate"
)

// A directory is not listed by whoever may not read the one above it, as nothing
// else there is read: an observer would not see it either.
func TestListBelowLocked(t *testing.T) {
	if !asUser(t) {
		return
	}
	b := newBench(t)
	must(t, os.MkdirAll(b.in("locked/sub"), 0o755))
	if _, err := b.read("locked/sub", `{"op":"list"}`); err != nil {
		t.Fatal(err)
	}
	must(t, os.Chmod(b.in("locked"), 0o311))
	t.Cleanup(func() { must(t, os.Chmod(b.in("locked"), 0o755)) })
	for _, args := range []string{`{"op":"list"}`, `{"op":"stat"}`} {
		_, err := b.read("locked/sub", args)
		wantReason(t, args, err, gate.NoAccess)
	}
}
