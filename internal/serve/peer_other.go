//go:build !linux && !darwin

package serve

import (
	"errors"
	"fmt"
	"net"
)

// peerOf refuses: a connection of nobody is served by nobody.
func peerOf(*net.UnixConn) (Peer, error) {
	return Peer{}, fmt.Errorf("no peer credentials on this system: %w", errors.ErrUnsupported)
}
