package audit_test

import (
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/record"
)

// Every record is that of its own line, however long the lines around it are.
func TestRecordsOfLinesOfAnyLength(t *testing.T) {
	m := &audittest.Memory{SegmentBytes: 100_000}
	l := create(t, m, rarely())
	for i := range 300 {
		long := call(i)[0]
		body := long.Body.(record.Request)
		body.Target = strings.Repeat("x", i*i%9001)
		long.Body = body
		_, err := l.Append(t.Context(), long, small(i))
		must(t, err)
	}
	seq, long := int64(0), 0
	for s, err := range audit.Records(t.Context(), l.Store(), audit.Position{}) {
		must(t, err)
		line, err := s.Record.Line()
		if err != nil || string(line) != string(s.Line) || s.Seq != seq {
			t.Fatalf("record %d, %v: %s is read as %s", seq, err, s.Line, line)
		}
		if seq++; len(s.Line) > 5000 {
			long++
		}
	}
	if seq != 601 || long < 50 {
		t.Errorf("%d records, %d of them long", seq, long)
	}
	must(t, l.Close())
}
