package approval

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
)

// Schemas of the wire forms.
const (
	QuestionSchema = "iff/question/v1"
	AnswerSchema   = "iff/answer/v1"
)

// Bounds of the wire forms in bytes.
const (
	MaxQuestion = 64 << 20
	MaxAnswer   = 64 << 10
	// MaxContents is how much of the contents before and after a question
	// carries, in all. What does not fit counts as cut.
	MaxContents = 1 << 20

	usualQuestion = 2 << 10 // what most questions take less than
)

type wireQuestion struct {
	After    []wireCopy   `json:"after"`
	Agent    string       `json:"agent"`
	Asked    string       `json:"asked"`
	Before   []wireCopy   `json:"before"`
	Deadline string       `json:"deadline"`
	Doubts   []string     `json:"doubts"`
	Effect   string       `json:"effect"`
	Envelope string       `json:"envelope"`
	Fence    int64        `json:"fence"`
	Guarded  string       `json:"guarded"`
	Level    string       `json:"level"`
	Log      string       `json:"log"`
	Mark     string       `json:"mark"`
	Novel    bool         `json:"novel"`
	Op       string       `json:"op"`
	Plan     []wireChange `json:"plan"`
	Profile  string       `json:"profile"`
	Reach    string       `json:"reach"`
	Request  string       `json:"request"`
	Schema   string       `json:"schema"`
	Seq      int64        `json:"seq"`
	Session  string       `json:"session"`
	Sink     string       `json:"sink"`
	Skill    wireSkill    `json:"skill"`
}

type wireChange struct {
	After  string `json:"after"`
	Before string `json:"before"`
	Object string `json:"object"`
}

type wireCopy struct {
	Content string      `json:"content"` // digest, hex
	Cut     bool        `json:"cut"`
	Data    string      `json:"data"` // base64
	GID     uint32      `json:"gid"`
	Kind    string      `json:"kind"`
	List    string      `json:"list"` // digest of the extended attributes, hex
	Mode    uint32      `json:"mode"`
	UID     uint32      `json:"uid"`
	Xattrs  []wireXattr `json:"xattrs"`
}

type wireXattr struct {
	Name  string `json:"name"`  // base64
	Value string `json:"value"` // base64
}

type wireSkill struct {
	Content string `json:"content"`
	Level   string `json:"level"`
	Name    string `json:"name"`
	Signer  string `json:"signer"`
	Subject string `json:"subject"`
	Version int64  `json:"version"`
}

// MarshalJSON is the wire form, canonical JSON: what a socket carries to the
// approver, who makes the same rendering of it. It fails for a question with
// text that is not UTF-8 or with more than [MaxQuestion] bytes.
func (q Question) MarshalJSON() ([]byte, error) { return q.wire() }

func (q Question) wire() ([]byte, error) {
	q = q.bounded()
	w := wireQuestion{
		After: copiesOut(q.After), Agent: q.Agent, Asked: string(record.StampOf(q.Asked)), Before: copiesOut(q.Before),
		Deadline: string(record.StampOf(q.Deadline)), Doubts: q.Doubts, Effect: q.Effect.String(),
		Envelope: string(q.Envelope.Bytes()), Fence: q.Fence, Guarded: q.Guarded, Level: q.Level, Log: q.Log,
		Mark: q.Mark, Novel: q.Novel, Op: q.Op, Profile: q.Profile, Reach: q.Reach, Request: q.Request,
		Schema: QuestionSchema, Seq: q.Seq, Session: q.Session, Sink: q.Sink,
		Skill: wireSkill{q.Skill.Content, q.Skill.Level, q.Skill.Name, q.Skill.Signer, q.Skill.Subject, q.Skill.Version},
	}
	w.Plan = make([]wireChange, 0, len(q.Plan))
	for _, c := range q.Plan {
		w.Plan = append(w.Plan, wireChange{string(c.After), string(c.Before), string(c.Object)})
	}
	out, err := canonical.AppendMarshal(make([]byte, 0, usualQuestion), w)
	if err == nil && len(out) > MaxQuestion {
		err = refuse(WireInvalid, "the question has %d bytes, at most %d", len(out), MaxQuestion)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// bounded is q with the contents that it carries.
func (q Question) bounded() Question {
	room := int64(MaxContents)
	cut := func(copies []corpus.Copy) []corpus.Copy {
		out := copies
		for i, c := range copies {
			if !c.Cut && c.Size() <= room {
				room -= c.Size()
				continue
			}
			if &out[0] == &copies[0] {
				out = slices.Clone(copies)
			}
			out[i] = corpus.Copy{Facts: c.Facts, Cut: true}
		}
		return out
	}
	q.Before, q.After = cut(q.Before), cut(q.After)
	return q
}

func copiesOut(copies []corpus.Copy) []wireCopy {
	out := make([]wireCopy, 0, len(copies))
	for _, c := range copies {
		w := wireCopy{
			Content: hexOf(c.Facts.Content), Cut: c.Cut, Data: encode(c.Data), GID: c.Facts.GID,
			Kind: string(c.Facts.Kind), List: hexOf(c.Facts.Xattrs), Mode: c.Facts.Mode, UID: c.Facts.UID,
		}
		for _, x := range c.Xattrs {
			w.Xattrs = append(w.Xattrs, wireXattr{encode(x.Name), encode(x.Value)})
		}
		out = append(out, w)
	}
	return out
}

// hexOf is a digest in lower-case hex.
func hexOf(digest [32]byte) string {
	var text [64]byte
	hex.Encode(text[:], digest[:])
	return string(text[:])
}

func encode(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// ParseQuestion reads what [Question.MarshalJSON] wrote, and no other spelling
// of it. The error is *[Error] with reason approval-wire.
func ParseQuestion(data []byte) (Question, error) {
	var w wireQuestion
	if err := canonical.Parse(data, &w, canonical.Limits{Bytes: MaxQuestion}); err != nil {
		return Question{}, &Error{Reason: WireInvalid, Detail: err.Error(), Err: err}
	}
	q, err := w.question()
	if err != nil {
		return Question{}, &Error{Reason: WireInvalid, Detail: err.Error(), Err: err}
	}
	if again, err := q.wire(); err != nil || string(again) != string(data) {
		return Question{}, refuse(WireInvalid, "the bytes are not the one spelling of the question; get it again")
	}
	return q, nil
}

func (w wireQuestion) question() (Question, error) {
	if w.Schema != QuestionSchema {
		return Question{}, fmt.Errorf("schema %q; this program reads %q", w.Schema, QuestionSchema)
	}
	q := Question{
		Log: w.Log, Fence: w.Fence, Session: w.Session, Request: w.Request, Seq: w.Seq, Agent: w.Agent,
		Profile: w.Profile, Op: w.Op, Reach: w.Reach, Level: w.Level, Mark: w.Mark, Sink: w.Sink,
		Guarded: w.Guarded, Novel: w.Novel, Doubts: w.Doubts,
		Skill: record.Skill{
			Name: w.Skill.Name, Version: w.Skill.Version, Signer: w.Skill.Signer, Level: w.Skill.Level,
			Content: w.Skill.Content, Subject: w.Skill.Subject,
		},
	}
	for _, c := range w.Plan {
		change := corpus.Change{Object: corpus.Object(c.Object), Before: corpus.State(c.Before), After: corpus.State(c.After)}
		if !planned(change.Before) || !planned(change.After) {
			return Question{}, fmt.Errorf("plan: %q or %q is no state that can be planned", c.Before, c.After)
		}
		q.Plan = append(q.Plan, change)
	}
	var err error
	if q.Envelope, err = capability.ParseEnvelope([]byte(w.Envelope)); err != nil {
		return Question{}, fmt.Errorf("envelope: %w", err)
	}
	if q.Effect, err = effect(w.Effect); err != nil {
		return Question{}, err
	}
	if q.Asked, err = stamp(w.Asked); err != nil {
		return Question{}, fmt.Errorf("asked: %w", err)
	}
	if q.Deadline, err = stamp(w.Deadline); err != nil {
		return Question{}, fmt.Errorf("deadline: %w", err)
	}
	if q.Before, err = copiesIn(w.Before); err != nil {
		return Question{}, fmt.Errorf("before: %w", err)
	}
	if q.After, err = copiesIn(w.After); err != nil {
		return Question{}, fmt.Errorf("after: %w", err)
	}
	return q, nil
}

func planned(s corpus.State) bool { return s.Known() || s == corpus.Any }

func effect(s string) (capability.Effect, error) {
	for _, e := range []capability.Effect{capability.Irreversible, capability.Reversible, capability.None} {
		if e.String() == s {
			return e, nil
		}
	}
	return 0, fmt.Errorf("effect %q is not one", s)
}

func stamp(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err == nil && string(record.StampOf(t)) != s {
		err = fmt.Errorf("%q is not the one spelling of its time", s)
	}
	return t.UTC(), err
}

func copiesIn(copies []wireCopy) ([]corpus.Copy, error) {
	var out []corpus.Copy
	for _, w := range copies {
		c := corpus.Copy{
			Facts: corpus.Facts{Kind: corpus.Kind(w.Kind), Mode: w.Mode, UID: w.UID, GID: w.GID},
			Cut:   w.Cut,
		}
		data, err := base64.StdEncoding.DecodeString(w.Data)
		if err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
		c.Data = string(data)
		if c.Facts.Content, err = digest(w.Content); err != nil {
			return nil, err
		}
		if c.Facts.Xattrs, err = digest(w.List); err != nil {
			return nil, err
		}
		for _, x := range w.Xattrs {
			name, err1 := base64.StdEncoding.DecodeString(x.Name)
			value, err2 := base64.StdEncoding.DecodeString(x.Value)
			if err1 != nil || err2 != nil {
				return nil, fmt.Errorf("an extended attribute is not base64")
			}
			c.Xattrs = append(c.Xattrs, corpus.Xattr{Name: string(name), Value: string(value)})
		}
		out = append(out, c)
	}
	return out, nil
}

// digest reads a SHA-256 in lower-case hex.
func digest(s string) ([32]byte, error) {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != 32 || hex.EncodeToString(raw) != s {
		return [32]byte{}, fmt.Errorf("%q is not a SHA-256 in lower-case hex", s)
	}
	return [32]byte(raw), nil
}
