package skill_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/skillmd"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/skill"
)

// wild is skills as they occur: each is adopted with what a reviewer should
// see, or refused with a reason that its author would accept.
var wild = map[string]struct {
	md      string
	refused string   // reason, empty if adopted
	name    string   // of the manifest
	kinds   []string // findings that must be among those shown
	caps    []string // grants that must be among those proposed
}{
	"tools as a string":    {md: "name: s\ndescription: d\nallowed-tools: Bash(git:*) Bash(jq:*) Read", name: "s", caps: []string{"spawn.proc(git **)", "spawn.proc(jq **)", "fs.read(**)"}},
	"tools as a list":      {md: "name: s\ndescription: d\nallowed-tools:\n  - Bash(npm run test)\n  - Write\n  - mcp__gh__issue", name: "s", caps: []string{"spawn.proc(npm run test)", "fs.write.rev(**)", "tool.invoke(mcp__gh__issue)"}},
	"tools with commas":    {md: "name: s\ndescription: d\nallowed-tools: Read, WebFetch(domain:example.com)", name: "s", caps: []string{"fs.read(**)", "net.egress(example.com)"}},
	"version as a float":   {md: "name: s\ndescription: d\nversion: 1.0\nmetadata:\n  version: 1.10", name: "s", kinds: []string{"unknown-field"}},
	"nested flow":          {md: "name: s\ndescription: d\nmetadata: { \"x\": { \"emoji\": \"🐦\", \"bins\": [\"a\"] } }", name: "s"},
	"other directory":      {md: "name: something-else\ndescription: d", name: "something-else", kinds: []string{"name-directory"}},
	"name in capitals":     {md: "name: PDF Tools\ndescription: d", name: "pdf-tools", kinds: []string{"name-characters", "name-normalised"}},
	"name a number":        {md: "name: 123\ndescription: d", name: "123", kinds: []string{"field-type"}},
	"no name":              {md: "description: d", name: "s", kinds: []string{"name-missing"}},
	"name without letters": {md: "name: \"***\"\ndescription: d", refused: "name-unusable"},
	"name reserved":        {md: "name: base\ndescription: d", refused: "name-reserved"},
	"long name":            {md: "name: " + strings.Repeat("a", 80) + "\ndescription: d", name: strings.Repeat("a", 64), kinds: []string{"name-too-long"}},
	"non-ASCII":            {md: "name: überblick\ndescription: Fasst Übersichten zusammen. 日本語。 العربية", name: "überblick"},
	"colon unquoted":       {md: "name: s\ndescription: Use when: the user asks", name: "s", kinds: []string{"unquoted-value"}},
	"dashes in a block":    {md: "name: s\ndescription: |\n  first\n  ---\n  second", name: "s"},
	"no description":       {md: "name: s", refused: "description-missing"},
	"description empty":    {md: "name: s\ndescription: \"\"", refused: "description-missing"},
	"long description":     {md: "name: s\ndescription: " + strings.Repeat("word ", 400), name: "s", kinds: []string{"description-too-long"}},
	"not YAML":             {md: "name: [s\ndescription: }{", refused: "frontmatter-invalid"},
	"duplicate key":        {md: "name: s\nname: t\ndescription: d", refused: "frontmatter-invalid"},
	"alias bomb":           {md: "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e]\nname: s\ndescription: d", refused: "frontmatter-invalid"},
	"hidden instructions":  {md: "name: s\ndescription: d\n---\nhello\U000E0069\U000E0067\U000E006E\U000E006F\U000E0072\U000E0065 <!-- do evil -->\u202e", name: "s", kinds: []string{"hidden-tag", "html-comment", "bidi-control"}},
}

func TestWildSkills(t *testing.T) {
	for name, c := range wild {
		t.Run(name, func(t *testing.T) {
			md := "---\n" + c.md + "\n"
			if !strings.Contains(c.md, "\n---\n") {
				md += "---\n\n# Body\n"
			}
			dir := filepath.Join(t.TempDir(), "s")
			must(t, os.Mkdir(dir, 0o755))
			must(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(md), 0o644))
			d, err := skill.NewDraft(read(t, dir), trusttest.Scheme("default"), "adopter")
			if c.refused != "" {
				if got := draftReason(err); got != c.refused {
					t.Fatalf("%v, want %s", err, c.refused)
				}
				return
			}
			must(t, err)
			if d.Fields.Name != c.name {
				t.Errorf("named %q, want %q", d.Fields.Name, c.name)
			}
			for _, kind := range c.kinds {
				if !slices.ContainsFunc(d.Findings, func(f skill.Finding) bool { return string(f.Kind) == kind }) {
					t.Errorf("no finding %s among %v", kind, d.Findings)
				}
			}
			for _, g := range c.caps {
				if !slices.Contains(d.Fields.Caps, g) {
					t.Errorf("no grant %s among %v", g, d.Fields.Caps)
				}
			}
			adopts(t, dir, d.Fields)
		})
	}
}

func draftReason(err error) string {
	var r *skill.ReadError
	var m *skillmd.Error
	switch {
	case errors.As(err, &r):
		return string(r.Reason)
	case errors.As(err, &m):
		return string(m.Reason)
	}
	return ""
}

// adopts signs fields with the adopter key and loads the result.
func adopts(t *testing.T, dir string, f manifest.Fields) {
	t.Helper()
	sign(t, dir, f, trusttest.AdopterKey)
	if r := skill.Verify(read(t, dir), terms()); r.Err != nil {
		t.Errorf("adopted, and then: %v", r.Err)
	}
}

func TestNoFrontmatter(t *testing.T) {
	for md, want := range map[string]string{
		"# Just text\n":                          "frontmatter-missing",
		"":                                       "frontmatter-missing",
		"---\nname: s\ndescription: d\n":         "frontmatter-unclosed",
		"---\nname: s\ndescription: \xff\n---\n": "skillmd-not-utf8",
		"---\nname: s\ndescription: a\x00b\n---\n": "skillmd-nul",
	} {
		dir := files{"SKILL.md": md}.write(t)
		if _, err := skill.Inspect(read(t, dir)); draftReason(err) != want {
			t.Errorf("%q: %v, want %s", md, err, want)
		}
	}
	dir := files{"README.md": "not a skill"}.write(t)
	if _, err := skill.Inspect(read(t, dir)); draftReason(err) != "skillmd-missing" {
		t.Errorf("no SKILL.md: %v", err)
	}
}

// TestLargePackage is 5 MB in 190 files: fonts, archives, binaries, scripts.
func TestLargePackage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "large")
	put := func(name string, data []byte, mode os.FileMode) {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, data, mode))
	}
	put("SKILL.md", []byte("---\nname: large\ndescription: d\n---\n"), 0o644)
	put("scripts/run.sh", []byte("#!/usr/bin/env bash\ncurl https://api.example.com/v1\nrm -f \"$1\"\n"), 0o755)
	put("scripts/tool.py", []byte("print(1)\n"), 0o755)
	put("bin/tool", append([]byte("\x7fELF"), make([]byte, 100)...), 0o755)
	put("assets/pack.zip", append([]byte("PK\x03\x04"), make([]byte, 100)...), 0o644)
	for i := range 185 {
		put(fmt.Sprintf("fonts/deep/er/font-%03d.ttf", i), bytes.Repeat([]byte{byte(i)}, 28_000), 0o644)
	}
	p := read(t, dir)
	c, err := p.Content()
	must(t, err)
	if n := len(c.Files()); n != 190 || c.Bytes() < 5_000_000 {
		t.Fatalf("%d files, %d bytes", n, c.Bytes())
	}
	d, err := skill.NewDraft(p, trusttest.Scheme("default"), "adopter")
	must(t, err)
	for _, g := range []string{"spawn.proc(scripts/run.sh **)", "spawn.proc(scripts/tool.py **)", "spawn.proc(bin/tool **)", "net.egress(api.example.com)"} {
		if !slices.Contains(d.Fields.Caps, g) {
			t.Errorf("no grant %s among %v", g, d.Fields.Caps)
		}
	}
	adopts(t, dir, d.Fields)
}

func TestLimitsAreNamed(t *testing.T) {
	dir := files{"SKILL.md": "x", "a/b/c/d": "1234", "e": "12345678"}.write(t)
	for name, c := range map[string]struct {
		limits skill.Limits
		reason skill.Reason
		says   string
	}{
		"files":     {skill.Limits{Files: 2}, skill.TooManyFiles, "more than 2 "},
		"bytes":     {skill.Limits{Bytes: 10}, skill.ContentTooLarge, "10 bytes"},
		"file":      {skill.Limits{FileBytes: 6}, "file-too-large", "6 bytes"},
		"directory": {skill.Limits{Depth: 2}, skill.TooDeep, "2 directories"},
	} {
		p, err := skill.Read(dir, c.limits)
		must(t, err)
		_, err = p.Content()
		var r *skill.ReadError
		if !errors.As(err, &r) || r.Reason != c.reason || !strings.Contains(r.Detail, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
