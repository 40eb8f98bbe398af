package ensemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// Ids of the signers in a kit's trust root.
const (
	operatorID = "operator"
	approverID = "approver"
	adopterID  = "adopter"
)

// Names of a kit's skills, beside the base manifest.
const (
	keeperSkill  = "records-keeper" // declared, irreversible writes below archive
	editorSkill  = "bulk-editor"    // declared, writes everywhere
	minutesSkill = "minutes"        // declared, reads and nothing else
	tidySkill    = "tidy-up"        // unverified
)

// Kit is what runs may share: keys, a trust root, loaded skills. The keys are made
// with it, lie nowhere but in memory and are worth nothing elsewhere. It is safe
// for concurrent use. The zero value runs nothing.
type Kit struct {
	root   *trust.Root
	narrow *trust.Root // the same, with the adopter revoked
	scheme *label.Scheme
	wild   library
	paper  library

	log, operator, approver, adopter, stranger *keyfile.Key
}

// library is what a cast's skills are: those, their files by name, and what loading
// them recorded.
type library struct {
	skills *skill.Set
	files  map[string][]skillFile
	loads  []record.Entry
}

// of is the library of a cast.
func (k *Kit) of(c Cast) *library {
	if c == Paper {
		return &k.paper
	}
	return &k.wild
}

type skillFile struct {
	name string
	data []byte
}

// NewKit makes keys, a trust root and skills.
func NewKit(ctx context.Context) (*Kit, error) {
	k := new(Kit)
	for _, key := range []**keyfile.Key{&k.log, &k.operator, &k.approver, &k.adopter, &k.stranger} {
		var err error
		if *key, err = keyfile.Generate(); err != nil {
			return nil, err
		}
	}
	var ok bool
	if k.scheme, ok = label.Builtin("default"); !ok {
		return nil, errors.New("bug: there is no default scheme")
	}
	if err := k.makeTrust(); err != nil {
		return nil, fmt.Errorf("trust root: %w", err)
	}
	for _, c := range []Cast{Wild, Paper} {
		if err := k.load(ctx, c); err != nil {
			return nil, fmt.Errorf("skills: %w", err)
		}
	}
	return k, nil
}

func (k *Kit) makeTrust() error {
	key, err := keyfile.Generate()
	if err != nil {
		return err
	}
	d, err := trust.NewDraft(key.Public(), k.scheme)
	if err != nil {
		return err
	}
	top := k.scheme.Top().Parts()
	for _, e := range []trust.Entry{
		{ID: operatorID, PublicKey: k.operator.Public(), Clearance: top, Level: level.Declared},
		{ID: approverID, PublicKey: k.approver.Public(), Clearance: top, Level: level.Unverified, Approver: true},
		{ID: adopterID, PublicKey: k.adopter.Public(), Clearance: k.scheme.Bottom().Parts(), Level: level.Unverified, Adopter: true},
	} {
		e.NotAfter = trust.Never
		if err := d.Add(e); err != nil {
			return err
		}
	}
	first, err := d.Sign(key)
	if err != nil {
		return err
	}
	if k.root, err = d.Lock(); err != nil {
		return err
	}
	return k.makeNarrower(key, first)
}

// makeNarrower makes the trust root that an operator narrows to.
func (k *Kit) makeNarrower(key *keyfile.Key, first []byte) error {
	d, err := trust.Open([][]byte{first}, key.Public())
	if err != nil {
		return err
	}
	if err := d.Revoke(adopterID, time.Now(), "left"); err != nil {
		return err
	}
	second, err := d.Sign(key)
	if err != nil {
		return err
	}
	k.narrow, err = k.root.Narrow(second)
	return err
}

// terms of a skill of the ensemble.
type terms struct {
	name  string
	level level.Level
	caps  []string
	text  string // of SKILL.md; the base manifest has none
}

var skillTerms = []terms{
	{skill.BaseName, level.Declared, []string{"fs.read(**)", "fs.write.irrev", "fs.write.rev(**)", "net.egress"}, ""},
	{keeperSkill, level.Declared, []string{"fs.read(**)", "fs.write.irrev(archive/**)", "fs.write.rev(**)"}, "moves records to the archive when their time is over"},
	{editorSkill, level.Declared, []string{"fs.read(**)", "fs.write.irrev(**)", "fs.write.rev(**)"}, "edits many documents at once"},
	{minutesSkill, level.Declared, []string{"fs.read(**)"}, "summarises the minutes of meetings"},
	{tidySkill, level.Unverified, []string{"fs.read(**)", "fs.write.irrev", "fs.write.rev(**)"}, "keeps shared folders tidy"},
}

// load signs the skills and loads them, from a directory that is gone afterwards:
// every corpus gets copies. Memory that cannot be written to, or is full, need not
// keep anybody from runs elsewhere.
func (k *Kit) load(ctx context.Context, c Cast) error {
	err := k.loadIn(ctx, c, room(""))
	if err != nil && ctx.Err() == nil && room("") != os.TempDir() {
		err = k.loadIn(ctx, c, os.TempDir())
	}
	return err
}

func (k *Kit) loadIn(ctx context.Context, c Cast, place string) (err error) {
	dir, err := os.MkdirTemp(place, "iff-kit-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	kept := new(keeping)
	loader := skill.NewLoader(skill.Terms{
		Root: k.root, Clearance: k.scheme.Top(), State: new(record.State), Operator: operatorID, Now: time.Now(),
	}, kept)
	lib := k.of(c)
	lib.files = make(map[string][]skillFile)
	for _, t := range skillTerms {
		if c == Paper && t.name != skill.BaseName && t.name != editorSkill {
			continue
		}
		if err := k.sign(ctx, lib, filepath.Join(dir, t.name), t, loader); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	lib.skills, lib.loads = loader.Freeze(), kept.entries
	return nil
}

func (k *Kit) sign(ctx context.Context, lib *library, dir string, t terms, loader *skill.Loader) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	signer, key := operatorID, k.operator
	if t.level == level.Unverified {
		signer, key = adopterID, k.adopter
	}
	if t.text != "" {
		text := fmt.Appendf(nil, "---\nname: %s\ndescription: %s\n---\n\nRead first, then %s.\n", t.name, t.text, t.text)
		if err := lib.keep(dir, t.name, "SKILL.md", text); err != nil {
			return err
		}
	}
	p, err := skill.Read(dir, skill.Limits{})
	if err != nil {
		return err
	}
	content, err := p.Content()
	if err != nil {
		return err
	}
	m, err := manifest.Fields{
		Schema: manifest.Schema, Name: t.name, Version: 1, Label: k.scheme.Bottom().Parts(), Caps: t.caps, Signer: signer,
		Verification: t.level.String(), Summary: t.text,
	}.Freeze(k.scheme)
	if err != nil {
		return err
	}
	sidecar, err := skill.Sign(content, m, key)
	if err != nil {
		return err
	}
	if err := errors.Join(lib.keep(dir, t.name, manifest.FileName, sidecar.Manifest), lib.keep(dir, t.name, manifest.SignatureFileName, sidecar.Signature)); err != nil {
		return err
	}
	_, err = loader.Load(ctx, p.WithSidecar(sidecar))
	return err
}

// keep writes a file of a skill and remembers it for the corpora.
func (l *library) keep(dir, skillName, name string, data []byte) error {
	l.files[skillName] = append(l.files[skillName], skillFile{name, data})
	return os.WriteFile(filepath.Join(dir, name), data, 0o644)
}

// keeping is a sink that keeps what is recorded.
type keeping struct {
	mu      sync.Mutex
	entries []record.Entry
}

// Append implements [record.Sink].
func (s *keeping) Append(_ context.Context, entries ...record.Entry) ([]record.Mark, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, entries...)
	return make([]record.Mark, len(entries)), nil
}
