package record

import (
	"fmt"

	"github.com/iff-run/iff/corpus"
)

// Change is one object with two of its states: planned, or read.
type Change = corpus.Change

const (
	// MaxChanges bounds how many changes a list has.
	MaxChanges = 200_000
	// MaxInlineChanges is the longest list that stands in a line, in bytes of its
	// text. A payload of MaxInline bytes, each an escape of six, has room beside it:
	// an outcome that does not fit in a line could not be recorded.
	MaxInlineChanges = 8 << 10
)

// FormatChanges writes a list of changes as it stands in a line: a canonical
// JSON array. What is not UTF-8 is written escaped, as in a line.
func FormatChanges(list []corpus.Change) []byte {
	c := codec{writing: true, out: []byte{}}
	elements(&c, &list, walkChange)
	return c.out
}

// ParseChanges reads what FormatChanges writes and nothing else, at most
// [MaxChanges]; its error is [ErrLine].
func ParseChanges(data []byte) ([]corpus.Change, error) {
	var list []Change
	c := codec{in: string(data)}
	elements(&c, &list, func(b *Change, c *codec) {
		if len(list) > MaxChanges {
			c.fail(fmt.Sprintf("more than %d changes", MaxChanges))
		}
		walkChange(b, c)
	})
	if c.end(); c.err != nil {
		return nil, fmt.Errorf("list of changes: %w", c.err)
	}
	return list, nil
}

// PlanFits says whether a list, planned or read, stands in its line. One that
// does not goes to the Rest of its record, as [FormatChanges] writes it, and the
// list in the line is empty.
func PlanFits(list []corpus.Change) bool {
	const least = len(`{"after":"","before":"","object":""}`)
	return len(list) <= MaxInlineChanges/least && len(FormatChanges(list)) <= MaxInlineChanges
}

func walkChange(b *Change, c *codec) {
	c.open()
	c.text("after", (*string)(&b.After))
	c.text("before", (*string)(&b.Before))
	c.text("object", (*string)(&b.Object))
	c.close()
}

func changes(c *codec, name string, v *[]Change) { array(c, name, v, walkChange) }
