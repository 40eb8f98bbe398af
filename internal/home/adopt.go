package home

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// AdoptOptions say how to adopt. The zero value keeps what was granted before.
type AdoptOptions struct {
	// Replace drops a manifest that somebody else signed, and takes a name
	// that another directory has.
	Replace bool
	// Redraft proposes the grants anew instead of keeping those of the last
	// adoption.
	Redraft bool
	// Edited adopts the manifest as it stands on disk, edited since.
	Edited bool
	// InHome keeps the sidecar in the home even if the directory is writable.
	InHome bool
}

// AdoptOutcome says what adopting did.
type AdoptOutcome string

// The outcomes.
const (
	Adopted   AdoptOutcome = "adopted"   // for the first time
	Updated   AdoptOutcome = "updated"   // a new version of what was adopted
	Unchanged AdoptOutcome = "unchanged" // it was adopted as it is
	Kept      AdoptOutcome = "kept"      // somebody in the trust root signed it and it loads
)

// Adoption is what came of adopting one directory.
type Adoption struct {
	Outcome AdoptOutcome
	Report  skill.Report
	Draft   skill.Draft
	// Ungranted are grants that the skill now seems to need and that the last
	// adoption did not give; they are given by Redraft, or by editing.
	Ungranted []string
	// Manifest is what the skill now loads with.
	Manifest manifest.Manifest
	// Grants is Manifest's, as text.
	Grants []string
	// Stored is the directory that holds the sidecar.
	Stored string
}

func (a *Adoption) signedAs(m manifest.Manifest) {
	a.Manifest, a.Grants = m, m.Grants().Strings()
}

// Adopt drafts a manifest at unverified for the skill in dir and signs it with
// the adopter key, which asks for nothing. Adopting again after a change keeps
// the grants: a skill does not widen itself by an update. The record is
// durable before the sidecar is written.
func (h *Home) Adopt(ctx context.Context, dir string, opts AdoptOptions) (Adoption, error) {
	key, entry, err := h.signerKey(AdopterKey, nil)
	if errors.Is(err, errNoAuthority) {
		err = &Error{Reason: AdopterGone, Path: AdopterKey, Detail: "a home has one adopter, and this one's has no authority any more; sign instead, or make a new home", Err: err}
	}
	if err != nil {
		return Adoption{}, err
	}
	p, err := h.readToWrite(dir)
	if err != nil {
		return Adoption{}, err
	}
	before := skill.Verify(p, h.Terms())
	if p.HasManifest() && !opts.Replace && !opts.Edited {
		m, kept, err := h.keep(p, before, entry)
		if err != nil {
			return Adoption{}, err
		}
		if kept {
			return h.keepAs(ctx, p, m)
		}
	}
	draft, err := skill.NewDraft(p, h.Root().Scheme(), entry.ID)
	if err != nil {
		return Adoption{}, err
	}
	a := Adoption{Draft: draft}
	fields, err := h.adoptedFields(p, before, entry, &a, opts)
	if err != nil {
		return Adoption{}, err
	}
	if err := h.nameFree(p, fields.Name, entry.ID, opts); err != nil {
		return Adoption{}, err
	}
	err = h.adopt(ctx, p, before, fields, key, &a, opts)
	return a, err
}

// keep says whether a manifest of another signer stays: yes if it loads, and
// if it does not, adopting needs to be told to replace it.
func (h *Home) keep(p *skill.Package, before skill.Report, adopter trust.Entry) (manifest.Manifest, bool, error) {
	m, err := manifest.Parse(p.Sidecar().Manifest, h.Root().Scheme())
	switch {
	case err != nil:
		return m, false, &skill.LoadError{Step: 1, Reason: before.Err.Reason, Where: before.Err.Where, Detail: before.Err.Detail + "; mend it, or draft anew with --replace", Err: err}
	case m.Signer() == adopter.ID:
		return m, false, nil
	case before.Err == nil:
		return m, true, nil
	}
	mend := "let them sign it again"
	if before.Err.Reason == skill.Reason(trust.SignerUnknown) {
		mend = "trust its signer"
	}
	return m, false, &skill.LoadError{
		Step: before.Err.Step, Reason: skill.AlreadySigned, Where: manifest.FileName,
		Detail: fmt.Sprintf("it has a manifest of %s that does not load here (%s); %s, or adopt with --replace", m.Signer(), before.Err.Reason, mend), Err: before.Err,
	}
}

// keepAs records that a skill of another signer was taken in as it is, so that
// its version counts as seen.
func (h *Home) keepAs(ctx context.Context, p *skill.Package, m manifest.Manifest) (Adoption, error) {
	a := Adoption{Outcome: Kept, Stored: p.Directory()}
	a.signedAs(m)
	a.Report = skill.Verify(p, h.Terms())
	if placed, ok := h.State().Placed(p.Directory()); ok && placed == a.Report.Skill {
		return a, nil
	}
	var err error
	a.Report, err = skill.NewLoader(h.Terms(), h.log).Load(ctx, p)
	return a, err
}

// adoptedFields is the manifest to sign: the last adoption's grants where its
// signature holds, the draft's otherwise.
func (h *Home) adoptedFields(p *skill.Package, before skill.Report, adopter trust.Entry, a *Adoption, opts AdoptOptions) (manifest.Fields, error) {
	m, err := manifest.Parse(p.Sidecar().Manifest, h.Root().Scheme())
	if err != nil || opts.Redraft || m.Signer() != adopter.ID && !opts.Edited {
		return a.Draft.Fields, nil
	}
	if !opts.Edited && !h.genuine(p, m) {
		if opts.Replace {
			return a.Draft.Fields, nil
		}
		return manifest.Fields{}, &skill.LoadError{
			Step: 3, Reason: skill.ManifestChanged, Where: manifest.FileName, Err: before.Err,
			Detail: "the manifest is not one that was adopted here; read it, then adopt with --edited to take it as it stands, or with --redraft",
		}
	}
	fields := m.Fields()
	fields.Name, fields.Signer, fields.Version = a.Draft.Fields.Name, adopter.ID, 1
	fields.Verification, fields.Label = a.Draft.Fields.Verification, a.Draft.Fields.Label
	for _, g := range a.Draft.Fields.Caps {
		if !granted(m.Grants(), g) {
			a.Ungranted = append(a.Ungranted, g)
		}
	}
	return fields, nil
}

// genuine says whether the manifest is, to the byte, what the records say was
// adopted, signed or taken in for this directory, whatever became of the
// content since. A signature alone does not make it so: the adopter key lies
// open, and a manifest of another directory or an older version is not this
// one's.
func (h *Home) genuine(p *skill.Package, m manifest.Manifest) bool {
	placed, ok := h.State().Placed(h.placeOf(p))
	return ok && skill.SubjectIs(p, m, placed.Subject)
}

func granted(have capability.Grants, want string) bool {
	return slices.Contains(have.Strings(), want)
}

// nameFree refuses a second directory under a name whose first is still there
// with other content: one of the two would shadow the other.
func (h *Home) nameFree(p *skill.Package, name, signer string, opts AdoptOptions) error {
	c, err := p.Content()
	if err != nil || opts.Replace {
		return err
	}
	for _, dir := range h.Skills() {
		k, _ := h.State().Placed(dir)
		if dir != p.Directory() && k.Name == name && k.Signer == signer && k.Content != c.Root().String() && exists(dir) {
			return &skill.LoadError{Step: 7, Reason: skill.NameTaken, Where: "SKILL.md", Detail: fmt.Sprintf("%s was adopted from %s with other content; rename one, or adopt with --replace", name, dir)}
		}
	}
	return nil
}

func (h *Home) adopt(ctx context.Context, p *skill.Package, before skill.Report, fields manifest.Fields, key trust.Signer, a *Adoption, opts AdoptOptions) error {
	m, err := h.next(p, fields)
	if err != nil {
		return err
	}
	signed, s, err := h.seal(p, m, key)
	if err != nil {
		return err
	}
	a.Report = signed
	a.signedAs(m)
	if before.Err == nil && before.Skill == signed.Skill {
		a.Outcome, a.Stored = Unchanged, p.Directory()
		return nil
	}
	a.Outcome = Updated
	if _, ok := h.State().Observed(record.Identity{Name: signed.Skill.Name, Signer: signed.Skill.Signer}); !ok {
		a.Outcome = Adopted
	}
	place, err := h.place(p, opts.InHome)
	if err != nil {
		return err
	}
	old, err := manifest.Parse(p.Sidecar().Manifest, h.Root().Scheme())
	foreign := p.HasManifest() && (err != nil || old.Signer() != m.Signer())
	if err := h.append(ctx, record.SkillAdopted{Directory: p.Directory(), Skill: signed.Skill, Replaced: foreign}); err != nil {
		return err
	}
	a.Stored = place
	return h.store(p, s, place)
}

// seal signs a manifest over a package's content and takes the result through
// the seven steps, in memory: what would not load is not written.
func (h *Home) seal(p *skill.Package, m manifest.Manifest, key trust.Signer) (skill.Report, skill.Sidecar, error) {
	c, err := p.Content()
	if err != nil {
		return skill.Report{}, skill.Sidecar{}, err
	}
	s, err := skill.Sign(c, m, key)
	if err != nil {
		return skill.Report{}, skill.Sidecar{}, err
	}
	report := skill.Verify(p.WithSidecar(s), h.Terms())
	if report.Err != nil {
		return report, skill.Sidecar{}, report.Err
	}
	return report, s, nil
}

// next freezes fields under the version that comes next for what p holds.
func (h *Home) next(p *skill.Package, f manifest.Fields) (manifest.Manifest, error) {
	c, err := p.Content()
	if err != nil {
		return manifest.Manifest{}, err
	}
	return skill.NextVersion(f, c, h.Root().Scheme(), h.State())
}

// errNoAuthority marks a signer that is revoked or has expired.
var errNoAuthority = errors.New("it signs nothing any more")

// signerKey opens a key and finds its signer in the trust root.
func (h *Home) signerKey(name string, pass keyfile.Passphrase) (trust.Signer, trust.Entry, error) {
	key, err := h.OpenKey(name, pass)
	if err != nil {
		return nil, trust.Entry{}, err
	}
	entry, ok := h.Root().ByKey(key.Public())
	if !ok {
		return nil, trust.Entry{}, &Error{Reason: NotSigner, Path: name, Detail: fmt.Sprintf("%s is not in trust root %d; add it with iff trust add", key.Public().Fingerprint(), h.Root().Version())}
	}
	if _, err := h.Root().Signer(entry.ID, h.now()); err != nil {
		return nil, trust.Entry{}, errors.Join(err, errNoAuthority)
	}
	return key, entry, nil
}
