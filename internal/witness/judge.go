package witness

import "golang.org/x/mod/sumdb/tlog"

// Outcome is what became of a request. The zero value is none.
type Outcome string

// The closed set of outcomes.
const (
	Cosigned  Outcome = "cosigned"
	Malformed Outcome = "malformed"
	TooLarge  Outcome = "too-large"
	Unknown   Outcome = "unknown"    // the origin is not of a known log
	Unsigned  Outcome = "unsigned"   // the log did not sign
	Conflict  Outcome = "conflict"   // the old size is not that of the newest cosigned checkpoint
	Forked    Outcome = "forked"     // the same size with another root: the log has signed two histories
	Unproven  Outcome = "unproven"   // the proof does not hold
	NotStored Outcome = "not-stored" // the disk refused
)

// judge says what becomes of a signed checkpoint, given, when held is the newest cosigned one of its log. It is all that a witness
// promises, apart from remembering.
func judge(held, given head, old int64, proof tlog.TreeProof) Outcome {
	switch {
	case old > given.size:
		return Malformed
	case old != held.size:
		return Conflict
	case old == given.size && given.root != held.root:
		return Forked
	case old == given.size || old == 0:
		return emptyProof(proof)
	}
	if tlog.CheckTree(proof, given.size, given.root, held.size, held.root) != nil {
		return Unproven
	}
	return Cosigned
}

func emptyProof(proof tlog.TreeProof) Outcome {
	if len(proof) > 0 {
		return Unproven
	}
	return Cosigned
}

// contradicts says that a signed checkpoint with this outcome, given when held was the newest, may be the log's misconduct.
func contradicts(o Outcome, held, given head) bool {
	return o == Forked || o == Unproven && held.size > 0 && given.size > held.size
}
