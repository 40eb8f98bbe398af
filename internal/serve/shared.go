package serve

import (
	"fmt"
	"os"
	"slices"
)

// Shared is a second directory of sockets, for agents of other users: agent.sock and mcp.sock, no operator.sock.
type Shared struct {
	Dir  string // it is there, and only the runtime's user makes files in it
	UIDs []int  // who may connect; without any, nobody
	// Alone leaves the sockets for agents out of the directory of the operator's: agents are other users (profile strict). Without
	// Dir there are none then.
	Alone bool
}

// sharedMode lets whoever may enter the directory connect; who is answered, the peer's id says.
const sharedMode = 0o666

// openShared refuses a directory that others write to.
func openShared(dir string) (*place, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, &Error{SocketFailed, dir, "the directory of the agents' sockets cannot be looked at; check serve.agent_dir", err}
	}
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 || !ours(info) {
		return nil, &Error{Reason: DirUnsafe, Path: dir, Detail: fmt.Sprintf("%s is not a directory in which only its owner, the runtime's user, makes files; move it away, or: chmod 750", info.Mode())}
	}
	return hold(dir, info, sharedMode)
}

// share adds the planes of the shared directory.
func (s *Server) share(o Shared, mcp bool) error {
	if o.Alone {
		s.planes = slices.DeleteFunc(s.planes, func(p *plane) bool { return p.opens })
	}
	if o.Dir == "" {
		return nil
	}
	at, err := openShared(o.Dir)
	if err != nil {
		return err
	}
	s.places = append(s.places, at)
	for _, p := range s.agentPlanes(at, mcp) {
		p.peers = append([]int{}, o.UIDs...) // of nil, which is anybody, nothing is made
		s.planes = append(s.planes, p)
	}
	return nil
}

// agentPlanes are the sockets for agents in a directory.
func (s *Server) agentPlanes(at *place, mcp bool) []*plane {
	out := []*plane{{server: s, place: at, name: AgentSocket, methods: agentMethods(), opens: true}}
	if mcp {
		out = append(out, &plane{server: s, place: at, name: MCPSocket, hand: s.opts.MCP, opens: true})
	}
	return out
}
