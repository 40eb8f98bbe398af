package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
)

// files is a directory: path to content; a path that ends in * is executable.
type files map[string]string

func plain() files {
	return files{
		"SKILL.md":         "---\nname: invoice-reports\ndescription: Lists invoices. Use for reports.\nallowed-tools: Read Bash(git:*)\n---\n\n# Invoices\n\nRun scripts/list.sh.\n",
		"scripts/list.sh*": "#!/bin/sh\nls reports\n",
		"data/.hidden":     "x",
	}
}

func (f files) write(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "invoice-reports")
	for name, content := range f {
		mode := os.FileMode(0o644)
		if trimmed, ok := strings.CutSuffix(name, "*"); ok {
			name, mode = trimmed, 0o755
		}
		path := filepath.Join(dir, name)
		must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
		must(tb, os.WriteFile(path, []byte(content), mode))
		must(tb, os.Chmod(path, mode))
	}
	return dir
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// fields is a manifest that ops may sign as declared.
func fields() manifest.Fields {
	return manifest.Fields{
		Schema: manifest.Schema, Name: "invoice-reports", Version: 1, Label: trusttest.Scheme("default").Bottom().Parts(),
		Caps: []string{"fs.read(reports/**)", "spawn.proc(scripts/list.sh **)"}, Signer: "ops", Verification: "declared",
	}
}

func read(tb testing.TB, dir string) *skill.Package {
	tb.Helper()
	p, err := skill.Read(dir, skill.Limits{})
	must(tb, err)
	return p
}

// sign writes the sidecar of fields, signed by a numbered key, into dir.
func sign(tb testing.TB, dir string, f manifest.Fields, key byte) {
	tb.Helper()
	c, err := read(tb, dir).Content()
	must(tb, err)
	m, err := f.Freeze(trusttest.Scheme("default"))
	must(tb, err)
	s, err := skill.Sign(c, m, trusttest.NewKey(key))
	must(tb, err)
	must(tb, os.WriteFile(filepath.Join(dir, manifest.FileName), s.Manifest, 0o644))
	must(tb, os.WriteFile(filepath.Join(dir, manifest.SignatureFileName), s.Signature, 0o644))
}

func signed(tb testing.TB) string {
	tb.Helper()
	dir := plain().write(tb)
	sign(tb, dir, fields(), trusttest.OpsKey)
	return dir
}

func terms() skill.Terms {
	return skill.Terms{Root: trusttest.Root(), Clearance: trusttest.Scheme("default").Top(), State: new(record.State), Operator: "ops", Now: trusttest.Now}
}

// refusedAt takes a directory through the steps and fails the test unless it
// is refused at that step with that reason.
func refusedAt(tb testing.TB, dir string, t skill.Terms, step int, reason string) *skill.LoadError {
	tb.Helper()
	p, err := skill.Read(dir, skill.Limits{})
	must(tb, err)
	r := skill.Verify(p, t)
	if r.Err == nil {
		tb.Errorf("loaded; want refused at step %d: %s", step, reason)
		return &skill.LoadError{}
	}
	if r.Err.Step != step || string(r.Err.Reason) != reason {
		tb.Errorf("%v; want step %d: %s", r.Err, step, reason)
	}
	for i, s := range r.Steps {
		want := skill.Outcome("")
		switch {
		case i+1 < r.Err.Step:
			want = skill.OK
		case i+1 == r.Err.Step:
			want = skill.Refused
		}
		if s.Outcome != want {
			tb.Errorf("step %d is %q, want %q", i+1, s.Outcome, want)
		}
	}
	if r.Skill != (record.Skill{}) {
		tb.Errorf("a refused skill has an identity: %+v", r.Skill)
	}
	return r.Err
}

func edit(tb testing.TB, path string, change func(string) string) {
	tb.Helper()
	data, err := os.ReadFile(path)
	must(tb, err)
	after := change(string(data))
	if after == string(data) {
		tb.Fatalf("the edit of %s changed nothing", path)
	}
	must(tb, os.WriteFile(path, []byte(after), 0o644))
}

func replace(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}
