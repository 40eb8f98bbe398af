package vectors_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/vectors"
)

// vector is one file, read.
type vector struct {
	family, name string
	header       map[string]string
	payload      []byte
	used         map[string]bool // what the runner has asked for
}

// get returns a line of the header that says what to do with the payload.
func (v vector) get(key string) string {
	v.used[key] = true
	return v.header[key]
}

// result is what came of a payload: the token, and what the header says about
// it besides.
type result struct {
	token   string
	derived map[string]string
}

var (
	fileName  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*\.txt$`)
	keyName   = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	described = regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|")
)

// parse reads the file format of README.md.
func parse(file string, data []byte) (vector, error) {
	family, name := path.Split(file)
	v := vector{family: path.Clean(family), name: name, header: map[string]string{}, used: map[string]bool{}}
	head, payload, found := bytes.Cut(data, []byte("\n\n"))
	payload, ended := bytes.CutSuffix(payload, []byte("\n"))
	if !found || !ended || !fileName.MatchString(name) {
		return v, fmt.Errorf("%s: not a vector file", file)
	}
	for line := range strings.SplitSeq(string(head), "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if _, twice := v.header[key]; !ok || twice || value == "" || !keyName.MatchString(key) {
			return v, fmt.Errorf("%s: header line %q", file, line)
		}
		v.header[key] = value
	}
	if v.get("expect") == "" || v.get("comment") == "" {
		return v, fmt.Errorf("%s: expect and comment are mandatory", file)
	}
	v.payload = payload
	switch v.get("encoding") {
	case "":
		return v, nil
	case "hex":
		var err error
		v.payload, err = hex.DecodeString(string(payload))
		return v, err
	}
	return v, fmt.Errorf("%s: unknown encoding", file)
}

// check runs a vector and compares everything that its header says. A line
// that nobody asked for is an error, and so is one that is missing.
func check(v vector, scratch string) error {
	run, ok := runners()[v.family]
	if !ok {
		return fmt.Errorf("%s/%s: unknown family", v.family, v.name)
	}
	got, err := run(v, scratch)
	if err != nil {
		return fmt.Errorf("%s/%s: %w", v.family, v.name, err)
	}
	if got.token != v.header["expect"] {
		return fmt.Errorf("%s/%s: %q, want %q", v.family, v.name, got.token, v.header["expect"])
	}
	for key, value := range v.header {
		if _, ok := got.derived[key]; !ok && !v.used[key] {
			return fmt.Errorf("%s/%s: nothing answers to the header %s: %s", v.family, v.name, key, value)
		}
	}
	for key, value := range got.derived {
		if v.header[key] != value {
			return fmt.Errorf("%s/%s: %s is %q, want %q", v.family, v.name, key, value, v.header[key])
		}
	}
	return nil
}

// load reads every vector.
func load(t *testing.T) []vector {
	t.Helper()
	var out []vector
	err := fs.WalkDir(vectors.Files(), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(vectors.Files(), file)
		if err != nil {
			return err
		}
		v, err := parse(file, data)
		out = append(out, v)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVectors runs every file, and then every file with each thing that it
// expects changed: a check that lets one of those pass checks nothing.
func TestVectors(t *testing.T) {
	count := map[string]int{}
	for _, v := range load(t) {
		if err := check(v, t.TempDir()); err != nil {
			t.Error(err)
			continue
		}
		count[v.family]++
		for key := range v.header {
			if v.used[key] && key != "expect" {
				continue
			}
			planted := v
			planted.header = maps.Clone(v.header)
			planted.header[key] = "planted-bug"
			if check(planted, t.TempDir()) == nil {
				t.Errorf("%s/%s passes with another %s", v.family, v.name, key)
			}
		}
	}
	for family := range runners() {
		if count[family] == 0 {
			t.Errorf("family %s: no vector", family)
		}
	}
	t.Logf("vectors: %v", count)
}

// TestEveryFileIsEmbedded compares the directory with what users of the
// package see.
func TestEveryFileIsEmbedded(t *testing.T) {
	onDisk, err := fs.Glob(os.DirFS("."), "*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var embedded []string
	for _, v := range load(t) {
		embedded = append(embedded, v.family+"/"+v.name)
	}
	if !slices.Equal(onDisk, embedded) {
		t.Errorf("%d files on disk, %d embedded; name every family in vectors.go", len(onDisk), len(embedded))
	}
}

// TestTokensAreDocumented: README.md lists the tokens that occur, and no other.
func TestTokensAreDocumented(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, reasons, found := bytes.Cut(readme, []byte("\n## Reasons\n"))
	if !found {
		t.Fatal("README.md has no section Reasons")
	}
	listed := map[string]bool{}
	for _, m := range described.FindAllSubmatch(reasons, -1) {
		listed[string(m[1])] = true
	}
	expected := map[string]bool{}
	for _, v := range load(t) {
		expected[v.header["expect"]] = true
		if !listed[v.header["expect"]] {
			t.Errorf("%s/%s: README.md does not explain %q", v.family, v.name, v.header["expect"])
		}
	}
	for token := range listed {
		if !expected[token] {
			t.Errorf("README.md explains %q, which no vector expects", token)
		}
	}
}

func TestMalformedFiles(t *testing.T) {
	for name, data := range map[string]string{
		"no payload":     "expect: ok\ncomment: c\n",
		"no final line":  "expect: ok\ncomment: c\n\nx",
		"no expect":      "comment: c\n\nx\n",
		"no comment":     "expect: ok\n\nx\n",
		"line twice":     "expect: ok\nexpect: ok\ncomment: c\n\nx\n",
		"no colon":       "expect: ok\ncomment: c\nkind\n\nx\n",
		"empty value":    "expect: ok\ncomment: c\nkind: \n\nx\n",
		"other encoding": "expect: ok\ncomment: c\nencoding: base64\n\nx\n",
		"bad hex":        "expect: ok\ncomment: c\nencoding: hex\n\nx\n",
	} {
		if _, err := parse("labels/a.txt", []byte(data)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, v := range map[string]string{
		"unknown header": "expect: rank-unknown\ncomment: c\nkind: parse\nscheme: default\ncolour: red\n\nX\n",
		"missing header": "expect: ok\ncomment: c\nkind: parse\nscheme: default\n\nPUBLIC\n",
		"unknown kind":   "expect: ok\ncomment: c\nkind: other\nscheme: default\n\nPUBLIC\n",
	} {
		parsed, err := parse("labels/a.txt", []byte(v))
		if err != nil || check(parsed, t.TempDir()) == nil {
			t.Errorf("%s: passes (%v)", name, err)
		}
	}
	if check(vector{family: "colours", name: "a.txt"}, t.TempDir()) == nil {
		t.Error("an unknown family passes")
	}
}
