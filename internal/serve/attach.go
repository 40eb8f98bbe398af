package serve

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/visible"
)

// Attachment is a runtime as agents and its operator reach it: an [Agents] and an [Operator]. The zero value can be listened for, so
// that the directory of the sockets is taken before the runtime starts; Attach comes before Serve. It closes nothing.
type Attachment struct {
	runtime *iff.Runtime
	started time.Time

	mu       sync.Mutex
	sessions map[string]*attached // open ones, by id; guarded by mu
	verdict  string               // result of the newest verdict; guarded by mu
}

// Attach says who answers from now on.
func (a *Attachment) Attach(r *iff.Runtime, now time.Time) {
	a.runtime, a.started, a.sessions = r, now, make(map[string]*attached)
}

// longestName is how much of what an agent calls itself is kept, in characters.
const longestName = 64

// Open implements [Agents].
func (a *Attachment) Open(ctx context.Context, peer Peer, req OpenRequest) (AgentSession, error) {
	s, err := a.runtime.Open(ctx, iff.Principal(peer.Principal()), iff.OpenOptions{Resume: req.Resume})
	if err != nil {
		return nil, told(err)
	}
	out := &attached{owner: a, session: s, display: visible.Truncate(req.Agent, longestName), opened: time.Now()}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[s.ID()] = out
	return out, nil
}

// about is what is known of a session beside what the gate knows.
func (a *Attachment) about(id string) (display string, opened time.Time, calls int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s.display, s.opened, s.calls.Load()
	}
	return "", time.Time{}, 0
}

// attached is one session, for one connection.
type attached struct {
	owner   *Attachment
	session *iff.Session
	display string
	opened  time.Time
	calls   atomic.Int64
}

// Opened implements [AgentSession].
func (s *attached) Opened() Opened {
	r := s.owner.runtime
	out := Opened{Session: s.session.ID(), Principal: string(s.session.Agent()), Profile: r.Profile(), Version: iff.Version, Skills: listings(s.session)}
	if now, err := r.Standing(out.Session); err == nil {
		out.Level = now.Level
	}
	return out
}

func listings(s *iff.Session) []SkillListing {
	out := []SkillListing{}
	for _, k := range s.Skills() {
		out = append(out, SkillListing{Name: k.Name, Version: k.Version, Level: k.Level, Signer: k.Signer, Summary: k.Summary})
	}
	return out
}

// Call implements [AgentSession].
func (s *attached) Call(ctx context.Context, c gate.Call) gate.Reply {
	s.calls.Add(1)
	return s.session.Call(ctx, c)
}

// Skills implements [AgentSession].
func (s *attached) Skills(context.Context) ([]SkillListing, error) { return listings(s.session), nil }

// Use implements [AgentSession].
func (s *attached) Use(ctx context.Context, name string) (SkillContent, error) {
	k, err := s.session.Use(ctx, name)
	if err != nil {
		return SkillContent{}, told(err)
	}
	out := SkillContent{Name: k.Name, Level: k.Level, Files: []SkillFile{}, Content: k.Text}
	for _, f := range k.Files {
		out.Files = append(out.Files, SkillFile{Path: f.Path, Size: f.Size})
	}
	if now, err := s.owner.runtime.Standing(s.session.ID()); err == nil {
		out.Level = now.Level // that of the session, which may be lower than the skill's
	}
	return out, nil
}

// ReadSkill implements [AgentSession].
func (s *attached) ReadSkill(ctx context.Context, name, path string) ([]byte, error) {
	data, err := s.session.ReadSkill(ctx, name, path)
	return data, told(err)
}

// Commit implements [AgentSession].
func (s *attached) Commit(ctx context.Context) ([]gate.Reply, error) {
	replies, err := s.session.Commit(ctx)
	return replies, told(err)
}

// Status implements [AgentSession].
func (s *attached) Status(context.Context) (SessionStatus, error) {
	now, err := s.owner.runtime.Standing(s.session.ID())
	if err != nil {
		return SessionStatus{}, told(err)
	}
	return SessionStatus{Session: now.ID, State: now.State, Skill: now.Skill, Level: now.Level, Mark: now.Mark, Staged: now.Staged, Waiting: now.Asked}, nil
}

// Close implements [AgentSession].
func (s *attached) Close(ctx context.Context) error {
	err := s.session.Close(ctx)
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	delete(s.owner.sessions, s.session.ID())
	return err
}
