package serve

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// Agents of other users have sockets of their own, and are told apart by the
// kernel's word: not by what they could reach.
func TestShared(t *testing.T) {
	for name, c := range map[string]struct {
		peer  int
		alone bool
		want  string // at the shared agent.sock
	}{
		"an agent":        {peer: 4242, want: ""},
		"another user":    {peer: 4243, want: string(NotAgent)},
		"root":            {peer: 0, want: string(NotAgent)},
		"alone, an agent": {peer: 4242, alone: true, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, dir, shared := newFake(), filepath.Join(t.TempDir(), "run"), t.TempDir()
			must(t, os.Chmod(shared, 0o750))
			s, err := Listen(dir, Options{
				Agents: f, Operator: operator{f}, MCP: func(context.Context, net.Conn, Peer) {}, Shared: Shared{Dir: shared, UIDs: []int{4242}, Alone: c.alone},
			})
			must(t, err)
			s.peerOf = func(*net.UnixConn) (Peer, error) { return Peer{UID: c.peer, SameUID: true}, nil }
			go func() { _ = s.Serve(context.Background()) }()
			defer s.Close()
			client, err := Dial(t.Context(), filepath.Join(shared, AgentSocket))
			must(t, err)
			defer client.Close()
			err = client.Call(t.Context(), "session.open", OpenRequest{Agent: "a"}, nil)
			var fault *Fault
			if got := errors.As(err, &fault); got != (c.want != "") || got && fault.Reason != c.want {
				t.Errorf("%v, not %q", err, c.want)
			}
			for path, want := range map[string]bool{
				filepath.Join(dir, AgentSocket): !c.alone, filepath.Join(dir, MCPSocket): !c.alone, filepath.Join(dir, OperatorSocket): true,
				filepath.Join(shared, MCPSocket): true, filepath.Join(shared, OperatorSocket): false,
			} {
				if _, err := os.Lstat(path); (err == nil) != want {
					t.Errorf("%s: %v", path, err)
				}
			}
			must(t, s.Close())
			if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// What says nothing lets nobody in: neither users that nobody named, nor agents of the runtime's user who are to be elsewhere.
func TestSharedOfNobody(t *testing.T) {
	shared := t.TempDir()
	must(t, os.Chmod(shared, 0o750))
	for name, o := range map[string]Shared{"no users": {Dir: shared}, "alone and nowhere": {Alone: true}} {
		f, dir := newFake(), filepath.Join(t.TempDir(), "run")
		s := unwrap(Listen(dir, Options{Agents: f, Operator: operator{f}, Shared: o}))(t)
		go func() { _ = s.Serve(context.Background()) }()
		if o.Dir == "" {
			if _, err := os.Lstat(filepath.Join(dir, AgentSocket)); err == nil {
				t.Errorf("%s: the runtime's own user can connect", name)
			}
		} else {
			client := unwrap(Dial(t.Context(), filepath.Join(shared, AgentSocket)))(t)
			var fault *Fault
			if err := client.Call(t.Context(), "session.open", OpenRequest{Agent: "a"}, nil); !errors.As(err, &fault) || fault.Reason != string(NotAgent) {
				t.Errorf("%s: %v", name, err)
			}
			_ = client.Close() // it was cut off
		}
		must(t, s.Close())
	}
}

// Where several users may connect each has its part of the connections, and leaves the others theirs. On a socket that is not shared one
// user has them all, which is what would be noticed.
func TestSharedConnections(t *testing.T) {
	shared, dir := t.TempDir(), filepath.Join(t.TempDir(), "run")
	must(t, os.Chmod(shared, 0o750))
	f := newFake()
	s := unwrap(Listen(dir, Options{Agents: f, Operator: operator{f}, Shared: Shared{Dir: shared, UIDs: []int{4242, 4243}}, Connections: 4}))(t)
	var uid atomic.Int64
	s.peerOf = func(*net.UnixConn) (Peer, error) { return Peer{UID: int(uid.Load())}, nil }
	go func() { _ = s.Serve(context.Background()) }()
	defer s.Close()
	opens := func(in string, as int64) bool {
		uid.Store(as)
		c := unwrap(Dial(t.Context(), filepath.Join(in, AgentSocket)))(t)
		t.Cleanup(func() { _ = c.Close() }) // it may have been cut off
		err := c.Call(t.Context(), "session.open", OpenRequest{Agent: "a"}, nil)
		var fault *Fault
		if err != nil && (!errors.As(err, &fault) || fault.Reason != string(TooManyConnections)) {
			t.Fatal(err)
		}
		return err == nil
	}
	for _, c := range []struct {
		in        string
		one, next int
	}{{shared, 2, 2}, {dir, 4, 0}} {
		one, next := 0, 0
		for range 5 {
			if opens(c.in, 4242) {
				one++
			}
		}
		for range 5 {
			if opens(c.in, 4243) {
				next++
			}
		}
		if one != c.one || next != c.next {
			t.Errorf("%s: %d and %d connections, not %d and %d", c.in, one, next, c.one, c.next)
		}
	}
}

func TestSharedUnsafe(t *testing.T) {
	open, safe, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	must(t, os.Chmod(open, 0o777))
	must(t, os.Chmod(safe, 0o750))
	must(t, os.Symlink(safe, link))
	for what, c := range map[string]struct {
		dir  string
		want Reason // empty: it is served
	}{
		"a directory that anybody writes to": {open, DirUnsafe},
		"a link":                             {link, DirUnsafe},
		"nothing":                            {filepath.Join(safe, "none"), SocketFailed},
		"one's own":                          {safe, ""},
	} {
		f := newFake()
		s, err := Listen(filepath.Join(t.TempDir(), "run"), Options{Agents: f, Operator: operator{f}, Shared: Shared{Dir: c.dir, UIDs: []int{1}}})
		if c.want == "" && err != nil || c.want != "" && !is(err, c.want) {
			t.Errorf("%s: %v, not %q", what, err, c.want)
		}
		if err == nil {
			must(t, s.Close())
		}
	}
}
