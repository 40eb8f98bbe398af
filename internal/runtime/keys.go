package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// How far back idempotency keys are learnt when a runtime starts: so many of
// them, of all principals, from so many records of the log at most, which is
// about four microseconds each. A call with an older key is done again.
const (
	maxKeys       = 1 << 16
	maxKeyRecords = 1 << 20
)

// learnt are the calls of the log that had an idempotency key, and how they
// ended, the oldest first; of two with one key the newer. It reads the log
// backwards, in windows, until it has enough.
func (r *Runtime) learnt(ctx context.Context, keys int, records int64) ([]gate.KnownKey, error) {
	view, err := r.view(ctx)
	if err != nil {
		return nil, err
	}
	l := learning{later: make(map[string][]record.Body), seen: make(map[[2]string]bool), most: keys}
	j := judging{Case: Case{View: view, Store: r.parts.Log.Store()}}
	read := int64(0)
	err = j.back(ctx, view.Size(), func(window []record.Record) (bool, error) {
		l.take(window)
		read += int64(len(window))
		return len(l.out) >= keys || read >= records, nil
	})
	if err != nil {
		return nil, fmt.Errorf("learn which idempotency keys were used: %w", err)
	}
	slices.Reverse(l.out)
	return l.out, nil
}

// learning reads a log backwards.
type learning struct {
	most  int
	later map[string][]record.Body // by request, of windows behind the one that is read
	seen  map[[2]string]bool       // agent and key
	out   []gate.KnownKey          // the newest first
}

// take takes in a window, in which records stand in order.
func (l *learning) take(window []record.Record) {
	bodies := make(map[string][]record.Body)
	for _, r := range window {
		switch r.Body.(type) {
		case record.Request, record.ReversibleRequest:
		case record.Decision, record.Intent, record.CommitIntent, record.RollbackIntent, record.Executed, record.Committed, record.RolledBack, record.Error, record.Resolved:
			bodies[r.Request] = append(bodies[r.Request], r.Body)
		}
	}
	for request, ended := range bodies {
		l.later[request] = append(ended, l.later[request]...)
	}
	for _, r := range slices.Backward(window) {
		switch b := r.Body.(type) {
		case record.Request:
			l.add(r, b)
		case record.ReversibleRequest:
			l.add(r, b.Request)
		}
	}
}

// add takes in a call with all that became of it. A call that was refused for its
// key did not use it.
func (l *learning) add(r record.Record, b record.Request) {
	became := l.later[r.Request]
	delete(l.later, r.Request)
	name := [2]string{b.Agent, b.Key}
	if b.Key == "" || len(l.out) >= l.most || l.seen[name] {
		return
	}
	k := knownKey{KnownKey: gate.KnownKey{
		Agent: strings.Clone(b.Agent), Key: strings.Clone(b.Key), Envelope: b.Envelope,
		Reply: gate.Reply{
			Request: strings.Clone(r.Request), Status: gate.Refused, Reason: gate.SessionEnded,
			Message: "a crash came first, and nothing happened; use another key to ask again",
		},
	}}
	for _, body := range became {
		k.follow(body)
	}
	if k.Reply.Status == gate.Denied && k.Reply.Reason == gate.KeyReused {
		return
	}
	l.seen[[2]string{k.Agent, k.Key}] = true
	l.out = append(l.out, k.KnownKey)
}

// knownKey is a call that had a key, as far as its records go.
type knownKey struct {
	gate.KnownKey
	undoing bool // it was done, and is being put back
}

// follow takes the next record of the call.
func (k *knownKey) follow(b record.Body) {
	switch b.(type) {
	case record.RollbackIntent:
		k.undoing = true
	case record.Committed, record.Executed:
		k.undoing = false
	}
	k.Reply = ended(k.Reply, k.undoing, b)
}

// ended is how a call is told to have ended by a record of it. A call that was
// being put back was done before that.
func ended(reply gate.Reply, undoing bool, b record.Body) gate.Reply {
	as := func(status gate.Status, why string) gate.Reply {
		return gate.Reply{Request: reply.Request, Status: status, Reason: gate.Reason(why)}
	}
	done := as(gate.Done, "")
	done.Message = "it was done before iff was started again; its result is not kept; ask with another key if it can be done twice"
	undone := as(gate.Refused, string(gate.SessionEnded))
	undone.Message = "it was put back as it was before, or was never written; use another key to ask again"
	switch b := b.(type) {
	case record.Decision:
		if b.Choice != record.Approve {
			return as(gate.Denied, b.Reason)
		}
	case record.Intent, record.CommitIntent, record.RollbackIntent:
		return as(gate.Doubtful, string(gate.InDoubt))
	case record.Executed, record.Committed:
		return done
	case record.RolledBack:
		return undone
	case record.Error:
		if undoing {
			return done
		}
		return as(gate.Failed, b.Reason)
	case record.Resolved:
		switch {
		case b.Finding == record.FoundExecuted && undoing:
			return undone
		case b.Finding == record.FoundExecuted, b.Finding == record.FoundNotExecuted && undoing:
			return done
		case b.Finding == record.FoundNotExecuted:
			return as(gate.Failed, string(gate.HostFailed))
		}
		return as(gate.Failed, string(gate.Conflict))
	}
	return reply
}
