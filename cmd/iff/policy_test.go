//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPolicyGuide runs the commands of docs/policy.md, in a home whose log has
// six calls, and compares what they print. With -update it writes that into the
// document.
func TestPolicyGuide(t *testing.T) {
	path := filepath.Join(moduleRoot, "docs", "policy.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := parseGuide(string(doc))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkshop(t)
	if out := w.run(t, "echo 'correct horse' > .pass && iff init --operator me --passphrase-file .pass"); strings.HasPrefix(out[len(out)-1], "exit") {
		t.Fatal(out)
	}
	c, err := openToCall(filepath.Join(w.root, "home", "me", ".iff"))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 2, 4, 8, 10} { // read, approved, denied, failed, and so on
		err = errors.Join(err, c.call(i))
	}
	if err := errors.Join(err, c.home.Close()); err != nil {
		t.Fatal(err)
	}
	stale, ran := false, 0
	for i, p := range g.pieces {
		if p.command == "" {
			continue
		}
		ran++
		got := w.run(t, p.command)
		if normal(got) == normal(p.output) {
			continue
		}
		g.pieces[i].output, stale = got, true
		if !*update {
			t.Errorf("$ %s\nprints\n%s\nand the document says\n%s", p.command, strings.Join(got, "\n"), strings.Join(p.output, "\n"))
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands were found", ran)
	}
	if stale && *update {
		if err := os.WriteFile(path, []byte(g.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
