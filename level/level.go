// Package level is the verification level: how far a skill's manifest may be
// believed about the skill's behaviour, and so how often the gate stops to ask
// a human.
//
// The paper ("The skill trust schema", Verification levels) fixes four values,
// in this order:
//
//		unverified < declared < tested < formal
//
//	  - unverified: "No claim is made about the skill's behavior beyond its
//	    existence." The skill is untrusted code: every irreversible call asks.
//	  - declared: "A trust-root signer has examined the skill's content and
//	    attests that the skill's side-effects are bounded by its declared
//	    capability set." Irreversible calls inside the set are approved and
//	    recorded; outside it they ask.
//	  - tested: in addition "the skill passes an adversarial-ensemble
//	    verification run under which the biconditional criterion holds". As
//	    declared, and a session whose check fails between rounds is aborted.
//	  - formal: "A formal analysis tool has produced a machine-checkable proof
//	    that the skill's behavior is a subset of its declared capability set."
//	    As tested; "the difference is in offline trust, not in runtime behavior"
//	    (Gate policy as a function of verification level).
//
// It is a fixed enumeration and not a score, so that a decision can be audited
// and revoked whole. No level is ever raised during a session.
//
// The text of a level is its lower-case name, exactly. Nothing else is read as
// a level; in particular an unknown name is an error and never unverified. That
// a manifest without the field is unverified is for the reader of the manifest
// to say: the empty text is an error here.
package level

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Level is a verification level. The zero value is Unverified. Values past
// Formal do not exist; one that is made by conversion is at least nothing and
// has no text.
type Level uint8

// The four levels, lowest first.
const (
	Unverified Level = iota // no claim; every irreversible call asks
	Declared                // a signer attests that effects stay within the declared capabilities
	Tested                  // and an adversarial-ensemble run held
	Formal                  // and a machine-checkable proof exists
)

func names() []string { return []string{"unverified", "declared", "tested", "formal"} }

// Reason says why something was refused: a closed set of tokens.
type Reason string

// Unknown is the reason of every error of this package.
const Unknown Reason = "level-unknown"

// Error is every error of this package.
type Error struct {
	Reason Reason
	Detail string // what is wrong, then what to do; one line of ASCII
}

// Error is one line: what, what to do, and the reason token.
func (e *Error) Error() string { return fmt.Sprintf("level: %s (%s)", e.Detail, e.Reason) }

// Is makes errors.Is(err, &Error{Reason: Unknown}) ask for the reason alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && *t == Error{Reason: e.Reason}
}

// Parse reads the exact lower-case name of a level. Anything else, the empty
// text too, is an *[Error] with reason level-unknown; the Level beside it is
// Unverified.
func Parse(text string) (Level, error) {
	if i := slices.Index(names(), text); i >= 0 {
		return Level(i), nil
	}
	return Unverified, &Error{Reason: Unknown, Detail: explain(text)}
}

func explain(text string) string {
	const most = 64
	shown := strconv.QuoteToASCII(text[:min(len(text), most)])
	if len(text) > most {
		shown += fmt.Sprintf("... (%d bytes)", len(text))
	}
	if meant := strings.ToLower(strings.TrimSpace(text)); slices.Contains(names(), meant) {
		return shown + " is not a level; write " + meant
	}
	return shown + " is not a level; write one of " + strings.Join(names(), ", ")
}

// String is the level's name, or "level(N)", which does not parse, for a value
// that is no level.
func (l Level) String() string {
	if !l.exists() {
		return fmt.Sprintf("level(%d)", uint8(l))
	}
	return names()[l]
}

// AtLeast says whether l is floor or above. It is false if either is no level.
func (l Level) AtLeast(floor Level) bool { return l.exists() && floor.exists() && l >= floor }

func (l Level) exists() bool { return l <= Formal }

// MarshalText is the level's name; a value that is no level is an *[Error] with
// reason level-unknown.
func (l Level) MarshalText() ([]byte, error) {
	if !l.exists() {
		return nil, &Error{Reason: Unknown, Detail: l.String() + " is not a level; nothing is written for it"}
	}
	return []byte(l.String()), nil
}

// UnmarshalText is [Parse]; on error *l stays as it was.
func (l *Level) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}
