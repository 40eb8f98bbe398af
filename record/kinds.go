package record

import (
	"maps"
	"slices"
)

// bodies have the body of each kind, empty.
var bodies = map[Kind]Body{
	KindInit:              Init{},
	KindKeyCreated:        KeyCreated{},
	KindKeyRotated:        KeyRotated{},
	KindTrustChanged:      TrustChanged{},
	KindSkillAdopted:      SkillAdopted{},
	KindSkillSigned:       SkillSigned{},
	KindSkillLoaded:       SkillLoaded{},
	KindSkillRefused:      SkillRefused{},
	KindSkillEvicted:      SkillEvicted{},
	KindRevocation:        Revocation{},
	KindRequest:           Request{},
	KindReversibleRequest: ReversibleRequest{},
	KindDecision:          Decision{},
	KindLateDecision:      LateDecision{},
	KindIntent:            Intent{},
	KindExecuted:          Executed{},
	KindError:             Error{},
	KindStaged:            Staged{},
	KindCommitIntent:      CommitIntent{},
	KindCommitted:         Committed{},
	KindRollbackIntent:    RollbackIntent{},
	KindRolledBack:        RolledBack{},
	KindResolved:          Resolved{},
	KindMutation:          Mutation{},
	KindBoot:              Boot{},
	KindLock:              Lock{},
	KindSession:           Session{},
	KindBarrier:           Barrier{},
	KindVerdict:           Verdict{},
	KindRecovery:          Recovery{},
	KindCheckpoint:        Checkpoint{},
	KindTool:              Tool{},
	KindHook:              Hook{},
	KindRefused:           Refused{},
}

// Kinds lists all kinds.
func Kinds() []Kind {
	return slices.Sorted(maps.Keys(bodies))
}

func decode(k Kind, c *codec) Body {
	b, ok := bodies[k]
	if !ok {
		c.fail("a kind that is not known; a newer iff wrote it, or nobody")
		return nil
	}
	return b.decode(c)
}

// Kind implements Body.
func (Init) Kind() Kind { return KindInit }

// Kind implements Body.
func (KeyCreated) Kind() Kind { return KindKeyCreated }

// Kind implements Body.
func (KeyRotated) Kind() Kind { return KindKeyRotated }

// Kind implements Body.
func (TrustChanged) Kind() Kind { return KindTrustChanged }

// Kind implements Body.
func (SkillAdopted) Kind() Kind { return KindSkillAdopted }

// Kind implements Body.
func (SkillSigned) Kind() Kind { return KindSkillSigned }

// Kind implements Body.
func (SkillLoaded) Kind() Kind { return KindSkillLoaded }

// Kind implements Body.
func (SkillRefused) Kind() Kind { return KindSkillRefused }

// Kind implements Body.
func (SkillEvicted) Kind() Kind { return KindSkillEvicted }

// Kind implements Body.
func (Revocation) Kind() Kind { return KindRevocation }

// Kind implements Body.
func (Request) Kind() Kind { return KindRequest }

// Kind implements Body.
func (ReversibleRequest) Kind() Kind { return KindReversibleRequest }

// Kind implements Body.
func (Decision) Kind() Kind { return KindDecision }

// Kind implements Body.
func (LateDecision) Kind() Kind { return KindLateDecision }

// Kind implements Body.
func (Intent) Kind() Kind { return KindIntent }

// Kind implements Body.
func (Executed) Kind() Kind { return KindExecuted }

// Kind implements Body.
func (Error) Kind() Kind { return KindError }

// Kind implements Body.
func (Staged) Kind() Kind { return KindStaged }

// Kind implements Body.
func (CommitIntent) Kind() Kind { return KindCommitIntent }

// Kind implements Body.
func (Committed) Kind() Kind { return KindCommitted }

// Kind implements Body.
func (RollbackIntent) Kind() Kind { return KindRollbackIntent }

// Kind implements Body.
func (RolledBack) Kind() Kind { return KindRolledBack }

// Kind implements Body.
func (Resolved) Kind() Kind { return KindResolved }

// Kind implements Body.
func (Mutation) Kind() Kind { return KindMutation }

// Kind implements Body.
func (Boot) Kind() Kind { return KindBoot }

// Kind implements Body.
func (Lock) Kind() Kind { return KindLock }

// Kind implements Body.
func (Session) Kind() Kind { return KindSession }

// Kind implements Body.
func (Barrier) Kind() Kind { return KindBarrier }

// Kind implements Body.
func (Verdict) Kind() Kind { return KindVerdict }

// Kind implements Body.
func (Recovery) Kind() Kind { return KindRecovery }

// Kind implements Body.
func (Checkpoint) Kind() Kind { return KindCheckpoint }

// Kind implements Body.
func (Tool) Kind() Kind { return KindTool }

// Kind implements Body.
func (Hook) Kind() Kind { return KindHook }

// Kind implements Body.
func (Refused) Kind() Kind { return KindRefused }

func (b Init) encode(c *codec)              { b.walk(c) }
func (b KeyCreated) encode(c *codec)        { b.walk(c) }
func (b KeyRotated) encode(c *codec)        { b.walk(c) }
func (b TrustChanged) encode(c *codec)      { b.walk(c) }
func (b SkillAdopted) encode(c *codec)      { b.walk(c) }
func (b SkillSigned) encode(c *codec)       { b.walk(c) }
func (b SkillLoaded) encode(c *codec)       { b.walk(c) }
func (b SkillRefused) encode(c *codec)      { b.walk(c) }
func (b SkillEvicted) encode(c *codec)      { b.walk(c) }
func (b Revocation) encode(c *codec)        { b.walk(c) }
func (b Request) encode(c *codec)           { b.walk(c) }
func (b ReversibleRequest) encode(c *codec) { b.walk(c) }
func (b Decision) encode(c *codec)          { b.walk(c) }
func (b LateDecision) encode(c *codec)      { b.walk(c) }
func (b Intent) encode(c *codec)            { b.walk(c) }
func (b Executed) encode(c *codec)          { b.walk(c) }
func (b Error) encode(c *codec)             { b.walk(c) }
func (b Staged) encode(c *codec)            { b.walk(c) }
func (b CommitIntent) encode(c *codec)      { b.walk(c) }
func (b Committed) encode(c *codec)         { b.walk(c) }
func (b RollbackIntent) encode(c *codec)    { b.walk(c) }
func (b RolledBack) encode(c *codec)        { b.walk(c) }
func (b Resolved) encode(c *codec)          { b.walk(c) }
func (b Mutation) encode(c *codec)          { b.walk(c) }
func (b Boot) encode(c *codec)              { b.walk(c) }
func (b Lock) encode(c *codec)              { b.walk(c) }
func (b Session) encode(c *codec)           { b.walk(c) }
func (b Barrier) encode(c *codec)           { b.walk(c) }
func (b Verdict) encode(c *codec)           { b.walk(c) }
func (b Recovery) encode(c *codec)          { b.walk(c) }
func (b Checkpoint) encode(c *codec)        { b.walk(c) }
func (b Tool) encode(c *codec)              { b.walk(c) }
func (b Hook) encode(c *codec)              { b.walk(c) }
func (b Refused) encode(c *codec)           { b.walk(c) }

func (b Init) decode(c *codec) Body              { b.walk(c); return b }
func (b KeyCreated) decode(c *codec) Body        { b.walk(c); return b }
func (b KeyRotated) decode(c *codec) Body        { b.walk(c); return b }
func (b TrustChanged) decode(c *codec) Body      { b.walk(c); return b }
func (b SkillAdopted) decode(c *codec) Body      { b.walk(c); return b }
func (b SkillSigned) decode(c *codec) Body       { b.walk(c); return b }
func (b SkillLoaded) decode(c *codec) Body       { b.walk(c); return b }
func (b SkillRefused) decode(c *codec) Body      { b.walk(c); return b }
func (b SkillEvicted) decode(c *codec) Body      { b.walk(c); return b }
func (b Revocation) decode(c *codec) Body        { b.walk(c); return b }
func (b Request) decode(c *codec) Body           { b.walk(c); return b }
func (b ReversibleRequest) decode(c *codec) Body { b.walk(c); return b }
func (b Decision) decode(c *codec) Body          { b.walk(c); return b }
func (b LateDecision) decode(c *codec) Body      { b.walk(c); return b }
func (b Intent) decode(c *codec) Body            { b.walk(c); return b }
func (b Executed) decode(c *codec) Body          { b.walk(c); return b }
func (b Error) decode(c *codec) Body             { b.walk(c); return b }
func (b Staged) decode(c *codec) Body            { b.walk(c); return b }
func (b CommitIntent) decode(c *codec) Body      { b.walk(c); return b }
func (b Committed) decode(c *codec) Body         { b.walk(c); return b }
func (b RollbackIntent) decode(c *codec) Body    { b.walk(c); return b }
func (b RolledBack) decode(c *codec) Body        { b.walk(c); return b }
func (b Resolved) decode(c *codec) Body          { b.walk(c); return b }
func (b Mutation) decode(c *codec) Body          { b.walk(c); return b }
func (b Boot) decode(c *codec) Body              { b.walk(c); return b }
func (b Lock) decode(c *codec) Body              { b.walk(c); return b }
func (b Session) decode(c *codec) Body           { b.walk(c); return b }
func (b Barrier) decode(c *codec) Body           { b.walk(c); return b }
func (b Verdict) decode(c *codec) Body           { b.walk(c); return b }
func (b Recovery) decode(c *codec) Body          { b.walk(c); return b }
func (b Checkpoint) decode(c *codec) Body        { b.walk(c); return b }
func (b Tool) decode(c *codec) Body              { b.walk(c); return b }
func (b Hook) decode(c *codec) Body              { b.walk(c); return b }
func (b Refused) decode(c *codec) Body           { b.walk(c); return b }

// Closes says whether records of this kind close what is open, so that they
// have a right to the room that was kept for them on a full disk.
func (k Kind) Closes() bool {
	switch k {
	case KindExecuted, KindError, KindCommitted, KindRolledBack, KindResolved, KindRecovery, KindCheckpoint:
		return true
	}
	return false
}

// Intends says whether a record of this kind needs an outcome behind it.
func (k Kind) Intends() bool {
	return k == KindIntent || k == KindCommitIntent || k == KindRollbackIntent
}
