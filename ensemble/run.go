package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// Bounds of a run, those of the paper's sweep.
const (
	MaxN = 200
	MaxK = 8
	MaxR = 25
)

// Config says what a run is. The same Config makes the same corpus, agents, answers
// and fault; how concurrent calls interleave is not part of it.
type Config struct {
	Dir   string // where the corpus is made, in a new directory; empty is memory
	N     int    // files that agents work on, 1 to [MaxN]
	K     int    // agents, 1 to [MaxK]
	R     int    // rounds, 1 to [MaxR]
	Seed  uint64
	Files uint64 // seed of the corpus; Seed if 0
	Fault Fault  // put in in the middle round; empty for none
	Cast  Cast
}

func (c Config) check() error {
	for _, v := range []struct {
		name      string
		value, to int
	}{{"N", c.N, MaxN}, {"K", c.K, MaxK}, {"R", c.R, MaxR}} {
		if v.value < 1 || v.value > v.to {
			return fmt.Errorf("ensemble: %s is %d; it goes from 1 to %d", v.name, v.value, v.to)
		}
	}
	if c.Cast > Paper {
		return fmt.Errorf("ensemble: there is no cast %d", c.Cast)
	}
	if c.Fault != Honest && !slices.Contains(Faults(), c.Fault) {
		return fmt.Errorf("ensemble: there is no fault %q", c.Fault)
	}
	return nil
}

// Sized is a Config whose sizes follow from the seed: all occur, and 10 to 20 is as
// frequent as 100 to 200.
func Sized(seed uint64, fault Fault) Config {
	r := rand.New(rand.NewPCG(seed, 1<<32))
	upTo := func(most int) int {
		return min(int(math.Exp(r.Float64()*math.Log(float64(most+1)))), most)
	}
	return Config{N: upTo(MaxN), K: upTo(MaxK), R: upTo(MaxR), Seed: seed, Fault: fault}
}

// Result is what came of a run.
type Result struct {
	Config  Config
	Want    Want
	Verdict record.Result
	Report  verdict.Report
	Calls   int64
	Records int64 // that were judged; of the same run it may differ, for sessions that open at once share barriers

	// Literal and Set say whether the run passes by the paper's definition, which
	// knows nothing of what is put back.
	Literal, Set bool

	// Odd is what happened that no fault explains: calls in doubt, a log that
	// failed. A run with one is not as wanted.
	Odd []string
}

// Classes lists the classes of the findings, sorted, each once.
func (r Result) Classes() []verdict.Class {
	var out []verdict.Class
	for _, f := range r.Report.Findings {
		out = append(out, f.Class)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Flagged says whether the verdict is not PASS.
func (r Result) Flagged() bool { return r.Verdict != record.Pass }

// AsWanted says whether the verdict is as it has to be: PASS where nothing is to be
// seen, PASS or OPEN after a crash, else FAIL with the class of the fault, on the
// objects of the fault.
func (r Result) AsWanted() bool {
	switch {
	case len(r.Odd) > 0:
		return false
	case r.Config.Fault == Crash:
		return r.Verdict == record.Pass || r.Verdict == record.Open
	case !r.Config.Fault.Seen():
		return r.Verdict == record.Pass && len(r.Report.Findings) == 0
	}
	return r.Verdict == record.Fail && r.Want.met(r.Report.Findings)
}

// Run makes a kit and plays one run. For more than one, make a [Kit].
func Run(ctx context.Context, c Config) (Result, error) {
	k, err := NewKit(ctx)
	if err != nil {
		return Result{}, err
	}
	return k.Run(ctx, c)
}

// Run makes a corpus, has agents work on it through a runtime, judges, and removes
// the corpus. An error means that the run could not be made, not that the verdict is
// not as wanted.
func (k *Kit) Run(ctx context.Context, c Config) (_ Result, err error) {
	s, err := k.Site(c)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Run(ctx, c)
}

// newPlay is a run on a corpus, before its curtain.
func newPlay(k *Kit, c Config, on *Corpus) *play {
	p := &play{
		stage: stage{kit: k, config: c, corpus: on, approver: c.Cast.approver(k.approver, c.Seed)},
		rand:  rand.New(rand.NewPCG(c.Seed, 1<<33)), out: Result{Config: c},
	}
	p.cast()
	return p
}

func (p *play) run(ctx context.Context) error {
	if p.config.Fault == Crash {
		return p.crash(ctx)
	}
	return p.whole(ctx)
}

// play is the course of a run.
type play struct {
	stage
	rand    *rand.Rand
	agents  []*agent
	scripts [][]turn // of the wild cast
	minds   []Mind   // of the paper's
	last    []Turn   // of each
	listed  []string // files that the minds are told of
	first   int64    // record from which the run is judged
	aimed   bool     // the runtime is killed in the middle round, in a call
	told    *talk    // what the log said when it was judged

	mu  sync.Mutex // guards out.Odd and out.Calls
	out Result
}

// cast decides what every agent will do.
func (p *play) cast() {
	for n := range p.config.K {
		p.agents = append(p.agents, newAgent(p.corpus, p.config.Seed, n))
	}
	if p.config.Cast == Paper {
		p.script()
		return
	}
	for n, a := range p.agents {
		steady := n == 0 && p.config.Fault != Honest
		begin := turn{what: using, name: a.skill(steady)}
		p.scripts = append(p.scripts, append([]turn{begin}, a.script(p.config.R, steady)...))
	}
}

// whole plays a run that nobody kills.
func (p *play) whole(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, p.stop(ctx)) }()
	if p.config.Cast == Paper {
		p.fuse = newFuse(math.MaxInt64)
	}
	if err := p.start(ctx); err != nil {
		return err
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	if err := p.rounds(ctx); err != nil {
		return err
	}
	if p.config.Cast == Wild && p.rand.IntN(2) == 0 {
		for _, s := range p.sessions {
			if err := s.Close(ctx); err != nil {
				return err
			}
		}
	}
	err = p.judge(ctx)
	if p.config.Cast == Paper {
		p.fuse.left.Store(0) // all is said; a runtime that is killed takes no last snapshot
	}
	return err
}

// enter opens the sessions and lets each agent begin with its skill.
func (p *play) enter(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	for n := range p.agents {
		p.turn(ctx, n, p.scripts[n][0])
	}
	p.first = p.log.State().Size() - 1
	return nil
}

// open opens a session for each agent. How many barriers are taken follows from
// what is at the same time, so that where a fuse counts them it is one by one.
func (p *play) open(ctx context.Context) error {
	p.sessions = make([]*runtime.Session, len(p.agents))
	errs := make([]error, len(p.agents))
	var wg sync.WaitGroup
	for n, a := range p.agents {
		resume := p.interrupted(a)
		wg.Go(func() {
			p.sessions[n], errs[n] = p.runtime.Open(ctx, runtime.Principal(a.name()), runtime.OpenOptions{Resume: resume})
		})
		if p.config.Fault == Crash {
			wg.Wait()
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// interrupted is the session that a crash took from an agent, if it takes it up
// again.
func (p *play) interrupted(a *agent) string {
	for _, s := range p.runtime.Interrupted() {
		if s.Agent == a.name() && p.rand.IntN(2) == 0 {
			return s.ID
		}
	}
	return ""
}

// rounds has every agent take its turn, round after round: at once, with a barrier
// behind each, or one by one, as the paper has it, with none.
func (p *play) rounds(ctx context.Context) error {
	for round := 1; round <= p.config.R; round++ {
		if p.config.Cast == Paper {
			if err := p.oneByOne(ctx, round); err != nil {
				return err
			}
			continue
		}
		if err := p.round(ctx, round); err != nil {
			return err
		}
		if err := p.runtime.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *play) round(ctx context.Context, round int) error {
	var wg sync.WaitGroup
	var class capability.Capability // of which no agent makes a call
	var fault error
	inject := injections[p.config.Fault]
	if inject != nil && round == p.config.R/2+1 {
		i := &injection{stage: &p.stage, rand: p.rand, class: p.faulted()}
		class = i.class
		wg.Go(func() { p.out.Want, fault = inject(i, ctx) })
	}
	for n := range p.agents {
		wg.Go(func() { p.turn(ctx, n, p.scripts[n][round].without(class, p.config.Fault == Swap)) })
	}
	wg.Go(func() { p.odd("operator", p.operator(ctx)) })
	wg.Wait()
	switch {
	case p.fuse.dead():
		return errDead
	case fault != nil:
		return fmt.Errorf("fault %s: %w", p.config.Fault, fault)
	}
	return nil
}

// faulted is the class of the calls that the fault befalls.
func (p *play) faulted() capability.Capability {
	if slices.Contains(onlyIrreversible, p.config.Fault) || p.rand.IntN(2) == 0 {
		return capability.FSWriteIrrev
	}
	return capability.FSWriteRev
}

// without is the turn, or another that makes no change under a class. A calm one
// takes no barrier either: two calls that wait for each other would keep it from
// coming, and it would keep the second from its lease.
func (t turn) without(class capability.Capability, calm bool) turn {
	reversible := class == capability.FSWriteRev && (t.what == committing || t.what == undoing)
	barrier := calm && (t.what == committing || t.what == leaving)
	if reversible || barrier || t.what == calling && t.call.Capability == class.String() {
		return turn{call: write("fs.read", ".", args{Op: "list"})}
	}
	return t
}

// turn has an agent do what its script says, and notes what should not have
// happened.
func (p *play) turn(ctx context.Context, n int, t turn) {
	s := p.sessions[n]
	var replies []gate.Reply
	var err error
	switch t.what {
	case using:
		_, err = s.Use(ctx, t.name)
	case committing:
		replies, err = s.Commit(ctx)
	case undoing:
		replies, err = s.Rollback(ctx)
	case leaving:
		err = p.leave(ctx, n)
	default:
		replies = []gate.Reply{s.Call(ctx, t.call)}
	}
	who := p.agents[n].name()
	p.odd(who, ended(err))
	p.mu.Lock()
	p.out.Calls += int64(len(replies))
	p.mu.Unlock()
	for _, r := range replies {
		p.heed(who, r)
	}
}

// heed notes a reply that no run has.
func (p *play) heed(who string, r gate.Reply) {
	if r.Status == gate.Doubtful || slices.Contains(never, r.Reason) {
		p.odd(who, fmt.Errorf("%s %s %s: %s", r.Request, r.Status, r.Reason, r.Message))
	}
}

// odd notes what no fault explains. Where the runtime is to be killed everything may
// happen.
func (p *play) odd(who string, err error) {
	if err == nil || p.config.Fault == Crash {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Odd = append(p.out.Odd, fmt.Sprintf("%s: %v", who, err))
}

// never are reasons that no run has.
var never = []gate.Reason{gate.HostFailed, gate.HostOverdue, gate.InDoubt, gate.LogFailed, gate.TimedOut, gate.NoBroker}

func (p *play) judge(ctx context.Context) error {
	p.told = newTalk(p.log.Store())
	report, err := p.runtime.VerdictHeard(ctx, p.first, 0, func(r record.Record) error { return p.told.hear(ctx, r) })
	p.out.Verdict, p.out.Report, p.out.Records = report.Result, report, report.To-report.From
	p.out.Literal, p.out.Set = p.told.compare()
	return err
}

// crash plays a run, kills the runtime, starts another one over the same log and
// corpus, perhaps kills that too, and judges. The first dies at any instant; that of
// the paper's cast in the middle of a call that changes something, as its faults do.
func (p *play) crash(ctx context.Context) error {
	most := int64(30 + 6*p.config.K*(p.config.R+1))
	for lives := 0; ; lives++ {
		p.fuse, p.aimed = nil, lives == 0 && p.config.Cast == Paper
		if p.aimed {
			p.fuse = newFuse(math.MaxInt64)
		} else if lives == 0 || lives == 1 && p.rand.IntN(4) == 0 {
			p.fuse = newFuse(1 + p.rand.Int64N(cmp.Or(most/int64(1+5*lives), 1)))
		}
		err := p.life(ctx, lives)
		if p.fuse == nil {
			return errors.Join(err, p.stop(ctx))
		}
		if err != nil && !p.fuse.dead() {
			return errors.Join(err, p.stop(ctx))
		}
		p.fuse.left.Store(0) // it dies now at the latest
		if err := p.stop(ctx); err != nil {
			return err
		}
	}
}

// life is what one runtime does until it is killed. Whoever comes after the first
// judges, and works on in every other run.
func (p *play) life(ctx context.Context, lives int) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	if p.first == 0 {
		p.first = p.log.State().Size() - 1
	}
	first := p.first
	if lives == 0 {
		err := p.enter(ctx)
		if err == nil {
			err = p.rounds(ctx)
		} else {
			p.first = first
		}
		return err
	}
	if p.rand.IntN(2) == 0 && len(p.sessions) == 0 {
		if err := p.enter(ctx); err != nil {
			return err
		}
		p.first = first
		if err := p.rounds(ctx); err != nil {
			return err
		}
	}
	return p.judge(ctx)
}
