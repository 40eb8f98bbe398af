package serve

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf is who connected, as the kernel noted it then (SO_PEERCRED, unix(7)).
func peerOf(c *net.UnixConn) (Peer, error) {
	cred, err := ofSocket(c, func(fd int) (*unix.Ucred, error) {
		return unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid), SameUID: int(cred.Uid) == os.Geteuid()}, nil
}
