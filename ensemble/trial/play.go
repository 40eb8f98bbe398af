package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/verdict"
)

// listing is how many files a mind is told of at the beginning.
const listing = 200

// play is the course of a trial.
type play struct {
	*Trial
	cast     Cast
	minds    []ensemble.Mind
	sessions []*runtime.Session
	last     []ensemble.Turn // of each
	files    []string        // that minds are told of
	judge    judge
	out      Result
}

// judge gives a verdict over the records from one on, and has them heard.
type judge func(ctx context.Context, from int64, hear func(record.Record) error) (verdict.Report, error)

// Play copies the corpus, has the cast act on the copy, and judges every round. Heard is
// told what came of it so far, before the first round and behind each; nil is not told.
// The copy stays until [Trial.Close]. An error means that the trial could not be
// played, not that a verdict is not PASS.
func (t *Trial) Play(ctx context.Context, cast Cast, heard func(Result) error) (Result, error) {
	return t.play(ctx, cast, heard, func(ctx context.Context, from int64, hear func(record.Record) error) (verdict.Report, error) {
		return t.runtime.VerdictHeard(ctx, from, 0, hear)
	})
}

func (t *Trial) play(ctx context.Context, cast Cast, heard func(Result) error, by judge) (out Result, err error) {
	if t == nil || t.home == nil || t.runtime != nil || t.place != nil {
		return out, errors.New("a trial is opened, and played once")
	}
	defer func() { err = errors.Join(err, t.end(context.WithoutCancel(ctx))) }()
	if err := t.begin(ctx, cast.Mind == nil); err != nil {
		return out, err
	}
	p := &play{Trial: t, cast: cast, judge: by}
	p.out = Result{Corpus: t.corpus.Name, Copied: t.copied, Refused: t.Refused()}
	if err := p.enter(ctx); err != nil {
		return p.out, err
	}
	if heard == nil {
		heard = func(Result) error { return nil }
	}
	if err := p.rounds(ctx, heard); err != nil {
		return p.out, err
	}
	return p.out, p.sum()
}

// sum notes what can be said of the log.
func (p *play) sum() (err error) {
	p.out.Records = p.log.State().Size()
	for n, m := range p.minds {
		p.out.Agents[n].Tally = m.Tally()
	}
	origin, _, _ := p.log.State().Log()
	p.out.Origin = origin
	p.out.Key, err = audit.VerifierKey(origin, p.logKey.Public())
	return err
}

// enter lists the files, makes the minds, and lets each agent begin with its skill.
func (p *play) enter(ctx context.Context) error {
	var err error
	if p.files, err = p.list(); err != nil {
		return err
	}
	roles, given := ensemble.Roles(), p.deal()
	for n := range p.options.Agents {
		role := roles[n%len(roles)]
		mind := ensemble.Script(n, p.options.Seed)
		if p.cast.Mind != nil {
			if mind, err = p.cast.Mind(n, role); err != nil {
				return err
			}
		}
		a := Agent{Name: fmt.Sprintf("%s-%d", role.Name, n+1), Role: role.Name, Skill: given[n%len(given)]}
		s, err := p.runtime.Open(ctx, runtime.Principal(a.Name), runtime.OpenOptions{})
		if err == nil && a.Skill != "" {
			_, err = s.Use(ctx, a.Skill)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		if k, ok := p.skills.Skill(orBase(a.Skill)); ok {
			a.Level = k.Manifest.Level().String()
		}
		p.minds, p.sessions, p.last = append(p.minds, mind), append(p.sessions, s), append(p.last, ensemble.Turn{})
		p.out.Agents = append(p.out.Agents, a)
	}
	p.out.Unused = []string{}
	for _, name := range given[min(p.options.Agents, len(given)):] {
		if name != "" {
			p.out.Unused = append(p.out.Unused, name)
		}
	}
	slices.Sort(p.out.Unused)
	return nil
}

func orBase(name string) string {
	if name == "" {
		return skill.BaseName
	}
	return name
}

// deal says which skill the agents use, one after the other: every skill that is
// loaded, and none, in an order that follows from the seed.
func (p *play) deal() []string {
	out := []string{""}
	for _, name := range p.skills.Names() {
		if name != skill.BaseName {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	r := rand.New(rand.NewPCG(p.options.Seed, 1<<34))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// list draws, by the seed, of the files that agents can work on as many as minds are
// told of, sorted.
func (p *play) list() ([]string, error) {
	var out []string
	dir := p.copyDir()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if rel = filepath.ToSlash(rel); err == nil && p.listed(rel) {
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the copy: %w", err)
	}
	slices.Sort(out)
	r := rand.New(rand.NewPCG(p.options.Seed, 1<<35))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	out = out[:min(len(out), listing)]
	slices.Sort(out)
	return out, nil
}

// listed says whether minds may be told of a file, and can do something with it.
func (p *play) listed(name string) bool {
	if p.corpus.Volatile.Names(name) || strings.HasPrefix(path.Base(name), ".iff-") {
		return false
	}
	return p.cast.Mind == nil || p.corpus.LabelOf(name).LessEq(p.cast.Outside)
}

func (p *play) rounds(ctx context.Context, heard func(Result) error) error {
	first := p.begun()
	if err := heard(p.out); err != nil {
		return err
	}
	for n := range p.options.Rounds {
		r, err := p.round(ctx, n+1)
		if err != nil {
			return fmt.Errorf("round %d: %w", n+1, err)
		}
		p.out.Rounds = append(p.out.Rounds, r)
		if err := heard(p.out); err != nil {
			return err
		}
	}
	var err error
	p.out.Whole, err = p.judge(ctx, first, nil)
	return err
}

// begun is the newest record: the interval of a verdict from there on begins at the
// snapshot before it, and not at the next one.
func (p *play) begun() int64 { return p.log.State().Size() - 1 }

// round has every agent take its turn, and judges.
func (p *play) round(ctx context.Context, number int) (Round, error) {
	r := Round{Number: number, Calls: []Call{}}
	from := p.begun()
	ids := make(map[string]int) // of requests, to their call
	for n, a := range p.out.Agents {
		c, id, ok, err := p.turn(ctx, n, number)
		if err != nil {
			return r, fmt.Errorf("%s: %w", a.Name, err)
		}
		if !ok {
			continue
		}
		if id != "" {
			ids[id] = len(r.Calls)
		}
		r.Calls = append(r.Calls, c)
	}
	var err error
	r.Report, err = p.judge(ctx, from, func(rec record.Record) error {
		if n, ok := ids[rec.Request]; ok && rec.Request != "" {
			r.Calls[n].hear(rec.Body)
		}
		return nil
	})
	return r, err
}

// turn asks an agent's mind, and has the runtime decide.
func (p *play) turn(ctx context.Context, n, number int) (out Call, id string, ok bool, err error) {
	a, s := &p.out.Agents[n], p.sessions[n]
	if p.cast.Mind != nil && a.Silenced == 0 && !s.Flows(p.cast.Outside) {
		a.Silenced = number
	}
	if a.Silenced > 0 {
		return out, "", false, nil
	}
	t := p.last[n]
	t.Round, t.Rounds, t.Files = number, p.options.Rounds, p.files
	p.last[n] = ensemble.Turn{}
	c, ok, err := p.minds[n].Next(ctx, t)
	if err != nil || !ok {
		return out, "", false, err
	}
	said := c // what the mind remembers is what it said
	c = named(p.corpus.Name, c)
	reply := s.Call(ctx, c)
	if err := ctx.Err(); err != nil {
		return out, "", false, err
	}
	p.last[n] = ensemble.Turn{LastCall: said, Last: reply}
	out = Call{
		Agent: a.Name, Skill: a.Skill, Capability: c.Capability, Target: c.Target, Op: op(c.Arguments), Status: reply.Status, Reason: reply.Reason,
	}
	return out, reply.Request, true, nil
}

// hear adds what a record says of the call.
func (c *Call) hear(body record.Body) {
	switch b := body.(type) {
	case record.Request:
		c.Capability, c.Effect, c.Level, c.Guarded = b.Capability, b.Effect, b.Level, b.Guarded
		if b.Target != "" {
			c.Target = b.Target
		}
	case record.Decision:
		c.Decision, c.Cause, c.Rule = b.Choice, b.Cause, b.Rule
	}
}
