package runtime

import (
	"context"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// Session finds an open session of this runtime by its id; its error is
// *[gate.SessionError].
func (r *Runtime) Session(id string) (*Session, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	s, err := r.gate.Session(id)
	if err != nil {
		return nil, err
	}
	return &Session{s: s, r: r}, nil
}

// Sessions lists the open sessions in the order of their ids.
func (r *Runtime) Sessions() []gate.Standing {
	if r.ready() != nil {
		return []gate.Standing{}
	}
	return r.gate.Sessions()
}

// Standing is one open session as its operator sees it.
func (r *Runtime) Standing(id string) (gate.Standing, error) {
	for _, s := range r.Sessions() {
		if s.ID == id {
			return s, nil
		}
	}
	return gate.Standing{}, &gate.SessionError{Session: id, Reason: gate.SessionUnknown}
}

// Interrupted lists the sessions that an earlier runtime left open, and that
// their agent can take up again.
func (r *Runtime) Interrupted() []record.OpenSession {
	out := []record.OpenSession{}
	if r.ready() != nil {
		return out
	}
	for _, s := range r.parts.Log.State().Sessions() {
		if _, err := r.gate.Session(s.ID); err != nil {
			out = append(out, s)
		}
	}
	return out
}

// Hooked records what a hook in an agent saw beside the gate. It changes nothing.
func (r *Runtime) Hooked(ctx context.Context, h record.Hook) error {
	if err := r.ready(); err != nil {
		return err
	}
	_, err := r.parts.Log.Append(ctx, record.Of(h))
	return err
}

// Pause refuses the calls of a session until it is resumed.
func (r *Runtime) Pause(ctx context.Context, id string) error {
	s, err := r.Session(id)
	if err != nil {
		return err
	}
	return s.s.Pause(ctx)
}

// Resume ends a pause.
func (r *Runtime) Resume(ctx context.Context, id string) error {
	s, err := r.Session(id)
	if err != nil {
		return err
	}
	return s.s.Resume(ctx)
}

// Stop ends a session when what is under way has ended, and takes a barrier
// behind it. What it committed stays; what it staged is dropped.
func (r *Runtime) Stop(ctx context.Context, id string) error {
	s, err := r.Session(id)
	if err != nil {
		return err
	}
	if err := s.s.End(ctx, gate.Stopping, false); err != nil {
		return err
	}
	return r.Barrier(ctx)
}

// Forgive clears what an agent was given and has read, on an operator's word.
func (r *Runtime) Forgive(agent, operator string) error {
	if err := r.ready(); err != nil {
		return err
	}
	return r.gate.Forgive(agent, operator)
}

// VerdictBetween judges everybody over records of the log, from the first one on,
// which is 1 or more, up to and without to. With to 0 it reads the corpora whole
// and judges up to now; otherwise the interval ends at the first barrier behind
// it. The verdict is recorded.
func (r *Runtime) VerdictBetween(ctx context.Context, from, to int64) (verdict.Report, error) {
	return r.VerdictHeard(ctx, from, to, nil)
}

// VerdictHeard is VerdictBetween for whoever wants to hear the records that it is
// judged by.
func (r *Runtime) VerdictHeard(ctx context.Context, from, to int64, hear func(record.Record) error) (verdict.Report, error) {
	if err := r.ready(); err != nil {
		return verdict.Report{}, err
	}
	if to == 0 {
		if err := r.quietly(ctx, fully); err != nil {
			return verdict.Report{}, err
		}
	}
	return r.recordOf(ctx, Case{From: from, To: to, Hear: hear})
}

// recordOf judges and records the verdict.
func (r *Runtime) recordOf(ctx context.Context, c Case) (verdict.Report, error) {
	report, err := r.judge(ctx, c)
	if err != nil {
		return report, err
	}
	return report, Record(ctx, r.parts.Log, report)
}
