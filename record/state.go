package record

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Identity is what versions are counted by: a name under a signer.
type Identity struct{ Name, Signer string }

// Observed is the newest version of an identity that was seen.
type Observed struct {
	Version int64
	Subject string // of that version
}

// Call is a call without an outcome. Sequence numbers are -1 where there is no
// such record.
type Call struct {
	ID         string
	Session    string
	Reversible bool
	Request    int64
	Decision   int64
	Staged     int64
	Intent     int64
	InDoubt    bool // a recovery found it without an outcome
}

// State is what the records say about the past. The zero value is the state
// of an empty log. It is safe for concurrent use and moves on while records are
// appended.
type State struct {
	mu sync.RWMutex // guards all fields

	size      int64 // records folded
	origin    string
	root      string
	logKey    string
	epoch     int64
	fence     int64
	trust     trustPoint
	observed  map[Identity]Observed
	placed    map[string]Skill
	order     []string // directories in the order they first appeared
	calls     map[string]Call
	sessions  map[string]OpenSession
	agents    map[string]Agent
	tools     map[string]ToolPin // by server/tool
	verdictAt int64              // sequence number of the last verdict plus one
}

type trustPoint struct {
	Version int64
	Digest  string
}

// Apply folds one record. A record never lowers what was observed, and applying
// one twice is applying it once.
func (s *State) Apply(r Record) { s.ApplyAll([]Record{r}) }

// ApplyAll folds records in their order.
func (s *State) ApplyAll(records []Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range records {
		s.apply(&records[i])
	}
}

func (s *State) apply(r *Record) {
	s.size = max(s.size, r.Seq+1)
	switch b := r.Body.(type) {
	case Init:
		s.begin(b)
	case KeyRotated:
		if b.Epoch == s.epoch+1 && b.Old == s.logKey {
			s.logKey, s.epoch = strings.Clone(b.New), b.Epoch
		}
	case Boot:
		s.fence = max(s.fence, b.Fence)
	case TrustChanged:
		s.trusted(b.Version, b.Digest)
	case Revocation:
		s.trusted(b.Version, b.Digest)
	case SkillAdopted:
		s.place(b.Directory, b.Skill)
	case SkillSigned:
		s.place(b.Directory, b.Skill)
	case SkillLoaded:
		s.place(b.Directory, b.Skill)
	case Session:
		s.session(r, b)
	case Verdict:
		s.verdictAt = r.Seq + 1
	case Tool:
		s.pin(b)
	case Recovery:
		s.recovered(b)
	default:
		s.call(r)
	}
}

func (s *State) begin(b Init) {
	if s.origin != "" {
		return // a log begins once
	}
	s.origin, s.root, s.logKey, s.epoch = strings.Clone(b.Origin), strings.Clone(b.Root), strings.Clone(b.LogKey), 1
	s.trusted(1, b.TrustDigest)
}

func (s *State) trusted(version int64, digest string) {
	if version > s.trust.Version {
		s.trust = trustPoint{version, strings.Clone(digest)}
	}
}

// place folds that a directory was seen to hold a skill.
func (s *State) place(directory string, k Skill) {
	if s.observed == nil {
		s.observed, s.placed = make(map[Identity]Observed), make(map[string]Skill)
	}
	k = k.clone()
	id := Identity{Name: k.Name, Signer: k.Signer}
	if old, ok := s.observed[id]; !ok || k.Version > old.Version {
		s.observed[id] = Observed{Version: k.Version, Subject: k.Subject}
	}
	if _, ok := s.placed[directory]; !ok {
		directory = strings.Clone(directory)
		s.order = append(s.order, directory)
	}
	s.placed[directory] = k
}

// clone lets go of the line that the strings were read from.
func (b Skill) clone() Skill {
	for _, s := range []*string{&b.Content, &b.Level, &b.Name, &b.Signer, &b.Subject} {
		*s = strings.Clone(*s)
	}
	return b
}

// call folds the records of one call.
func (s *State) call(r *Record) {
	switch b := r.Body.(type) {
	case Request:
		s.know(b.Agent, "", b.Mark)
		s.open(r, false)
	case ReversibleRequest:
		s.know(b.Agent, "", b.Mark)
		s.open(r, true)
	case Decision:
		s.decide(r, b.Choice)
	case Staged:
		s.step(r, func(c *Call) { c.Staged = r.Seq })
	case Intent, CommitIntent:
		s.step(r, func(c *Call) { c.Intent = r.Seq })
	case RollbackIntent:
		s.open(r, true)
		s.step(r, func(c *Call) { c.Intent, c.Request = r.Seq, -1 })
	case Executed, Error, Committed, RolledBack, Resolved:
		delete(s.calls, r.Request)
	}
}

// decide folds a decision. Only the first counts, and none behind an intent,
// such as that of a rollback: it must not make an intent disappear.
func (s *State) decide(r *Record, choice Choice) {
	c, ok := s.calls[r.Request]
	if !ok || c.Decision >= 0 || c.Intent >= 0 {
		return
	}
	if choice != Approve {
		delete(s.calls, r.Request)
		return
	}
	s.step(r, func(c *Call) { c.Decision = r.Seq })
}

// open begins a call, unless it is open already.
func (s *State) open(r *Record, reversible bool) {
	if _, ok := s.calls[r.Request]; ok {
		return
	}
	if s.calls == nil {
		s.calls = make(map[string]Call)
	}
	id := strings.Clone(r.Request)
	s.calls[id] = Call{ID: id, Session: strings.Clone(r.Session), Reversible: reversible, Request: r.Seq, Decision: -1, Staged: -1, Intent: -1}
}

func (s *State) step(r *Record, change func(*Call)) {
	if c, ok := s.calls[r.Request]; ok {
		change(&c)
		s.calls[c.ID] = c
	}
}

func (s *State) recovered(b Recovery) {
	for _, ids := range [][]string{b.Denied, b.Expired, b.RolledBack} {
		for _, id := range ids {
			delete(s.calls, id)
		}
	}
	for _, id := range b.InDoubt {
		if c, ok := s.calls[id]; ok {
			c.InDoubt = true
			s.calls[c.ID] = c
		}
	}
}

// Size is the number of records folded.
func (s *State) Size() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.size
}

// Observed returns the newest version seen of an identity.
func (s *State) Observed(id Identity) (Observed, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	o, ok := s.observed[id]
	return o, ok
}

// Placed returns the skill that a directory was last adopted, signed or loaded
// as.
func (s *State) Placed(directory string) (Skill, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	k, ok := s.placed[directory]
	return k, ok
}

// Directories lists every directory whose skill was adopted, signed or loaded,
// in the order of their first appearance.
func (s *State) Directories() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.order)
}

// Trust returns the newest trust document that was recorded: version and
// digest; version 0 if none was.
func (s *State) Trust() (version int64, digest string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.trust.Version, s.trust.Digest
}

// Root is the fingerprint of the root key that init recorded.
func (s *State) Root() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.root
}

// Log says which log this is, the public key (base64) that signs its
// checkpoints now, and the number of that key. Before init all are zero.
func (s *State) Log() (origin, key string, epoch int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.origin, s.logKey, s.epoch
}

// Fence is the highest that a runtime booted with.
func (s *State) Fence() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.fence
}

// Calls lists the calls without an outcome, in the order of their ids.
func (s *State) Calls() []Call {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.calls), func(a, b Call) int { return strings.Compare(a.ID, b.ID) })
}

// Intents is the number of calls that have an intent and no outcome.
func (s *State) Intents() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := 0
	for _, c := range s.calls {
		if c.Intent >= 0 {
			n++
		}
	}
	return n
}

// Intended says whether a call has an intent and no outcome.
func (s *State) Intended(id string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.calls[id]
	return ok && c.Intent >= 0
}

// LastVerdict is the sequence number of the newest verdict; false if there is
// none.
func (s *State) LastVerdict() (int64, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.verdictAt - 1, s.verdictAt > 0
}

// Canonical is the state as canonical JSON. Equal states have equal bytes.
func (s *State) Canonical() []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := codec{writing: true, out: make([]byte, 0, 2<<10)}
	s.walk(&c)
	return c.out
}

// Digest is the SHA-256 of the canonical form.
func (s *State) Digest() Hash { return sha256.Sum256(s.Canonical()) }

// ParseState reads what Canonical wrote and nothing else; its error is
// [ErrLine].
func ParseState(data []byte) (*State, error) {
	s := new(State)
	c := codec{in: string(data)}
	s.walk(&c)
	if c.end(); c.err != nil {
		return nil, fmt.Errorf("folded state: %w", c.err)
	}
	if string(s.Canonical()) != string(data) {
		return nil, fmt.Errorf("folded state: not in canonical order: %w", ErrLine)
	}
	return s, nil
}
