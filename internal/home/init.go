package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// Names that keys of every home have.
const (
	RootKey     = "root"
	ApproverKey = "approver"
	AdopterKey  = "adopter"
)

// Plan says what home to make.
type Plan struct {
	Operator   string        // signer id of the operator
	Scheme     *label.Scheme // of all labels
	Clearance  label.Label   // the operator's; absent means the scheme's top
	Passphrase []byte        // protects root, operator and approver keys
	Corpora    []CorpusPlan  // to put under iff
}

// BaseGrants are what calls outside any skill may do by default: read and
// reversible write in corpus work, all else asks.
func BaseGrants() []string {
	return []string{
		"fs.read(**)", "fs.read(.)", "fs.write.irrev", "fs.write.rev(**)", "mutate.schema", "net.egress", "pay", "publish", "spawn.proc", "tool.invoke",
	}
}

// Init makes a home at dir, which must not exist or be empty, and opens it for
// writing. It is built beside dir and renamed there as a whole.
func Init(ctx context.Context, dir string, plan Plan, opts Options) (*Home, error) {
	opts = opts.orDefault()
	if err := CheckPlan(dir, plan); err != nil {
		return nil, err
	}
	if plan.Clearance.IsAbsent() {
		plan.Clearance = plan.Scheme.Top()
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, &Error{Reason: Unreadable, Path: parent, Detail: err.Error(), Err: err}
	}
	tmp, err := os.MkdirTemp(parent, ".iff-init-")
	if err != nil {
		return nil, &Error{Reason: Unreadable, Path: parent, Detail: err.Error(), Err: err}
	}
	b := &builder{dir: tmp, plan: plan, opts: opts}
	if err := b.build(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	if err := opts.FS.Rename(tmp, dir); err != nil {
		return nil, errors.Join(&Error{Reason: Exists, Path: dir, Detail: err.Error(), Err: err}, os.RemoveAll(tmp))
	}
	if err := opts.FS.SyncDir(parent); err != nil {
		return nil, err
	}
	return Open(ctx, dir, Write, opts)
}

// CheckPlan says whether Init could make this home, before anyone is asked for
// a passphrase. Its errors are *Error.
func CheckPlan(dir string, p Plan) error {
	if err := trust.CheckID(p.Operator); err != nil {
		return &Error{Reason: NameInvalid, Detail: "--operator " + err.Error(), Err: err}
	}
	if slices.Contains([]string{RootKey, ApproverKey, AdopterKey, WebhookKey, skill.BaseName}, p.Operator) || strings.HasPrefix(p.Operator, logKeyPrefix) {
		return &Error{Reason: NameInvalid, Detail: "--operator " + p.Operator + " is a name that iff uses itself; choose another"}
	}
	if err := checkFree(dir); err != nil {
		return err
	}
	return checkCorpora(dir, p.Corpora)
}

func checkFree(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return &Error{Reason: Exists, Path: dir, Detail: "there is something here already; name another --home, or move it away"}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return &Error{Reason: Exists, Path: dir, Detail: err.Error(), Err: err}
	}
	return nil
}

// builder makes a home in a directory that nobody uses yet.
type builder struct {
	dir    string
	plan   Plan
	opts   Options
	origin string
	keys   map[string]*keyfile.Key
}

func (b *builder) build(ctx context.Context) error {
	for _, d := range []string{trustDir, keysDir, baseDir, skillsDir} {
		if err := os.Mkdir(filepath.Join(b.dir, d), 0o700); err != nil {
			return err
		}
	}
	if err := b.makeKeys(); err != nil {
		return err
	}
	root, err := b.makeTrust()
	if err != nil {
		return err
	}
	base, err := b.makeBase(root)
	if err != nil {
		return err
	}
	if err := b.makeConfig(); err != nil {
		return err
	}
	return b.record(ctx, root, base)
}

// makeKeys writes the key pairs; deriving a key from a passphrase is
// slow on purpose, so the protected ones are written at the same time.
func (b *builder) makeKeys() error {
	b.keys = make(map[string]*keyfile.Key)
	names := b.keyNames()
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		key, err := keyfile.Generate()
		if err != nil {
			return err
		}
		b.keys[name] = key
		path := filepath.Join(b.dir, keysDir, name)
		wg.Go(func() {
			if plain(name) {
				errs[i] = key.WritePlain(b.opts.FS, path+".key")
			} else {
				errs[i] = key.WriteProtected(b.opts.FS, path+".key", b.plan.Passphrase)
			}
			errs[i] = errors.Join(errs[i], key.WritePublic(b.opts.FS, path+".pub", name))
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (b *builder) keyNames() []string {
	return []string{RootKey, b.plan.Operator, ApproverKey, AdopterKey, logKeyName(1)}
}

// plain says whether a key has no passphrase: those that grant nothing.
func plain(name string) bool { return name == AdopterKey || strings.HasPrefix(name, logKeyPrefix) }

func (b *builder) makeTrust() (*trust.Root, error) {
	d, err := trust.NewDraft(b.keys[RootKey].Public(), b.plan.Scheme)
	if err != nil {
		return nil, err
	}
	top, bottom := b.plan.Scheme.Top().Parts(), b.plan.Scheme.Bottom().Parts()
	for _, e := range []trust.Entry{
		{ID: b.plan.Operator, Clearance: top, Level: level.Tested},
		{ID: ApproverKey, Clearance: top, Level: level.Unverified, Approver: true},
		{ID: AdopterKey, Clearance: bottom, Level: level.Unverified, Adopter: true},
	} {
		e.PublicKey, e.NotAfter = b.keys[e.ID].Public(), trust.Never
		if err := d.Add(e); err != nil {
			return nil, err
		}
	}
	doc, err := d.Sign(b.keys[RootKey])
	if err != nil {
		return nil, err
	}
	if err := durable.WriteNew(b.opts.FS, filepath.Join(b.dir, trustDir, "1.json"), doc, 0o600); err != nil {
		return nil, err
	}
	return d.Lock()
}

func (b *builder) makeBase(root *trust.Root) (record.Skill, error) {
	m, err := manifest.Fields{
		Schema: manifest.Schema, Name: skill.BaseName, Version: 1, Label: b.plan.Scheme.Bottom().Parts(),
		Caps: BaseGrants(), Signer: b.plan.Operator, Verification: level.Declared.String(),
		Summary: "what calls outside any skill may do",
	}.Freeze(root.Scheme())
	if err != nil {
		return record.Skill{}, err
	}
	dir := filepath.Join(b.dir, baseDir)
	p, err := skill.Read(dir, skill.Limits{})
	if err != nil {
		return record.Skill{}, err
	}
	c, err := p.Content()
	if err != nil {
		return record.Skill{}, err
	}
	s, err := skill.Sign(c, m, b.keys[b.plan.Operator])
	if err != nil {
		return record.Skill{}, err
	}
	if err := writeSidecar(b.opts.FS, dir, s, 0o600); err != nil {
		return record.Skill{}, err
	}
	report := skill.Verify(p.WithSidecar(s), skill.Terms{Root: root, Clearance: b.plan.Clearance, State: new(record.State), Operator: b.plan.Operator, Now: b.opts.Now()})
	if report.Err != nil {
		return record.Skill{}, fmt.Errorf("base manifest: %w", report.Err)
	}
	return report.Skill, nil
}

func (b *builder) makeConfig() error {
	c := Config{Profile: Dev}
	c.Operator.Name, c.Operator.Clearance = b.plan.Operator, b.plan.Clearance.String()
	c.Trust.Root = b.keys[RootKey].Public().Fingerprint()
	for _, p := range b.plan.Corpora {
		corpus, err := p.config()
		if err != nil {
			return err
		}
		c.Corpora = append(c.Corpora, corpus)
	}
	origin, err := newOrigin()
	if err != nil {
		return err
	}
	b.origin, c.Log.Origin, c.Log.Key = origin, origin, b.keys[logKeyName(1)].Public().String()
	text, err := c.format(b.plan.Scheme.Bottom().String())
	if err != nil {
		return err
	}
	if _, err := parseConfig(text); err != nil {
		return err
	}
	return durable.WriteNew(b.opts.FS, filepath.Join(b.dir, configFile), text, 0o600)
}

// record begins the log with what was made.
func (b *builder) record(ctx context.Context, root *trust.Root, base record.Skill) (err error) {
	store, err := file.Create(b.opts.FS, filepath.Join(b.dir, logDir), nil)
	if err != nil {
		return err
	}
	l, err := audit.Create(ctx, store, record.Init{
		Origin: b.origin, Operator: b.plan.Operator, Profile: string(Dev), Scheme: b.plan.Scheme.Name(),
		Root: root.Key().Fingerprint(), TrustDigest: root.Digest(),
	}, b.keys[logKeyName(1)], audit.Options{Now: b.opts.Now})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	var entries []record.Entry
	for _, name := range b.keyNames() {
		entries = append(entries, record.Of(record.KeyCreated{Name: name, Fingerprint: b.keys[name].Public().Fingerprint(), Protected: !plain(name)}))
	}
	_, err = l.Append(ctx, append(entries, record.Of(record.SkillSigned{Directory: baseDir, Skill: base}))...)
	return errors.Join(err, l.Close())
}
