package ensemble

import (
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// operator does in one round in four what operators do, while the agents act:
// reads the corpus, judges, pauses, resumes, stops, forgives, revokes.
func (p *play) operator(ctx context.Context) error {
	if p.config.Fault != Honest || p.rand.IntN(4) > 0 {
		return nil
	}
	r := p.runtime
	open := r.Sessions()
	if len(open) == 0 {
		return nil
	}
	s := open[p.rand.IntN(len(open))]
	var err error
	switch p.rand.IntN(10) {
	case 0, 1:
		err = r.Barrier(ctx)
	case 2:
		var report verdict.Report
		if report, err = r.Verdict(ctx, s.ID); err == nil && report.Whole != record.Pass {
			err = fmt.Errorf("the verdict in the middle is %s: %+v", report.Whole, report.Findings)
		}
	case 3, 4:
		err = errors.Join(ended(r.Pause(ctx, s.ID)), r.Barrier(ctx), ended(r.Resume(ctx, s.ID)))
	case 5:
		err = r.Pause(ctx, s.ID)
	case 6:
		err = r.Stop(ctx, s.ID)
	case 7:
		err = r.Forgive(s.Agent, operatorID)
	case 8:
		if r.Trust() == p.kit.root {
			err = r.Narrow(ctx, p.kit.narrow, operatorID)
		}
	default:
		for _, s := range open {
			err = errors.Join(err, ended(r.Resume(ctx, s.ID)))
		}
	}
	return ended(err)
}

// ended is what an error says beyond that a session is not there to be acted on,
// paused or over, or that a skill is not trusted any more.
func ended(err error) error {
	var s *gate.SessionError
	var r *gate.Refusal
	switch {
	case errors.As(err, &s) && (s.Reason == gate.SessionUnknown || s.Reason == gate.SessionEnded || s.Reason == gate.SessionPaused || s.Reason == gate.SkillRevoked),
		errors.As(err, &r) && r.Reason == gate.SkillRevoked:
		return nil
	}
	return err
}

// leave closes an agent's session and opens another.
func (p *play) leave(ctx context.Context, n int) error {
	if err := p.sessions[n].Close(ctx); err != nil {
		return err
	}
	s, err := p.runtime.Open(ctx, runtime.Principal(p.agents[n].name()), runtime.OpenOptions{})
	if err == nil {
		p.sessions[n] = s
	}
	return err
}
