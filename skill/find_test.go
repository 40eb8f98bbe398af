package skill_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/skill"
)

func TestFind(t *testing.T) {
	root := files{
		"a/SKILL.md": "", "a/nested/SKILL.md": "", "b/c/skill.md": "", "node_modules/d/SKILL.md": "", ".git/e/SKILL.md": "",
		"README.md": "", "x/y/z/u/v/w/deep/SKILL.md": "",
	}.write(t)
	outside := files{"SKILL.md": ""}.write(t)
	must(t, os.Symlink(outside, filepath.Join(root, "linked")))
	must(t, os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "again")))
	must(t, os.Symlink("nowhere", filepath.Join(root, "dangling")))
	must(t, os.Symlink(outside, filepath.Join(root, "b", "below")))
	got, err := skill.Find(root)
	must(t, err)
	want := []string{filepath.Join(root, "a"), filepath.Join(root, "b", "c"), outside}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
	if got, err := skill.Find(filepath.Join(root, "node_modules")); err != nil || len(got) != 1 {
		t.Errorf("a folder that is named is searched whatever its name: %v, %v", got, err)
	}
	if got, err := skill.Find(filepath.Join(root, "x", "y")); err != nil || len(got) != 1 || !strings.HasSuffix(got[0], "deep") {
		t.Errorf("six levels: %v, %v", got, err)
	}
	if _, err := skill.Find(filepath.Join(root, "none")); draftReason(err) != "not-found" {
		t.Errorf("nothing there: %v", err)
	}
}

func TestRenamesArePaired(t *testing.T) {
	dir := signed(t)
	must(t, os.Rename(filepath.Join(dir, "data/.hidden"), filepath.Join(dir, "data/seen")))
	d, err := skill.Compare(read(t, dir))
	must(t, err)
	if len(d.Changes) != 1 || d.Changes[0].Kind != skill.Renamed || d.Changes[0].From != "data/.hidden" {
		t.Errorf("renamed: %+v", d.Changes)
	}
	must(t, os.Chmod(filepath.Join(dir, "data/seen"), 0o755))
	d, err = skill.Compare(read(t, dir))
	must(t, err)
	if len(d.Changes) != 2 {
		t.Errorf("renamed and made executable is not only renamed: %+v", d.Changes)
	}
}

// A skill that needs more grants than a manifest holds declares the rest bare.
func TestTooManyGrantsAreDeclaredBare(t *testing.T) {
	var script bytes.Buffer
	script.WriteString("#!/bin/sh\n")
	f := files{"SKILL.md": "---\nname: s\ndescription: d\n---\n"}
	for i := range 400 {
		if i%100 == 0 && i > 0 {
			f[fmt.Sprintf("run-%d.sh*", i)] = script.String()
			script.Reset()
			script.WriteString("#!/bin/sh\n")
		}
		fmt.Fprintf(&script, "curl https://host-%d.example.com/\n", i)
	}
	f["run.sh*"] = script.String()
	dir := f.write(t)
	d, err := skill.NewDraft(read(t, dir), trusttest.Scheme("default"), "adopter")
	must(t, err)
	if d.LeftOut == 0 || len(d.Fields.Caps) > capability.MaxGrants || !slices.Contains(d.Fields.Caps, "net.egress") {
		t.Errorf("%d grants, %d left out", len(d.Fields.Caps), d.LeftOut)
	}
	adopts(t, dir, d.Fields)
}

func TestFindingsBesideSKILLmd(t *testing.T) {
	dir := files{
		"SKILL.md":     "---\nname: invoice-reports\ndescription: d\n---\n",
		"trojan.py":    "if access != 'user\u202e \u2066# check admin\u2069 \u2066': pass\n<!-- no hazard in code -->\n",
		"more/read.md": "<!-- psst -->\n",
		"pack.zip":     "PK",
		"data.bin":     "\x00\u202e",
	}.write(t)
	in, err := skill.Inspect(read(t, dir))
	must(t, err)
	var got []string
	for _, f := range in.Findings {
		got = append(got, fmt.Sprintf("%s %s %s", f.Class, f.Kind, f.File))
	}
	for _, want := range []string{"hazard bidi-control trojan.py", "hazard html-comment more/read.md", "note archive pack.zip"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q among %q", want, got)
		}
	}
	for _, f := range in.Findings {
		if f.File == "trojan.py" && f.Kind == "html-comment" || f.File == "data.bin" {
			t.Errorf("not a hazard: %+v", f)
		}
	}
}
