package home

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/skill"
)

// What a runtime is made of beside the log and the trust root.

// Clearance is the operator's: nothing above it is loaded or read.
func (h *Home) Clearance() label.Label { return h.clearance }

// Scheme is the scheme of all labels.
func (h *Home) Scheme() *label.Scheme { return h.Root().Scheme() }

// ConfigDigest is the hex SHA-256 of iff.toml as it was read; where there are
// policy files, of the canonical JSON with their digests that the root key signs.
func (h *Home) ConfigDigest() string { return hex.EncodeToString(h.configDigest[:]) }

// BaseDir is the directory of the base manifest.
func (h *Home) BaseDir() string { return filepath.Join(h.dir, baseDir) }

// ReadBase reads the base manifest, the operator's for calls outside any skill.
func (h *Home) ReadBase() (*skill.Package, error) { return h.Read(h.BaseDir()) }

// SocketDir is the directory of the runtime's sockets. A home that was opened for
// writing has it, with mode 0700.
func (h *Home) SocketDir() string { return filepath.Join(h.dir, runDir) }

// makeSocketDir makes it, or sees that nobody else can put a socket there.
func (h *Home) makeSocketDir(context.Context) error {
	dir := h.SocketDir()
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = durable.Mkdir(h.fsys, dir, 0o700)
	case err != nil:
	case !info.IsDir():
		return &Error{Reason: Exposed, Path: dir, Detail: "not a directory; remove it"}
	case info.Mode().Perm()&0o022 != 0:
		return &Error{Reason: Exposed, Path: dir, Detail: fmt.Sprintf("mode %04o lets others put sockets there; remove it", info.Mode().Perm())}
	default: // a copied home has lost its modes
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return &Error{Reason: Unreadable, Path: dir, Detail: err.Error(), Err: err}
	}
	return nil
}

// setConfig takes iff.toml and reads the policy files that it names.
func (h *Home) setConfig(data []byte) error {
	var err error
	if h.config, err = parseConfig(data); err != nil {
		return err
	}
	h.configDigest = sha256.Sum256(data)
	h.attested = attested{Schema: configSchema, Config: h.ConfigDigest(), Origin: h.config.Log.Origin, Policies: map[string]string{}}
	if err := h.readPolicies(); err != nil || len(h.policies) == 0 {
		return err
	}
	form, err := canonical.Marshal(h.attested)
	h.configDigest = sha256.Sum256(form)
	return err
}
