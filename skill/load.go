package skill

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Outcome says how a step ended.
type Outcome string

// The outcomes. The empty one is a step that was not reached.
const (
	OK      Outcome = "ok"
	Refused Outcome = "refused"
)

// Step is one of the paper's seven (section "Manifest verification").
type Step struct {
	Number  int     `json:"step"`
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"` // empty: not reached
	Checked string  `json:"checked"` // what it looked at, for people
}

// stepNames in the paper's order.
var stepNames = [7]string{"manifest", "signer", "signature", "signer clearance", "operator clearance", "level", "grants"}

// Report is what the seven steps found. The zero value has loaded nothing.
type Report struct {
	Directory string
	Steps     [7]Step
	// Skill identifies what was loaded; the zero value unless Err is nil.
	Skill record.Skill
	// Changes is what differs from the signed content, if that is why.
	Changes []Change
	// Err is why the skill was refused.
	Err *LoadError
}

// Terms are what a skill is measured against. The zero value refuses all.
type Terms struct {
	Root      *trust.Root
	Clearance label.Label   // of the operator
	State     *record.State // what was seen before
	Operator  string        // signer id of the operator, who alone signs base
	Now       time.Time
}

// Loaded is a skill that passed the seven steps. Its content is served from
// memory, as it was hashed. It does not change.
type Loaded struct {
	Manifest manifest.Manifest
	Content  *Content
	Subject  Hash
}

// Verify takes a package through the seven steps and says what each checked.
// It registers nothing, records nothing and returns no skill: it is what
// [Loader.Load] would answer.
func Verify(p *Package, terms Terms) Report {
	_, report := run(p, terms)
	return report
}

// run is the seven steps. The Loaded is only meaningful if report.Err is nil.
func run(p *Package, terms Terms) (Loaded, Report) {
	v := &verification{p: p, terms: terms}
	report := Report{Directory: p.dir}
	for i, name := range stepNames {
		report.Steps[i] = Step{Number: i + 1, Name: name}
	}
	steps := [7]func() (string, *LoadError){v.parse, v.signer, v.signature, v.signerClearance, v.operatorClearance, v.level, v.grants}
	for i, step := range steps {
		checked, err := step()
		report.Steps[i].Outcome, report.Steps[i].Checked = OK, checked
		if err != nil {
			err.Step = i + 1
			report.Steps[i].Outcome = Refused
			report.Steps[i].Checked = strings.TrimPrefix(err.Error(), fmt.Sprintf("refused at step %d: ", i+1))
			report.Err, report.Changes = err, v.changes
			return Loaded{}, report
		}
	}
	out := Loaded{Manifest: v.m, Content: v.content, Subject: v.subject}
	report.Skill = identify(out)
	return out, report
}

func identify(l Loaded) record.Skill {
	return record.Skill{
		Name: l.Manifest.Name(), Version: l.Manifest.Version(), Signer: l.Manifest.Signer(),
		Level: l.Manifest.Level().String(), Content: l.Content.root.String(), Subject: l.Subject.String(),
	}
}

// verification holds what one run has established so far.
type verification struct {
	p       *Package
	terms   Terms
	m       manifest.Manifest
	entry   trust.Entry
	content *Content
	subject Hash
	changes []Change
}

func (v *verification) parse() (string, *LoadError) {
	if v.terms.Root == nil || v.terms.Root.Scheme() == nil || v.terms.State == nil {
		return "", &LoadError{Reason: Reason(trust.Unsigned), Detail: "there is no locked trust root to load under"}
	}
	if v.p.manifestErr != nil {
		return "", contentError(v.p.manifestErr)
	}
	data := v.p.sidecar.Manifest
	if data == nil {
		return "", &LoadError{Reason: ManifestMissing, Where: manifest.FileName, Detail: "nobody has signed this skill here; inspect it, then iff skill adopt or iff skill sign"}
	}
	m, err := manifest.Parse(data, v.terms.Root.Scheme())
	if err != nil {
		return "", manifestError(err)
	}
	v.m = m
	return fmt.Sprintf("schema %s, %s version %d", manifest.Schema, m.Name(), m.Version()), nil
}

func manifestError(err error) *LoadError {
	out := &LoadError{Reason: Reason(manifest.Token(err)), Where: manifest.FileName, Detail: err.Error(), Err: err}
	var m *manifest.Error
	if errors.As(err, &m) {
		out.Where, out.Detail = visible.Truncate(strings.TrimSpace(manifest.FileName+" "+m.Field), maxWhere), visible.Truncate(m.Detail, 4*maxWhere)
		if m.Offset >= 0 {
			out.Detail += fmt.Sprintf(" (byte %d)", m.Offset)
		}
	}
	return out
}

func (v *verification) signer() (string, *LoadError) {
	e, err := v.terms.Root.Signer(v.m.Signer(), v.terms.Now)
	if err != nil {
		return "", trustError(err)
	}
	v.entry = e
	until := "no end date"
	if e.NotAfter != trust.Never {
		until = "until " + e.NotAfter
	}
	return fmt.Sprintf("%s in trust root %d, not revoked, %s", e.ID, v.terms.Root.Version(), until), nil
}

func trustError(err error) *LoadError {
	out := &LoadError{Reason: Reason(trust.Malformed), Where: "/signer", Detail: err.Error(), Err: err}
	var t *trust.Error
	if errors.As(err, &t) {
		out.Reason, out.Detail = Reason(t.Reason), t.Detail
	}
	return out
}

// signature is step 3: the signature, then whether what is on disk is what was
// signed, then whether something newer was seen.
func (v *verification) signature() (string, *LoadError) {
	if v.p.signatureErr != nil {
		return "", contentError(v.p.signatureErr)
	}
	if v.p.sidecar.Signature == nil {
		return "", &LoadError{Reason: SignatureMissing, Where: manifest.SignatureFileName, Detail: "the manifest is not signed; run iff skill sign"}
	}
	f, err := parseSignature(v.p.sidecar.Signature)
	if err != nil {
		return "", &LoadError{Reason: SignatureMalformed, Where: manifest.SignatureFileName, Detail: err.Error(), Err: err}
	}
	if v.p.err != nil {
		return "", contentError(v.p.err)
	}
	v.content = v.p.content
	if err := v.match(f); err != nil {
		return "", err
	}
	if err := v.checkSkillFile(); err != nil {
		return "", err
	}
	v.subject = Subject(v.content, v.m)
	if err := v.checkVersion(); err != nil {
		return "", err
	}
	files := "1 file"
	if n := len(v.content.files); n != 1 {
		files = fmt.Sprintf("%d files", n)
	}
	return fmt.Sprintf("%s, %d bytes, as signed", files, v.content.Bytes()), nil
}

func contentError(err error) *LoadError {
	out := &LoadError{Reason: Unreadable, Detail: err.Error(), Err: err}
	var r *ReadError
	if errors.As(err, &r) {
		out.Reason, out.Where, out.Detail = r.Reason, r.File, r.Detail
	}
	return out
}

// match checks the signature over the signed list and the list against the
// content.
func (v *verification) match(f signatureFile) *LoadError {
	changes := compare(f.Content, v.content.files)
	root := v.content.root
	if len(changes) > 0 {
		var err error
		if root, err = rootOf(f.Content); err != nil {
			return &LoadError{Reason: SignatureMalformed, Where: manifest.SignatureFileName, Detail: err.Error(), Err: err}
		}
	}
	named := f.Manifest == hashOf(v.m.Canonical())
	if !trust.Verify(v.entry.PublicKey, trust.DomainSkill, signedBytes(root, v.m), f.Signature) {
		if !named {
			return &LoadError{Reason: ManifestChanged, Where: manifest.FileName, Detail: "the manifest is not the one that was signed; sign it again if the change is meant"}
		}
		return &LoadError{Reason: SignatureInvalid, Where: manifest.SignatureFileName, Detail: "this is not " + v.entry.ID + "'s signature over this manifest and content"}
	}
	if !named {
		return &LoadError{Reason: SignatureMalformed, Where: manifest.SignatureFileName, Detail: "/manifest is not the hash of the manifest that was signed; restore the file"}
	}
	if len(changes) > 0 {
		v.changes = changes
		detail := changes[0].Describe()
		if n := len(changes) - 1; n > 0 {
			detail += fmt.Sprintf(", and %d more", n)
		}
		return &LoadError{Reason: ContentChanged, Where: changes[0].Path, Detail: detail}
	}
	return nil
}

// checkSkillFile refuses what could never be served. The base manifest alone
// has no content.
func (v *verification) checkSkillFile() *LoadError {
	if v.m.Name() == BaseName {
		if len(v.content.files) > 0 || v.terms.Operator == "" || v.m.Signer() != v.terms.Operator {
			return &LoadError{Reason: NameReserved, Where: "/name", Detail: `"base" is the operator's own manifest, without content; choose another name`}
		}
		return nil
	}
	if skillFile(v.content) == "" {
		return &LoadError{Reason: SkillMissing, Where: "SKILL.md", Detail: "the directory has no SKILL.md, so there is nothing to serve"}
	}
	return nil
}

func (v *verification) checkVersion() *LoadError {
	seen, ok := v.terms.State.Observed(record.Identity{Name: v.m.Name(), Signer: v.m.Signer()})
	switch {
	case !ok || v.m.Version() > seen.Version:
		return nil
	case v.m.Version() < seen.Version:
		return &LoadError{Reason: VersionReplayed, Where: "/version", Detail: fmt.Sprintf("version %d, but version %d of %s by %s was seen; use that, or sign this as %d", v.m.Version(), seen.Version, v.m.Name(), v.m.Signer(), seen.Version+1)}
	case v.subject.String() != seen.Subject:
		return &LoadError{Reason: VersionEquivocal, Where: "/version", Detail: fmt.Sprintf("version %d of %s by %s was seen with other content or another manifest; sign this as %d", v.m.Version(), v.m.Name(), v.m.Signer(), seen.Version+1)}
	}
	return nil
}

func (v *verification) signerClearance() (string, *LoadError) {
	max := v.terms.Root.Clearance(v.entry)
	if !v.m.Label().LessEq(max) {
		return "", &LoadError{Reason: LabelAboveSigner, Where: "/label", Detail: fmt.Sprintf("%s is above %s, which is all that %s may sign: %s", v.m.Label(), max, v.entry.ID, v.m.Label().Beyond(max))}
	}
	return fmt.Sprintf("%s within %s's %s", v.m.Label(), v.entry.ID, max), nil
}

func (v *verification) operatorClearance() (string, *LoadError) {
	if !v.m.Label().LessEq(v.terms.Clearance) {
		return "", &LoadError{Reason: LabelAboveOperator, Where: "/label", Detail: fmt.Sprintf("%s is above the operator's clearance %s: %s", v.m.Label(), v.terms.Clearance, v.m.Label().Beyond(v.terms.Clearance))}
	}
	return fmt.Sprintf("%s within the operator's %s", v.m.Label(), v.terms.Clearance), nil
}

func (v *verification) level() (string, *LoadError) {
	lv := v.m.Level()
	if v.entry.Adopter && lv != level.Unverified || !v.entry.Level.AtLeast(lv) {
		return "", &LoadError{Reason: LevelAboveSigner, Where: "/verification", Detail: fmt.Sprintf("%s, but %s may attest %s at most", lv, v.entry.ID, v.entry.Level)}
	}
	if lv.AtLeast(level.Tested) {
		return "", &LoadError{Reason: EvidenceUnavailable, Where: "/verification", Detail: fmt.Sprintf("%s needs evidence, which this version of iff can neither make nor check; sign as declared", lv)}
	}
	return fmt.Sprintf("%s, %s may attest up to %s", lv, v.entry.ID, v.entry.Level), nil
}

func (v *verification) grants() (string, *LoadError) {
	n := v.m.Grants().Len()
	if n == 0 {
		return "none: every call of this skill will be denied", nil
	}
	return fmt.Sprintf("%d: %s", n, visible.Truncate(strings.Join(v.m.Grants().Strings(), ", "), 120)), nil
}

// Loader loads skills at bootstrap: the builder of a [Set]. It is not safe for
// concurrent use. The zero value refuses all.
type Loader struct {
	terms  Terms
	sink   record.Sink
	loaded map[string]Loaded
	frozen bool
}

// NewLoader returns a loader that measures against terms and records every
// outcome in sink.
func NewLoader(terms Terms, sink record.Sink) *Loader {
	return &Loader{terms: terms, sink: sink, loaded: make(map[string]Loaded)}
}

// maxWhere bounds, in characters, what of an author's file a refusal quotes.
const maxWhere = 256

// Load takes a package through the seven steps and records the outcome. The
// skill is loaded only if the returned error is nil: an error that is not the
// report's *LoadError means that the outcome could not be recorded. After
// [Loader.Freeze] nothing is loaded, reason set-frozen.
func (l *Loader) Load(ctx context.Context, p *Package) (Report, error) {
	if l.sink == nil || l.frozen {
		return Report{Directory: p.dir}, &LoadError{Step: 7, Reason: Frozen, Detail: "the set of skills is frozen for the session; start a new one"}
	}
	skill, report := run(p, l.terms)
	if report.Err == nil {
		if other, ok := l.loaded[skill.Manifest.Name()]; ok && other.Subject != skill.Subject {
			l.refuse(&report, other)
		}
	}
	body := outcome(p, report)
	if _, err := l.sink.Append(ctx, record.Of(body)); err != nil {
		return Report{Directory: p.dir}, fmt.Errorf("load %s: the outcome could not be recorded: %w", p.dir, err)
	}
	l.terms.State.Apply(record.Record{Time: l.terms.Now, Body: body})
	if report.Err != nil {
		return report, report.Err
	}
	l.loaded[skill.Manifest.Name()] = skill
	return report, nil
}

func (l *Loader) refuse(report *Report, other Loaded) {
	report.Err = &LoadError{Step: 7, Reason: NameTaken, Where: "/name", Detail: fmt.Sprintf("another skill named %s, signed by %s, is loaded", other.Manifest.Name(), other.Manifest.Signer())}
	report.Steps[6].Outcome, report.Steps[6].Checked = Refused, report.Err.Detail
	report.Skill = record.Skill{}
}

func outcome(p *Package, report Report) record.Body {
	if e := report.Err; e != nil {
		return record.SkillRefused{Directory: p.dir, Step: int64(e.Step), Reason: string(e.Reason), Where: visible.Escape(visible.Truncate(e.Where, maxWhere))}
	}
	return record.SkillLoaded{Directory: p.dir, Skill: report.Skill}
}

// Freeze ends the loader and returns what it loaded.
func (l *Loader) Freeze() *Set {
	l.frozen = true
	return newSet(l.loaded)
}
