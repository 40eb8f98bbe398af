package corpus

// Change is one object with two of its states: planned, or read.
type Change struct {
	Object Object
	Before State
	After  State
}

// Nothing says whether nothing changes: both states are known and the same.
func (c Change) Nothing() bool { return c.Before.Is(c.After) }

// Op is what a change does to its object, the operation of the paper's
// projection.
type Op string

// The operations. The empty one is no change, or one that cannot be told.
const (
	Create Op = "create"
	Modify Op = "modify" // content, mode or owner
	Delete Op = "delete"
)

// Op is the operation of c. That a change is one of mode alone its states do not
// say: it is a modification.
func (c Change) Op() Op {
	switch {
	case !c.Before.Known() || !c.After.Known() || c.Nothing():
		return ""
	case c.Before == Absent:
		return Create
	case c.After == Absent:
		return Delete
	}
	return Modify
}

// Admits says whether what is planned now is what was approved before: the same
// objects in the same order with the same states, where [Any] in what was
// approved admits every state, and as a state after also Any itself: of a bounded
// call only the objects are known.
func Admits(approved, now []Change) bool {
	if len(approved) != len(now) {
		return false
	}
	for i, a := range approved {
		n := now[i]
		if a.Object != n.Object || !admits(a.Before, n.Before) || !admits(a.After, n.After) && (a.After != Any || n.After != Any) {
			return false
		}
	}
	return true
}

func admits(approved, now State) bool {
	return now.Known() && (approved == Any || approved == now)
}
