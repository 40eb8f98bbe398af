package record

import "time"

// What happens to a call (DESIGN sections 5 and 9). All records of one call
// have the same request id.

// The kinds.
const (
	KindRequest           Kind = "request"
	KindReversibleRequest Kind = "reversible.request"
	KindDecision          Kind = "decision"
	KindLateDecision      Kind = "decision.late"
	KindIntent            Kind = "intent"
	KindExecuted          Kind = "executed"
	KindError             Kind = "error"
	KindStaged            Kind = "staged"
	KindCommitIntent      Kind = "commit.intent"
	KindCommitted         Kind = "committed"
	KindRollbackIntent    Kind = "rollback.intent"
	KindRolledBack        Kind = "rolled-back"
	KindResolved          Kind = "resolved"
	KindMutation          Kind = "mutation"
)

// Payload is bytes that belong to a record: in the line itself where they are
// short text, else in the blob store under their SHA-256. The zero value is
// no payload.
type Payload struct {
	Digest Hash
	Size   int64
	Text   string // the bytes, if they stand here
}

// MaxInline is the longest payload that stands in a line, in bytes.
const MaxInline = 8 << 10

func (b *Payload) walk(c *codec) {
	c.open()
	c.hash("digest", &b.Digest)
	c.int("size", &b.Size)
	c.optText("text", &b.Text)
	c.close()
}

func (b *Payload) opt(c *codec, name string) {
	if !c.has(name, *b == Payload{}) {
		*b = Payload{}
		return
	}
	b.walk(c)
}

// Request says what is asked for, before anyone decides. All that a session
// knows that bears on the decision stands in it.
type Request struct {
	Agent      string // principal that asks
	Capability string // token of the vocabulary
	Effect     string // none, reversible, irreversible
	Envelope   Hash   // of the canonical envelope
	Guarded    string // name of the loaded skill or control file that it reaches for; may be empty
	Key        string // the agent's idempotency key; may be empty
	Level      string // of the session
	Mark       string // label of all that the session has read, this call's input included
	Payload    Payload
	Plan       []Change // what it would do; "any" before and after where it appends
	Rest       Payload  // the plan, where it is too long for the line
	Sink       string   // label that what it writes to may hold; empty for reads
	Skill      string   // subject of the active skill, hex; may be empty
	Target     string   // as resolved
}

func (b *Request) walk(c *codec) {
	c.open()
	c.text("agent", &b.Agent)
	c.text("capability", &b.Capability)
	c.text("effect", &b.Effect)
	c.hash("envelope", &b.Envelope)
	c.optText("guarded", &b.Guarded)
	c.optText("key", &b.Key)
	c.text("level", &b.Level)
	c.text("mark", &b.Mark)
	b.Payload.opt(c, "payload")
	changes(c, "plan", &b.Plan)
	b.Rest.opt(c, "rest")
	c.optText("sink", &b.Sink)
	c.optText("skill", &b.Skill)
	c.text("target", &b.Target)
	c.close()
}

// ReversibleRequest is the request of a call that is staged.
type ReversibleRequest struct{ Request }

// Choice is what a decision says. The zero value is refused; deny is what
// everything but an explicit approve means.
type Choice string

// The choices.
const (
	Approve Choice = "approve"
	Deny    Choice = "deny"
)

var choices = []Choice{Approve, Deny}

// Cause is why a decision says what it says.
type Cause string

// The causes.
const (
	CauseHuman      Cause = "human"
	CausePolicy     Cause = "policy"
	CauseWebhook    Cause = "webhook"
	CauseLevel      Cause = "level" // a grant covers it at the skill's level
	CauseUndeclared Cause = "undeclared"
	CauseTimeout    Cause = "timeout"
	CauseCancelled  Cause = "cancelled"
	CauseRevoked    Cause = "revoked"
	CauseLabel      Cause = "label"
	CauseBroker     Cause = "broker" // there is none, or it failed
	CauseCrash      Cause = "crash"
	CauseHost       Cause = "host"    // the call cannot be done as it is, or nothing here can do it
	CauseSession    Cause = "session" // paused, ended, or over its limits
)

var causes = []Cause{
	CauseHuman, CausePolicy, CauseWebhook, CauseLevel, CauseUndeclared, CauseTimeout, CauseCancelled,
	CauseRevoked, CauseLabel, CauseBroker, CauseCrash, CauseHost, CauseSession,
}

// Decision is what a broker said of the request before it that has the same
// id, bound to its envelope.
type Decision struct {
	Approver  string // signer id of who signed; may be empty
	Batch     []Hash // digests of all that was signed together; empty if it is this alone
	Broker    string
	Cause     Cause
	Choice    Choice
	Envelope  Hash
	Expires   time.Time // of an approval; zero if it does not
	Nonce     string
	Passed    []string // brokers that were asked before and had no opinion, in order
	Profile   string
	Reason    string // closed token, of a denial; may be empty
	Rule      string // grant or policy rule that decided
	SameUID   bool   // the approver's user is the agent's
	Signature string // base64, over the approval (DESIGN section 9)
	View      Hash   // of the rendering that was shown; zero if none was
}

func (b *Decision) walk(c *codec) {
	c.open()
	c.optText("approver", &b.Approver)
	c.optHashes("batch", &b.Batch)
	c.text("broker", &b.Broker)
	token(c, "cause", &b.Cause, causes)
	token(c, "choice", &b.Choice, choices)
	c.hash("envelope", &b.Envelope)
	c.optTime("expires", &b.Expires)
	c.optText("nonce", &b.Nonce)
	c.optTexts("passed", &b.Passed)
	c.text("profile", &b.Profile)
	c.optText("reason", &b.Reason)
	c.optText("rule", &b.Rule)
	c.bool("sameUid", &b.SameUID)
	c.optText("signature", &b.Signature)
	c.optHash("view", &b.View)
	c.close()
}

// LateDecision came after the request was decided and has no effect.
type LateDecision struct{ Decision }

// Intent consumes the decision before it that has the same request id, and says
// what is about to be done. A decision is consumed once.
type Intent struct {
	Attempt  int64 // from 1
	Envelope Hash
	Fence    int64    // of the runtime
	Key      string   // idempotency key, minted by the gate
	Plan     []Change // what each object is and is to become
	Rest     Payload  // the plan, where it is too long for the line
	Staging  string   // name of the file that is written before it takes its place
}

func (b *Intent) walk(c *codec) {
	c.open()
	c.int("attempt", &b.Attempt)
	c.hash("envelope", &b.Envelope)
	c.int("fence", &b.Fence)
	c.text("key", &b.Key)
	changes(c, "plan", &b.Plan)
	b.Rest.opt(c, "rest")
	c.optText("staging", &b.Staging)
	c.close()
}

// CommitIntent is the intent to write what was staged.
type CommitIntent struct{ Intent }

// RollbackIntent is the intent to put back what was before a commit.
type RollbackIntent struct{ Intent }

// Outcome is what came of a call: of the intent before it that has the same
// request id, if there is one.
type Outcome struct {
	Detail   string // the host's words
	Envelope Hash
	Readings []Change
	Reason   string  // closed token, where something was refused or failed
	Rest     Payload // the readings, where they are too long for the line
	Result   Payload // what the agent was told
}

func (b *Outcome) walk(c *codec) {
	c.open()
	c.optText("detail", &b.Detail)
	c.hash("envelope", &b.Envelope)
	changes(c, "readings", &b.Readings)
	c.optText("reason", &b.Reason)
	b.Rest.opt(c, "rest")
	b.Result.opt(c, "result")
	c.close()
}

// Executed says that the call was done.
type Executed struct{ Outcome }

// Error says that the host refused or failed. Without an intent before it the
// call was approved and then not attempted, for the reason it gives.
type Error struct{ Outcome }

// Committed says that what was staged is in the world.
type Committed struct{ Outcome }

// RolledBack says that what was committed was put back. Without a
// rollback.intent before it, it says that what was staged was dropped and never
// reached the world.
type RolledBack struct{ Outcome }

// Staged says that a reversible write waits in memory.
type Staged struct {
	Bytes    int64
	Envelope Hash
	Plan     []Change
	Rest     Payload
}

func (b *Staged) walk(c *codec) {
	c.open()
	c.int("bytes", &b.Bytes)
	c.hash("envelope", &b.Envelope)
	changes(c, "plan", &b.Plan)
	b.Rest.opt(c, "rest")
	c.close()
}

// Finding is what became of a call in doubt.
type Finding string

// The findings.
const (
	FoundExecuted    Finding = "executed"
	FoundNotExecuted Finding = "not-executed"
	FoundPartial     Finding = "partial"
	FoundConflict    Finding = "conflict"
)

var findings = []Finding{FoundExecuted, FoundNotExecuted, FoundPartial, FoundConflict}

// Resolved closes a call that was in doubt.
type Resolved struct {
	By       string // "recovery", or the operator
	Evidence string
	Finding  Finding
	Readings []Change // planned before, found now
	Rest     Payload  // the readings, where they are too long for the line
}

func (b *Resolved) walk(c *codec) {
	c.open()
	c.text("by", &b.By)
	c.text("evidence", &b.Evidence)
	token(c, "finding", &b.Finding, findings)
	changes(c, "readings", &b.Readings)
	b.Rest.opt(c, "rest")
	c.close()
}

// Mutation says that a call reached for a file of a loaded skill or another
// guarded object (paper G12): whatever was decided, and with three states. A call
// that is refused for the way on which it reaches there has no plan, and Proposed
// is corpus.Unreadable; what it would have written is in the payload of its request.
type Mutation struct {
	After    string // what is there now; empty while nothing was decided
	Approved bool
	Before   string
	Object   string
	Proposed string
	Route    string // how it was reached: path, link, rename, mount, ...
	Skill    string // name
	Subject  string // hex, of the loaded skill
}

func (b *Mutation) walk(c *codec) {
	c.open()
	c.optText("after", &b.After)
	c.bool("approved", &b.Approved)
	c.text("before", &b.Before)
	c.text("object", &b.Object)
	c.text("proposed", &b.Proposed)
	c.text("route", &b.Route)
	c.text("skill", &b.Skill)
	c.text("subject", &b.Subject)
	c.close()
}

// Payloads lists the payloads that a body names.
func Payloads(b Body) []Payload {
	var out []Payload
	switch b := b.(type) {
	case Request:
		out = []Payload{b.Payload, b.Rest}
	case ReversibleRequest:
		out = []Payload{b.Payload, b.Rest}
	case Intent:
		out = []Payload{b.Rest}
	case CommitIntent:
		out = []Payload{b.Rest}
	case RollbackIntent:
		out = []Payload{b.Rest}
	case Executed:
		out = []Payload{b.Rest, b.Result}
	case Error:
		out = []Payload{b.Rest, b.Result}
	case Committed:
		out = []Payload{b.Rest, b.Result}
	case RolledBack:
		out = []Payload{b.Rest, b.Result}
	case Staged:
		out = []Payload{b.Rest}
	case Resolved:
		out = []Payload{b.Rest}
	case Barrier:
		for _, c := range b.Corpora {
			out = append(out, c.Snapshot)
		}
	case Verdict:
		out = []Payload{b.Report}
	case Recovery:
		out = []Payload{b.Torn}
	}
	return out
}
