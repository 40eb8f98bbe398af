// Playmodel is a model for an agent on this machine that plays a script, until it is ended; see internal/connect/model.
//
//	playmodel STEPS.json
//
// The file is a list of {"tool": NAME, "args": {...}}. The address is the one line on standard output.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/connect/model"
)

// limits bound the file.
var limits = canonical.Limits{Bytes: 1 << 20}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := play(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "playmodel:", err)
		os.Exit(1)
	}
}

func play(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("give one file with steps")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limits.Bytes)+1))
	if err != nil {
		return err
	}
	script, err := parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	m, err := model.Start(ctx, script)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, m.URL())
	<-ctx.Done()
	return m.Close()
}

func parse(data []byte) (model.Script, error) {
	var steps []struct {
		Tool string                   `json:"tool"`
		Args map[string]canonical.Raw `json:"args"`
	}
	if err := canonical.Parse(data, &steps, limits); err != nil {
		return model.Script{}, err
	}
	var out model.Script
	for _, s := range steps {
		args := make(map[string]any, len(s.Args))
		for name, value := range s.Args {
			args[name] = verbatim(value.String())
		}
		out.Main = append(out.Main, model.Step{Tool: s.Tool, Args: args})
	}
	return out, nil
}

// verbatim is JSON as it was written.
type verbatim string

// MarshalJSON gives it back.
func (v verbatim) MarshalJSON() ([]byte, error) { return []byte(v), nil }
