package fs

import "testing"

// ways are the systems that run here: with and without openat2.
func ways(testing.TB) map[string]sys {
	return map[string]sys{"openat2": &kernel{openat2: true}, "by hand": &kernel{}}
}
