package gate_test

import (
	"runtime"
	"time"
)

// pause lets others run.
func pause() { runtime.Gosched(); time.Sleep(50 * time.Microsecond) }
