package fs

import "testing"

// ways are the systems that run here.
func ways(testing.TB) map[string]sys { return map[string]sys{"by hand": &kernel{}} }
