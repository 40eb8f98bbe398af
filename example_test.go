package iff_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/label"
)

// board publishes to a notice board: a host of one's own. What it does is seen by
// no observer, so its calls are opaque, and a verdict counts them.
type board struct{ notices []string }

func (b *board) Touches(env capability.Envelope) (gate.Touches, error) {
	return gate.Touches{Op: "publish"}, nil
}

func (b *board) Plan(context.Context, capability.Envelope, gate.Staged) (gate.Plan, error) {
	return gate.Plan{Reach: gate.Opaque}, nil
}

// Do is called with a permit that is good once, after the intent is durable.
func (b *board) Do(_ context.Context, p *gate.Permit) (gate.Result, error) {
	order, err := p.Take()
	if err != nil {
		return gate.Result{}, err
	}
	channel, _ := order.Envelope.Target().Name()
	b.notices = append(b.notices, channel+" "+order.Envelope.Arguments())
	return gate.Result{Data: []byte(`{"ok":true}`)}, nil
}

func Example() {
	ctx := context.Background()
	dir := exampleHome(ctx)
	defer os.RemoveAll(filepath.Dir(dir))

	notices := new(board)
	boot, err := iff.Bootstrap(ctx, dir, iff.Options{
		Hosts:   map[capability.Capability]iff.Host{capability.Publish: notices},
		Outside: map[capability.Capability]string{capability.Publish: "PUBLIC"},
	})
	check(err)
	locked, err := boot.Lock() // nothing is loaded from here on
	check(err)
	runtime, err := locked.Start(ctx)
	check(err)
	session, err := runtime.Open(ctx, "example", iff.OpenOptions{})
	check(err)

	show(session.Call(ctx, iff.Call{Capability: "fs.write.rev", Target: "hello.md", Arguments: []byte(`{"op":"write","content":"hello\n"}`)}))
	show(session.Call(ctx, iff.Call{Capability: "fs.read", Target: "hello.md"}))
	// The base manifest declares publish and covers nothing of it, so somebody is
	// asked; in this home that is nobody.
	show(session.Call(ctx, iff.Call{Capability: "publish", Target: "general", Arguments: []byte(`{"text":"hello"}`)}))

	report, err := runtime.Verdict(ctx, session.ID())
	check(err)
	fmt.Println(report.Result, report.Counts.Changed, "changed", report.Counts.Explained, "explained", len(notices.notices), "published")
	check(session.Close(ctx))
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	check(runtime.Close(ctx))
	// Output:
	// done
	// done
	// denied no-broker
	// PASS 1 changed 1 explained 0 published
}

func show(r iff.Reply) {
	if r.Reason == "" {
		fmt.Println(r.Status)
		return
	}
	fmt.Println(r.Status, r.Reason)
}

// exampleHome makes a home with one corpus; people use iff init.
func exampleHome(ctx context.Context) string {
	base, err := os.MkdirTemp("", "iff-example-")
	check(err)
	work := filepath.Join(base, "work")
	check(os.Mkdir(work, 0o755))
	scheme, _ := label.Builtin("default")
	h, err := home.Init(ctx, filepath.Join(base, "home"), home.Plan{
		Operator: "me", Scheme: scheme, Passphrase: []byte("correct horse"), Corpora: []home.CorpusPlan{{Name: "work", Root: work}},
	}, home.Options{})
	check(err)
	config := filepath.Join(h.Dir(), "iff.toml")
	check(h.Close())
	text, err := os.ReadFile(config)
	check(err)
	check(os.WriteFile(config, bytes.Replace(text, []byte(`ask = "inbox"`), []byte(`ask = "nobody"`), 1), 0o600))
	return h.Dir()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
