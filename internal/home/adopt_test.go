package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func grants(t *testing.T, h *home.Home, s string) []string {
	t.Helper()
	p, err := h.Read(s)
	must(t, err)
	m, err := manifest.Parse(p.Sidecar().Manifest, h.Root().Scheme())
	must(t, err)
	return m.Grants().Strings()
}

// An update asks for more; it gets what it had until the operator says so.
func TestUpdateDoesNotWidenItself(t *testing.T) {
	h, s := open(t, newHome(t), home.Write), newSkill(t, "a")
	_, err := h.Adopt(t.Context(), s, home.AdoptOptions{})
	must(t, err)
	write(t, s, "SKILL.md", "---\nname: a\ndescription: d\nallowed-tools: Read WebFetch\n---\n")
	a, err := h.Adopt(t.Context(), s, home.AdoptOptions{})
	must(t, err)
	if got := grants(t, h, s); !slices.Equal(got, []string{"fs.read(**)"}) || !slices.Equal(a.Ungranted, []string{"net.egress"}) {
		t.Errorf("grants %v, not granted %v", got, a.Ungranted)
	}
	_, err = h.Adopt(t.Context(), s, home.AdoptOptions{Redraft: true})
	must(t, err)
	if got := grants(t, h, s); !slices.Contains(got, "net.egress") {
		t.Errorf("drafted anew: %v", got)
	}
}

func TestEditsAreNotAdoptedUnasked(t *testing.T) {
	h, s := open(t, newHome(t), home.Write), newSkill(t, "a")
	_, err := h.Adopt(t.Context(), s, home.AdoptOptions{})
	must(t, err)
	data, err := os.ReadFile(filepath.Join(s, manifest.FileName))
	must(t, err)
	write(t, s, manifest.FileName, strings.Replace(string(data), "fs.read(**)", "pay", 1))
	if _, err := h.Adopt(t.Context(), s, home.AdoptOptions{}); reason(err) != "manifest-changed" {
		t.Errorf("adopting an edited manifest: %v", err)
	}
	if _, err := h.Sign(t.Context(), s, home.SignOptions{Key: "me", Passphrase: pass, Level: "declared"}); reason(err) != "manifest-changed" {
		t.Errorf("signing an edited manifest: %v", err)
	}
	_, err = h.Adopt(t.Context(), s, home.AdoptOptions{Edited: true})
	must(t, err)
	if got := grants(t, h, s); !slices.Equal(got, []string{"pay"}) {
		t.Errorf("grants %v", got)
	}
}

func TestUnprotectedKeysSignNothingAboveUnverified(t *testing.T) {
	dir := newHome(t)
	k, err := keyfile.Generate()
	must(t, err)
	must(t, k.WritePlain(durable.OS(), filepath.Join(dir, "keys", "plain.key")))
	must(t, k.WritePublic(durable.OS(), filepath.Join(dir, "keys", "plain.pub"), "plain"))
	h, s := open(t, dir, home.Write), newSkill(t, "a")
	entry := trust.Entry{ID: "plain", PublicKey: k.Public(), Clearance: h.Root().Scheme().Bottom().Parts(), NotAfter: trust.Never}
	for name, change := range map[string]func(*trust.Entry){
		"declared": func(e *trust.Entry) { e.Level = level.Declared },
		"approver": func(e *trust.Entry) { e.Approver = true },
	} {
		e := entry
		change(&e)
		if err := h.AddSigner(t.Context(), e, pass); reason(err) != "key-unprotected" {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, h.AddSigner(t.Context(), entry, pass))
	if _, err := h.Sign(t.Context(), s, home.SignOptions{Key: "plain", Level: "declared"}); reason(err) != "key-unprotected" {
		t.Errorf("signs as declared: %v", err)
	}
	if _, err := h.Sign(t.Context(), s, home.SignOptions{Key: "plain", Level: "unverified"}); err != nil {
		t.Errorf("signs as unverified: %v", err)
	}
}

// Configuration and chain of another home do not go with these records.
func TestRecordsKnowTheRoot(t *testing.T) {
	dir, other := newHome(t), filepath.Join(t.TempDir(), "other")
	config := open(t, dir, home.Read).Config()
	plan := home.Plan{Operator: "me", Scheme: open(t, dir, home.Read).Root().Scheme(), Passphrase: []byte(secret)}
	h, err := home.Init(t.Context(), other, plan, home.Options{})
	must(t, err)
	must(t, h.Close())
	for _, name := range []string{"iff.toml", "trust/1.json"} {
		data, err := os.ReadFile(filepath.Join(other, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	if _, err := home.Open(t.Context(), dir, home.Read, home.Options{}); reason(err) != "origin-other" {
		t.Errorf("opens: %v", err)
	}
	// The log's pin put back: now it is the root key that does not fit.
	theirs, ours := open(t, other, home.Read).Config(), config.Log
	edit("iff.toml", theirs.Log.Origin, ours.Origin)(t, dir)
	edit("iff.toml", theirs.Log.Key, ours.Key)(t, dir)
	if _, err := home.Open(t.Context(), dir, home.Read, home.Options{}); reason(err) != "trust-root-changed" {
		t.Errorf("opens: %v", err)
	}
}

func TestForeignManifestThatCannotBeReplaced(t *testing.T) {
	s := newSkill(t, "a")
	write(t, s, manifest.FileName, `{"schema":"iff/skill/v1","name":"a","version":1,"label":{"rank":"PUBLIC","compartments":[],"releasable":["EVERYONE"]},"caps":[],"signer":"eve"}`)
	h, err := home.Open(t.Context(), newHome(t), home.Write, home.Options{FS: denied{durable.OS(), s}})
	must(t, err)
	defer h.Close()
	if _, err := h.Adopt(t.Context(), s, home.AdoptOptions{}); reason(err) != string(skill.AlreadySigned) {
		t.Errorf("believed: %v", err)
	}
	if _, err := h.Adopt(t.Context(), s, home.AdoptOptions{Replace: true}); reason(err) != "directory-not-writable" {
		t.Errorf("replaced: %v", err)
	}
}

// deafFS cannot sync files: what the disk holds is unknown from then on.
type deafFS struct {
	durable.FS
	deaf *bool
}

type deafFile struct {
	durable.FileAt
	deaf *bool
}

func (f deafFS) OpenAt(path string) (durable.FileAt, error) {
	file, err := f.FS.OpenAt(path)
	return deafFile{file, f.deaf}, err
}
func (f deafFile) Sync() error {
	if *f.deaf {
		return errFault
	}
	return f.FileAt.Sync()
}

func TestNothingIsRecordedAfterAFailedSync(t *testing.T) {
	dir := newHome(t)
	deaf := false
	h, err := home.Open(t.Context(), dir, home.Write, home.Options{FS: deafFS{durable.OS(), &deaf}})
	must(t, err)
	defer h.Close()
	deaf = true
	if _, err := h.Adopt(t.Context(), newSkill(t, "a"), home.AdoptOptions{}); !errors.Is(err, errFault) {
		t.Fatalf("adopted: %v", err)
	}
	before, err := os.ReadFile(filepath.Join(dir, firstSegment))
	must(t, err)
	if _, err := h.Adopt(t.Context(), newSkill(t, "b"), home.AdoptOptions{}); reason(err) != "log-poisoned" {
		t.Errorf("went on: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, firstSegment))
	must(t, err)
	if len(after) != len(before) {
		t.Error("something was written after the failure")
	}
}

// What a killed writer left in the skill does not become part of it.
func TestLeftoversAreSwept(t *testing.T) {
	h, s := open(t, newHome(t), home.Write), newSkill(t, "a")
	write(t, s, durable.TempPrefix+"dead", "half a manifest")
	a, err := h.Adopt(t.Context(), s, home.AdoptOptions{})
	must(t, err)
	p, err := h.Read(s)
	must(t, err)
	c, err := p.Content()
	must(t, err)
	if len(c.Files()) != 1 || a.Report.Err != nil {
		t.Errorf("the content is %v", c.Files())
	}
}

// A manifest beside the skill would be read instead of the one in the home.
func TestInHomeIsNotShadowed(t *testing.T) {
	h, s := open(t, newHome(t), home.Write), newSkill(t, "a")
	_, err := h.Adopt(t.Context(), s, home.AdoptOptions{})
	must(t, err)
	if _, err := h.Sign(t.Context(), s, home.SignOptions{Key: "me", Passphrase: pass, Level: "declared", InHome: true}); reason(err) != "directory-not-writable" {
		t.Errorf("signed where nothing reads it: %v", err)
	}
	if _, ok := h.State().Placed(s); !ok {
		t.Fatal("not adopted")
	}
	p, err := h.Read(s)
	must(t, err)
	if r := skill.Verify(p, h.Terms()); r.Err != nil {
		t.Errorf("and now it does not load: %v", r.Err)
	}
}
