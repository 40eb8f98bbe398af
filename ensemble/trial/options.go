package trial

import (
	"fmt"
	"time"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
)

// Answer is what the played person says. The zero value is no answer, and is
// refused.
type Answer string

// The answers.
const (
	Approve Answer = "approve"
	Deny    Answer = "deny"
	Script  Answer = "script" // denies one question in five, by the seed
)

// Bounds of a trial, and what it has if nothing else is said.
const (
	MaxAgents = 32
	MaxRounds = 1000

	DefaultFiles = 20_000
	DefaultBytes = 1 << 30
)

// Options of a trial. Corpus may be empty where the configuration has one. Agents,
// Rounds and Answer are needed.
type Options struct {
	Corpus  string // name of one of the configuration
	Dir     string // where the copy is made, in a directory of its own; empty is the system's for temporary files
	Agents  int    // 1 to [MaxAgents]
	Rounds  int    // 1 to [MaxRounds]
	Seed    uint64
	Answer  Answer
	Files   int64  // most that are copied, directories and links included; 0 is [DefaultFiles]
	Bytes   int64  // most that they hold; 0 is [DefaultBytes]
	Version string // of iff, for the log
	Now     func() time.Time
}

// Cast is who acts. The zero value is the scripts of package ensemble.
type Cast struct {
	// Mind makes the mind of an agent, counted from 0; nil is [ensemble.Script].
	Mind func(agent int, role ensemble.Role) (ensemble.Mind, error)
	// Outside is the label of who hears what minds are told. Scripts tell nobody; others
	// are told what may flow there, and with an absent one nothing.
	Outside label.Label
}

// Reason is a closed token.
type Reason string

// Why there is no trial.
const (
	OptionsInvalid Reason = "trial-options"
	CorpusUnknown  Reason = "trial-corpus"    // the configuration has no such corpus, or several and none was named
	TooLarge       Reason = "trial-too-large" // more is in the corpus than is copied
	PlaceRefused   Reason = "trial-place"     // no directory can be made there
	CopyFailed     Reason = "trial-copy"      // such as for a full disk
)

// Error says why there is no trial. The operator's files are as they were.
type Error struct {
	Reason Reason
	Detail string // what is wrong, then what to do
	Err    error
}

func (e *Error) Error() string { return string(e.Reason) + ": " + e.Detail }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

func refuse(r Reason, cause error, format string, args ...any) *Error {
	return &Error{Reason: r, Detail: fmt.Sprintf(format, args...), Err: cause}
}

// check fills in what has a default.
func (o Options) check() (Options, error) {
	if o.Files == 0 {
		o.Files = DefaultFiles
	}
	if o.Bytes == 0 {
		o.Bytes = DefaultBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	switch {
	case o.Agents < 1 || o.Agents > MaxAgents:
		return o, refuse(OptionsInvalid, nil, "%d agents; it goes from 1 to %d", o.Agents, MaxAgents)
	case o.Rounds < 1 || o.Rounds > MaxRounds:
		return o, refuse(OptionsInvalid, nil, "%d rounds; it goes from 1 to %d", o.Rounds, MaxRounds)
	case o.Answer != Approve && o.Answer != Deny && o.Answer != Script:
		return o, refuse(OptionsInvalid, nil, "there is no answer of that name; it is %s, %s or %s", Approve, Deny, Script)
	case o.Files < 0 || o.Bytes < 0:
		return o, refuse(OptionsInvalid, nil, "a copy has no negative size")
	}
	return o, nil
}

// corpus is the one that is copied.
func (o Options) corpus(c home.Config) (home.CorpusConfig, error) {
	var names string
	for _, k := range c.Corpora {
		if k.Name == o.Corpus || o.Corpus == "" && len(c.Corpora) == 1 {
			return k, nil
		}
		names += " " + visible.Escape(k.Name)
	}
	switch {
	case len(c.Corpora) == 0:
		return home.CorpusConfig{}, refuse(CorpusUnknown, nil, "the configuration has no corpus; add [corpus.NAME] to iff.toml")
	case o.Corpus == "":
		return home.CorpusConfig{}, refuse(CorpusUnknown, nil, "the configuration has %d corpora; name one of:%s", len(c.Corpora), names)
	}
	return home.CorpusConfig{}, refuse(CorpusUnknown, nil, "the configuration has no corpus %q; it has:%s", visible.Escape(o.Corpus), names)
}
