package home_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/keyfile/keyfiletest"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

const secret = "correct horse"

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func pass(string) ([]byte, error) { return []byte(secret), nil }

var made = struct {
	sync.Once
	dir string
	err error
}{}

func TestMain(m *testing.M) {
	code := m.Run()
	if made.dir != "" {
		_ = os.RemoveAll(filepath.Dir(made.dir))
	}
	os.Exit(code)
}

// newHome copies a home that is made once: deriving keys is slow on purpose.
func newHome(t *testing.T) string {
	t.Helper()
	made.Do(func() {
		tmp, err := os.MkdirTemp("", "iff-home-test-")
		if err != nil {
			made.err = err
			return
		}
		made.dir = filepath.Join(tmp, "h")
		h, err := home.Init(context.Background(), made.dir, home.Plan{Operator: "me", Scheme: trusttest.Scheme("default"), Passphrase: []byte(secret)}, home.Options{})
		if err != nil {
			made.err = err
			return
		}
		made.err = errors.Join(h.Close(), keyfiletest.Quicken(filepath.Join(made.dir, "keys"), secret))
	})
	must(t, made.err)
	dir := filepath.Join(t.TempDir(), "h")
	must(t, os.CopyFS(dir, os.DirFS(made.dir)))
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	}))
	return dir
}

func open(t *testing.T, dir string, mode home.Mode) *home.Home {
	t.Helper()
	h, err := home.Open(t.Context(), dir, mode, home.Options{})
	must(t, err)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func reason(err error) string {
	var h *home.Error
	var l *skill.LoadError
	var r *skill.ReadError
	var k *keyfile.Error
	var tr *trust.Error
	var a *audit.Error
	var an *anchor.Error
	switch {
	case errors.As(err, &an):
		return string(an.Reason)
	case errors.As(err, &a):
		return string(a.Reason)
	case errors.As(err, &l):
		return string(l.Reason)
	case errors.As(err, &r):
		return string(r.Reason)
	case errors.As(err, &h):
		return string(h.Reason)
	case errors.As(err, &k):
		return string(k.Reason)
	case errors.As(err, &tr):
		return string(tr.Reason)
	}
	return ""
}

func newSkill(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: d\nallowed-tools: Read\n---\n"), 0o644))
	return dir
}

func TestInitGivesTheAdopterNothing(t *testing.T) {
	h := open(t, newHome(t), home.Read)
	seen := 0
	for _, e := range h.Root().Entries() {
		if e.Adopter {
			seen++
			if e.Level != level.Unverified || e.Approver || h.Root().Clearance(e) != h.Root().Scheme().Bottom() {
				t.Errorf("the adopter may %+v", e)
			}
		}
	}
	if seen != 1 {
		t.Errorf("%d adopters", seen)
	}
	keys, err := h.Keys()
	must(t, err)
	for _, k := range keys {
		if k.Protected == (k.Name == home.AdopterKey || k.Name == "log-1") {
			t.Errorf("key %s: protected %v", k.Name, k.Protected)
		}
	}
}

func TestHomeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(t *testing.T, dir string)
		reason string
	}{
		"others may write": {func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o777)) }, "home-exposed"},
		"no configuration": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "iff.toml"))) }, "home-missing"},
		"unknown setting":  {edit("iff.toml", "[operator]", "[operator]\nadmin = true"), "config-invalid"},
		"syntax":           {edit("iff.toml", "profile =", "profile"), "config-invalid"},
		"strict, unsigned": {edit("iff.toml", `"dev"`, `"strict"`), "config-unsigned"},
		"third profile":    {edit("iff.toml", `"dev"`, `"open"`), "config-invalid"},
		"no profile":       {edit("iff.toml", `profile = "dev"`, ""), "config-invalid"},
		"bad clearance":    {edit("iff.toml", "RESTRICTED-PLUS", "COSMIC"), "config-invalid"},
		"another root":     {edit("iff.toml", `root = "SHA256:`, `root = "SHA256:x`), "trust-root-changed"},
		"no records":       {func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "log"))) }, "log-empty"},
		"records edited":   {edit(firstSegment, `"operator":"me"`, `"operator":"eve"`), "chain-broken"},
		"records cut back": {cutBack, "log-rolled-back"},
		"another log":      {edit("iff.toml", `origin = "iff/log/`, `origin = "iff/log/x`), "origin-other"},
		"another log key":  {edit("iff.toml", `key = "`, `key = "x`), "config-invalid"},
		"log key gone":     {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "keys/log-1.key"))) }, "key-other"},
		"no trust":         {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "trust/1.json"))) }, "trust-empty"},
		"trust edited":     {edit("trust/1.json", `"tested"`, `"formal"`), "trust-signature"},
		"whole chain of another": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "trust/1.json"), trusttest.Chain()[0], 0o600))
		}, "trust-root-changed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newHome(t)
			c.harm(t, dir)
			h, err := home.Open(t.Context(), dir, home.Write, home.Options{})
			if err == nil {
				_ = h.Close()
			}
			if reason(err) != c.reason {
				t.Errorf("%v, want %s", err, c.reason)
			}
		})
	}
}

const firstSegment = "log/00000000000000000000.jsonl"

// cutBack takes the last two records away, and keeps the snapshot.
func cutBack(t *testing.T, dir string) {
	path := filepath.Join(dir, firstSegment)
	data, err := os.ReadFile(path)
	must(t, err)
	for range 2 {
		data = data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1]
	}
	must(t, os.WriteFile(path, data, 0o600))
}

func edit(name, old, new string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		must(t, err)
		after := strings.Replace(string(data), old, new, 1)
		if after == string(data) {
			t.Fatalf("nothing to change in %s", name)
		}
		must(t, os.WriteFile(path, []byte(after), 0o600))
	}
}

func TestTornRecordIsCut(t *testing.T) {
	dir := newHome(t)
	path := filepath.Join(dir, firstSegment)
	whole, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(bytes.Clone(whole), `{"body":{"na`...), 0o600))
	h := open(t, dir, home.Write)
	if torn := h.Recovered().Torn; torn != 12 {
		t.Errorf("%d bytes were torn", torn)
	}
	if _, err := h.Adopt(t.Context(), newSkill(t, "a"), home.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
	must(t, h.Close())
	after, err := os.ReadFile(path)
	must(t, err)
	if !bytes.HasPrefix(after, whole) || bytes.Contains(after, []byte(`{"na{`)) || bytes.Count(after, []byte("\n")) != bytes.Count(whole, []byte("\n"))+3 {
		t.Errorf("the records are now:\n%s", after)
	}
	open(t, dir, home.Read)
}

func TestOneWriter(t *testing.T) {
	dir := newHome(t)
	h := open(t, dir, home.Write)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := home.Open(ctx, dir, home.Write, home.Options{}); reason(err) != "home-busy" {
		t.Errorf("a second writer: %v", err)
	}
	open(t, dir, home.Read)
	must(t, h.Close())
	must(t, h.Close())
	open(t, dir, home.Write)
}

// A document that was stored but not recorded, because the process died in
// between, is recorded by the next writer.
func TestTrustCatchesUp(t *testing.T) {
	dir := newHome(t)
	before := filepath.Join(t.TempDir(), "log")
	must(t, os.CopyFS(before, os.DirFS(filepath.Join(dir, "log"))))
	h := open(t, dir, home.Write)
	must(t, h.AddSigner(t.Context(), trust.Entry{
		ID: "new", PublicKey: trusttest.NewKey(9).Public(), Clearance: h.Root().Scheme().Bottom().Parts(), NotAfter: trust.Never,
	}, pass))
	must(t, h.Close())
	must(t, os.RemoveAll(filepath.Join(dir, "log")))
	must(t, os.CopyFS(filepath.Join(dir, "log"), os.DirFS(before)))
	must(t, open(t, dir, home.Write).Close())
	h = open(t, dir, home.Read)
	if v, _ := h.State().Trust(); v != 2 || h.Root().Version() != 2 {
		t.Errorf("recorded %d of %d", v, h.Root().Version())
	}
	must(t, os.Remove(filepath.Join(dir, "trust/2.json")))
	if _, err := home.Open(t.Context(), dir, home.Read, home.Options{}); reason(err) != "trust-rolled-back" {
		t.Errorf("rolled back: %v", err)
	}
}

// denied is a file layer under which one directory cannot be written.
type denied struct {
	durable.FS
	dir string
}

func (d denied) Create(path string, perm fs.FileMode) (durable.File, error) {
	if filepath.Dir(path) == d.dir {
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrPermission}
	}
	return d.FS.Create(path, perm)
}

func TestDirectoryThatIsNotOurs(t *testing.T) {
	dir, s := newHome(t), newSkill(t, "a")
	h, err := home.Open(t.Context(), dir, home.Write, home.Options{FS: denied{durable.OS(), s}})
	must(t, err)
	defer h.Close()
	a, err := h.Adopt(t.Context(), s, home.AdoptOptions{})
	must(t, err)
	if !strings.HasPrefix(a.Stored, filepath.Join(dir, "skills")) {
		t.Errorf("stored in %s", a.Stored)
	}
	p, err := h.Read(s)
	must(t, err)
	if r := skill.Verify(p, h.Terms()); r.Err != nil {
		t.Errorf("does not load from the home: %v", r.Err)
	}
	must(t, os.WriteFile(filepath.Join(s, "x"), nil, 0o644))
	p, err = h.Read(s)
	must(t, err)
	if r := skill.Verify(p, h.Terms()); r.Err == nil || r.Err.Reason != skill.ContentChanged || r.Err.Where != "x" {
		t.Errorf("a change is reported as %v", r.Err)
	}
}

// Every sentinel is reachable through the public entry points.
func TestErrorsReachCallers(t *testing.T) {
	h := open(t, newHome(t), home.Write)
	if _, err := home.Open(t.Context(), filepath.Join(t.TempDir(), "none"), home.Read, home.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no home: %v", err)
	}
	_, err := h.OpenKey("none", pass)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no key: %v", err)
	}
	s := newSkill(t, "a")
	_, err = h.Sign(t.Context(), s, home.SignOptions{Key: "me", Passphrase: pass, Level: "declared", Label: "COSMIC"})
	var l *label.Error
	if !errors.As(err, &l) {
		t.Errorf("bad label: %v", err)
	}
}

func TestVersionsRiseAndOldOnesAreReplays(t *testing.T) {
	h, s := open(t, newHome(t), home.Write), newSkill(t, "a")
	adopt := func() home.Adoption {
		a, err := h.Adopt(t.Context(), s, home.AdoptOptions{})
		must(t, err)
		return a
	}
	if a := adopt(); a.Outcome != home.Adopted || a.Report.Skill.Version != 1 {
		t.Errorf("first: %+v", a.Report.Skill)
	}
	old := t.TempDir()
	must(t, os.CopyFS(filepath.Join(old, "a"), os.DirFS(s)))
	must(t, os.WriteFile(filepath.Join(s, "x"), nil, 0o644))
	if a := adopt(); a.Outcome != home.Updated || a.Report.Skill.Version != 2 {
		t.Errorf("second: %+v", a.Report.Skill)
	}
	if a := adopt(); a.Outcome != home.Unchanged {
		t.Errorf("third: %v", a.Outcome)
	}
	p, err := h.Read(filepath.Join(old, "a"))
	must(t, err)
	if r := skill.Verify(p, h.Terms()); r.Err == nil || r.Err.Reason != skill.VersionReplayed {
		t.Errorf("the old version: %v", r.Err)
	}
}

// Two documents of one version, both signed by the root key: the one that was
// recorded counts.
func TestForkedTrustIsRefused(t *testing.T) {
	dir := newHome(t)
	other := filepath.Join(t.TempDir(), "other")
	must(t, os.CopyFS(other, os.DirFS(dir)))
	must(t, os.Chmod(other, 0o700))
	must(t, os.Chmod(filepath.Join(other, "keys", "adopter.key"), 0o600))
	must(t, os.Chmod(filepath.Join(other, "keys", "log-1.key"), 0o600))
	add := func(where, id string, key byte) {
		h := open(t, where, home.Write)
		must(t, h.AddSigner(t.Context(), trust.Entry{
			ID: id, PublicKey: trusttest.NewKey(key).Public(), Clearance: h.Root().Scheme().Bottom().Parts(), NotAfter: trust.Never,
		}, pass))
		must(t, h.Close())
	}
	add(dir, "one", 9)
	add(other, "two", 10)
	fork, err := os.ReadFile(filepath.Join(other, "trust/2.json"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "trust/2.json"), fork, 0o600))
	if _, err := home.Open(t.Context(), dir, home.Read, home.Options{}); reason(err) != "trust-rolled-back" {
		t.Errorf("the fork opens: %v", err)
	}
}
