package ensemble

import (
	"context"
	"fmt"
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/verdict"
)

// Cast is who acts in a run, and how.
type Cast uint8

// The casts.
const (
	Wild  Cast = iota // agents that do everything, all at once, a barrier after every round
	Paper             // the paper's roles, one turn after the other: what comes of a run follows from its Config alone
)

// approver is who answers: of the wild cast a person who approves most. The paper's
// approves everything: as a policy does, and as a person where no policy may.
func (c Cast) approver(key *keyfile.Key, seed uint64) *approver {
	if c == Paper {
		return &approver{key: key, seed: seed, rule: 100}
	}
	return &approver{key: key, seed: seed, wary: 20}
}

// script gives each agent a mind.
func (p *play) script() {
	p.last = make([]Turn, p.config.K)
	for n := range p.config.K {
		p.minds = append(p.minds, Script(n, p.config.Seed))
		p.scripts = append(p.scripts, []turn{{what: using, name: starting(n)}})
	}
	files := p.corpus.files
	p.listed = files[:min(len(files), listing)]
}

// listing is how many files a mind is told of at the beginning.
const listing = 200

// starting is the skill that an agent of the paper's cast begins with: the grants
// of one cover every write, the others are asked about.
func starting(n int) string {
	if n%2 == 1 {
		return editorSkill
	}
	return ""
}

// oneByOne has each agent take its turn after the other. The fault of the run comes
// between two turns of the middle round.
func (p *play) oneByOne(ctx context.Context, round int) error {
	at := -1
	if round == (p.config.R+1)/2 && (injections[p.config.Fault] != nil || p.aimed) {
		at = p.rand.IntN(len(p.agents) + 1)
	}
	for n := range len(p.agents) + 1 {
		if n == at {
			if err := p.inject(ctx); err != nil {
				return fmt.Errorf("fault %s: %w", p.config.Fault, err)
			}
		}
		if n < len(p.agents) {
			if err := p.ask(ctx, n, round); err != nil {
				return err
			}
		}
		if p.fuse.dead() {
			return errDead
		}
	}
	return nil
}

// ask lets an agent take its turn.
func (p *play) ask(ctx context.Context, n, round int) error {
	t := p.last[n]
	t.Round, t.Rounds, t.Files = round, p.config.R, p.listed
	c, ok, err := p.minds[n].Next(ctx, t)
	if err != nil {
		return fmt.Errorf("%s: %w", p.agents[n].name(), err)
	}
	p.last[n] = Turn{}
	if !ok {
		return nil
	}
	r := p.sessions[n].Call(ctx, c)
	p.last[n] = Turn{LastCall: c, Last: r}
	p.out.Calls++
	p.heed(p.agents[n].name(), r)
	return nil
}

// inject puts the run's fault in, on files that agents know.
func (p *play) inject(ctx context.Context) (err error) {
	i := &injection{stage: &p.stage, rand: p.rand, class: capability.FSWriteIrrev}
	if err := i.ensure(ctx); err != nil {
		return err
	}
	if p.aimed {
		return i.crash(ctx)
	}
	p.out.Want, err = injections[p.config.Fault](i, ctx)
	p.out.Want.loosen()
	return err
}

// gaps are the classes of a change that nobody accounts for: which of them it is
// follows from who leased the object before and after.
var gaps = []verdict.Class{verdict.Bypass, verdict.Drift, verdict.Overlap}

// loosen wants any class of a gap where one is wanted: agents work on the fault's
// objects too.
func (w *Want) loosen() {
	if slices.Contains(gaps, w.Class) || slices.ContainsFunc(w.With, func(c verdict.Class) bool { return slices.Contains(gaps, c) }) {
		w.With = append(w.With, gaps...)
		w.gap = slices.Contains(gaps, w.Class)
	}
}
