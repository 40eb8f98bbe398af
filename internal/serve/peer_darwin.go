package serve

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf is who connected, as the kernel noted it then (LOCAL_PEERCRED and LOCAL_PEERPID, unix(4)).
func peerOf(c *net.UnixConn) (Peer, error) {
	cred, err := ofSocket(c, func(fd int) (*unix.Xucred, error) {
		return unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err != nil {
		return Peer{}, err
	}
	pid, err := ofSocket(c, func(fd int) (int, error) { return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID) })
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: int(cred.Uid), PID: pid, SameUID: int(cred.Uid) == os.Geteuid()}, nil
}
