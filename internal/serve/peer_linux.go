package serve

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf is who connected, as the kernel noted it then (SO_PEERCRED, unix(7)).
func peerOf(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Peer{}, err
	}
	if failed != nil {
		return Peer{}, failed
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid), SameUID: int(cred.Uid) == os.Geteuid()}, nil
}
