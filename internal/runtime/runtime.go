package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// Runtime is a gate with what it needs, over one log and some corpora. Nothing
// on it can load a skill, widen trust or raise a level. It is safe for
// concurrent use. Close it. The zero value refuses everything.
type Runtime struct {
	parts    Parts
	gate     *gate.Gate
	guard    *guard
	origin   string
	fence    int64
	skills   map[string]skill.Loaded // by subject, the base manifest under ""
	refusals *refusals
	openings openings

	mu       sync.Mutex // guards the next four
	trust    *trust.Root
	evicted  map[string]bool // subjects
	narrowed int64           // how often trust was narrowed
	objects  map[string]int  // of each corpus, at the newest barrier and made since

	reading sync.Mutex                  // guards what is below; a barrier reads under it
	last    map[string]*corpus.Snapshot // at the newest barrier
	lastSeq int64                       // of its record
	lastAt  time.Time
	round   int64
	since   int // barriers since whole snapshots were recorded
}

// ErrNotStarted says that a runtime or a session is none: the zero value.
var ErrNotStarted = errors.New("not-started")

func (r *Runtime) ready() error {
	if r == nil || r.gate == nil {
		return ErrNotStarted
	}
	return nil
}

// Start records that a runtime is here, finds out what became of the calls that
// a crash left in doubt, and takes the first snapshot.
func Start(ctx context.Context, parts Parts) (*Runtime, error) {
	if err := parts.check(); err != nil {
		return nil, fmt.Errorf("runtime: %w", err)
	}
	origin, _, _ := parts.Log.State().Log()
	r := &Runtime{
		parts: parts, refusals: newRefusals(ctx, parts.Log.Append), origin: origin, fence: parts.Log.State().Fence() + 1, trust: parts.Trust,
		skills: make(map[string]skill.Loaded), evicted: make(map[string]bool), objects: make(map[string]int), last: make(map[string]*corpus.Snapshot),
	}
	gateSkills, about := r.loadSkills()
	var err error
	if r.guard, err = newGuard(parts); err != nil {
		return nil, err
	}
	if err := r.boot(ctx); err != nil {
		return nil, err
	}
	doubts, err := r.resolve(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.barrier(ctx, entirely); err != nil {
		return nil, err
	}
	known, err := r.learnt(ctx, maxKeys, maxKeyRecords)
	if err != nil {
		return nil, err
	}
	observers := map[string]corpus.Observer{SkillsCorpus: skillFiles(parts.Directories)}
	for _, c := range parts.Corpora {
		if !c.isControl() {
			observers[c.Name] = c.Observer
		}
	}
	r.gate, err = gate.New(ctx, gate.Parts{
		Sink: parts.Log, Keep: parts.Log.Keep, Hosts: parts.Hosts, Observers: observers, Broker: parts.Broker, Check: r.checkAnswer,
		Guard: r.guard, Label: r.label, Outside: parts.Outside, Room: r.room, Skills: gateSkills, About: about, Scheme: parts.Trust.Scheme(), Clearance: parts.Clearance,
		Origin: origin, Fence: r.fence, Profile: parts.Profile, SameUID: parts.SameUID, Limits: parts.Limits, Doubts: doubts, Known: known, Now: parts.Now,
	})
	return r, err
}

// loadSkills tells the gate of the frozen skills.
func (r *Runtime) loadSkills() ([]gate.Skill, map[string]record.Skill) {
	var out []gate.Skill
	about := make(map[string]record.Skill)
	for _, name := range r.parts.Skills.Names() {
		k, _ := r.parts.Skills.Skill(name)
		g := gate.Skill{Name: name, Subject: k.Subject.String(), Level: k.Manifest.Level(), Label: k.Manifest.Label(), Grants: k.Manifest.Grants()}
		if name == skill.BaseName {
			g.Name, g.Subject = "", ""
		}
		about[g.Subject] = record.Skill{
			Name: name, Version: k.Manifest.Version(), Signer: k.Manifest.Signer(), Level: g.Level.String(),
			Content: k.Content.Root().String(), Subject: k.Subject.String(),
		}
		r.skills[g.Subject] = k
		out = append(out, g)
	}
	delete(about, "") // outside any skill nobody's manifest is shown
	return out, about
}

// boot records what this runtime is and what it is locked to.
func (r *Runtime) boot(ctx context.Context) error {
	root := r.parts.Trust
	lock := record.Lock{TrustDigest: root.Digest(), TrustVersion: root.Version(), Skills: []string{}}
	for subject := range r.skills {
		if subject != "" {
			lock.Skills = append(lock.Skills, subject)
		}
	}
	slices.Sort(lock.Skills)
	_, err := r.parts.Log.Append(ctx, record.Of(record.Boot{
		Config: r.parts.Config, Policy: r.parts.Policy, Fence: r.fence, PID: int64(os.Getpid()), Profile: r.parts.Profile, SameUID: r.parts.SameUID,
		TrustDigest: root.Digest(), TrustVersion: root.Version(), Version: r.parts.Version,
	}), record.Of(lock))
	if err != nil {
		return fmt.Errorf("record the start: %w", err)
	}
	return nil
}

// Close ends the sessions, records what was refused and not yet recorded, takes a
// last snapshot, and waits.
func (r *Runtime) Close(ctx context.Context) error {
	if err := r.ready(); err != nil {
		return err
	}
	err := errors.Join(r.gate.Close(ctx), r.closeInterrupted(ctx), r.refusals.close(ctx))
	return errors.Join(err, r.barrier(ctx, changes))
}

// closeInterrupted ends the sessions that a crash interrupted and that nobody
// took up again.
func (r *Runtime) closeInterrupted(ctx context.Context) error {
	var entries []record.Entry
	for _, s := range r.Interrupted() {
		entries = append(entries, record.Entry{Session: s.ID, Body: record.Session{
			Agent: s.Agent, Detail: "nobody took it up again", Transition: record.SessionClosed,
		}})
	}
	if len(entries) == 0 {
		return nil
	}
	_, err := r.parts.Log.Append(ctx, entries...)
	return err
}

// Gate decides the calls of this runtime; nil if it was not started.
func (r *Runtime) Gate() *gate.Gate {
	if r.ready() != nil {
		return nil
	}
	return r.gate
}

// Fence is the number of this runtime, higher than that of any before, from 1.
func (r *Runtime) Fence() int64 {
	if r.ready() != nil {
		return 0
	}
	return r.fence
}

// Trust is the trust root as it is now: as it was locked, or narrower. Of a
// runtime that was not started it trusts nobody.
func (r *Runtime) Trust() *trust.Root {
	if r == nil {
		return new(trust.Root)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trust == nil {
		return new(trust.Root)
	}
	return r.trust
}

func (r *Runtime) checkAnswer(q *approval.Posed, a approval.Answer) error {
	return q.Check(a, r.Trust(), r.parts.Now())
}

// label is the label of an object; absent if it is in no corpus.
func (r *Runtime) label(o corpus.Object) label.Label {
	for _, c := range r.parts.Corpora {
		if c.Name == o.Corpus() && c.Label != nil {
			return c.Label(o.Path())
		}
	}
	return label.Label{}
}

// Narrow takes a trust root that only revokes: skills whose signer is revoked
// are evicted from every session, and what is pending under them is cancelled.
func (r *Runtime) Narrow(ctx context.Context, root *trust.Root, signer string) error {
	if err := r.ready(); err != nil {
		return err
	}
	if root == nil {
		return fmt.Errorf("no trust root is not a narrower one: %w", trust.ErrLocked)
	}
	r.mu.Lock()
	if !narrower(root, r.trust) {
		r.mu.Unlock()
		return fmt.Errorf("trust document %d does not only revoke what %d has: %w", root.Version(), r.trust.Version(), trust.ErrLocked)
	}
	r.trust = root
	r.narrowed++
	body := record.Revocation{Digest: root.Digest(), Version: root.Version(), Generation: r.narrowed, Signer: signer, Evicted: []string{}, Cancelled: []string{}}
	var subjects []string
	for subject, k := range r.skills {
		if _, err := root.Signer(k.Manifest.Signer(), r.parts.Now()); err != nil && !r.evicted[subject] {
			r.evicted[subject] = true
			subjects, body.Evicted = append(subjects, subject), append(body.Evicted, k.Manifest.Name())
		}
	}
	r.mu.Unlock()
	slices.Sort(subjects)
	slices.Sort(body.Evicted)
	return r.gate.Narrow(ctx, subjects, body)
}

// narrower says whether a root is a later one of the same chain that trusts nobody
// anew and has taken no revocation back.
func narrower(next, now *trust.Root) bool {
	if next.Version() <= now.Version() || next.Key() != now.Key() || !reflect.DeepEqual(next.Entries(), now.Entries()) {
		return false
	}
	for _, e := range now.Entries() {
		before, was := now.Revoked(e.ID)
		if after, is := next.Revoked(e.ID); was && (!is || after != before) {
			return false
		}
	}
	return true
}

// Principal is an agent by its credential, such as uid-1000.
type Principal string

// OpenOptions are what a session may ask for.
type OpenOptions struct {
	Resume string // id of a session that a crash interrupted; empty begins one
}

// Open begins a session. Each begins at a barrier, unless calls are under way
// that do not end; sessions that are opened while another barrier is taken share
// the next one.
func (r *Runtime) Open(ctx context.Context, p Principal, opts OpenOptions) (*Session, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	if p == "" {
		return nil, errors.New("a session needs a principal")
	}
	var resume *gate.Resume
	if opts.Resume != "" {
		var err error
		if resume, err = r.resumable(ctx, p, opts.Resume); err != nil {
			return nil, err
		}
	}
	if err := r.openings.barrier(ctx, r.Barrier); err != nil {
		return nil, err
	}
	s, err := r.gate.Open(ctx, r.parts.Log.State().Agent(string(p)), resume)
	if err != nil {
		return nil, err
	}
	return &Session{s: s, r: r}, nil
}

// resumable reads from the log what a session that a crash interrupted has done.
func (r *Runtime) resumable(ctx context.Context, p Principal, id string) (*gate.Resume, error) {
	open := r.parts.Log.State().Sessions()
	i := slices.IndexFunc(open, func(s record.OpenSession) bool { return s.ID == id && s.Agent == string(p) })
	if _, err := r.gate.Session(id); i < 0 || err == nil {
		return nil, &gate.SessionError{Session: id, Reason: gate.SessionUnknown}
	}
	out := &gate.Resume{ID: id, Skill: open[i].Skill, Paused: open[i].Transition == record.SessionPaused}
	if _, ok := r.skills[out.Skill]; !ok {
		out.Skill = "" // it is not loaded any more
	}
	return out, nil
}

// SkillListing is what an agent sees of a skill before it asks for it.
type SkillListing struct {
	Name    string   `json:"name"`
	Version int64    `json:"version"`
	Level   string   `json:"level"`
	Signer  string   `json:"signer"`
	Summary string   `json:"summary,omitzero"` // the signer's own words; never those of a skill that nobody verified
	Caps    []string `json:"caps"`
}

func (r *Runtime) listing(subject string) SkillListing {
	m := r.skills[subject].Manifest
	l := SkillListing{Name: m.Name(), Version: m.Version(), Level: m.Level().String(), Signer: m.Signer(), Caps: m.Grants().Strings()}
	if m.Level().AtLeast(level.Declared) {
		l.Summary = m.Summary()
	}
	return l
}

// Skills lists the skills that can be asked for, sorted by name.
func (r *Runtime) Skills() []SkillListing {
	out := []SkillListing{}
	if r.ready() != nil {
		return out
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for subject := range r.skills {
		if subject != "" && !r.evicted[subject] {
			out = append(out, r.listing(subject))
		}
	}
	slices.SortFunc(out, func(a, b SkillListing) int { return compare(a.Name, b.Name) })
	return out
}
