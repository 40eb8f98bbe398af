package approval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iff-run/iff/record"
)

func BenchmarkCheck(b *testing.B) {
	r := root(b)
	for _, lines := range []int{3, 4000} {
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "line %d of the file, which is not long\n", i)
		}
		q := question(b)
		q.Plan, q.Before, q.After = nil, nil, nil
		change(&q, "reports/q3.md", file(text.String()), file(strings.Replace(text.String(), "line 2 ", "LINE 2 ", 1)))
		a := sign(b, record.Approve, q)[0]
		b.Run(fmt.Sprint(lines, " lines"), func(b *testing.B) {
			for b.Loop() {
				must(b, q.Check(a, r, now))
			}
		})
	}
}
