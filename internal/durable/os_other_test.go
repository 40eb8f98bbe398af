//go:build !linux

package durable_test

import "os"

// bareSync is what a bare loop calls.
func bareSync(f *os.File) error { return f.Sync() }
