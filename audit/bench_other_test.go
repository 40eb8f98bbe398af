//go:build !linux

package audit_test

import (
	"os"
	"time"
)

func fdatasync(f *os.File) error { return f.Sync() }

var began = time.Now()

// cpuTime is the time of the clock where that of the processor is not asked
// for.
func cpuTime() time.Duration { return time.Since(began) }
