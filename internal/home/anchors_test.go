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

// rolledBack is a home with an anchor whose log was set back to before skill b
// was adopted, snapshot and all.
func rolledBack(t *testing.T) (dir, place string) {
	t.Helper()
	dir, place = anchored(t)
	adopt := func(name string) {
		h := open(t, dir, home.Write)
		_, err := h.Adopt(t.Context(), newSkill(t, name), home.AdoptOptions{})
		must(t, err)
		must(t, h.Close())
		must(t, h.Unanchored())
	}
	adopt("a")
	before := filepath.Join(t.TempDir(), "log")
	must(t, os.CopyFS(before, os.DirFS(filepath.Join(dir, "log"))))
	adopt("b")
	must(t, os.RemoveAll(filepath.Join(dir, "log")))
	must(t, os.CopyFS(filepath.Join(dir, "log"), os.DirFS(before)))
	return dir, place
}

// Whatever is done to what this home remembers of its anchors, a log that was
// set back is not opened.
func TestAnchorIsNotSilenced(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(t *testing.T, dir, place string)
		reason string
	}{
		"nothing":     {func(*testing.T, string, string) {}, "log-rolled-back"},
		"copy gone":   {func(t *testing.T, dir, _ string) { must(t, os.RemoveAll(filepath.Join(dir, "anchors"))) }, "log-rolled-back"},
		"copy empty":  {func(t *testing.T, dir, _ string) { fillCopies(t, dir, "") }, "anchor-invalid"},
		"copy rotten": {func(t *testing.T, dir, _ string) { fillCopies(t, dir, "iff/log/x\n1\nx\n") }, "anchor-invalid"},
		"place empty": {func(t *testing.T, _, place string) { must(t, os.WriteFile(place, nil, 0o600)) }, "anchor-invalid"},
		"place gone":  {func(t *testing.T, _, place string) { must(t, os.Remove(place)) }, "log-rolled-back"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, place := rolledBack(t)
			c.harm(t, dir, place)
			for _, mode := range []home.Mode{home.Read, home.Write} {
				h, err := home.Open(t.Context(), dir, mode, home.Options{})
				if reason(err) != c.reason {
					t.Errorf("mode %d: %v, want %s", mode, err, c.reason)
				}
				if err == nil {
					_ = h.Close()
				}
			}
		})
	}
}

func fillCopies(t *testing.T, dir, text string) {
	copies, err := filepath.Glob(filepath.Join(dir, "anchors", "*"))
	must(t, err)
	if len(copies) == 0 {
		t.Fatal("there are no copies")
	}
	for _, c := range copies {
		must(t, os.WriteFile(c, []byte(text), 0o600))
	}
}

// A home that is refused is left as it is: nothing is cut off, nothing signed.
func TestRefusedIsUnchanged(t *testing.T) {
	dir, _ := rolledBack(t)
	path := filepath.Join(dir, firstSegment)
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(data, "half a line"...), 0o600))
	before := filepath.Join(t.TempDir(), "log")
	must(t, os.CopyFS(before, os.DirFS(filepath.Join(dir, "log"))))
	if _, err := home.Open(t.Context(), dir, home.Write, home.Options{}); reason(err) != "log-rolled-back" {
		t.Fatalf("opens: %v", err)
	}
	after, err := os.ReadFile(path)
	must(t, err)
	if string(after) != string(data)+"half a line" {
		t.Error("the log was changed")
	}
}

func TestAnchorInTheHome(t *testing.T) {
	dir, place := anchored(t)
	edit("iff.toml", place, filepath.Join(dir, "keys", "anchor"))(t, dir)
	if _, err := home.Open(t.Context(), dir, home.Read, home.Options{}); reason(err) != "config-invalid" {
		t.Errorf("opens: %v", err)
	}
}

// A rotation that is killed at any step leaves a home that can be written to
// and rotated again, and no private key but the present one.
func TestKilledRotation(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, keys string){
		"public half": func(t *testing.T, keys string) { plant(t, keys, "log-2.pub", "log-1.pub") },
		"both halves": func(t *testing.T, keys string) {
			plant(t, keys, "log-2.pub", "log-1.pub")
			plant(t, keys, "log-2.key", "adopter.key")
		},
		"private half": func(t *testing.T, keys string) { plant(t, keys, "log-2.key", "adopter.key") },
		"temporary":    func(t *testing.T, keys string) { plant(t, keys, ".iff-tmp-x", "log-1.key") },
		"not a key":    func(t *testing.T, keys string) { plant(t, keys, "log-2.key", "root.key") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newHome(t)
			keys := filepath.Join(dir, "keys")
			leave(t, keys)
			h := open(t, dir, home.Write)
			for range 2 {
				if _, err := h.RotateLogKey(t.Context()); err != nil && name != "not a key" {
					t.Fatal(err)
				}
			}
			must(t, h.Close())
			left, err := filepath.Glob(filepath.Join(keys, ".iff-tmp-*"))
			must(t, err)
			private, err := filepath.Glob(filepath.Join(keys, "log-*.key"))
			must(t, err)
			if name != "not a key" && (len(left) != 0 || len(private) != 1) {
				t.Errorf("left are %v and %v", left, private)
			}
			open(t, dir, home.Read)
		})
	}
}

func plant(t *testing.T, keys, name, from string) {
	data, err := os.ReadFile(filepath.Join(keys, from))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(keys, name), data, 0o600))
}

// Names that iff gives to keys of its own are not for others.
func TestReservedKeyNames(t *testing.T) {
	h := open(t, newHome(t), home.Write)
	for _, name := range []string{"log-2", "root", "approver", "adopter"} {
		if _, err := h.NewKey(t.Context(), name, []byte(secret)); reason(err) != "key-exists" {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, h.Close())
}
