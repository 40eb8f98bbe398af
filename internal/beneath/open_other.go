//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package beneath

func open(path string) (handle, error) { return openRoot(path) }
