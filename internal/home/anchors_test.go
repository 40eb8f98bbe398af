package home_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/home"
)

// anchored is a home with a file anchor, and where that lies.
func anchored(t *testing.T) (dir, place string) {
	t.Helper()
	dir, place = newHome(t), filepath.Join(t.TempDir(), "iff.checkpoint")
	config, err := os.ReadFile(filepath.Join(dir, "iff.toml"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "iff.toml"), append(config, "\n[[log.anchor]]\nplace = \""+place+"\"\n"...), 0o600))
	return dir, place
}

// A log that is set back as a whole, snapshot and all, is found out by the
// anchor.
func TestAnchorFindsARollback(t *testing.T) {
	dir, place := anchored(t)
	h := open(t, dir, home.Write)
	_, err := h.Adopt(t.Context(), newSkill(t, "a"), home.AdoptOptions{})
	must(t, err)
	must(t, h.Close())
	must(t, h.Unanchored())
	before := filepath.Join(t.TempDir(), "log")
	must(t, os.CopyFS(before, os.DirFS(filepath.Join(dir, "log"))))
	h = open(t, dir, home.Write)
	_, err = h.Adopt(t.Context(), newSkill(t, "b"), home.AdoptOptions{})
	must(t, err)
	must(t, h.Close())
	must(t, h.Unanchored())

	must(t, os.RemoveAll(filepath.Join(dir, "log")))
	must(t, os.CopyFS(filepath.Join(dir, "log"), os.DirFS(before)))
	for _, mode := range []home.Mode{home.Read, home.Write} {
		h, err := home.Open(t.Context(), dir, mode, home.Options{})
		if reason(err) != "log-rolled-back" {
			t.Errorf("opens: %v", err)
		}
		if err == nil {
			must(t, h.Close())
			t.Log(h.Unanchored())
		}
	}
	// Without the anchor nobody can tell: that is what it is for.
	must(t, os.Remove(place))
	must(t, os.RemoveAll(filepath.Join(dir, "anchors")))
	must(t, open(t, dir, home.Write).Close())
}

// An anchor that is not there stops nothing, and is told of.
func TestAnchorThatIsAway(t *testing.T) {
	dir, place := anchored(t)
	must(t, os.Remove(filepath.Dir(place)))
	h := open(t, dir, home.Write)
	_, err := h.Adopt(t.Context(), newSkill(t, "a"), home.AdoptOptions{})
	must(t, err)
	must(t, h.Close())
	if err := h.Unanchored(); err == nil || !strings.Contains(err.Error(), "iff.checkpoint") {
		t.Errorf("nobody is told: %v", err)
	}
}

// After a rotation the old private key is gone, the log goes on, and what the
// old key signed still holds.
func TestLogKeyRotates(t *testing.T) {
	dir, _ := anchored(t)
	h := open(t, dir, home.Write)
	_, err := h.Adopt(t.Context(), newSkill(t, "a"), home.AdoptOptions{})
	must(t, err)
	k, err := h.RotateLogKey(t.Context())
	must(t, err)
	must(t, h.Close())
	must(t, h.Unanchored())
	if k.Name != "log-2" {
		t.Errorf("the new key is %s", k.Name)
	}
	if _, err := os.Stat(filepath.Join(dir, "keys/log-1.key")); err == nil {
		t.Error("the old private key is still there")
	}
	h = open(t, dir, home.Write)
	_, err = h.Adopt(t.Context(), newSkill(t, "b"), home.AdoptOptions{})
	must(t, err)
	must(t, h.Close())
	must(t, open(t, dir, home.Read).Close())
}
