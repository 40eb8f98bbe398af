// Command webhook is a reference receiver of iff's webhook: it verifies who asks,
// prints each question as an approver would see it, decides by a file of rules and
// signs what it decided. See docs/webhook.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/examples/webhook/receiver"
	"github.com/iff-run/iff/record"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "webhook:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var f receiver.Flags
	set := flag.NewFlagSet("webhook", flag.ContinueOnError)
	f.Add(set)
	file := set.String("rules", "", "file of rules; without one there is no opinion on anything")
	if err := set.Parse(args); err != nil {
		return err
	}
	var rules []rule
	if *file != "" {
		text, err := os.ReadFile(*file)
		if err == nil {
			rules, err = parseRules(string(text))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", *file, err)
		}
	}
	r, err := f.Receiver()
	if err != nil {
		return err
	}
	configure(r, rules, out)
	return f.Serve(ctx, r)
}

// configure lets a receiver decide by rules, and print.
func configure(r *receiver.Receiver, rules []rule, out io.Writer) {
	var mu sync.Mutex
	say := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, text)
	}
	r.Log = say
	r.Decide = func(_ context.Context, q approval.Question) record.Choice {
		say(q.Render())
		return decide(rules, q)
	}
}
