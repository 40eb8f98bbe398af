//go:build !linux

package beneath

// ways are the implementations that run on this system.
var ways = map[string]func(string) (handle, error){"default": open, "root": openRoot}
