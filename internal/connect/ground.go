package connect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/manifest"
)

// Ground is what a home still needs so that a project is under iff. The zero value
// needs nothing.
type Ground struct {
	Corpus string   // name of the corpus that holds the project
	Root   string   // its directory
	New    bool     // it is not in iff.toml yet
	Inbox  bool     // gate.ask does not name the inbox yet
	Grants []string // what the base manifest does not grant yet
}

// Ready says that nothing is needed.
func (g Ground) Ready() bool { return !g.New && !g.Inbox && len(g.Grants) == 0 }

// Survey says what a home needs for the project at a directory: a corpus that
// holds it, under the name work if that is free, else the directory's.
func Survey(h *home.Home, dir string) (Ground, error) {
	g := Ground{Root: dir, New: true, Inbox: !h.Config().Gate.Asks(home.AskInbox)}
	for at := dir; g.New; at = filepath.Dir(at) {
		for _, c := range h.Config().Corpora {
			if same(at, c.Root) {
				g.Corpus, g.Root, g.New = c.Name, c.Root, false
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if g.New {
		g.Corpus = freeName(h.Config(), filepath.Base(dir))
	}
	m, err := baseManifest(h)
	if err != nil {
		return g, err
	}
	for _, want := range []string{"fs.read", "fs.write.rev"} {
		grant := want + "(" + prefix(g.Corpus) + "**)"
		if have := m.Grants().Strings(); !slices.Contains(have, grant) && !slices.Contains(have, want) {
			g.Grants = append(g.Grants, grant)
		}
	}
	return g, nil
}

func prefix(corpus string) string {
	if corpus == capability.DefaultCorpus {
		return ""
	}
	return corpus + ":"
}

func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// freeName is a name for a corpus that no other one has.
func freeName(c home.Config, dir string) string {
	taken := func(name string) bool { _, ok := c.Corpus(name); return ok }
	if !taken(capability.DefaultCorpus) {
		return capability.DefaultCorpus
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, dir), "-")
	if name == "" || strings.HasPrefix(name, "iff-") {
		name = "project"
	}
	name = strings.Trim(name[:min(len(name), 28)], "-")
	out := name
	for i := 2; taken(out); i++ {
		out = fmt.Sprintf("%s-%d", name, i)
	}
	return out
}

func baseManifest(h *home.Home) (manifest.Manifest, error) {
	p, err := h.Read(filepath.Join(h.Dir(), "base"))
	if err != nil {
		return manifest.Manifest{}, err
	}
	return manifest.Parse(p.Sidecar().Manifest, h.Root().Scheme())
}

// ConfigText is iff.toml with what the ground needs in it.
func (g Ground) ConfigText(h *home.Home, text string) (string, error) {
	f := tomlFormat{}
	var ops []op
	if g.New {
		ops = append(ops, set(g.Root, "corpus", g.Corpus, "root"), set(h.Root().Scheme().Bottom().String(), "corpus", g.Corpus, "label"),
			set(home.DefaultVolatile(), "corpus", g.Corpus, "volatile"))
	}
	if g.Inbox {
		var chain []string
		for _, who := range h.Config().Gate.Chain {
			chain = append(chain, string(who))
		}
		ops = append(ops, set(append(chain, string(home.AskInbox)), "gate", "ask"))
	}
	for _, o := range ops {
		next, _, err := perform(f, text, o)
		if err != nil {
			return "", &Error{Reason: FileUneasy, Path: configName, Detail: byHandName(o.path) + " cannot be set there without harm to the rest", ByHand: []string{byHand(f, o.path, o.v)}, Err: err}
		}
		text = next
	}
	return text, nil
}

// Lay puts what is needed into the home at a directory: iff.toml, which is put back
// if it is not in order then, and the base manifest, signed with the operator's key.
func (g Ground) Lay(ctx context.Context, dir string, opts home.Options, pass keyfile.Passphrase) error {
	if g.New || g.Inbox {
		if err := g.layConfig(ctx, dir, opts, pass); err != nil {
			return err
		}
	}
	if len(g.Grants) == 0 {
		return nil
	}
	h, err := home.Open(ctx, dir, home.Write, opts)
	if err != nil {
		return err
	}
	return errors.Join(g.layBase(ctx, h, pass), h.Close())
}

func (g Ground) layConfig(ctx context.Context, dir string, opts home.Options, pass keyfile.Passphrase) error {
	h, err := home.Open(ctx, dir, home.Read, opts)
	if err != nil {
		return err
	}
	signed, err := h.Signed()
	path := filepath.Join(h.Dir(), configName)
	before, readErr := readFile(path)
	if err = errors.Join(err, readErr); err != nil {
		return errors.Join(err, h.Close())
	}
	text, err := g.ConfigText(h, string(before))
	if err = errors.Join(err, h.Close()); err != nil {
		return err
	}
	fsys := opts.FS
	if fsys == nil {
		fsys = durable.OS()
	}
	if err := durable.WriteFile(fsys, path, []byte(text), 0o600); err != nil {
		return err
	}
	if err := Resign(ctx, dir, opts, signed, pass); err != nil {
		return errors.Join(err, durable.WriteFile(fsys, path, before, 0o600))
	}
	return nil
}

// Resign checks a home whose iff.toml was changed, corpora included, and signs that
// again if it was signed before.
func Resign(ctx context.Context, dir string, opts home.Options, signed bool, pass keyfile.Passphrase) error {
	h, err := home.Open(ctx, dir, home.Read, opts)
	if err != nil {
		return err
	}
	if err = h.CheckCorpora(); err == nil && signed {
		err = h.SignConfig(pass)
	}
	return errors.Join(err, h.Close())
}

// layBase gives calls outside any skill the grants that are missing.
func (g Ground) layBase(ctx context.Context, h *home.Home, pass keyfile.Passphrase) error {
	m, err := baseManifest(h)
	if err != nil {
		return err
	}
	fields := m.Fields()
	fields.Caps = append(slices.Clone(fields.Caps), g.Grants...)
	slices.Sort(fields.Caps)
	next, err := fields.Freeze(h.Root().Scheme())
	if err != nil {
		return err
	}
	text, err := next.Pretty()
	if err != nil {
		return err
	}
	dir := filepath.Join(h.Dir(), "base")
	path := filepath.Join(dir, manifest.FileName)
	before, err := readFile(path)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(durable.OS(), path, text, 0o600); err != nil {
		return err
	}
	_, err = h.Sign(ctx, dir, home.SignOptions{Key: m.Signer(), Level: m.Level().String(), Edited: true, Passphrase: pass})
	if err != nil {
		return errors.Join(err, durable.WriteFile(durable.OS(), path, before, 0o600))
	}
	return nil
}

// Called is the ground with another name for the corpus that is made.
func (g Ground) Called(name string) (Ground, error) {
	if _, err := capability.Path(capability.FSRead, name, "x"); err != nil {
		return g, fmt.Errorf("--name %s: %w", quote(name), err)
	}
	g.Corpus, g.Grants = name, []string{"fs.read(" + prefix(name) + "**)", "fs.write.rev(" + prefix(name) + "**)"}
	if name == capability.DefaultCorpus {
		g.Grants = nil
	}
	return g, nil
}

// readFile reads a file that others may have put there: it waits for no FIFO.
func readFile(path string) ([]byte, error) {
	data, _, err := durable.ReadFile(path, maxRead)
	return data, err
}

// maxRead bounds what is read of an agent's file, in bytes.
const maxRead = 16 << 20
