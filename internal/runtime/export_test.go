package runtime

import "github.com/iff-run/iff/gate"

// GuardIn is the guard of a runtime.
func GuardIn(r *Runtime) gate.Guard { return r.guard }
