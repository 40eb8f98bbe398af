package home_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// nextTrust makes, in a copy of a home, the next document of its chain.
func nextTrust(t *testing.T, dir string, change func(*home.Home) error) []byte {
	t.Helper()
	other := filepath.Join(t.TempDir(), "other")
	must(t, os.CopyFS(other, os.DirFS(dir)))
	for path, mode := range map[string]fs.FileMode{"": 0o700, "keys/adopter.key": 0o600, "keys/log-1.key": 0o600} {
		must(t, os.Chmod(filepath.Join(other, path), mode))
	}
	h := open(t, other, home.Write)
	must(t, change(h))
	must(t, h.Close())
	doc, err := os.ReadFile(filepath.Join(other, "trust", "2.json"))
	must(t, err)
	return doc
}

// configure adds text to a home's configuration.
func configure(t *testing.T, dir, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "iff.toml"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, errors.Join(err, f.Close()))
}

func revokeMe(t *testing.T) func(*home.Home) error {
	return func(h *home.Home) error { return h.Revoke(t.Context(), "me", "lost", pass) }
}

func TestNarrow(t *testing.T) {
	dir := newHome(t)
	doc := nextTrust(t, dir, revokeMe(t))
	h := open(t, dir, home.Write)
	before := h.Root()
	next, err := h.Narrow(doc)
	must(t, err)
	if _, gone := next.Revoked("me"); !gone || next.Version() != 2 || h.Root() != next || h.Terms().Root != next || before.Version() != 1 {
		t.Errorf("version %d", next.Version())
	}
	must(t, h.Log().Close())
	// The runtime died before it recorded: the next one catches up.
	must(t, h.Close())
	h = open(t, dir, home.Write)
	if v, digest := h.State().Trust(); v != 2 || digest != next.Digest() {
		t.Errorf("recorded: %d", v)
	}
	if _, err := h.Narrow(doc); reason(err) == "" {
		t.Errorf("the same document again: %v", err)
	}
}

func TestNarrowRefuses(t *testing.T) {
	dir := newHome(t)
	revoke := nextTrust(t, dir, revokeMe(t))
	widen := nextTrust(t, dir, func(h *home.Home) error {
		return h.AddSigner(t.Context(), trust.Entry{ID: "new", PublicKey: trusttest.NewKey(9).Public(), Clearance: h.Scheme().Bottom().Parts(), NotAfter: trust.Never}, pass)
	})
	h := open(t, dir, home.Write)
	if _, err := h.Narrow(widen); !errors.Is(err, trust.ErrLocked) {
		t.Errorf("a signer is added: %v", err)
	}
	if _, err := h.Narrow([]byte("{}")); err == nil {
		t.Error("what nobody signed is taken")
	}
	if h.Root().Version() != 1 {
		t.Error("a refused document is in force")
	}
	if _, err := os.Lstat(filepath.Join(dir, "trust", "2.json")); err == nil {
		t.Error("a refused document is stored")
	}
	// Somebody else has put another document there.
	must(t, os.WriteFile(filepath.Join(dir, "trust", "2.json"), widen, 0o600))
	if _, err := h.Narrow(revoke); reason(err) != "trust-rolled-back" || h.Root().Version() != 1 {
		t.Errorf("another document is there: %v", err)
	}
	// It was stored by an attempt that did not come to its end.
	must(t, os.WriteFile(filepath.Join(dir, "trust", "2.json"), revoke, 0o600))
	if _, err := h.Narrow(revoke); err != nil || h.Root().Version() != 2 {
		t.Errorf("repeated: %v", err)
	}
	must(t, h.Close())
	if _, err := open(t, dir, home.Read).Narrow(revoke); err == nil {
		t.Error("a reader narrows")
	}
}

// What a runtime takes from a home.
func TestPartsOfARuntime(t *testing.T) {
	dir := newHome(t)
	must(t, os.RemoveAll(filepath.Join(dir, "run")))
	h := open(t, dir, home.Write)
	info, err := os.Lstat(h.SocketDir())
	must(t, err)
	if info.Mode() != fs.ModeDir|0o700 || h.SocketDir() != filepath.Join(h.Dir(), "run") {
		t.Errorf("the sockets' directory: %v", info.Mode())
	}
	p, err := h.ReadBase()
	must(t, err)
	if !p.HasManifest() || p.Directory() != h.BaseDir() || len(h.ConfigDigest()) != 64 || h.Clearance() != h.Scheme().Top() {
		t.Errorf("base %v, config %s", p.HasManifest(), h.ConfigDigest())
	}
	digest := h.ConfigDigest()
	boot := record.Boot{Config: digest, Fence: 7, PID: 1, Profile: "dev", TrustDigest: h.Root().Digest(), TrustVersion: 1, Version: "test"}
	_, err = h.Log().Append(t.Context(), record.Of(boot))
	must(t, err)
	must(t, h.Close())
	must(t, os.Chmod(filepath.Join(dir, "run"), 0o755))
	configure(t, dir, "# changed\n")
	h = open(t, dir, home.Write)
	if info, err := os.Lstat(h.SocketDir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if h.State().Fence() != 7 || h.ConfigDigest() == digest {
		t.Errorf("fence %d, config %s", h.State().Fence(), h.ConfigDigest())
	}
	must(t, h.Close())
	for name, prepare := range map[string]func(path string) error{
		"writable": func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o777)) },
		"a link":   func(path string) error { return os.Symlink(t.TempDir(), path) },
		"a file":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		must(t, os.RemoveAll(filepath.Join(dir, "run")))
		must(t, prepare(filepath.Join(dir, "run")))
		if h, err := home.Open(t.Context(), dir, home.Write, home.Options{}); reason(err) != "home-exposed" {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				must(t, h.Close())
			}
		}
		open(t, dir, home.Read)
	}
}
