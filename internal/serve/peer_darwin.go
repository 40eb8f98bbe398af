package serve

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf is who connected, as the kernel noted it then (LOCAL_PEERCRED and LOCAL_PEERPID, unix(4)).
func peerOf(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Xucred
	var pid int
	var failed error
	if err := raw.Control(func(fd uintptr) {
		if cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed == nil {
			pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	}); err != nil {
		return Peer{}, err
	}
	if failed != nil {
		return Peer{}, failed
	}
	return Peer{UID: int(cred.Uid), PID: pid, SameUID: int(cred.Uid) == os.Geteuid()}, nil
}
