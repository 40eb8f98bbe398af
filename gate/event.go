package gate

import (
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
)

// Event is something that happened.
type Event interface{ apply(*Machine) }

// The events of a call.
type (
	// Submitted: an agent asks for a call.
	Submitted struct{ Facts }
	// Planned: a host said what a call would do.
	Planned struct {
		ID      string
		Refused Reason // empty if it can be done
		Size    int64  // bytes to keep: of the state before, or of what is staged
		Listed  int64  // bytes that the plan takes in the log
		Wider   bool   // it would change more than the active manifest grants
	}
	// Appended: records of a call are durable, or not.
	Appended struct {
		ID     string
		Failed bool
		Fatal  bool // the log takes no more
	}
	// Answered: a broker decided.
	Answered struct {
		ID      string
		Approve bool
		Why     Reason // of a denial
	}
	// Finished: the host came back, and the objects were read.
	Finished struct {
		ID     string
		Failed Reason // empty if it was done
	}
	// Overdue: the host did not come back in time.
	Overdue struct{ ID string }
	// WaitedEnough: a call got no lease in time.
	WaitedEnough struct{ ID string }
	// Settled: a call in doubt is none any more.
	Settled struct{ ID string }
)

// Ending is how a session ends. The zero value is that its agent left.
type Ending uint8

// The endings.
const (
	Closing Ending = iota
	Stopping
	Aborting
)

// Ticket tells who wanted a change of a session, so that they can be told. The
// zero value is nobody.
type Ticket int64

// The events of sessions and of the gate.
type (
	// Opened: an agent's connection wants a session. What the log says of the
	// agent comes with it.
	Opened struct {
		Session, Agent string
		Level          level.Level
		Given          bool // Level counts
		Mark           label.Label
		Skill          string // subject of the skill that is active
		Paused         bool   // an operator had paused it
		Ticket         Ticket
	}
	// Given: the content of a skill is asked for.
	Given struct {
		Session, Subject string
		Ticket           Ticket
	}
	// Recorded: a record of a session is durable, or not.
	Recorded struct {
		Session string
		Failed  bool
		Fatal   bool
	}
	// Pausing and Resuming: an operator.
	Pausing struct {
		Session string
		Ticket  Ticket
	}
	Resuming struct {
		Session string
		Ticket  Ticket
	}
	// Ended: a session is to end, with Undo after putting back what it did.
	Ended struct {
		Session string
		How     Ending
		Undo    bool
		Ticket  Ticket
	}
	// Confirming: what a session has staged is to be asked about.
	Confirming struct {
		Session string
		Ticket  Ticket
	}
	// Undoing: what a session committed is to be put back.
	Undoing struct {
		Session string
		Ticket  Ticket
	}
	// Forgiven: an operator clears what an agent was given and has read.
	Forgiven struct{ Agent string }
	// Narrowed: a signed narrowing of the trust root takes skills away.
	Narrowed struct{ Subjects []string }
	// Held and Unheld: a barrier begins and ends.
	Held   struct{}
	Unheld struct{}
)

// Command is something to do. Each ends in an event, except Answer, Late and
// Quiet.
type Command interface{ of() string }

// What is recorded of a call, in one batch.
type What uint8

// The batches.
const (
	Denial          What = iota + 1 // request, deny
	AskedFor                        // request
	Decided                         // decision
	StagedFor                       // reversible.request, staged
	IntendedByLevel                 // request, approve, (staged,) intent
	IntendedToAct                   // intent or commit.intent
	IntendedToUndo                  // rollback.intent
	ReadByLevel                     // request, approve, executed or error
	Came                            // outcome of the intent, or of an asked read
	NotTried                        // error, approved and not attempted
	Dropped                         // rolled-back, never in the world
)

// The commands of a call.
type (
	// Preview: plan it, without a lease.
	Preview struct{ ID string }
	// Wait: there is no lease for it yet.
	Wait struct{ ID string }
	// PlanIt: plan it, under its lease. Approved says that a decision is in the
	// log, which the plan has to be held against.
	PlanIt struct {
		ID       string
		Approved bool
		Undo     bool
	}
	// Append: make the records durable, then report [Appended].
	Append struct {
		ID   string
		What What
		Why  Reason // of a denial, or of what was not tried
		Undo bool
		Bare bool // of a denial: without what was asked for, of which only the hash is kept
	}
	// Ask: put it to the broker, and report [Answered].
	Ask struct{ ID string }
	// Abandon: the question is not asked any more.
	Abandon struct{ ID string }
	// DoIt: let the host do it. Under the zero phase nothing is done.
	DoIt struct {
		ID    string
		Phase Phase
	}
	// Tell: tell the agent how the call ended, or that it is staged or in doubt.
	// Last says that no more will come of it.
	Tell struct {
		ID     string
		Status Status
		Reason Reason
		Last   bool
	}
	// Repeat: tell the agent what is told of another call, which had its key.
	Repeat struct{ ID, Of string }
	// Late: the answer came too late.
	Late struct{ ID string }
)

// The commands of sessions and of the gate.
type (
	// RecordSession: make a record of the session durable, then report [Recorded].
	RecordSession struct {
		Session string
		What    SessionRecord
		Subject string      // of the skill that is delivered
		Level   level.Level // of [RecordTold]: the lowest of what is about to be told
		How     Ending
	}
	// TellSession: whoever asked for a change of the session is told.
	TellSession struct {
		Session string
		Ticket  Ticket
		Failed  Reason
		Over    bool // the session is no more
	}
	// Evict: record a narrowing; no intent of the skills is on its way.
	Evict struct{}
	// Quiet: nobody holds a lease, and nobody gets one until [Unheld].
	Quiet struct{}
)

// SessionRecord is a transition that is recorded.
type SessionRecord uint8

// The transitions.
const (
	RecordOpened SessionRecord = iota + 1
	RecordSkill
	RecordPaused
	RecordResumed
	RecordEnded
	RecordTold // a read is about to tell files of skills; none of them is active by that
)

func (c Preview) of() string       { return c.ID }
func (c Wait) of() string          { return c.ID }
func (c PlanIt) of() string        { return c.ID }
func (c Append) of() string        { return c.ID }
func (c Ask) of() string           { return c.ID }
func (c Abandon) of() string       { return c.ID }
func (c DoIt) of() string          { return c.ID }
func (c Tell) of() string          { return c.ID }
func (c Repeat) of() string        { return c.ID }
func (c Late) of() string          { return c.ID }
func (c RecordSession) of() string { return "" }
func (c TellSession) of() string   { return "" }
func (c Evict) of() string         { return "" }
func (c Quiet) of() string         { return "" }
