package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// Refused is a skill that is not loaded, and why.
type Refused struct {
	Directory string
	Err       error
}

// terms are what the operator has configured, with what a trial adds to the trust
// root.
type terms struct {
	home     *home.Home
	trust    *trust.Root
	person   string // signer id of the played person
	approver *keyfile.Key
	logKey   *keyfile.Key
	policy   *broker.Policy // nil if there is none
	skills   *skill.Set
	loads    []record.Entry
	dirs     map[string]string // of skills, by name, without links
	refused  []Refused
}

// read holds the configuration against what a runtime needs to start, and loads the
// skills.
func (t *terms) read(ctx context.Context, now time.Time) error {
	if err := t.allowed(ctx); err != nil {
		return err
	}
	if err := t.home.CheckCorpora(); err != nil {
		return err
	}
	if err := t.extend(); err != nil {
		return fmt.Errorf("a trust root for the trial: %w", err)
	}
	c := t.home.Config()
	var files []broker.PolicyFile
	for _, f := range t.home.PolicyFiles() {
		files = append(files, broker.PolicyFile{Name: f.Name, Text: f.Text})
	}
	if len(files) > 0 {
		var err error
		if t.policy, err = broker.ParsePolicy(files, broker.PolicyOptions{Profile: string(c.Profile)}); err != nil {
			return err
		}
	}
	return t.load(ctx, now)
}

// allowed is what the profile asks of a home in which a runtime starts.
func (t *terms) allowed(ctx context.Context) error {
	if t.home.Config().Profile != home.Strict {
		_, err := t.home.Signed()
		return err
	}
	var errs []error
	for _, c := range t.home.Strict(ctx) {
		errs = append(errs, c.Err)
	}
	return errors.Join(errs...)
}

// extend makes the trust root of the trial: the operator's signers and revocations,
// and one more signer, who may approve calls and sign nothing. Its root key signs
// this and is forgotten.
func (t *terms) extend() error {
	theirs := t.home.Root()
	keys := make([]*keyfile.Key, 3)
	for i := range keys {
		var err error
		if keys[i], err = keyfile.Generate(); err != nil {
			return err
		}
	}
	root := keys[0]
	t.approver, t.logKey = keys[1], keys[2]
	d, err := trust.NewDraft(root.Public(), theirs.Scheme())
	if err != nil {
		return err
	}
	if err := enter(d, theirs); err != nil {
		return err
	}
	t.person = freeID(theirs.Entries())
	if err := d.Add(trust.Entry{
		ID: t.person, PublicKey: t.approver.Public(), Clearance: theirs.Scheme().Bottom().Parts(), Level: level.Unverified, NotAfter: trust.Never, Approver: true,
	}); err != nil {
		return err
	}
	if _, err := d.Sign(root); err != nil {
		return err
	}
	t.trust, err = d.Lock()
	return err
}

// enter adds to a draft whom a trust root has, and whom it has revoked.
func enter(d *trust.Draft, theirs *trust.Root) error {
	for _, e := range theirs.Entries() {
		if err := d.Add(e); err != nil {
			return err
		}
		r, ok := theirs.Revoked(e.ID)
		if !ok {
			continue
		}
		at, err := time.Parse(time.RFC3339, r.At)
		if err == nil {
			err = d.Revoke(r.ID, at, r.Why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// freeID is a name that no signer has.
func freeID(entries []trust.Entry) string {
	taken := make(map[string]bool)
	for _, e := range entries {
		taken[e.ID] = true
	}
	id := "played-person"
	for n := 2; taken[id]; n++ {
		id = fmt.Sprintf("played-person-%d", n)
	}
	return id
}

// load loads the base manifest and the skills of the home, from where they lie.
func (t *terms) load(ctx context.Context, now time.Time) error {
	c := t.home.Config()
	kept := new(keeping)
	t.dirs = make(map[string]string)
	loader := skill.NewLoader(skill.Terms{
		Root: t.trust, Clearance: t.home.Clearance(), State: t.home.State(), Operator: c.Operator.Name, Now: now,
	}, kept)
	p, err := t.home.ReadBase()
	if err != nil {
		return err
	}
	if _, err := loader.Load(ctx, p); err != nil {
		return fmt.Errorf("the base manifest: %w", err)
	}
	for _, dir := range t.home.Skills() {
		if err := t.one(ctx, loader, dir); err != nil {
			return err
		}
	}
	t.skills, t.loads = loader.Freeze(), kept.entries
	return nil
}

// one loads a skill. One that is refused is left out and told, and guarded all the
// same.
func (t *terms) one(ctx context.Context, loader *skill.Loader, dir string) error {
	placed, _ := t.home.State().Placed(dir)
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		t.named(placed.Name, dir) // it is gone, and may come back
		return nil
	}
	var report skill.Report
	p, err := t.home.Read(dir)
	if err == nil {
		report, err = loader.Load(ctx, p)
	}
	var unloaded *skill.LoadError
	switch {
	case err == nil:
		t.named(report.Skill.Name, real)
	case p == nil || errors.As(err, &unloaded):
		t.refused = append(t.refused, Refused{dir, err})
		t.named(placed.Name, dir)
	default:
		return err
	}
	return nil
}

// named notes the directory of a skill under a name that no other one has.
func (t *terms) named(name, dir string) {
	if name == "" {
		name = "unnamed"
	}
	free := name
	for n := 2; t.dirs[free] != "" && t.dirs[free] != dir; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	t.dirs[free] = dir
}

// moved are the directories of the skills once the corpus at from is the copy at to.
func (t *terms) moved(from, to string) map[string]string {
	out := make(map[string]string)
	for name, dir := range t.dirs {
		if rel, ok := within(from, dir); ok {
			dir = filepath.Join(to, rel)
		}
		out[name] = dir
	}
	return out
}

// within says whether a path is a directory or lies below it, and where.
func within(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// outOfReach refuses a place that lies in a corpus or in the home: what is made there
// would be a change beside iff.
func (t *terms) outOfReach(place string) error {
	real, err := filepath.EvalSymlinks(place)
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(real); err == nil && !info.IsDir() {
			err = errors.New("it is not a directory")
		}
	}
	if err != nil {
		return refuse(PlaceRefused, err, "no copy can be made in %q: %v; name a directory with --dir", place, err)
	}
	taken := []string{t.home.Dir()}
	for _, c := range t.home.Config().Corpora {
		taken = append(taken, c.Root)
	}
	for _, dir := range taken {
		looked, err := os.Stat(dir)
		if err != nil {
			continue
		}
		for at := real; ; at = filepath.Dir(at) {
			if info, err := os.Stat(at); err == nil && os.SameFile(info, looked) {
				return refuse(PlaceRefused, nil, "%q lies in %q, which iff looks after; name another place with --dir", place, dir)
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return nil
}

// keeping is a sink that keeps what is recorded.
type keeping struct {
	mu      sync.Mutex
	entries []record.Entry
}

// Append implements [record.Sink].
func (k *keeping) Append(_ context.Context, entries ...record.Entry) ([]record.Mark, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries = append(k.entries, entries...)
	return make([]record.Mark, len(entries)), nil
}
