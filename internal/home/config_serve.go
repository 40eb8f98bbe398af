package home

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	defaultConnections = 1024
	maxConnections     = 65_536
	maxAgents          = 64
)

// MCPConfig is [mcp] of iff.toml. What is not set there has its default.
type MCPConfig struct {
	Listen string        // host:port of this machine for MCP over HTTP; empty: none
	Wait   time.Duration // after which a call that waits for a person is answered as pending; default 50s
	Idle   time.Duration // with nothing in flight, after which what is staged is asked about; default 1m
}

// ServeConfig is [serve] of iff.toml.
type ServeConfig struct {
	Connections int      // open at once; default 1024
	AgentDir    string   // absolute; second directory of sockets, for agents of other users; empty: none
	Agents      []string // names or ids of the users that may connect there
}

// mcpTable is [mcp] as it is written.
type mcpTable struct {
	Listen string  `toml:"listen" form:"listen" doc:"address of this machine for MCP over HTTP; none if nothing is said"`
	Wait   *string `toml:"wait" form:"time" doc:"after this a call that waits for a person is answered pending; 50s if nothing is said"`
	Idle   *string `toml:"idle" form:"time" doc:"with nothing in flight so long, what is staged is asked about; 1m if nothing is said"`
}

// serveTable is [serve] as it is written.
type serveTable struct {
	Connections *int     `toml:"connections" doc:"connections open at once; 1024 if nothing is said"`
	AgentDir    string   `toml:"agent_dir" form:"path" doc:"second directory of sockets, for agents of other users"`
	Agents      []string `toml:"agents" form:"user" most:"64" doc:"users that may connect there"`
}

func (s settings) mcp(c *Config) error {
	c.MCP = MCPConfig{Listen: s.MCP.Listen, Wait: 50 * time.Second, Idle: time.Minute}
	for _, set := range []struct {
		key  string
		text *string
		into *time.Duration
	}{{"wait", s.MCP.Wait, &c.MCP.Wait}, {"idle", s.MCP.Idle, &c.MCP.Idle}} {
		if set.text == nil {
			continue
		}
		var err error
		if *set.into, err = parseTimeout(*set.text); err != nil {
			return s.wrong("mcp", 0, set.key, err.Error())
		}
	}
	if s.MCP.Listen != "" && !isListen(s.MCP.Listen) {
		return s.wrong("mcp", 0, "listen", quoted(s.MCP.Listen)+`; write an address of this machine and a port, such as "127.0.0.1:7447" or "[::1]:7447"`)
	}
	return nil
}

func isListen(text string) bool {
	a, err := netip.ParseAddrPort(text)
	return err == nil && isLoopback(a.Addr().String()) && a.String() == text
}

func (s settings) serve(c *Config) error {
	c.Serve = ServeConfig{Connections: defaultConnections, Agents: s.Serve.Agents}
	if n := s.Serve.Connections; n != nil {
		if *n < 1 || *n > maxConnections {
			return s.wrong("serve", 0, "connections", fmt.Sprintf("%d; write a number from 1 to %d", *n, maxConnections))
		}
		c.Serve.Connections = *n
	}
	if s.Serve.AgentDir != "" {
		var err error
		if c.Serve.AgentDir, err = expandPath(s.Serve.AgentDir); err != nil {
			return s.wrong("serve", 0, "agent_dir", err.Error())
		}
	}
	if err := checkUsers(s.Serve.Agents); err != nil {
		return s.wrong("serve", 0, "agents", err.Error())
	}
	switch given, named := c.Serve.AgentDir != "", len(s.Serve.Agents) > 0; {
	case given && !named:
		return s.wrong("serve", 0, "agents", "they are missing; name the users that may connect in agent_dir")
	case named && !given:
		return s.wrong("serve", 0, "agent_dir", "it is missing; name the directory in which the agents' sockets are")
	}
	return nil
}

func checkUsers(names []string) error {
	if n := len(names); n > maxAgents {
		return fmt.Errorf("%d users, at most %d", n, maxAgents)
	}
	for i, name := range names {
		if !isUser(name) {
			return fmt.Errorf("%s is no name of a user", quoted(name))
		}
		if slices.Contains(names[:i], name) {
			return errors.New(quoted(name) + " stands there twice; leave one out")
		}
	}
	return nil
}

// isUser takes what systems do as names of users, and their numbers.
func isUser(name string) bool {
	return name != "" && len(name) <= 32 && name[0] != '-' && strings.Trim(name, letters+digits+"._-") == ""
}

const (
	lower   = "abcdefghijklmnopqrstuvwxyz"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)
