package serve

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// Operator is what the runtime lets its operator do. It is safe for concurrent use. Errors are told as [Fault] has it, and
// others with their text. Only the ctx of WaitInbox ends before the method has returned.
type Operator interface {
	Status(ctx context.Context) (Status, error)
	// Inbox lists what waits for an answer, oldest first, and what was answered lately.
	Inbox(ctx context.Context) (Inbox, error)
	// WaitInbox is Inbox as soon as its cursor is above since, or when ctx ends, which is no error.
	WaitInbox(ctx context.Context, since int64) (Inbox, error)
	// Question is the wire form of one question (package approval) that waits or ended lately.
	Question(ctx context.Context, request string) (canonical.Raw, error)
	// Answer takes answers; the peer is who brought them. The result is as long as they are.
	Answer(ctx context.Context, by Peer, answers []Answer) ([]Answered, error)
	Sessions(ctx context.Context) ([]Session, error)
	Session(ctx context.Context, id string) (SessionDetail, error)
	Pause(ctx context.Context, id string) error
	Resume(ctx context.Context, id string) error
	Stop(ctx context.Context, id string) error
	Rollback(ctx context.Context, id string) ([]gate.Reply, error)
	Commit(ctx context.Context, id string) ([]gate.Reply, error)
	// Reset lets an agent begin anew after its session was stopped or aborted.
	Reset(ctx context.Context, agent string) error
	// Barrier takes a snapshot and judges what was done since the last.
	Barrier(ctx context.Context) (Barrier, error)
	// Verdict reads the corpora and judges a session, or an interval of the log, and records the result.
	Verdict(ctx context.Context, asked Asked) (Verdict, error)
	// Settle is the operator's word on a call of which nobody knows whether it happened.
	Settle(ctx context.Context, s Settled) error
	// Narrow takes a newer version of the trust root, which may only narrow.
	Narrow(ctx context.Context, document []byte) (Narrowed, error)
}

// Status is the result of the operator's status.
type Status struct {
	Version  string    `json:"version"`
	Profile  string    `json:"profile"`
	Log      string    `json:"log"`     // origin
	Records  int64     `json:"records"` // in the log
	Fence    int64     `json:"fence"`   // of this runtime
	PID      int       `json:"pid"`
	Started  time.Time `json:"started"`
	Sessions int       `json:"sessions"` // that are not ended
	Pending  int       `json:"pending"`  // questions that wait; the server does not end for idleness while there are any
	Doubts   []string  `json:"doubts"`   // objects of which nobody knows what became of them
	Verdict  string    `json:"verdict,omitempty"`
	Stopped  string    `json:"stopped,omitempty"` // why nothing is done any more and what to do: the log failed; empty while it works
}

// Inbox is the result of inbox.list and inbox.wait.
type Inbox struct {
	Cursor int64       `json:"cursor"` // grows with each change of the inbox
	Items  []InboxItem `json:"items"`
}

// InboxItem is one question in short.
type InboxItem struct {
	Request    string    `json:"request"`
	Session    string    `json:"session"`
	Agent      string    `json:"agent"`
	Capability string    `json:"capability"`
	Target     string    `json:"target"`
	Level      string    `json:"level"`
	Asked      time.Time `json:"asked"`
	Deadline   time.Time `json:"deadline"`
	Answered   string    `json:"answered,omitempty"` // approve, deny, timed-out or cancelled; absent while it waits
}

// Answer is an answer to one question; Answer.Answer is the wire form of package approval.
type Answer struct {
	Request string        `json:"request"`
	Answer  canonical.Raw `json:"answer"`
}

// Answered says what became of one answer.
type Answered struct {
	Request string `json:"request"`
	Reason  string `json:"reason,omitempty"` // absent: it counts
	Message string `json:"message,omitempty"`
}

// Session is one session in short.
type Session struct {
	Session   string    `json:"session"`
	Principal string    `json:"principal"`
	Agent     string    `json:"agent"` // what it calls itself
	State     string    `json:"state"`
	Skill     string    `json:"skill,omitempty"`
	Level     string    `json:"level"`
	Mark      string    `json:"mark"`
	Opened    time.Time `json:"opened"`
	Calls     int64     `json:"calls"`
	Staged    int       `json:"staged"`
	Committed int       `json:"committed"` // that can be rolled back
}

// SessionDetail is the result of session.show.
type SessionDetail struct {
	Session   Session       `json:"session"`
	Staged    []SessionCall `json:"staged"`
	Committed []SessionCall `json:"committed"`
}

// SessionCall is a call of a session.
type SessionCall struct {
	Request    string   `json:"request"`
	Capability string   `json:"capability"`
	Target     string   `json:"target"`
	Objects    []string `json:"objects"`
}

// Barrier is the result of barrier.
type Barrier struct {
	Seq      int64    `json:"seq"` // of its record
	Verdict  string   `json:"verdict"`
	Findings []string `json:"findings"`
}

// Asked are the params of verdict. The zero value is everybody since the newest session began, up to now.
type Asked struct {
	Session string `json:"session,omitempty"` // one session, to its end
	From    int64  `json:"from,omitempty"`    // or records, from 1
	To      int64  `json:"to,omitempty"`      // behind the last; 0 is now
}

// Verdict is the result of verdict.
type Verdict struct {
	Report  canonical.Raw `json:"report"`            // in the form of package verdict
	Omitted int           `json:"omitted,omitempty"` // findings that did not fit; the recorded report has them
}

// Settled are the params of call.settle.
type Settled struct {
	Request  string `json:"request"`
	Finding  string `json:"finding"`  // executed, not-executed or partial
	Evidence string `json:"evidence"` // how the operator knows
}

// Narrowed is the result of trust.narrow.
type Narrowed struct {
	Version int64 `json:"version"` // of the trust root from now on
}

type sessionID struct {
	Session string `json:"session"`
}

type requestID struct {
	Request string `json:"request"`
}

type agentName struct {
	Agent string `json:"agent"`
}

type inboxSince struct {
	Since int64 `json:"since"`
}

type inboxAnswers struct {
	Answers []Answer `json:"answers"`
}

type answeredList struct {
	Answered []Answered `json:"answered"`
}

type sessionList struct {
	Sessions []Session `json:"sessions"`
}

type trustDocument struct {
	Document string `json:"document"` // base64
}

// operatorMethods is all that can be reached through operator.sock.
func operatorMethods() map[string]method {
	return map[string]method{
		"status":     forOperator(func(ctx context.Context, o Operator, _ none) (Status, error) { return o.Status(ctx) }),
		"inbox.list": forOperator(func(ctx context.Context, o Operator, _ none) (Inbox, error) { return o.Inbox(ctx) }),
		"inbox.get": forOperator(func(ctx context.Context, o Operator, p requestID) (canonical.Raw, error) {
			return o.Question(ctx, p.Request)
		}),
		"inbox.wait":   waiting(forOperator(func(ctx context.Context, o Operator, p inboxSince) (Inbox, error) { return o.WaitInbox(ctx, p.Since) })),
		"inbox.answer": {beside, answerInbox},
		"session.list": forOperator(listSessions),
		"session.show": forOperator(func(ctx context.Context, o Operator, p sessionID) (SessionDetail, error) {
			return o.Session(ctx, p.Session)
		}),
		"session.pause": forOperator(func(ctx context.Context, o Operator, p sessionID) (none, error) {
			return none{}, o.Pause(ctx, p.Session)
		}),
		"session.resume": forOperator(func(ctx context.Context, o Operator, p sessionID) (none, error) {
			return none{}, o.Resume(ctx, p.Session)
		}),
		"session.stop": forOperator(func(ctx context.Context, o Operator, p sessionID) (none, error) {
			return none{}, o.Stop(ctx, p.Session)
		}),
		"session.rollback": forOperator(func(ctx context.Context, o Operator, p sessionID) (Replies, error) {
			return replied(o.Rollback(ctx, p.Session))
		}),
		"session.commit": forOperator(func(ctx context.Context, o Operator, p sessionID) (Replies, error) {
			return replied(o.Commit(ctx, p.Session))
		}),
		"agent.reset":     forOperator(func(ctx context.Context, o Operator, p agentName) (none, error) { return none{}, o.Reset(ctx, p.Agent) }),
		"barrier":         forOperator(func(ctx context.Context, o Operator, _ none) (Barrier, error) { return o.Barrier(ctx) }),
		"verdict":         forOperator(func(ctx context.Context, o Operator, p Asked) (Verdict, error) { return o.Verdict(ctx, p) }),
		"call.settle":     forOperator(func(ctx context.Context, o Operator, p Settled) (none, error) { return none{}, o.Settle(ctx, p) }),
		"trust.narrow":    forOperator(narrow),
		"upstream.list":   forOperator(listUpstreams),
		"upstream.accept": forOperator(acceptUpstream),
		"shutdown":        {ends, func(_ context.Context, _ *conn, params string) (any, error) { return paramsOf[none](params) }},
	}
}

// forOperator makes a method of what is done with the operator.
func forOperator[P, R any](do func(context.Context, Operator, P) (R, error)) method {
	return method{beside, func(ctx context.Context, c *conn, params string) (any, error) {
		p, err := paramsOf[P](params)
		if err != nil {
			return nil, err
		}
		return do(ctx, c.plane.server.opts.Operator, p)
	}}
}

func waiting(m method) method {
	m.way = waits
	return m
}

func answerInbox(ctx context.Context, c *conn, params string) (any, error) {
	p, err := paramsOf[inboxAnswers](params)
	if err != nil {
		return nil, err
	}
	out, err := c.plane.server.opts.Operator.Answer(ctx, c.peer, p.Answers)
	return answeredList{out}, err
}

func listSessions(ctx context.Context, o Operator, _ none) (sessionList, error) {
	out, err := o.Sessions(ctx)
	return sessionList{out}, err
}

func replied(rs []gate.Reply, err error) (Replies, error) { return repliesOf(rs), err }

func narrow(ctx context.Context, o Operator, p trustDocument) (Narrowed, error) {
	document, err := base64.StdEncoding.Strict().DecodeString(p.Document)
	if err != nil {
		return Narrowed{}, &Fault{Code: CodeParams, Reason: string(Base64Invalid), Message: "document: " + err.Error(), Remedy: "send padded standard base64"}
	}
	return o.Narrow(ctx, document)
}
