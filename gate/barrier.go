package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// Barrier calls f at an instant at which nobody holds a lease, and gives none
// until f returns. Calls that wait for a human or are in doubt are not waited
// for.
func (g *Gate) Barrier(ctx context.Context, f func(context.Context) error) error {
	if err := hold(ctx, g.barrier); err != nil {
		return fmt.Errorf("another barrier does not end: %w", err)
	}
	defer release(g.barrier)
	quiet := make(chan struct{})
	g.mu.Lock()
	g.quiet = quiet
	g.step(Held{})
	g.mu.Unlock()
	defer g.dispatch(Unheld{})
	select {
	case <-quiet:
		return f(ctx)
	case <-ctx.Done():
		return fmt.Errorf("calls are under way that do not end: %w", ctx.Err())
	}
}

// hold takes a turn, unless ctx ends first.
func hold(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func release(turn chan struct{}) { <-turn }

// Narrow takes skills away: nothing more is intended under them, and what waits
// for somebody is cancelled. It returns when that is recorded; body and the
// evictions stand in the log behind every intent of the skills.
func (g *Gate) Narrow(ctx context.Context, subjects []string, body record.Revocation) error {
	if err := hold(ctx, g.narrowing); err != nil {
		return fmt.Errorf("another narrowing does not end: %w", err)
	}
	defer release(g.narrowing)
	evict := make(chan struct{})
	g.mu.Lock()
	g.evict = evict
	for _, c := range g.machine.callsOf(func(c *call) bool { return c.pending() && slices.Contains(subjects, c.skill) }) {
		body.Cancelled = append(body.Cancelled, c.ID)
	}
	g.step(Narrowed{Subjects: subjects})
	g.mu.Unlock()
	select {
	case <-evict:
	case <-ctx.Done():
		return fmt.Errorf("an intent is being recorded and does not end: %w", ctx.Err())
	}
	entries := []record.Entry{record.Of(body)}
	for _, s := range subjects {
		if about, ok := g.parts.About[s]; ok {
			entries = append(entries, record.Of(record.SkillEvicted{Reason: string(SkillRevoked), Skill: about}))
		}
	}
	_, err := g.append(entries...)
	return err
}

// pending says whether the call waits for somebody, and nothing of it is under
// way.
func (c *call) pending() bool {
	switch c.at {
	case asked, staged, confirming, ready:
		return true
	}
	return c.at == waiting && !c.undoing
}

// Forgive clears what an agent was given and has read, on an operator's word.
func (g *Gate) Forgive(agent, operator string) error {
	_, err := g.append(record.Of(record.Session{Agent: agent, Detail: operator, Transition: record.AgentReset}))
	if err == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.step(Forgiven{Agent: agent})
		g.forget(agent)
	}
	return err
}

// Settle says what became of a call in doubt, with evidence, and frees what it
// may have changed.
func (g *Gate) Settle(session, request string, r record.Resolved) error {
	_, err := g.append(record.Entry{Session: session, Request: request, Body: r})
	if err == nil {
		g.dispatch(Settled{ID: request})
	}
	return err
}

// Standing is a session as an operator sees it.
type Standing struct {
	ID     string `json:"session"`
	Agent  string `json:"agent"`
	State  string `json:"state"` // active, paused, ending
	Level  string `json:"level"`
	Mark   string `json:"mark"`
	Skill  string `json:"skill"` // name of the active one; empty for none
	Open   int    `json:"open"`  // calls under way
	Asked  int    `json:"asked"` // of its agent, waiting for a human
	Staged int    `json:"staged"`
	Undo   int    `json:"undo"` // committed, can be put back
	Buffer int64  `json:"buffer"`
}

var stateNames = map[sessionState]string{opening: "opening", active: "active", paused: "paused", ending: "ending"}

// Sessions lists the open sessions in the order of their ids.
func (g *Gate) Sessions() []Standing {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Standing, 0, len(g.machine.sessions))
	for _, s := range g.machine.sessions {
		a := g.machine.agentOf(s)
		out = append(out, Standing{
			ID: s.id, Agent: s.agent, State: stateNames[s.state], Level: g.machine.level(s).String(), Mark: a.mark.String(),
			Skill: g.machine.rules.Skills[s.skill].Name, Open: s.open, Asked: a.asked, Staged: len(s.staged), Undo: len(s.done), Buffer: s.buffer,
		})
	}
	slices.SortFunc(out, func(a, b Standing) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Session finds an open session.
func (g *Gate) Session(id string) (*Session, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &SessionError{id, SessionUnknown}
}

// Doubts lists what calls in doubt may have changed, by request.
func (g *Gate) Doubts() map[string][]corpus.Object {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make(map[string][]corpus.Object)
	for _, c := range g.machine.callsOf(func(c *call) bool { return c.at == doubtful }) {
		out[c.ID] = slices.Clone(c.Changes)
	}
	return out
}
