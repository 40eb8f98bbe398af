package shellread

import (
	"strings"
	"testing"
)

func BenchmarkCmds(b *testing.B) {
	src := []byte(strings.Repeat("a;", MaxSource/4))
	for b.Loop() {
		Script("x.sh", src)
	}
}
func BenchmarkEvals(b *testing.B) {
	src := []byte(strings.Repeat("eval 'a b c d'\n", MaxSource/30))
	for b.Loop() {
		Script("x.sh", src)
	}
}
