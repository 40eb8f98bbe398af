package verdict

import (
	"errors"
	"fmt"
	"slices"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
)

// Class is what a finding is, by its evidence. The set is closed; see the
// package doc. The zero value is none.
type Class string

// The classes. With one of the last two alone a verdict is OPEN.
const (
	Bypass        Class = "bypass"
	Tamper        Class = "tamper"
	Drift         Class = "drift"
	Overlap       Class = "overlap"
	Forgery       Class = "forgery"
	SilentFailure Class = "silent-failure"
	WrongTarget   Class = "wrong-target"
	WrongContent  Class = "wrong-content"
	Partial       Class = "partial"
	InDoubt       Class = "in-doubt"
	Unread        Class = "unread"
)

// Classes lists all classes.
func Classes() []Class {
	return []Class{Bypass, Tamper, Drift, Overlap, Forgery, SilentFailure, WrongTarget, WrongContent, Partial, InDoubt, Unread}
}

// Fails says whether a finding of the class makes a verdict FAIL. A class that
// there is not does.
func (c Class) Fails() bool { return c != InDoubt && c != Unread }

// Finding is one thing that does not hold, or cannot be said. Fields that mean
// nothing for its class are empty.
type Finding struct {
	Class   Class         `json:"class"`
	Object  corpus.Object `json:"object,omitempty"`  // of wrong-target: that was approved
	Landed  corpus.Object `json:"landed,omitempty"`  // of wrong-target: that was changed instead
	Call    string        `json:"call,omitempty"`    // request id; empty: outside every call
	Session string        `json:"session,omitempty"` // of the call
	Before  corpus.State  `json:"before,omitempty"`  // as read
	After   corpus.State  `json:"after,omitempty"`   // as read
	Planned corpus.State  `json:"planned,omitempty"` // state after, as approved
	From    record.Stamp  `json:"from,omitempty"`    // it happened after this
	To      record.Stamp  `json:"to,omitempty"`      // and before this
	Detail  string        `json:"detail"`            // in words
}

// Counts are numbers of calls, save for the last two. They are of the calls of
// the view only, and of records inside the interval.
type Counts struct {
	Calls        int64 `json:"calls"`        // asked for
	Reads        int64 `json:"reads"`        // executed, effect none
	Reversible   int64 `json:"reversible"`   // committed
	Irreversible int64 `json:"irreversible"` // executed
	Asked        int64 `json:"asked"`        // decided by a human, a webhook or a policy, or not in time
	ByGrant      int64 `json:"byGrant"`      // changes approved by a level
	Denied       int64 `json:"denied"`
	Failed       int64 `json:"failed"` // error after an intent
	NotTried     int64 `json:"notTried"`
	Dropped      int64 `json:"dropped"`    // staged, never written
	RolledBack   int64 `json:"rolledBack"` // put back after a commit
	Resolved     int64 `json:"resolved"`   // were in doubt
	Opaque       int64 `json:"opaque"`     // executed, no observed object
	Bounded      int64 `json:"bounded"`    // executed, value unchecked
	Late         int64 `json:"late"`       // late decisions
	Unchecked    int64 `json:"unchecked"`  // signed approvals that nobody could check

	Changed   int64 `json:"changed"`   // objects with a change in D, all sessions
	Explained int64 `json:"explained"` // those of them without a finding
}

// Corpus is one corpus of a verdict and who read it.
type Corpus struct {
	Name     string   `json:"name"`
	Observer string   `json:"observer"`
	Objects  int64    `json:"objects"` // at the end
	Unread   int64    `json:"unread"`  // at the end
	Blind    []string `json:"blind"`   // what the observer cannot see, in words
	Volatile []string `json:"volatile"`
}

// Paper is the result over (operation, target) alone.
type Paper struct {
	Equal    bool  `json:"equal"`
	Observed int64 `json:"observed"` // size of D
	Audited  int64 `json:"audited"`  // size of S
}

// Report is a verdict. The zero value is none and no PASS.
type Report struct {
	Result   record.Result `json:"result"`            // of the view
	Whole    record.Result `json:"whole"`             // of all sessions
	Session  string        `json:"session,omitempty"` // whose view it is; empty: everybody's
	From     int64         `json:"from"`              // first sequence number
	To       int64         `json:"to"`                // behind the last
	Since    record.Stamp  `json:"since"`
	Until    record.Stamp  `json:"until"`
	Counts   Counts        `json:"counts"`
	Corpora  []Corpus      `json:"corpora"` // by name
	Paper    Paper         `json:"paper"`   // all sessions
	Findings []Finding     `json:"findings"`
	Unseen   []string      `json:"unseen"` // what no verdict sees, in words
}

// Unseen says what a PASS does not exclude (DESIGN section 6; paper, section
// "Failure modes the criterion does not catch").
func Unseen() []string {
	return []string{
		"a change that was undone before the next reading of the object",
		"a change that an approved overwrite erased before it was read",
		"who wrote bytes that were approved: an identical change by somebody else at the same time",
		"objects outside the corpora, and volatile ones",
		"reads, and what was told to others",
		"the values that a bounded call wrote, and all that an opaque call did",
		"what an upstream does after it has replied",
		"harm in content that was approved",
		"an observer or an approver that lies",
	}
}

// MaxReport bounds the form of a report, in bytes.
const MaxReport = 256 << 20

// ErrReport says that bytes are not a report as this package writes it.
var ErrReport = errors.New("verdict-invalid")

// Form is the canonical JSON of the report.
func (r Report) Form() ([]byte, error) { return canonical.Marshal(r) }

// ParseReport reads what Form wrote and nothing else; its error is [ErrReport].
func ParseReport(data []byte) (Report, error) {
	var r Report
	if err := canonical.Parse(data, &r, canonical.Limits{Bytes: MaxReport}); err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrReport, err)
	}
	if err := r.check(); err != nil {
		return Report{}, err
	}
	if form, err := r.Form(); err != nil || string(form) != string(data) {
		return Report{}, fmt.Errorf("%w: not in canonical form", ErrReport)
	}
	return r, nil
}

func (r Report) check() error {
	for i, f := range r.Findings {
		if !slices.Contains(Classes(), f.Class) {
			return fmt.Errorf("%w: findings[%d].class: %q is not a class", ErrReport, i, f.Class)
		}
	}
	view, whole := judged(r.Findings), r.Whole
	switch {
	case r.Result != view:
		return fmt.Errorf("%w: result %q, but the findings say %q", ErrReport, r.Result, view)
	case r.Session == "" && whole != view, rank(whole) < rank(view):
		return fmt.Errorf("%w: whole %q, with a view that is %q", ErrReport, whole, view)
	}
	return nil
}

// judged is what findings come to.
func judged(findings []Finding) record.Result {
	result := record.Pass
	for _, f := range findings {
		if f.Class.Fails() {
			return record.Fail
		}
		result = record.Open
	}
	return result
}

// rank orders results; -1 for none.
func rank(r record.Result) int {
	return slices.Index([]record.Result{record.Pass, record.Open, record.Fail}, r)
}
