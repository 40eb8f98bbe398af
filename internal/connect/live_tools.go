package connect

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/internal/visible"
)

const maxTools = 4096 // of iff

// iffTools asks iff what it offers, as the agent would.
func (o LiveOptions) iffTools(ctx context.Context, env []string) ([]string, error) {
	if o.Tools != nil {
		return o.Tools, nil
	}
	command := o.Place.Command()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = o.Place.Dir, env, 2*time.Second
	var output tail
	cmd.Stderr = &output
	client := mcp.NewClient(&mcp.Implementation{Name: "iff-connect", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("`iff mcp` does not answer: %s %s", visible.Escape(err.Error()), output.last())
	}
	defer func() { _ = session.Close() }()
	var out []string
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("`iff mcp` does not say what it offers: %s", visible.Escape(err.Error()))
		}
		if len(out) == maxTools {
			return nil, fmt.Errorf("`iff mcp` offers more than %d tools", maxTools)
		}
		out = append(out, plainName(tool.Name))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("`iff mcp` offers nothing")
	}
	return out, nil
}

// plainName is how agents write the name of a tool, in letters that all providers
// take.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}
