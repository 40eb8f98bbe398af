package gate

import (
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
)

// Rules are what a machine decides by. They do not change while it runs, except
// that a skill can be evicted.
type Rules struct {
	Skills    map[string]Skill // by subject; the base manifest under ""
	Clearance label.Label      // of the operator
	Bottom    label.Label      // of who has read nothing
	Calls     int              // of one session at once
	Asked     int              // of one agent waiting for a human at once; see mayAsk
	Unwanted  int64            // bytes of what one agent asks for in a day and nobody approves; see afford
	Buffer    int64            // bytes of states before, and of what is staged, of one session
}

// Skill is what the gate knows of a loaded skill.
type Skill struct {
	Name    string
	Subject string // hex; empty for the base manifest
	Level   level.Level
	Label   label.Label
	Grants  capability.Grants
}

// Facts are what a machine is told of a call. They do not change.
type Facts struct {
	ID         string
	Session    string
	Key        string // of the agent; may be empty
	Envelope   [32]byte
	Weight     int64 // bytes of the envelope
	Day        int64 // on which it is asked for
	Target     capability.Target
	Also       []capability.Target // what else it would change, such as where a rename leads
	Changes    []corpus.Object     // that it would change
	Reversible bool                // what it does can be put back
	Reads      []label.Label       // labels of what it would tell
	Sinks      []label.Label       // labels of what it would write to
	Tells      []string            // subjects of the skills whose files it would tell; empty for one that is not loaded
	Guarded    bool                // it would change a guarded object
	Spelled    bool                // it names a guarded object in a spelling that is refused
	Void       Reason              // why nothing here could do it; empty if it could
}

// phase is where a call stands. Each is named for what is awaited.
type phase uint8

const (
	previewing phase = iota + 1 // a plan, without a lease
	requesting                  // its request in the log
	asked                       // an answer
	deciding                    // the decision in the log
	staging                     // the staged write in the log
	staged                      // a confirmation to be asked for
	confirming                  // an answer about what is staged
	ready                       // its turn among those that were confirmed
	tainting                    // what its content does to the agent in the log
	reading                     // the host, for a read
	waiting                     // a lease
	planning                    // a plan, under the lease
	intending                   // the intent in the log
	doing                       // the host
	settling                    // the outcome in the log
	refusing                    // the refusal in the log
	doubtful                    // somebody to find out what became of it
	committed                   // done, can still be put back
)

// call is one call.
type call struct {
	Facts
	way      way
	at       phase
	skill    string // subject that was active when it was asked for
	answer   bool   // the decision is an approval
	approved bool   // an approving decision is in the log
	undoing  bool   // it is being put back
	leased   bool
	overdue  bool   // the agent was told that it is in doubt
	size     int64  // of the state before, in the buffer
	listed   int64  // bytes of the plan that is asked about
	unwanted int64  // bytes that count as unwanted until it is approved
	cause    Reason // why it is refused or failed
	hidden   bool   // cannot be done, and is asked about for what it reaches for
	told     bool   // that it waits for a lease
	recorded bool   // something of it is in the log
}

// sessionState is where a session stands.
type sessionState uint8

const (
	opening sessionState = iota + 1
	active
	paused
	ending
	ended
)

type session struct {
	id       string
	agent    string
	skill    string // subject of the active skill
	state    sessionState
	how      Ending
	undo     bool // all is put back before it ends
	open     int  // calls under way
	asked    int  // of them, that wait for a human
	unwanted tally
	staged   []string // in order, until they are committed or dropped
	done     []string // committed, in order, that can be put back
	undos    []string // to be put back, in order
	running  string   // the one of staged or undos that is under way
	buffer   int64
	records  []pendingRecord // the first is being recorded
	leavers  []Ticket        // who waits for its end
}

type pendingRecord struct {
	what    SessionRecord
	subject string
	ticket  Ticket
	level   level.Level // of a read of files of skills
	call    string      // that read
}

// agent is what a principal was given and has read in all its sessions.
type agent struct {
	level    level.Level
	given    bool // level counts
	mark     label.Label
	asked    int
	unwanted tally
	keys     []string // that its calls had, oldest first
}

type keyed struct{ agent, key string }

// recorded is what became of a call that had a key.
type recorded struct {
	id       string
	envelope [32]byte
}

// Machine is the pure part of a gate: what may happen next, and nothing of how.
// It is told events and answers with commands; it does no input or output, has
// no clock and no goroutine, and is deterministic. It is not safe for concurrent
// use. The zero value refuses everything.
type Machine struct {
	rules     Rules
	calls     map[string]*call
	doubts    map[string]*call // those of calls that are in doubt
	sessions  map[string]*session
	agents    map[string]*agent
	keys      map[keyed]recorded
	leases    leases
	queue     []*call // that wait for a lease, in order
	stale     bool    // somebody may get a lease now
	evicted   map[string]bool
	narrowing bool // a revocation waits for intents that are being recorded
	leased    int  // calls that hold a lease, those in doubt not counted
	held      bool // a barrier wants no leases
	quiet     bool // it was told that there are none
	dead      bool // the log takes no more
	touched   []*session
	out       []Command
}

// NewMachine makes a machine without sessions. The objects in doubt stay leased
// under the id of their call until that is settled.
func NewMachine(rules Rules, doubt map[string][]corpus.Object) *Machine {
	m := &Machine{
		rules: rules, calls: make(map[string]*call), doubts: make(map[string]*call), sessions: make(map[string]*session),
		agents: make(map[string]*agent), keys: make(map[keyed]recorded), leases: newLeases(), evicted: make(map[string]bool),
	}
	for id, objects := range doubt {
		c := &call{Facts: Facts{ID: id, Changes: objects}, at: doubtful, leased: true, recorded: true}
		m.calls[id], m.doubts[id] = c, c
		m.leases.take(id, objects)
	}
	return m
}

func (m *Machine) emit(c Command) { m.out = append(m.out, c) }

// Step takes an event and says what to do now. An event that does not fit, such
// as an answer to what was decided, changes nothing. The commands are good until
// the next Step.
func (m *Machine) Step(e Event) []Command {
	m.out = m.out[:0]
	if m.calls == nil {
		return nil
	}
	e.apply(m)
	m.settle()
	m.grant()
	return m.out
}

func (m *Machine) session(id string) *session { return m.sessions[id] }

func (m *Machine) agentOf(s *session) *agent { return m.agents[s.agent] }

// drop forgets a call.
func (m *Machine) drop(c *call) {
	m.release(c)
	delete(m.calls, c.ID)
	if s := m.session(c.Session); s != nil {
		s.open--
		m.unlist(s, c)
	}
}

// unlist takes a call out of what its session can commit or put back.
func (m *Machine) unlist(s *session, c *call) {
	s.buffer -= c.size
	c.size = 0
	if c.reversible() {
		s.staged, s.done = without(s.staged, c.ID), without(s.done, c.ID)
	}
	m.touched = append(m.touched, s)
}

// without removes an id from a list that has it at most once, mostly at the end.
func without(list []string, id string) []string {
	for i, other := range slices.Backward(list) {
		if other == id {
			return slices.Delete(list, i, i+1)
		}
	}
	return list
}

// rest sets a call aside that nothing is under way for.
func (m *Machine) rest(c *call, at phase) {
	c.at = at
	s := m.session(c.Session)
	s.open--
	m.touched = append(m.touched, s)
}

// wake takes it up again.
func (m *Machine) wake(c *call, at phase) {
	c.at = at
	m.session(c.Session).open++
}

// doubt sets a call aside of which nobody knows what became. It keeps its lease,
// and its session forgets it.
func (m *Machine) doubt(c *call) {
	m.leased--
	m.turn(c)
	m.rest(c, doubtful)
	m.unlist(m.session(c.Session), c)
	m.doubts[c.ID] = c
}

func (e Settled) apply(m *Machine) {
	c := m.doubts[e.ID]
	if c == nil {
		return
	}
	m.release(c)
	delete(m.doubts, c.ID)
	delete(m.calls, c.ID)
}

// underWay says whether something is being done for the call, so that its
// session cannot end.
func (c *call) underWay() bool { return c.at != staged && c.at != committed && c.at != doubtful }
