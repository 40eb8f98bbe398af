package iff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/skill"
)

// Host touches the world for calls of one class; see package gate.
type Host = gate.Host

// Broker is asked where nothing else decides; see package gate.
type Broker = gate.Broker

// Options of [Bootstrap]. The zero value is what programs use.
type Options struct {
	// Hosts are for classes of calls that iff has no host for itself. A class that
	// it has one for is refused.
	Hosts map[capability.Capability]Host
	// Outside is the label of what a class of Hosts reaches, as the home's scheme
	// spells it: what may flow there, or comes from there. A class without one is
	// refused.
	Outside map[capability.Capability]string
	// Listening are the addresses that this program listens on: no call reaches
	// them. It is asked at each call; nil is none.
	Listening func() []netip.AddrPort
	// Broker is asked instead of who iff.toml names. Whoever embeds iff may ask in
	// another way; approvals still need the signature of an approver.
	Broker Broker
	// Progress is told how many bytes of the log were read.
	Progress func(bytes int64)
	Now      func() time.Time // time.Now
}

// Boot is a runtime that is being put together: the one time at which skills are
// loaded. [Boot.Lock] ends it. It is not safe for concurrent use. The zero value is
// locked.
type Boot struct {
	home    *home.Home
	opts    Options
	policy  policy
	roots   []*home.CorpusRoot
	loader  *skill.Loader
	dirs    map[string]string // of skills, by name
	refused []Refused
	locked  bool
	gone    bool // the home belongs to a runtime, or is closed
}

// Refused is a skill that is not loaded, and why.
type Refused struct {
	Directory string
	Err       error
}

var (
	// ErrLocked says that a boot was locked already.
	ErrLocked = errors.New("boot-locked")
	// ErrStarted says that what was locked was started or given up already.
	ErrStarted = errors.New("boot-started")
)

// Bootstrap opens the home at dir, with everything in it checked, locks the
// corpora, and loads the base manifest and every skill that the home knows. A
// skill that is refused is left out and told by [Boot.Refused]; everything else
// that does not hold is an error.
func Bootstrap(ctx context.Context, dir string, opts Options) (*Boot, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	h, err := home.Open(ctx, dir, home.Run, home.Options{Now: opts.Now, Progress: opts.Progress})
	if err != nil {
		return nil, err
	}
	b := &Boot{home: h, opts: opts, dirs: make(map[string]string)}
	if err := b.load(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return b, nil
}

func (b *Boot) load(ctx context.Context) error {
	var err error
	if b.policy, err = readPolicy(b.home); err != nil {
		return err
	}
	if b.roots, err = b.home.LockCorpora(); err != nil {
		return err
	}
	b.loader = skill.NewLoader(b.home.Terms(), b.home.Log())
	p, err := b.home.ReadBase()
	if err != nil {
		return err
	}
	if _, err := b.loader.Load(ctx, p); err != nil {
		return fmt.Errorf("the base manifest: %w", err)
	}
	for _, dir := range b.home.Skills() {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			k, _ := b.home.State().Placed(dir)
			named(b.dirs, k.Name, dir) // it is gone, and may come back
			continue
		}
		if err := b.Load(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// Load loads one more skill. That it is refused is no error; that the outcome
// cannot be recorded is, and so is a boot that was locked.
func (b *Boot) Load(ctx context.Context, dir string) error {
	if b.home == nil || b.locked {
		return ErrLocked
	}
	p, err := b.home.Read(dir)
	if err != nil {
		b.refuse(dir, err)
		return nil
	}
	report, err := b.loader.Load(ctx, p)
	var refusal *skill.LoadError
	switch {
	case errors.As(err, &refusal):
		b.refuse(dir, err)
		return nil
	case err != nil:
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("skill %s: %w", report.Skill.Name, err)
	}
	if other, ok := b.dirs[report.Skill.Name]; ok && other != real {
		named(b.dirs, report.Skill.Name, other)
	}
	b.dirs[report.Skill.Name] = real
	return nil
}

// refuse leaves a skill out. Its directory is guarded all the same, for the next
// bootstrap looks at it again.
func (b *Boot) refuse(dir string, err error) {
	b.refused = append(b.refused, Refused{dir, err})
	k, _ := b.home.State().Placed(dir)
	named(b.dirs, k.Name, dir)
}

// named notes the directory of a skill under a name that no other one has.
func named(dirs map[string]string, name, dir string) {
	if name == "" {
		name = "unnamed"
	}
	free := name
	for n := 2; dirs[free] != "" && dirs[free] != dir; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	dirs[free] = dir
}

// Refused lists the skills that are not loaded.
func (b *Boot) Refused() []Refused { return append([]Refused(nil), b.refused...) }

// Close gives up. What a runtime was started from it closes itself.
func (b *Boot) Close() error {
	b.locked = true
	if b.home == nil || b.gone {
		return nil
	}
	b.gone = true
	return b.home.Close()
}

// Locked is what a runtime starts from: trust and skills, frozen. It has no
// method that loads or widens. The zero value starts nothing.
type Locked struct {
	b   *Boot
	set *skill.Set
}

// Lock freezes trust and skills. The boot answers [ErrLocked] from now on.
func (b *Boot) Lock() (*Locked, error) {
	if b.home == nil || b.locked {
		return nil, ErrLocked
	}
	b.locked = true
	return &Locked{b, b.loader.Freeze()}, nil
}

// Start starts the runtime, once. It owns the home and closes it; so it does when
// it cannot be started.
func (l *Locked) Start(ctx context.Context) (*Runtime, error) {
	if l.b == nil || l.b.gone {
		return nil, ErrStarted
	}
	l.b.gone = true
	r := &Runtime{home: l.b.home, now: l.b.opts.Now, refused: l.b.refused}
	if err := r.start(ctx, l); err != nil {
		return nil, errors.Join(err, r.release())
	}
	return r, nil
}

func (r *Runtime) start(ctx context.Context, l *Locked) error {
	corpora, err := r.corpora(l.b.roots)
	if err != nil {
		return err
	}
	hosts, err := r.hosts(ctx, l.b)
	if err != nil {
		return err
	}
	asked, err := r.broker(ctx, l.b)
	if err != nil {
		return err
	}
	// What was locked is what was opened, or somebody moved it in between.
	for _, root := range l.b.roots {
		if err := root.Held(); err != nil {
			return err
		}
	}
	outside := make(map[capability.Capability]label.Label)
	for class, text := range l.b.opts.Outside {
		if outside[class], err = r.home.Scheme().Parse(text); err != nil {
			return fmt.Errorf("label of %s: %w", class, err)
		}
	}
	c := r.home.Config()
	parts := runtime.Parts{
		Log: r.home.Log(), Recovered: r.home.Recovered(), Trust: r.home.Root(), Skills: l.set, Directories: l.b.dirs,
		Corpora: corpora, Hosts: hosts, Broker: asked, ControlFiles: c.Guarded, Clearance: r.home.Clearance(), Outside: outside,
		Profile: string(c.Profile), Config: r.home.ConfigDigest(), Policy: l.b.policy.digest(), Version: Version, SameUID: c.Profile != home.Strict,
		Limits: gate.Limits{Ask: c.Gate.Timeout, Call: longest(c), Buffer: c.Gate.Buffer}, Now: l.b.opts.Now,
	}
	r.Runtime, err = runtime.Start(ctx, parts)
	return err
}

// longest is how long any host may take for a call.
func longest(c home.Config) time.Duration {
	most := c.Gate.CallTimeout
	for _, u := range c.Upstreams {
		most = max(most, u.Timeout)
	}
	return most
}
