package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/iff-run/iff/internal/hook"
	"github.com/iff-run/iff/internal/serve"
)

type hookCmd struct {
	Agent string `help:"Agent that asks, if it is not to be told by what it asks: claude-code, codex, qwen or gemini." enum:",claude-code,codex,qwen,gemini" default:"" placeholder:"AGENT"`
}

// hookDenies is how a hook denies a call: the one code that every agent takes for
// that. With any other the tool runs.
const hookDenies = 2

// Run answers an agent. The home is not opened, and nothing but the answer depends
// on there being one.
func (c hookCmd) Run(a *app) error {
	ctx, cancel := context.WithTimeout(a.ctx, hook.Patience)
	defer cancel()
	r := hook.Ask(ctx, a.stdin, hook.Client(c.Agent))
	if r.Allow {
		return nil
	}
	fmt.Fprintf(a.err, "iff: %s: %s\n", r.Reason, r.Words)
	if err := hook.Report(a.ctx, filepath.Join(a.dir, "run", serve.AgentSocket), r); err != nil {
		fmt.Fprintf(a.err, "iff: the runtime was not told: %s\n", shown(err))
	}
	return &outcomeError{hookDenies}
}
