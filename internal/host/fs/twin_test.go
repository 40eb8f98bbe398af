//go:build linux || darwin

package fs

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/iff-run/iff/gate"
)

// folding is a file system that takes two spellings for one name.
type folding struct{ sys }

func fold(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// real is the name as it is listed.
func (f folding) real(at int, name string) string {
	entries, _ := f.sys.list(at, 1<<20)
	for _, other := range entries {
		if fold(other.name) == fold(name) {
			return other.name
		}
	}
	return name
}

func (f folding) lstat(at int, name string) (stat, error) {
	return f.sys.lstat(at, f.real(at, name))
}

func (f folding) open(at int, name string) (int, error) {
	return f.sys.open(at, f.real(at, name))
}

func (f folding) dir(at int, path string) (int, error) {
	fd, err := f.sys.dir(at, ".")
	for name := range strings.SplitSeq(path, "/") {
		if err != nil {
			return -1, err
		}
		var next int
		next, err = f.sys.dir(fd, f.real(fd, name))
		f.sys.close(fd)
		fd = next
	}
	return fd, err
}

func TestNameTwins(t *testing.T) {
	s, err := system()
	must(t, err)
	dir := t.TempDir()
	must(t, os.Mkdir(dir+"/Sub", 0o755))
	must(t, os.WriteFile(dir+"/Sub/README", []byte("x"), 0o644))
	must(t, os.WriteFile(dir+"/Sub/\u00e9", []byte("x"), 0o644))
	b := benchOver(t, folding{s}, dir)
	if !b.h.roots["work"].folds {
		t.Fatal("folding was not noticed")
	}
	for _, c := range []struct {
		target, args string
		want         gate.Reason
	}{
		{"Sub/README", `{"op":"write","content":""}`, ""},
		{"Sub/readme", `{"op":"write","content":""}`, gate.NameTwin},
		{"Sub/readme", `{"op":"delete"}`, gate.NameTwin},
		{"sub/README", `{"op":"write","content":""}`, gate.NameTwin},
		{"sub/new", `{"op":"write","content":""}`, gate.NameTwin},
		{"sub", `{"op":"mkdir"}`, gate.NameTwin},
		{"Sub/e\u0301", `{"op":"write","content":""}`, gate.NameTwin},
		{"Sub/README", `{"op":"rename","to":"Sub/Readme"}`, gate.NameTwin},
		{"Sub/new", `{"op":"write","content":""}`, ""},
	} {
		_, err := b.order(write(t, c.target, c.args))
		if reasonOf(err) != c.want {
			t.Errorf("%s %s: %v, want %s", c.target, c.args, err, c.want)
		}
	}
	_, err = b.read("Sub/readme", `{}`)
	wantReason(t, "read", err, gate.NameTwin)
	_, err = b.read("SUB", `{"op":"list"}`)
	wantReason(t, "list", err, gate.NameTwin)
	// Where names are bytes, two spellings are two files.
	plain := newBench(t)
	plain.mkdir("a")
	if plain.h.roots["work"].folds && !unknownFolds {
		t.Error("a root that does not fold is said to")
	}
}
