//go:build linux || darwin

package serve

import "net"

// ofSocket reads what the kernel knows of the socket of a connection.
func ofSocket[T any](c *net.UnixConn, read func(fd int) (T, error)) (out T, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return out, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { out, failed = read(int(fd)) })
	if err == nil {
		err = failed
	}
	return out, err
}
