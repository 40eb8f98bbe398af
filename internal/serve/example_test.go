package serve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
)

// echo is a runtime whose only session does whatever it is told. It has no operator's half.
type echo struct{ serve.Operator }

func (echo) Refused(serve.Refusal) error { return nil }

func (echo) Open(context.Context, serve.Peer, serve.OpenRequest) (serve.AgentSession, error) {
	return echoSession{}, nil
}

type echoSession struct{ serve.AgentSession }

func (echoSession) Opened() serve.Opened        { return serve.Opened{Session: "s-1", Level: "unverified"} }
func (echoSession) Close(context.Context) error { return nil }

func (echoSession) Call(_ context.Context, c gate.Call) gate.Reply {
	return gate.Reply{Status: gate.Done, Message: c.Capability + " " + c.Target}
}

// An agent opens a session and makes a call; it cannot end the runtime.
func Example() {
	home, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	run := filepath.Join(home, "run")
	s, err := serve.Listen(run, serve.Options{Agents: echo{}, Operator: echo{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	go s.Serve(ctx)

	c, err := serve.Dial(ctx, filepath.Join(run, serve.AgentSocket))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	var opened serve.Opened
	fmt.Println(c.Call(ctx, "session.open", serve.OpenRequest{Agent: "example"}, &opened), opened.Session)
	var reply serve.Reply
	fmt.Println(c.Call(ctx, "call", serve.CallParams{Capability: "fs.read", Target: "work/a"}, &reply), reply.Status, reply.Message)
	fmt.Println(c.Call(ctx, "shutdown", nil, nil))
	// Output:
	// <nil> s-1
	// <nil> done fs.read work/a
	// method-unknown: there is no method shutdown; see docs/agent-api.md
}
