package serve

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// Peer is who is at the other end of a connection, by the word of the operating system. The zero value is nobody in
// particular: uid 0, process 0; one is only ever made from credentials.
type Peer struct {
	UID     int
	PID     int  // zero if the system does not say
	SameUID bool // that of the runtime
	// Token is the name of the bearer token that the peer came with over HTTP, where the system says nothing; else empty.
	Token string
}

// Principal is the name under which the peer's calls are recorded: "uid-1000", or "http-" and the name of its token.
func (p Peer) Principal() string {
	if p.Token != "" {
		return "http-" + p.Token
	}
	return "uid-" + strconv.Itoa(p.UID)
}

// Agents opens sessions. It is safe for concurrent use.
type Agents interface {
	// Open begins a session, or takes up one that paused. An error is told to the agent as [Fault] has it.
	Open(ctx context.Context, peer Peer, req OpenRequest) (AgentSession, error)
	// Refused is told of each message that was answered with a refusal and is in no other record, for the log. It does not wait for
	// that; an error says that something counted before is not there yet.
	Refused(r Refusal) error
}

// Refusal is a message that became no call. It carries nothing of what was sent.
type Refusal struct {
	Principal string // empty where nobody knows who sent it
	Session   string // empty where there is none
	Channel   record.Channel
	Reason    string // closed token
}

// OpenRequest is what an agent says of itself. Nothing in it is believed.
type OpenRequest struct {
	Agent  string `json:"agent"`            // what it calls itself, for people
	Resume string `json:"resume,omitempty"` // a session that is to go on
}

// AgentSession is one session, for the one connection that opened it. It is safe for concurrent use. No ctx that it gets ends
// because the agent goes away or the server ends: Close tells it.
type AgentSession interface {
	// Opened is what the agent is told of it.
	Opened() Opened
	// Call does a call and returns when its end is known and recorded.
	Call(ctx context.Context, call gate.Call) gate.Reply
	// Begin has a call decided and done, for who does something else while it waits.
	Begin(call gate.Call) Pending
	// Flows says whether what the agent has read so far may flow to what has the label; not once the session is paused or over.
	Flows(to label.Label) bool
	// Skills are those of the frozen set.
	Skills(ctx context.Context) ([]SkillListing, error)
	// Use makes a skill the active one and hands it out; the empty name is none.
	Use(ctx context.Context, name string) (SkillContent, error)
	// ReadSkill is one file of a skill.
	ReadSkill(ctx context.Context, name, path string) ([]byte, error)
	// Commit asks for what is staged and commits what is approved.
	Commit(ctx context.Context) ([]gate.Reply, error)
	// Barrier has the corpora read again, so that what was done so far can be judged.
	Barrier(ctx context.Context) error
	// Status tells of this session alone.
	Status(ctx context.Context) (SessionStatus, error)
	// Close ends it, once, also while calls are under way: those that wait are refused, those whose effect may have begun go
	// on to their end and are recorded. It returns when that is done.
	Close(ctx context.Context) error
}

// Opened is the result of session.open.
type Opened struct {
	Session   string         `json:"session"`
	Principal string         `json:"principal"`
	Profile   string         `json:"profile"`
	Version   string         `json:"version"` // of the runtime
	Level     string         `json:"level"`   // of what is active now
	Skills    []SkillListing `json:"skills"`
}

// SkillListing is a skill that can be used. The summary is its signer's, empty for an unverified one.
type SkillListing struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Level   string `json:"level"`
	Signer  string `json:"signer"`
	Summary string `json:"summary,omitempty"`
}

// SkillContent is the result of skill.use.
type SkillContent struct {
	Name    string      `json:"name"` // empty: no skill is active
	Level   string      `json:"level"`
	Files   []SkillFile `json:"files"`
	Content string      `json:"content"` // of SKILL.md
}

// SkillFile is a file that skill.read reads.
type SkillFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes
}

// SessionStatus is what an agent may know of its own session.
type SessionStatus struct {
	Session string `json:"session"`
	State   string `json:"state"`
	Skill   string `json:"skill,omitempty"` // the active one
	Level   string `json:"level"`
	Mark    string `json:"mark"`    // join of the labels of what it has read
	Staged  int    `json:"staged"`  // calls that wait for commit
	Waiting int    `json:"waiting"` // calls that wait for a human
}

// Reply is a gate.Reply as it is sent.
type Reply struct {
	Request string        `json:"request,omitempty"`
	Status  string        `json:"status"`
	Reason  string        `json:"reason,omitempty"`
	Message string        `json:"message,omitempty"`
	Result  canonical.Raw `json:"result,omitzero"`
	Omitted int           `json:"omitted,omitempty"` // bytes of a result that was left out
	Allowed []string      `json:"allowed,omitempty"`
}

// Replies is the result of commit, session.commit and session.rollback.
type Replies struct {
	Replies []Reply `json:"replies"`
}

// deepResult leaves room for what is around a result.
const deepResult = 24

// replyOf renders a reply. What became of the call is told in any case; a result that cannot be sent, within room bytes, is
// left out.
func replyOf(r gate.Reply, room int) Reply {
	out := Reply{Request: r.Request, Status: string(r.Status), Reason: string(r.Reason), Message: r.Message, Allowed: r.Allowed}
	if out.Status == "" {
		out.Status = string(gate.Refused)
	}
	if len(r.Result) == 0 {
		return out
	}
	raw, err := canonical.NewRaw(r.Result, canonical.Limits{Bytes: room, Depth: deepResult})
	if err != nil {
		out.Omitted = len(r.Result)
		out.Message = fmt.Sprintf("%s\nthe result has %d bytes and cannot be sent; ask for less, such as a part of the file", r.Message, len(r.Result))
		return out
	}
	out.Result = raw
	return out
}

// roomForResults is less than maxResult by what else a reply may hold.
const roomForResults = maxResult - 1<<20

func repliesOf(rs []gate.Reply) Replies {
	out := Replies{Replies: make([]Reply, 0, len(rs))}
	room := roomForResults
	for _, r := range rs {
		one := replyOf(r, max(room, 1))
		room -= len(one.Result.String())
		out.Replies = append(out.Replies, one)
	}
	return out
}

// none is the params or the result of methods that have none.
type none struct{}

// CallParams are the params of call.
type CallParams struct {
	Capability string        `json:"capability"`
	Target     string        `json:"target"`
	Arguments  canonical.Raw `json:"arguments,omitzero"` // an object; none is {}
	Reasoning  string        `json:"reasoning,omitempty"`
	Key        string        `json:"key,omitempty"`
}

type skillName struct {
	Name string `json:"name"`
}

type skillPath struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// FileContent is the result of skill.read: text, or base64 if it is not UTF-8.
type FileContent struct {
	Content string `json:"content,omitempty"`
	Base64  string `json:"base64,omitempty"`
}

type skillList struct {
	Skills []SkillListing `json:"skills"`
}

// agentMethods is all that can be reached through agent.sock.
func agentMethods() map[string]method {
	return map[string]method{
		"session.open":  {alone, openSession},
		"session.close": {closes, nil},
		"hook.report":   {alone, reportHook},
		"status": forSession(func(ctx context.Context, s AgentSession, _ none) (SessionStatus, error) {
			return s.Status(ctx)
		}),
		"call": forSession(func(ctx context.Context, s AgentSession, p CallParams) (Reply, error) {
			call := gate.Call{Capability: p.Capability, Target: p.Target, Reasoning: p.Reasoning, Key: p.Key}
			if !p.Arguments.IsZero() {
				call.Arguments = []byte(p.Arguments.String())
			}
			return replyOf(s.Call(ctx, call), roomForResults), nil
		}),
		"commit": forSession(func(ctx context.Context, s AgentSession, _ none) (Replies, error) {
			rs, err := s.Commit(ctx)
			return repliesOf(rs), err
		}),
		"skill.list": forSession(func(ctx context.Context, s AgentSession, _ none) (skillList, error) {
			l, err := s.Skills(ctx)
			return skillList{l}, err
		}),
		"skill.use": forSession(func(ctx context.Context, s AgentSession, p skillName) (SkillContent, error) {
			return s.Use(ctx, p.Name)
		}),
		"skill.read": forSession(func(ctx context.Context, s AgentSession, p skillPath) (FileContent, error) {
			data, err := s.ReadSkill(ctx, p.Name, p.Path)
			if utf8.Valid(data) {
				return FileContent{Content: string(data)}, err
			}
			return FileContent{Base64: base64.StdEncoding.EncodeToString(data)}, err
		}),
	}
}

func openSession(ctx context.Context, c *conn, params string) (any, error) {
	req, err := paramsOf[OpenRequest](params)
	if err != nil {
		return nil, err
	}
	if c.session != nil {
		return nil, refused(SessionOpened, "this connection has a session", "open another connection for another session")
	}
	s, err := c.plane.server.opts.Agents.Open(ctx, c.peer, req)
	if err != nil {
		return nil, err
	}
	opened := s.Opened()
	c.session, c.sessionID = s, opened.Session
	return opened, nil
}

// forSession makes a method of what is done with the connection's session, which is there.
func forSession[P, R any](do func(context.Context, AgentSession, P) (R, error)) method {
	return method{beside, func(ctx context.Context, c *conn, params string) (any, error) {
		p, err := paramsOf[P](params)
		if err != nil {
			return nil, err
		}
		return do(ctx, c.session, p)
	}}
}
