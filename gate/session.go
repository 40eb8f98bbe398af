package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
)

// Session is one agent's connection. It is safe for concurrent use.
type Session struct {
	g     *Gate
	id    string
	agent string
	over  chan struct{} // closed when it has ended
	again bool          // a crash had interrupted it
	held  bool          // an operator had paused it before
}

// Resume is what the log says of a session that a crash interrupted.
type Resume struct {
	ID     string
	Skill  string // subject of the skill that was active
	Paused bool
}

// KnownKey is a call of an earlier runtime that had an idempotency key, and how it
// ended. Its reply names the request.
type KnownKey struct {
	Agent    string
	Key      string
	Envelope [32]byte
	Reply    Reply
}

// SessionError says why a session was not changed.
type SessionError struct {
	Session string
	Reason  Reason
}

// Error is one line.
func (e *SessionError) Error() string {
	return fmt.Sprintf("session %s: %s", e.Session, e.Reason)
}

// Is makes errors.Is(err, &SessionError{Reason: r}) ask for the reason alone.
func (e *SessionError) Is(target error) bool {
	t, ok := target.(*SessionError)
	return ok && t.Reason == e.Reason && (t.Session == "" || t.Session == e.Session)
}

// Open begins a session of an agent, or takes one up again that a crash
// interrupted. What the log says of the agent comes with it.
func (g *Gate) Open(ctx context.Context, a record.Agent, resume *Resume) (*Session, error) {
	e := Opened{Agent: a.Name}
	if lv, err := level.Parse(a.Level); err == nil {
		e.Level, e.Given = lv, true
	}
	for _, mark := range a.Marks {
		m, err := g.parts.Scheme.Parse(mark)
		if err != nil {
			return nil, fmt.Errorf("what %s has read: %w", a.Name, err)
		}
		if e.Mark.IsAbsent() {
			e.Mark = m
		}
		e.Mark = e.Mark.Join(m)
	}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, ErrClosed
	}
	g.opened++
	e.Session = g.id("s", g.opened)
	if resume != nil {
		e.Session, e.Skill, e.Paused = resume.ID, resume.Skill, resume.Paused
	}
	s := &Session{g: g, id: e.Session, agent: a.Name, over: make(chan struct{})}
	if g.sessions[s.id] != nil {
		g.mu.Unlock()
		return nil, &SessionError{s.id, SessionUnknown}
	}
	g.sessions[s.id] = s
	opened := g.submit(func(t Ticket) Event { e.Ticket = t; return e })
	if g.machine.session(s.id) == nil {
		delete(g.sessions, s.id) // it was refused
	} else if resume != nil {
		s.again, s.held = true, resume.Paused
	}
	g.mu.Unlock()
	err := s.told(ctx, opened)
	if err != nil && ctx.Err() != nil {
		g.dispatch(Ended{Session: s.id}) // nobody will use it
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// know takes over what became of calls of earlier runtimes, the oldest first. Of
// two with one key the newer counts. The gate is not in use yet.
func (g *Gate) know(keys []KnownKey) {
	for _, k := range keys {
		if k.Key == "" || k.Agent == "" || k.Reply.Request == "" {
			continue
		}
		g.machine.known(keyed{k.Agent, k.Key}, recorded{k.Reply.Request, k.Envelope})
		if k.Reply.Status != Done && k.Reply.Message == "" {
			if k.Reply.Message = advice[k.Reply.Reason]; k.Reply.Message == "" {
				k.Reply.Message = "it ended so before iff was started again; use another key to ask again"
			}
		}
		g.replies.put(k.Reply.Request, k.Reply)
	}
}

// forget lets go of what calls of an agent told, so that nobody is told it again.
// g.mu is held.
func (g *Gate) forget(agent string) {
	if a := g.machine.agents[agent]; a != nil {
		for _, key := range a.keys {
			g.replies.empty(g.machine.keys[keyed{agent, key}].id)
		}
	}
}

// ID names the session.
func (s *Session) ID() string { return s.id }

// Agent is the principal whose session it is.
func (s *Session) Agent() string { return s.agent }

// Over is closed when the session has ended.
func (s *Session) Over() <-chan struct{} { return s.over }

// change dispatches an event and waits until its effect is recorded. That ctx
// ends cancels the waiting only.
func (s *Session) change(ctx context.Context, make func(Ticket) Event) error {
	s.g.mu.Lock()
	done := s.g.submit(make)
	s.g.mu.Unlock()
	return s.told(ctx, done)
}

// submit dispatches an event and gives where its effect will be told. g.mu is
// held.
func (g *Gate) submit(event func(Ticket) Event) <-chan Reason {
	g.ticket++
	done := make(chan Reason, 1)
	g.waiting[g.ticket] = done
	g.step(event(g.ticket))
	return done
}

// told waits for what submit promised.
func (s *Session) told(ctx context.Context, done <-chan Reason) error {
	select {
	case why := <-done:
		if why != "" {
			return &SessionError{s.id, why}
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tellSession tells who wanted a change, and lets go of a session that is over.
// g.mu is held.
func (g *Gate) tellSession(c TellSession) {
	if w := g.waiting[c.Ticket]; w != nil {
		w <- c.Failed
		delete(g.waiting, c.Ticket)
	}
	if s := g.sessions[c.Session]; c.Over && s != nil {
		delete(g.sessions, c.Session)
		for id, l := range g.lives {
			if l.session == s {
				l.answerWith(Reply{Request: id, Status: Refused, Reason: SessionEnded, Message: l.advice(SessionEnded)})
				delete(g.lives, id)
			}
		}
		close(s.over)
	}
}

// recordSession makes a transition durable.
func (g *Gate) recordSession(c RecordSession) {
	g.mu.Lock()
	s, m := g.machine.session(c.Session), g.machine
	taken := g.sessions[c.Session]
	body := record.Session{Skill: c.Subject}
	if s != nil {
		body.Agent, body.Mark = s.agent, m.agentOf(s).mark.String()
		if c.What != RecordSkill {
			body.Skill = s.skill
		}
		body.Level = m.level(s).String()
		if k, ok := m.rules.Skills[c.Subject]; ok && c.What == RecordSkill {
			body.Level = k.Level.String()
		}
		if c.What == RecordTold {
			body.Level, body.Detail = c.Level.String(), "a read that tells files of a skill"
		}
	}
	g.mu.Unlock()
	body.Transition = transition(c)
	if taken != nil && taken.again && c.What == RecordOpened {
		body.Transition = record.SessionResumed
		if taken.held {
			body.Transition = record.SessionPaused // at no instant is it anything else
		}
	}
	if c.What == RecordSkill && c.Subject == "" {
		body.Level = "" // the base manifest has no content, so it taints nothing
	}
	_, err := g.append(record.Entry{Session: c.Session, Body: body})
	g.dispatch(Recorded{Session: c.Session, Failed: err != nil, Fatal: fatal(err)})
}

func transition(c RecordSession) record.Transition {
	switch c.What {
	case RecordOpened:
		return record.SessionOpened
	case RecordSkill, RecordTold:
		return record.SessionSkill
	case RecordPaused:
		return record.SessionPaused
	case RecordResumed:
		return record.SessionResumed
	}
	switch c.How {
	case Stopping:
		return record.SessionStopped
	case Aborting:
		return record.SessionAborted
	}
	return record.SessionClosed
}

// Use makes a skill active whose content is about to be delivered: the error is
// nil only when that is recorded. The empty subject goes back to the base
// manifest.
func (s *Session) Use(ctx context.Context, subject string) error {
	return s.change(ctx, func(t Ticket) Event { return Given{s.id, subject, t} })
}

// Pause refuses the session's calls until it is resumed.
func (s *Session) Pause(ctx context.Context) error {
	return s.change(ctx, func(t Ticket) Event { return Pausing{s.id, t} })
}

// Resume ends a pause.
func (s *Session) Resume(ctx context.Context) error {
	return s.change(ctx, func(t Ticket) Event { return Resuming{s.id, t} })
}

// End ends the session when what is under way has ended: questions are
// cancelled, what is staged is dropped, and with undo all that it committed is
// put back first.
func (s *Session) End(ctx context.Context, how Ending, undo bool) error {
	return s.change(ctx, func(t Ticket) Event { return Ended{s.id, how, undo, t} })
}

// Commit asks about all that the session has staged, commits what is approved,
// and says how each ended.
func (s *Session) Commit(ctx context.Context) ([]Reply, error) {
	waits := s.await(func(l *live, at phase) bool { return at == staged })
	return s.gather(ctx, waits, func(t Ticket) Event { return Confirming{s.id, t} })
}

// Rollback puts back all that the session committed, the newest first. What
// somebody else has changed since stays as it is, and is said.
func (s *Session) Rollback(ctx context.Context) ([]Reply, error) {
	waits := s.await(func(l *live, at phase) bool { return at == committed })
	slices.Reverse(waits)
	return s.gather(ctx, waits, func(t Ticket) Event { return Undoing{s.id, t} })
}

// next is where the next reply of a call is told, once.
type next chan Reply

func (n next) end(r Reply) { n <- r }

// await waits for the next reply of the calls that are at a phase, in the order
// in which they came there.
func (s *Session) await(wanted func(*live, phase) bool) []next {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	ms := s.g.machine.session(s.id)
	if ms == nil {
		return nil
	}
	var out []next
	for _, id := range slices.Concat(ms.staged, ms.done) {
		l, c := s.g.lives[id], s.g.machine.calls[id]
		if l != nil && c != nil && wanted(l, c.at) {
			w := make(next, 1)
			l.waiters = append(l.waiters, w)
			out = append(out, w)
		}
	}
	return out
}

func (s *Session) gather(ctx context.Context, waits []next, make func(Ticket) Event) ([]Reply, error) {
	if err := s.change(ctx, make); err != nil {
		return nil, err
	}
	var out []Reply
	for _, w := range waits {
		select {
		case r := <-w:
			out = append(out, r)
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	return out, nil
}

// overlay is what the session has staged.
func (s *Session) overlay() Staged {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	ms := s.g.machine.session(s.id)
	if ms == nil {
		return nil
	}
	o := make(overlay)
	for _, id := range ms.staged {
		if l := s.g.lives[id]; l != nil {
			for i, c := range l.approved.Changes {
				o[c.Object] = l.approved.After[i]
			}
		}
	}
	if len(o) == 0 {
		return nil
	}
	return o
}

// overlay implements [Staged].
type overlay map[corpus.Object]corpus.Copy

// Copy implements [Staged].
func (o overlay) Copy(object corpus.Object) (corpus.Copy, bool) {
	c, ok := o[object]
	return c, ok
}

// Objects implements [Staged].
func (o overlay) Objects() []corpus.Object {
	out := make([]corpus.Object, 0, len(o))
	for object := range o {
		out = append(out, object)
	}
	slices.Sort(out)
	return out
}

// Flows says whether what the session's agent has read so far may flow to what
// has the label: the mark can have risen since a call was asked for. It may not
// once the session is paused or has ended, nor to what has no label.
func (s *Session) Flows(to label.Label) bool {
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	ms := g.machine.session(s.id)
	if ms.idle() != "" || to.IsAbsent() {
		return false
	}
	mark := g.machine.agentOf(ms).mark
	return !mark.IsAbsent() && mark.LessEq(to)
}
