package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// template is a home that every test copies: keys under a passphrase are slow on
// purpose, so they are made and opened once.
var template struct {
	dir, work, mail          string
	scheme                   *label.Scheme
	operator, approver, root *keyfile.Key
	author                   trusttest.Key // signs the skill helper
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "iff-runtime-")
	if err == nil {
		err = makeTemplate(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func makeTemplate(base string) error {
	template.dir, template.work, template.mail = filepath.Join(base, "home"), filepath.Join(base, "work"), filepath.Join(base, "mail")
	template.scheme, _ = label.Builtin("default")
	for _, d := range []string{template.work, template.mail} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	pass := []byte("of no use elsewhere")
	h, err := home.Init(context.Background(), template.dir, home.Plan{
		Operator: "me", Scheme: template.scheme, Passphrase: pass,
		Corpora: []home.CorpusPlan{{Name: "work", Root: template.work}, {Name: "mail", Root: template.mail}},
	}, home.Options{})
	if err != nil {
		return err
	}
	template.author = trusttest.NewKey(42)
	err = h.AddSigner(context.Background(), trust.Entry{
		ID: "author", PublicKey: template.author.Public(), Clearance: template.scheme.Top().Parts(), Level: level.Declared, NotAfter: trust.Never,
	}, func(string) ([]byte, error) { return pass, nil })
	if err != nil {
		return errors.Join(err, h.Close())
	}
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for i, k := range []struct {
		name string
		to   **keyfile.Key
	}{{"me", &template.operator}, {home.ApproverKey, &template.approver}, {home.RootKey, &template.root}} {
		wg.Go(func() { *k.to, errs[i] = h.OpenKey(k.name, func(string) ([]byte, error) { return pass, nil }) })
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), h.Close())
}

// env is a home of its own with two corpora, an unverified and two declared
// skills, one of them outside of every corpus.
type env struct {
	testing.TB
	home, work, mail, outside string
	skills                    []string
}

const skillText = "---\nname: %s\ndescription: does what it says\n---\n\n# %s\n"

var allFiles = []string{"fs.read(**)", "fs.read(mail:**)", "fs.write.irrev(**)", "fs.write.irrev(mail:**)", "fs.write.rev(**)", "fs.write.rev(mail:**)"}

func newEnv(t testing.TB) *env {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &env{TB: t, home: filepath.Join(base, "home"), work: filepath.Join(base, "work"), mail: filepath.Join(base, "mail"), outside: filepath.Join(base, "outside")}
	if err := os.CopyFS(e.home, os.DirFS(template.dir)); err != nil {
		t.Fatal(err)
	}
	// A copy has the modes of its source less the umask: keys and sockets are nobody else's.
	e.must(filepath.WalkDir(e.home, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(p, 0o700)
		} else if err == nil {
			err = os.Chmod(p, 0o600)
		}
		return err
	}))
	config := filepath.Join(e.home, "iff.toml")
	text, err := os.ReadFile(config)
	e.must(err)
	text = []byte(strings.NewReplacer(template.work, e.work, template.mail, e.mail).Replace(string(text)))
	e.must(os.WriteFile(config, text, 0o600))
	for path, data := range map[string]string{
		"work/a.md": "a\n", "work/notes/b.md": "b\n", "work/notes/c.md": "c\n", "work/AGENTS.md": "be good\n", "work/deep/er/AGENTS.md": "be better\n",
		"work/deep/er/x.md": "x\n", "mail/m.txt": "m\n", "outside/plain.txt": "p\n",
	} {
		e.write(filepath.Join(base, path), data)
	}
	e.sign("base", "base", "declared", allFiles, 2)
	e.skill(filepath.Join(e.work, "skills", "helper"), "helper", "declared", allFiles)
	e.skill(filepath.Join(e.work, "skills", "wíld"), "wild", "unverified", allFiles)
	e.skill(filepath.Join(e.outside, "remote"), "remote", "declared", allFiles)
	return e
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) write(path, data string) {
	e.Helper()
	e.must(os.MkdirAll(filepath.Dir(path), 0o755))
	e.must(os.WriteFile(path, []byte(data), 0o644))
}

func (e *env) read(path string) string {
	e.Helper()
	data, err := os.ReadFile(path)
	e.must(err)
	return string(data)
}

// skill writes a skill and signs it.
func (e *env) skill(dir, name, level string, caps []string) {
	e.Helper()
	e.write(filepath.Join(dir, "SKILL.md"), fmt.Sprintf(skillText, name, name))
	e.write(filepath.Join(dir, "run.sh"), "echo "+name+"\n")
	e.write(filepath.Join(dir, "sub", "more.md"), "more of "+name+"\n")
	e.sign(dir, name, level, caps, 1)
	e.skills = append(e.skills, dir)
}

// sign signs what lies in a directory; base is the home's own.
func (e *env) sign(dir, name, level string, caps []string, version int64) {
	e.Helper()
	key, signer := trust.Signer(template.operator), "me"
	if name == "base" {
		dir = filepath.Join(e.home, "base")
	}
	if name == "helper" {
		key, signer = template.author, "author"
	}
	if level == "unverified" {
		adopter, err := keyfile.Open(filepath.Join(e.home, "keys", home.AdopterKey+".key"), nil)
		e.must(err)
		key, signer = adopter, home.AdopterKey
	}
	m, err := manifest.Fields{
		Schema: manifest.Schema, Name: name, Version: version, Label: template.scheme.Bottom().Parts(), Signer: signer,
		Verification: level, Caps: caps, Summary: "does what it says",
	}.Freeze(template.scheme)
	e.must(err)
	p, err := skill.Read(dir, skill.Limits{})
	e.must(err)
	c, err := p.Content()
	e.must(err)
	s, err := skill.Sign(c, m, key)
	e.must(err)
	mode := fs.FileMode(0o644)
	if name == "base" {
		mode = 0o600
	}
	e.must(os.WriteFile(filepath.Join(dir, manifest.FileName), s.Manifest, mode))
	e.must(os.WriteFile(filepath.Join(dir, manifest.SignatureFileName), s.Signature, mode))
}
