package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/gate"
)

const (
	sessions = 6
	calls    = 400 // of one session, if it lives so long
)

// work runs a runtime and makes calls until they are made or it is killed. To
// out it writes the id of each call that was told to be done. before is called
// ahead of each; it is for planting bugs.
func work(ctx context.Context, home string, seed uint64, out io.Writer, before func(iff.Call)) error {
	b, err := iff.Bootstrap(ctx, home, iff.Options{})
	if err != nil {
		return err
	}
	l, err := b.Lock()
	if err != nil {
		return errors.Join(err, b.Close())
	}
	rt, err := l.Start(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "started")
	var mu sync.Mutex
	tell := func(r iff.Reply) {
		if r.Status == gate.Done {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(out, r.Request)
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, sessions)
	for i := range sessions {
		wg.Go(func() { errs[i] = agent(ctx, rt, i, rand.New(rand.NewPCG(seed, uint64(i))), before, tell) })
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), rt.Close(ctx))
}

// agent is one session. Some of its objects are its own, some are everybody's.
func agent(ctx context.Context, rt *iff.Runtime, n int, r *rand.Rand, before func(iff.Call), tell func(iff.Reply)) error {
	s, err := rt.Open(ctx, "crash", iff.OpenOptions{})
	if err != nil {
		return err
	}
	for range calls {
		c := randomCall(n, r)
		before(c)
		tell(s.Call(ctx, c))
	}
	if n%2 == 0 {
		if _, err := s.Rollback(ctx); err != nil {
			return err
		}
	}
	return s.Close(ctx)
}

// honest does nothing ahead of a call.
func honest(iff.Call) {}

func randomCall(n int, r *rand.Rand) iff.Call {
	name := func() string {
		if r.IntN(4) == 0 {
			return fmt.Sprintf("shared/%d.md", r.IntN(4))
		}
		return fmt.Sprintf("own%d/%d.md", n, r.IntN(5))
	}
	write := map[string]any{"op": "write", "content": fmt.Sprintf("%d %d\n", n, r.IntN(1000))}
	switch r.IntN(8) {
	case 0:
		return call("fs.write.rev", name(), map[string]any{"op": "append", "content": "more\n"})
	case 1:
		return call("fs.write.irrev", name(), map[string]any{"op": "delete"})
	case 2:
		return call("fs.write.irrev", name(), map[string]any{"op": "rename", "to": name()})
	case 3:
		return call("fs.write.irrev", name(), map[string]any{"op": "chmod", "mode": []string{"0600", "0644"}[r.IntN(2)]})
	case 4:
		return call("fs.write.irrev", fmt.Sprintf("own%d/dir", n), map[string]any{"op": "mkdir"})
	case 5:
		return call("fs.write.irrev", fmt.Sprintf("own%d/dir", n), map[string]any{"op": "delete", "recursive": true})
	case 6:
		return call("fs.write.irrev", fmt.Sprintf("own%d/dir/%d", n, r.IntN(3)), write)
	}
	return call("fs.write.rev", name(), write)
}

func call(class, target string, arguments map[string]any) iff.Call {
	text, _ := json.Marshal(arguments)
	return iff.Call{Capability: class, Target: target, Arguments: text}
}
