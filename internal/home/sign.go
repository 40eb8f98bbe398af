package home

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
)

// SignOptions say how to sign.
type SignOptions struct {
	Key        string             // name of a key in the home, or a path
	Passphrase keyfile.Passphrase // asked for if the key is protected
	Level      string             // unverified or declared
	Version    int64              // 0: the next one
	Label      string             // text form; empty: the manifest's, or the lowest
	Summary    string             // empty: the manifest's
	Edited     bool               // sign the manifest as it stands, whoever wrote it
	Redraft    bool               // propose the grants anew
	InHome     bool
	// Review is shown what is about to be attested, before any passphrase is
	// asked for; an error ends the signing.
	Review func(manifest.Fields) error
}

// Sign signs the skill in dir: the manifest that was adopted or signed here
// with the signer, level and version set, or a draft if there is none. A
// manifest that nobody here has signed is not taken over unasked: what its
// author wishes for is not what the signer has read. Nothing is written unless
// the result passes the seven steps.
func (h *Home) Sign(ctx context.Context, dir string, opts SignOptions) (Adoption, error) {
	p, err := h.readToWrite(dir)
	if err != nil {
		return Adoption{}, err
	}
	fields, draft, err := h.fieldsToSign(p, opts)
	if err != nil {
		return Adoption{}, err
	}
	if err := opts.apply(h, &fields); err != nil {
		return Adoption{}, err
	}
	if opts.Review != nil {
		if err := opts.Review(fields); err != nil {
			return Adoption{}, err
		}
	}
	if opts.Level != "unverified" {
		if err := h.mustBeProtected(opts.Key); err != nil {
			return Adoption{}, err
		}
	}
	key, entry, err := h.signerKey(opts.Key, opts.Passphrase)
	if err != nil {
		return Adoption{}, err
	}
	fields.Signer, fields.Verification = entry.ID, opts.Level
	m, err := h.version(p, fields, opts.Version)
	if err != nil {
		return Adoption{}, err
	}
	report, s, err := h.seal(p, m, key)
	if err != nil {
		return Adoption{Report: report}, err
	}
	a := Adoption{Outcome: Updated, Report: report, Draft: draft}
	a.signedAs(m)
	place, err := h.place(p, opts.InHome)
	if err != nil {
		return Adoption{}, err
	}
	if err := h.append(ctx, record.SkillSigned{Directory: h.placeOf(p), Skill: report.Skill}); err != nil {
		return Adoption{}, err
	}
	a.Stored = place
	return a, h.store(p, s, place)
}

// version freezes fields under the version that was asked for, 0 being the
// next.
func (h *Home) version(p *skill.Package, fields manifest.Fields, asked int64) (manifest.Manifest, error) {
	if asked != 0 {
		return fields.Freeze(h.Root().Scheme())
	}
	return h.next(p, fields)
}

// placeOf is the directory that a record names: the base manifest's is relative,
// so that a home can be moved.
func (h *Home) placeOf(p *skill.Package) string {
	if p.Directory() == filepath.Join(h.dir, baseDir) {
		return baseDir
	}
	return p.Directory()
}

func (o SignOptions) apply(h *Home, fields *manifest.Fields) error {
	if o.Version != 0 {
		fields.Version = o.Version
	}
	if o.Summary != "" {
		fields.Summary = o.Summary
	}
	if o.Label == "" {
		return nil
	}
	l, err := h.Root().Scheme().Parse(o.Label)
	if err != nil {
		return fmt.Errorf("--label: %w", err)
	}
	fields.Label = l.Parts()
	return nil
}

// fieldsToSign is the manifest beside the skill, or a draft where there is
// none. A manifest that does not parse is the author's to mend, not ours to
// replace.
func (h *Home) fieldsToSign(p *skill.Package, opts SignOptions) (manifest.Fields, skill.Draft, error) {
	base := h.placeOf(p) == baseDir
	var draft skill.Draft
	if !base {
		var err error
		if draft, err = skill.NewDraft(p, h.Root().Scheme(), AdopterKey); err != nil {
			return manifest.Fields{}, skill.Draft{}, err
		}
	}
	if base && !p.HasManifest() {
		return manifest.Fields{}, draft, &skill.LoadError{Step: 1, Reason: skill.ManifestMissing, Where: filepath.Join(baseDir, manifest.FileName), Detail: "the base manifest is gone; restore it"}
	}
	if !base && (!p.HasManifest() || opts.Redraft) {
		return draft.Fields, draft, nil
	}
	m, err := manifest.Parse(p.Sidecar().Manifest, h.Root().Scheme())
	if err != nil {
		return manifest.Fields{}, draft, err
	}
	if !opts.Edited && !h.genuine(p, m) {
		return manifest.Fields{}, draft, &skill.LoadError{
			Step: 3, Reason: skill.ManifestChanged, Where: manifest.FileName,
			Detail: "it is not what was adopted or signed for this directory; read it, then sign with --edited to take it over, or with --redraft",
		}
	}
	fields := m.Fields()
	if !base { // the identity is not the manifest's to choose
		fields.Name, fields.Version = draft.Fields.Name, 1
	}
	return fields, draft, nil
}

func (h *Home) mustBeProtected(name string) error {
	protected, err := keyfile.IsProtected(h.keyPath(name))
	if err != nil {
		return err
	}
	if !protected {
		return &Error{Reason: KeyUnguarded, Path: name, Detail: "a key that signs above unverified must be protected by a passphrase; for an OpenSSH key: ssh-keygen -p -f " + name}
	}
	return nil
}
