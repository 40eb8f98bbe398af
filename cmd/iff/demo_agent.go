package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/internal/mcpgate"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/record"
)

// demoAgent is an agent on a script: an MCP client on one end of a pipe.
type demoAgent struct {
	*mcp.ClientSession
	gateway *mcpgate.Gateway
	served  chan struct{}
}

// connect puts an agent in front of a runtime, as iff mcp does with others.
func (d *demo) connect(ctx context.Context, rt *iff.Runtime) (*demoAgent, error) {
	at := new(serve.Attachment)
	at.Attach(rt, d.now())
	gateway, err := mcpgate.New(ctx, mcpgate.Options{
		Agents: at, Version: iff.Version, Net: true, Roots: []mcpgate.Root{{Corpus: "work", Dir: d.notes}}, Report: d.reporter(),
	})
	if err != nil {
		return nil, err
	}
	agent := &demoAgent{gateway: gateway, served: make(chan struct{})}
	ours, theirs := net.Pipe()
	go func() {
		defer close(agent.served)
		gateway.ServeConn(ctx, ours, serve.Peer{UID: os.Getuid(), PID: os.Getpid(), SameUID: true})
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: iff.Version}, nil)
	agent.ClientSession, err = client.Connect(ctx, &mcp.IOTransport{Reader: theirs, Writer: theirs}, nil)
	if err != nil {
		return nil, errors.Join(err, theirs.Close(), agent.close())
	}
	return agent, nil
}

// close ends the agent's session and waits until iff has.
func (g *demoAgent) close() error {
	var err error
	if g.ClientSession != nil {
		err = g.Close()
	}
	<-g.served
	g.gateway.Close()
	return err
}

// demoReply is what iff tells of a call.
type demoReply struct{ status, request, reason, message string }

// use uses a tool. What iff refuses is a reply too.
func (g *demoAgent) use(ctx context.Context, name string, arguments map[string]any) (demoReply, error) {
	res, err := g.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return demoReply{}, err
	}
	told, ok := res.StructuredContent.(map[string]any)
	if !ok {
		return demoReply{}, fmt.Errorf("%s: iff's answer has no structured content", name)
	}
	if all, ok := told["replies"].([]any); ok && len(all) == 1 {
		told, _ = all[0].(map[string]any)
	}
	field := func(name string) string { s, _ := told[name].(string); return s }
	return demoReply{field("status"), field("request"), field("reason"), field("message")}, nil
}

// step has the agent do one thing.
func (d *demo) step(ctx context.Context, agent *demoAgent, step demoStep, choices chan<- record.Choice) error {
	if step.answer != "" {
		choices <- step.answer
	}
	arguments := map[string]any{}
	for k, v := range step.arguments {
		arguments[k] = v
	}
	if path, ok := step.arguments["path"]; ok { // as agents name files
		arguments["path"] = filepath.Join(d.notes, path)
	}
	reply, err := agent.use(ctx, step.tool, arguments)
	if err != nil {
		return err
	}
	out := demoStepJSON{Agent: step.says, Why: step.why, Request: reply.request, Status: reply.status, Reason: reply.reason}
	if step.tool == "use_skill" {
		out.Status = string(step.status)
	}
	out.AsTold = out.Status == string(step.status) && out.Reason == string(step.reason)
	if step.answer == record.Approve && step.tool != "end_round" {
		d.asked = out.Request
	}
	d.out.Steps = append(d.out.Steps, out)
	colour := map[string]string{"done": green, "denied": red}[out.Status]
	d.say("  %-32s %s  %s\n", step.says, d.paint(colour, fmt.Sprintf("%-7s", out.Status)), step.why)
	if !out.AsTold {
		d.say("  %s\n", d.paint(red, fmt.Sprintf("! it has to be %s %s: %s", step.status, step.reason, reply.message)))
	}
	return nil
}
