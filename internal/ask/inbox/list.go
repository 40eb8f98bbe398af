package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// State says how far a question is. The zero value is none.
type State string

// The states.
const (
	Pending   State = "pending"
	Approved  State = "approved"
	Denied    State = "denied"
	TimedOut  State = "timed-out"
	Cancelled State = "cancelled"
)

// cause is why a question that ended like this is denied.
func (s State) cause() record.Cause {
	if s == TimedOut {
		return record.CauseTimeout
	}
	return record.CauseCancelled
}

// past says how a question ended.
func (s State) past() string {
	switch s {
	case Approved:
		return "it was approved"
	case Denied:
		return "it was denied"
	case TimedOut:
		return "its time was over and it was denied"
	}
	return "nobody waited for it any more and it was denied"
}

// Item is one question in a list.
type Item struct {
	Request  string
	Group    int64 // the same for what was asked together
	Agent    string
	Session  string
	Skill    string // name; empty outside any skill
	Level    string // of the session
	Op       string // the host's word for what is done; may be empty
	Class    string // capability
	Target   string // not escaped
	State    State
	Asked    time.Time // when it was posted
	Deadline time.Time
	Ended    time.Time // zero while it waits
}

// itemOf is a question that was just asked.
func itemOf(q approval.Question, group int64, now time.Time) Item {
	target := q.Envelope.Target()
	return Item{
		Request: q.Request, Group: group, Agent: q.Agent, Session: q.Session, Skill: q.Skill.Name, Level: q.Level,
		Op: q.Op, Class: target.Capability().String(), Target: target.String(), State: Pending, Asked: now, Deadline: q.Deadline,
	}
}

// List is what waits, oldest first, and behind it the newest [MaxRecent] of
// what ended, oldest first.
func (b *Inbox) List() []Item {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Item, 0, len(b.order)+len(b.recent))
	for _, p := range slices.Concat(b.order, b.recent) {
		out = append(out, p.item)
	}
	return out
}

// Question is a question that waits, or that ended and is still kept. Its slices
// are not the caller's to change. The error is *[Error], answer-unknown or
// answer-late.
func (b *Inbox) Question(id string) (approval.Question, error) {
	_, q, err := b.find(id)
	return q, err
}

// Group lists the ids of what was asked together with a question and still
// waits, in the order in which it was asked; none if that one does not wait.
func (b *Inbox) Group(id string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.posts[id]
	if p == nil || p.ended() {
		return nil
	}
	var out []string
	for _, o := range p.group.posts {
		if !o.ended() {
			out = append(out, o.item.Request)
		}
	}
	return out
}

// Wait returns when the inbox is not, or no longer, at a version, and which one
// it is at: from 0, one more with each question that is asked or ends and each
// late answer. The error is that of the context.
func (b *Inbox) Wait(ctx context.Context, version int64) (int64, error) {
	b.mu.Lock()
	now, changing := b.version, b.changing
	b.mu.Unlock()
	if now != version {
		return now, nil
	}
	select {
	case <-ctx.Done():
		return now, ctx.Err()
	case <-changing:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version, nil
}

// Counts is what happened since the inbox was made, in questions.
type Counts struct {
	Pending   int64
	Asked     int64
	Approved  int64
	Denied    int64 // by an answer
	TimedOut  int64
	Cancelled int64
	Late      int64         // answers to what had ended
	Refused   int64         // not asked, for too many waited
	Quick     int64         // approved in less than [ReadingTime]
	Deciding  time.Duration // from asked to answered, summed over approved and denied
}

func (c *Counts) add(state State, took time.Duration) {
	switch state {
	case Approved:
		c.Approved++
		if took < ReadingTime {
			c.Quick++
		}
		c.Deciding += took
	case Denied:
		c.Denied++
		c.Deciding += took
	case TimedOut:
		c.TimedOut++
	case Cancelled:
		c.Cancelled++
	}
}

// Counts is what happened so far.
func (b *Inbox) Counts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.counts
	c.Pending = int64(len(b.order))
	return c
}
