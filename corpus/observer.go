package corpus

import "context"

// Observer reads the states of the objects of one corpus, independently of
// whoever changes them. It is safe for concurrent use.
type Observer interface {
	// Name says what kind of observer it is, such as rehash, for records and
	// verdicts.
	Name() string
	// Blind lists, in words for a verdict, what it cannot see.
	Blind() []string
	// Read is the states of objects now, in their order. An object that is not
	// there is absent, one that could not be read Unreadable; an error means that
	// nothing was read.
	Read(ctx context.Context, objects []Object) ([]State, error)
	// Snapshot reads the whole corpus. Who calls it sees to it that nobody holds a
	// lease; what changes meanwhile is read again, and is Unreadable if it does
	// not come to rest.
	Snapshot(ctx context.Context) (*Snapshot, error)
}
