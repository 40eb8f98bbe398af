package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/skill"
)

// Read reads a skill directory and attaches the sidecar that belongs to it:
// the one beside the skill, else the one that the home keeps under its content
// root, else the one it keeps for what that directory was adopted as, so that
// a change is reported as a change and not as a skill that nobody signed.
func (h *Home) Read(dir string) (*skill.Package, error) {
	p, err := skill.Read(dir, skill.Limits{})
	if err != nil || p.HasManifest() {
		return p, err
	}
	var roots []string
	if c, err := p.Content(); err == nil {
		roots = append(roots, c.Root().String())
	}
	if placed, ok := h.State().Placed(dir); ok {
		roots = append(roots, placed.Content)
	}
	for _, root := range roots {
		s, err := readSidecar(filepath.Join(h.dir, skillsDir, root))
		if err != nil {
			return nil, err
		}
		if s.Manifest != nil {
			return p.WithSidecar(s), nil
		}
	}
	return p, nil
}

// readSidecar reads the two files from a directory of the home, which holds
// nothing else; neither need be there.
func readSidecar(dir string) (skill.Sidecar, error) {
	if !exists(dir) {
		return skill.Sidecar{}, nil
	}
	p, err := skill.Read(dir, skill.Limits{Files: 1, Depth: 1})
	if err != nil {
		return skill.Sidecar{}, err
	}
	return p.Sidecar(), nil
}

// readToWrite reads a skill directory that is about to be signed, without what
// an interrupted write of ours left in it.
func (h *Home) readToWrite(dir string) (*skill.Package, error) {
	if err := durable.Sweep(h.fsys, dir); err != nil && !notOurs(err) {
		return nil, &Error{Reason: Unreadable, Path: dir, Detail: err.Error(), Err: err}
	}
	return h.Read(dir)
}

// place chooses where a sidecar will lie, before anything is recorded: beside
// the skill, or in the home under the content root where the directory is not
// ours to write.
func (h *Home) place(p *skill.Package, inHome bool) (string, error) {
	beside := filepath.Join(p.Directory(), manifest.FileName)
	if info, err := os.Lstat(beside); err == nil && info.IsDir() {
		return "", &Error{Reason: NotWritable, Path: beside, Detail: "it is a directory; remove it"}
	}
	if !inHome {
		err := durable.Probe(h.fsys, p.Directory())
		if err == nil {
			return p.Directory(), nil
		}
		if !notOurs(err) {
			return "", err
		}
	}
	if exists(beside) {
		return "", &Error{Reason: NotWritable, Path: p.Directory(), Detail: "it holds a manifest, which would be read instead; remove that, or copy the skill to a directory of yours"}
	}
	c, err := p.Content()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(h.dir, skillsDir, c.Root().String())
	if err := durable.Mkdir(h.fsys, dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", &Error{Reason: Unreadable, Path: dir, Detail: err.Error(), Err: err}
	}
	return dir, nil
}

// store writes a sidecar where place said.
func (h *Home) store(p *skill.Package, s skill.Sidecar, place string) error {
	perm := h.sidecarMode(p)
	if place != p.Directory() {
		perm = 0o600
	}
	return writeSidecar(h.fsys, place, s, perm)
}

// sidecarMode: beside a skill others may read what it is signed as; nothing in
// the home is for others.
func (h *Home) sidecarMode(p *skill.Package) fs.FileMode {
	if h.placeOf(p) == baseDir {
		return 0o600
	}
	return 0o644
}

func notOurs(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// writeSidecar replaces the manifest and then the signature. A crash between
// the two leaves a manifest that its signature does not fit, which loads as
// nothing.
func writeSidecar(fsys durable.FS, dir string, s skill.Sidecar, perm fs.FileMode) error {
	if err := durable.WriteFile(fsys, filepath.Join(dir, manifest.FileName), s.Manifest, perm); err != nil {
		return err
	}
	return durable.WriteFile(fsys, filepath.Join(dir, manifest.SignatureFileName), s.Signature, perm)
}
