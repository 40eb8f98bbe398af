package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// longestAddress is what the address of a socket may have on every system: sun_path is 104 bytes on some, with a NUL.
const longestAddress = 103

// place is an open directory for sockets.
type place struct {
	dir  string
	open *os.File
	mode os.FileMode // of the sockets
}

// openPlace makes the directory if need be, and refuses one that others may enter.
func openPlace(dir string) (*place, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &Error{SocketFailed, dir, "the directory of the sockets cannot be made; check the home", err}
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, &Error{SocketFailed, dir, "the directory of the sockets cannot be looked at; check the home", err}
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ours(info) {
		return nil, &Error{Reason: DirUnsafe, Path: dir, Detail: fmt.Sprintf("%s is not a directory that only its owner, the runtime's user, may enter; move it away, or: chmod 700", info.Mode())}
	}
	return hold(dir, info, 0o600)
}

// hold opens a directory that was looked at, for sockets of a mode.
func hold(dir string, seen os.FileInfo, mode os.FileMode) (*place, error) {
	open, err := os.Open(dir)
	if err != nil {
		return nil, &Error{SocketFailed, dir, "the directory of the sockets cannot be opened; check it", err}
	}
	info, err := open.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = errors.New("another directory took its place")
	}
	if err != nil {
		return nil, errors.Join(&Error{SocketFailed, dir, "the directory of the sockets cannot be kept; check it", err}, open.Close())
	}
	return &place{dir, open, mode}, nil
}

func (p *place) Close() error { return p.open.Close() }

// address is what the system is given for a name. One that is too long goes through the open directory.
func (p *place) address(name string) (string, error) {
	path := filepath.Join(p.dir, name)
	if len(path) <= longestAddress {
		return path, nil
	}
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("/proc/self/fd/%d/%s", p.open.Fd(), name), nil
	}
	return "", &Error{Reason: PathTooLong, Path: path, Detail: fmt.Sprintf("%d bytes; the address of a socket has at most %d; use a home with a shorter path", len(path), longestAddress)}
}

// listen makes a socket. A dead one of that name is taken away; whoever calls it has the lock of the directory.
func (p *place) listen(name string) (*net.UnixListener, os.FileInfo, error) {
	path := filepath.Join(p.dir, name)
	address, err := p.address(name)
	if err != nil {
		return nil, nil, err
	}
	if err := p.clear(name, address); err != nil {
		return nil, nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, nil, &Error{SocketFailed, path, "the socket cannot be made; check the directory", err}
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(path, p.mode)
	var info os.FileInfo
	if err == nil {
		info, err = os.Lstat(path)
	}
	if err != nil {
		return nil, nil, errors.Join(&Error{SocketFailed, path, "the socket cannot be made private; check the directory", err}, l.Close())
	}
	return l, info, nil
}

// clear takes away a socket at which nobody answers.
func (p *place) clear(name, address string) error {
	path := filepath.Join(p.dir, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{SocketFailed, path, "it cannot be looked at; check the directory", err}
	}
	if info.Mode().Type() != fs.ModeSocket {
		return &Error{Reason: Occupied, Path: path, Detail: "there is something else than a socket; move it away"}
	}
	if c, err := net.DialTimeout("unix", address, time.Second); err == nil {
		return errors.Join(&Error{Reason: Occupied, Path: path, Detail: "somebody answers there; end that process"}, c.Close())
	} else if !nobody(err) {
		return &Error{Occupied, path, "whether somebody answers there cannot be told; end that process, or remove it", err}
	}
	if err := p.remove(name, info); err != nil {
		return &Error{SocketFailed, path, "a dead socket cannot be removed; check the directory", err}
	}
	return nil
}

// remove takes a socket away if it is the one that was meant.
func (p *place) remove(name string, meant os.FileInfo) error {
	path := filepath.Join(p.dir, name)
	there, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(meant, there) {
		return &Error{Reason: Occupied, Path: path, Detail: "another socket has taken its place; it is left there"}
	}
	return os.Remove(path)
}

// dial connects to the socket at path.
func dial(ctx context.Context, path string) (*net.UnixConn, error) {
	address := path
	if len(path) > longestAddress {
		dir, err := os.Open(filepath.Dir(path))
		if err != nil {
			return nil, &Error{NotRunning, path, "the directory of the socket cannot be opened; check the path", err}
		}
		defer dir.Close()
		if address, err = (&place{dir: filepath.Dir(path), open: dir}).address(filepath.Base(path)); err != nil {
			return nil, err
		}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		return nil, &Error{NotRunning, path, "nobody answers; start the runtime: iff serve", err}
	}
	return c.(*net.UnixConn), nil
}
