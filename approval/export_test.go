package approval

import (
	"slices"
	"time"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Checks names all checks of an answer.
func Checks() []Reason {
	var out []Reason
	for _, c := range checks() {
		out = append(out, c.reason)
	}
	return out
}

// Without is [Question.Check] with one check taken out: a planted bug.
func (q Question) Without(gone Reason, a Answer, root *trust.Root, now time.Time) error {
	return run(slices.DeleteFunc(checks(), func(c check) bool { return c.reason == gone }), q.Pose().claim(a, root, now))
}

// Trusting is [Question.Check] that takes an entry for the signer unseen.
func (q Question) Trusting(e trust.Entry, a Answer, now time.Time) error {
	c := q.Pose().claim(a, nil, now)
	c.signer = func() (trust.Entry, error) { return e, nil }
	return run(checks(), c)
}

// RecordWithout is [CheckRecord] with one check taken out.
func RecordWithout(gone Reason, r Recorded, root *trust.Root) error {
	return run(slices.DeleteFunc(recordChecks(), func(c check) bool { return c.reason == gone }), r.claim(root))
}

// Statement is the canonical form that is signed, of anything.
func Statement(log string, fence int64, items []record.Hash, choice record.Choice, nonce string, expires time.Time) ([]byte, error) {
	return newStatement(log, fence, items, choice, nonce, expires)
}

// Diff is the diff of two lists of lines, each with its sign before it.
func Diff(a, b []string) []string {
	var out []string
	for _, e := range diff(a, b) {
		out = append(out, string(e.op)+e.line)
	}
	return out
}

// Blind is [Posed.Check] of a memory that does not look at one part of what was found
// good: a planted bug. It is blind for nothing if there is no such part.
func (p *Posed) Blind(part string) func(a Answer, root *trust.Root, now time.Time) error {
	var last *proof
	return func(a Answer, root *trust.Root, now time.Time) error {
		c := p.claim(a, root, now)
		c.verify = func(s proof) bool {
			seen := s
			switch part {
			case "key":
				seen.key = trust.PublicKey{}
			case "form":
				seen.form = ""
			case "signature":
				seen.sig = trust.Signature{}
			}
			if last != nil && *last == seen {
				return true
			}
			if !s.good() {
				return false
			}
			last = &seen
			return true
		}
		return run(checks(), c)
	}
}
