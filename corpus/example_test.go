package corpus_test

import (
	"fmt"

	"github.com/iff-run/iff/corpus"
)

// A file is written: what the call plans, what a snapshot before and one after differ in, and that the two agree.
func Example() {
	note := corpus.Name("work", "notes/caf\xe9.txt")
	fmt.Println(note)

	facts := corpus.Facts{Kind: corpus.File, Mode: 0o644, UID: 1000, GID: 1000}
	written := corpus.NewCopy(facts, "hello\n", nil)
	plan := []corpus.Change{{Object: note, Before: corpus.Absent, After: written.State()}}

	root := corpus.Entry{Object: corpus.Name("work", "."), State: corpus.Facts{Kind: corpus.Directory, Mode: 0o755}.State()}
	before := corpus.NewSnapshot([]corpus.Entry{root})
	after := before.Apply([]corpus.Entry{{Object: note, State: written.State()}})
	found := corpus.Diff(before, after)
	fmt.Println(found[0].Op(), corpus.Admits(plan, found))

	facts.Mode = 0o4755 // the same bytes, and another state
	fmt.Println(corpus.NewCopy(facts, "hello\n", nil).State().Is(written.State()))
	// Output:
	// work/notes/caf\xe9.txt
	// create true
	// false
}
