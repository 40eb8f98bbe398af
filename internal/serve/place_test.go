package serve

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func listenIn(dir string) (*Server, error) {
	f := newFake()
	return Listen(dir, Options{Agents: f, Operator: operator{f}})
}

func TestSocketsArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := unwrap(listenIn(dir))(t)
	defer s.Close()
	for name, want := range map[string]os.FileMode{"": 0o700 | os.ModeDir, AgentSocket: 0o600 | os.ModeSocket, OperatorSocket: 0o600 | os.ModeSocket} {
		if info := unwrap(os.Lstat(filepath.Join(dir, name)))(t); info.Mode() != want {
			t.Errorf("%q: %s", name, info.Mode())
		}
	}
}

func TestListenRefuses(t *testing.T) {
	if _, err := Listen(t.TempDir(), Options{}); !is(err, NotConfigured) {
		t.Errorf("nobody to answer: %v", err)
	}
	for name, c := range map[string]struct {
		lay  func(t *testing.T, dir string)
		want Reason
	}{
		"others may enter": {func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o750)) }, DirUnsafe},
		"a file": {func(t *testing.T, dir string) {
			must(t, os.Remove(dir))
			must(t, os.WriteFile(dir, nil, 0o600))
		}, DirUnsafe},
		"a link": {func(t *testing.T, dir string) {
			must(t, os.Remove(dir))
			must(t, os.Symlink(t.TempDir(), dir))
		}, DirUnsafe},
		"no home": {func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Dir(dir))) }, SocketFailed},
		"a file in the socket's place": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, OperatorSocket), nil, 0o600))
		}, Occupied},
		"somebody answers": {func(t *testing.T, dir string) {
			l := unwrap(net.Listen("unix", filepath.Join(dir, AgentSocket)))(t)
			t.Cleanup(func() { l.Close() })
		}, Occupied},
		"another server": {func(t *testing.T, dir string) {
			s := unwrap(listenIn(dir))(t)
			t.Cleanup(func() { s.Close() })
		}, Busy},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "home", "run")
			must(t, os.MkdirAll(dir, 0o700))
			c.lay(t, dir)
			if s, err := listenIn(dir); !is(err, c.want) {
				t.Errorf("%v", err)
				if err == nil {
					s.Close()
				}
			}
		})
	}
}

func TestDeadSocketsGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	must(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{AgentSocket, OperatorSocket} {
		l := unwrap(net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"}))(t)
		l.SetUnlinkOnClose(false)
		must(t, l.Close())
	}
	s := unwrap(listenIn(dir))(t)
	must(t, s.Close())
}

// A socket that took the place of ours is somebody else's.
func TestForeignSocketStays(t *testing.T) {
	r := run(t, nil)
	path := r.path(AgentSocket)
	must(t, os.Rename(path, path+".away"))
	l := unwrap(net.Listen("unix", path))(t)
	defer l.Close()
	must(t, r.Close())
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}

func TestLongPaths(t *testing.T) {
	deep := t.TempDir()
	for len(deep) < 300 {
		deep = filepath.Join(deep, strings.Repeat("d", 60))
	}
	must(t, os.MkdirAll(deep, 0o700))
	dir := filepath.Join(deep, "run")
	f := newFake()
	s, err := Listen(dir, Options{Agents: f, Operator: operator{f}})
	if runtime.GOOS != "linux" {
		if !is(err, PathTooLong) {
			t.Errorf("%v", err)
		}
		return
	}
	must(t, err)
	defer s.Close()
	go func() { _ = s.Serve(t.Context()) }()
	c := unwrap(Dial(t.Context(), filepath.Join(dir, OperatorSocket)))(t)
	must(t, c.Call(t.Context(), "status", nil, nil))
	must(t, c.Close())
	must(t, s.Close())
	if _, err := os.Lstat(filepath.Join(dir, OperatorSocket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}
