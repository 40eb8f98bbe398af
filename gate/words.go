package gate

import (
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// maxText bounds what of an agent's words stands in a line outside of the
// envelope, maxWords what of a host's or of the gate's, in runes.
const (
	maxText  = 4 << 10
	maxWords = 1 << 10
)

func text(s string) string { return visible.Truncate(s, maxText) }

// words are the host's or the gate's, for the record: at most 4 KiB of one line,
// so that an outcome always fits.
func (l *live) words() string { return visible.Truncate(visible.Escape(l.detail), maxWords) }

// say sets what the agent is told beside the reason.
func (l *live) say(message string) {
	if message != "" {
		message = visible.Truncate(visible.EscapeMultiline(message), maxWords)
	}
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	l.message = message
}

// advice is what an agent is told where nobody had better words: what is wrong,
// then what to do.
func (l *live) advice(why Reason) string {
	switch {
	case why == Undeclared && l.skill == "":
		return "no skill is active, and outside of skills " + l.class() + " is not allowed; stay within what is, or ask for a skill that declares it"
	case why == Undeclared:
		return "skill " + l.name() + " does not declare " + l.class() + "; stay within what it declares, or ask for a skill that declares it"
	case why == l.facts.Void && l.detail != "":
		return visible.Truncate(visible.EscapeMultiline(l.detail), maxWords)
	}
	if words, ok := advice[why]; ok {
		return words
	}
	return visible.Truncate(visible.EscapeMultiline(l.detail), maxWords)
}

func (l *live) class() string { return l.facts.Target.Capability().String() }

func (l *live) name() string {
	if about := l.g.parts.About[l.skill]; about != (record.Skill{}) {
		return about.Name
	}
	return l.g.machine.rules.Skills[l.skill].Name
}

var advice = map[Reason]string{
	DeniedByBroker: "who was asked said no; do not ask for the same again, go on without it",
	TimedOut:       "nobody answered in time; ask again when somebody is there, or go on without it",
	Cancelled:      "it was taken back before anybody answered; ask again if it is still wanted",
	NoBroker:       "a person would have to approve this, and nobody can be asked; stay within what is allowed",
	BrokerFailed:   "who was asked gave no answer that counts; ask again later",
	ApprovalVoid:   "the approval does not count; ask again",
	Unlabelled:     "what it reads or writes has no label; whoever runs iff can give it one in the configuration",
	AboveClearance: "what it would tell is above what may be read here; go on without it",
	SinkBelowMark:  "what was read before may not flow there; write it to where it may, or go on without it",
	NoHost:         "nothing here can do calls of this class",
	NotReversible:  "it cannot be put back, so it is not done under fs.write.rev; ask for it under fs.write.irrev",
	BufferFull:     "the session has no room to keep what would be put back; end it, or ask under fs.write.irrev",
	Conflict:       "the world is not what it was when this was asked for; look again, then ask again",
	Busy:           "other calls work on the same object; ask again later",
	InDoubt:        "a call whose end nobody knows may have changed this object; whoever runs iff has to find out first",
	KeyReused:      "this key came with another call before; use a key for one call only",
	SkillRevoked:   "the active skill is not trusted any more; ask for another one",
	LevelLowered:   "the session came to be trusted less before this was done; ask again, and a person decides",
	SessionPaused:  "the session is paused; ask again when it goes on",
	SessionEnded:   "the session has ended; open another one",
	SessionUnknown: "there is no such session; open one",
	TooManyCalls:   "too many calls are under way or wait for a person; wait for their replies, then ask again",
	TooMuchAsked:   "too much was asked for today that nobody approved, so this is not asked; ask for something smaller, or have whoever runs iff reset the agent",
	LogFailed:      "what cannot be recorded is not done; whoever runs iff has to look at the log",
	HostFailed:     "the host tried and failed; look at the object before asking again",
	HostOverdue:    "the host did not come back in time; ask with the same key to hear what became of it",
	SpellingHides:  "the spelling hides which object this is, so it was not done; spell the path plainly",
	CallMalformed:  "this is not a call; see the list of capabilities and how their targets are spelled",
}
