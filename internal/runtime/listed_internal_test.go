package runtime

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// A corpus whose list does not fit a payload is refused with what to do.
func TestListable(t *testing.T) {
	long := strings.Repeat("directory/", 400)
	state := corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644}, "x", nil).State()
	var entries []corpus.Entry
	for i, left := 0, audit.MaxPayload; left > 0; i++ {
		e := corpus.Entry{Object: corpus.Name("work", fmt.Sprintf("%s%06d", long, i)), State: state}
		entries, left = append(entries, e), left-len(corpus.Format([]corpus.Entry{e}))
	}
	var refused *gate.Refusal
	err := Listable("work", corpus.NewSnapshot(entries))
	if !errors.As(err, &refused) || refused.Reason != gate.TooMany || !strings.Contains(err.Error(), "[corpus.work].volatile") {
		t.Errorf("too long a list: %v", err)
	}
	if err := Listable("work", corpus.NewSnapshot(entries[1:])); err != nil {
		t.Errorf("one that just fits: %v", err)
	}
}
