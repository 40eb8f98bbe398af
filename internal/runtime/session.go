package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/skill"
)

// Session is one agent's connection: it can ask for calls and for the content of
// skills, and nothing else. It is safe for concurrent use. The zero value has
// ended.
type Session struct {
	s *gate.Session
	r *Runtime
}

func (s *Session) ready() error {
	if s == nil || s.s == nil {
		return ErrNotStarted
	}
	return s.r.ready()
}

// ID names the session.
func (s *Session) ID() string {
	if s.ready() != nil {
		return ""
	}
	return s.s.ID()
}

// Agent is the principal whose session it is.
func (s *Session) Agent() Principal {
	if s.ready() != nil {
		return ""
	}
	return Principal(s.s.Agent())
}

// Over is closed when the session has ended.
func (s *Session) Over() <-chan struct{} {
	if s.ready() != nil {
		over := make(chan struct{})
		close(over)
		return over
	}
	return s.s.Over()
}

// Call has one call decided and done, and says how it ended. That ctx ends
// cancels the waiting only.
func (s *Session) Call(ctx context.Context, c gate.Call) gate.Reply {
	return s.Begin(c).Wait(ctx)
}

// Begin has one call decided and done, for whoever wants to do something else
// while it waits for a person.
func (s *Session) Begin(c gate.Call) *gate.Pending {
	if s.ready() != nil {
		return gate.Refuse(gate.SessionUnknown, "there is no session; open one")
	}
	return s.s.Begin(c)
}

// Flows says whether what the session's agent has read so far may flow to what
// has the label.
func (s *Session) Flows(to label.Label) bool { return s.ready() == nil && s.s.Flows(to) }

// Commit asks about all that the session has staged, commits what is approved,
// takes a barrier, and says how each call ended.
func (s *Session) Commit(ctx context.Context) ([]gate.Reply, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	replies, err := s.s.Commit(ctx)
	if err != nil || len(replies) == 0 {
		return replies, err
	}
	return replies, s.r.Barrier(ctx)
}

// Rollback puts back all that the session committed, the newest first. What
// somebody else has changed since stays as it is, and is said.
func (s *Session) Rollback(ctx context.Context) ([]gate.Reply, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	return s.s.Rollback(ctx)
}

// SkillContent is what is delivered of a skill.
type SkillContent struct {
	SkillListing
	Files []skill.File // that can be read
	Text  string       // of its SKILL.md
}

// Skills lists what can be asked for.
func (s *Session) Skills() []SkillListing {
	if s.ready() != nil {
		return []SkillListing{}
	}
	return s.r.Skills()
}

// Use makes a skill active and delivers its SKILL.md, once that is recorded. From
// then on the session's level is at most the skill's. The empty name goes back
// to calls outside any skill, and raises nothing.
func (s *Session) Use(ctx context.Context, name string) (SkillContent, error) {
	if err := s.ready(); err != nil {
		return SkillContent{}, err
	}
	if name == "" {
		return SkillContent{}, s.s.Use(ctx, "")
	}
	subject, k, err := s.r.find(name)
	if err != nil {
		return SkillContent{}, err
	}
	if err := s.s.Use(ctx, subject); err != nil {
		return SkillContent{}, err
	}
	out := SkillContent{SkillListing: s.r.listing(subject), Files: k.Content.Files()}
	for _, name := range []string{"SKILL.md", "skill.md"} {
		if data, ok := k.Content.ReadFile(name); ok {
			out.Text = string(data)
			break
		}
	}
	return out, nil
}

// ReadSkill reads a file of a skill, as it was hashed when it was loaded. What it
// says counts as delivered.
func (s *Session) ReadSkill(ctx context.Context, name, path string) ([]byte, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	subject, k, err := s.r.find(name)
	if err != nil {
		return nil, err
	}
	data, ok := k.Content.ReadFile(path)
	if !ok {
		return nil, &gate.Refusal{Reason: gate.NotFound, Detail: fmt.Sprintf("skill %s has no file %q", name, path)}
	}
	if err := s.s.Use(ctx, subject); err != nil {
		return nil, err
	}
	return data, nil
}

// Close records what was refused in the session, ends it and takes a barrier
// behind it.
func (s *Session) Close(ctx context.Context) error {
	if err := s.ready(); err != nil {
		return err
	}
	refused := s.r.refusals.end(ctx, s.ID())
	err := sessionOver(s.s.End(ctx, gate.Closing, false))
	return errors.Join(refused, err, s.r.Barrier(ctx))
}

// find finds a skill that is loaded and not evicted.
func (r *Runtime) find(name string) (subject string, k skill.Loaded, err error) {
	k, ok := r.parts.Skills.Skill(name)
	if !ok || name == skill.BaseName {
		return "", k, &gate.Refusal{Reason: gate.SkillUnknown, Detail: fmt.Sprintf("no skill named %q is loaded", name)}
	}
	subject = k.Subject.String()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.evicted[subject] {
		return "", k, &gate.Refusal{Reason: gate.SkillRevoked, Detail: fmt.Sprintf("skill %s is not trusted any more", name)}
	}
	return subject, k, nil
}
