package hook

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/iff-run/iff/internal/serve"
)

const (
	// Patience is how long a question may take to come.
	Patience = 2 * time.Second
	// reportTime is how long a report may take.
	reportTime = 200 * time.Millisecond
)

// Ask reads a question and answers it. It does not wait for one that does not come
// by the end of ctx; what it has begun to read from in then, it does not finish.
func Ask(ctx context.Context, in io.Reader, client Client) Ruling {
	type read struct {
		data []byte
		err  error
	}
	got := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, MaxInput+1))
		got <- read{data, err}
	}()
	select {
	case <-ctx.Done():
		return Deny(InputLate, "the hook's input did not come in time")
	case r := <-got:
		switch {
		case r.err != nil:
			return Deny(InputInvalid, "the hook's input broke off")
		case len(r.data) > MaxInput:
			return Deny(InputInvalid, "the hook's input is longer than is read")
		}
		return Decide(r.data, client)
	}
}

// Report tells the runtime at a socket of a denial, if one runs there; it starts
// none. What was allowed is not told.
func Report(ctx context.Context, socket string, r Ruling) error {
	if r.Allow {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	c, err := serve.Dial(ctx, socket)
	var refused *serve.Error
	if errors.As(err, &refused) && refused.Reason == serve.NotRunning {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(c.Call(ctx, "hook.report", serve.HookReport{
		Choice: "deny", Client: string(r.Client), Input: hex.EncodeToString(r.Input[:]), Reason: string(r.Reason), Tool: r.Tool,
	}, nil), c.Close())
}
