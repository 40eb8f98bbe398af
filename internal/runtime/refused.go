package runtime

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iff-run/iff/record"
)

// Reason is a closed token of this package.
type Reason string

// RefusedMore stands for refusals of more kinds than are counted apart.
const RefusedMore Reason = "refused-more"

const (
	// mostRefusals is how many kinds of refusals are counted apart.
	mostRefusals = 512
	// refusalsWait is how long one that was counted waits for its record.
	refusalsWait = time.Minute
	// longestToken is how long a reason may be.
	longestToken = 64
)

// NoteRefused counts one message of an agent that was refused before it could
// become a call: see record.Refused. The session is its id, empty where there is
// none, as the principal is where nobody knows who asks. It does not wait for
// the log: its error is why an earlier count could not be recorded, told once;
// that count is kept and tried again. After Close nothing is counted.
func (r *Runtime) NoteRefused(p Principal, session string, over record.Channel, reason string) error {
	if err := r.ready(); err != nil {
		return err
	}
	if !isToken(reason) {
		reason = "internal" // whatever said so, nothing of what was sent gets here
	}
	return r.refusals.note(refusal{string(p), session, over, reason})
}

func isToken(s string) bool {
	return s != "" && len(s) <= longestToken && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// refusal is what is counted apart.
type refusal struct {
	agent, session string
	over           record.Channel
	reason         string
}

func (f refusal) compare(g refusal) int {
	return cmp.Or(cmp.Compare(f.agent, g.agent), cmp.Compare(f.session, g.session), cmp.Compare(f.over, g.over), cmp.Compare(f.reason, g.reason))
}

func (f refusal) entry(count int64) record.Entry {
	return record.Entry{Session: f.session, Body: record.Refused{Agent: f.agent, Channel: f.over, Count: count, Reason: f.reason}}
}

// counted is how often something was refused since the log last said so.
type counted struct {
	count int64
	told  bool // the log has said so before, so it can wait
}

// refusals has refusals recorded, so that a flood of them makes few records: the
// first of a kind at once, the others together when a minute has passed, their
// session ends, or close is called. One goroutine writes; it is there while there
// is something to count.
type refusals struct {
	log  func(context.Context, ...record.Entry) ([]record.Mark, error)
	wait time.Duration
	most int

	ctx    context.Context // of the writer
	cancel context.CancelFunc
	writer sync.WaitGroup
	wake   chan struct{} // holds one while something is there for the first time
	over   chan struct{} // closed by close

	mu      sync.Mutex
	counts  map[refusal]counted // guarded by mu
	writing bool                // there is a writer; guarded by mu
	closed  bool                // guarded by mu
	failed  error               // of the newest write, told to nobody; guarded by mu
}

func newRefusals(ctx context.Context, log func(context.Context, ...record.Entry) ([]record.Mark, error)) *refusals {
	r := &refusals{
		log: log, wait: refusalsWait, most: mostRefusals,
		wake: make(chan struct{}, 1), over: make(chan struct{}), counts: make(map[refusal]counted),
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// note counts one, and tells why an earlier write failed.
func (r *refusals) note(f refusal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	f = r.kind(f)
	now := r.counts[f]
	now.count++
	r.counts[f] = now
	if !now.told {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
	if !r.writing {
		r.writing = true
		r.writer.Go(r.write)
	}
	err := r.failed
	r.failed = nil
	return err
}

// kind is what a refusal is counted as. An agent has half of the kinds that the
// others leave, so that none keeps another's from being told apart. mu is held.
func (r *refusals) kind(f refusal) refusal {
	if _, known := r.counts[f]; known {
		return f
	}
	theirs := 0
	for other := range r.counts {
		if other.agent == f.agent {
			theirs++
		}
	}
	all := len(r.counts)
	if theirs < (r.most-(all-theirs))/2 {
		return f
	}
	more := refusal{agent: f.agent, over: f.over, reason: string(RefusedMore)}
	if _, known := r.counts[more]; !known && all >= r.most {
		more.agent = ""
	}
	return more
}

// write writes until nothing was refused for a while.
func (r *refusals) write() {
	tick := time.NewTicker(r.wait)
	defer tick.Stop()
	for {
		select {
		case <-r.wake:
			r.keep(r.append(r.ctx, r.take(func(_ refusal, c counted) bool { return !c.told })))
		case <-tick.C:
			r.keep(r.append(r.ctx, r.take(func(refusal, counted) bool { return true })))
			if r.rest() {
				return
			}
		case <-r.over:
			return
		}
	}
}

// take takes the counts that are wanted.
func (r *refusals) take(wanted func(refusal, counted) bool) map[refusal]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[refusal]int64)
	for f, c := range r.counts {
		switch {
		case !wanted(f, c):
		case c.count == 0:
			delete(r.counts, f) // nothing came since it was told
		default:
			out[f], r.counts[f] = c.count, counted{told: true}
		}
	}
	return out
}

// append has counts recorded, or takes them back.
func (r *refusals) append(ctx context.Context, counts map[refusal]int64) error {
	var entries []record.Entry
	for _, f := range slices.SortedFunc(maps.Keys(counts), refusal.compare) {
		entries = append(entries, f.entry(counts[f]))
	}
	if len(entries) == 0 {
		return nil
	}
	_, err := r.log(ctx, entries...)
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for f, n := range counts {
		r.counts[f] = counted{count: r.counts[f].count + n, told: true}
	}
	return fmt.Errorf("record what was refused: %w", err)
}

// keep keeps an error for whoever notes the next refusal.
func (r *refusals) keep(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = err
	}
}

// rest says whether there is nothing to write, and no writer from then on.
func (r *refusals) rest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = len(r.counts) > 0
	return !r.writing
}

// end has what was refused in a session recorded.
func (r *refusals) end(ctx context.Context, session string) error {
	return r.append(ctx, r.take(func(f refusal, _ counted) bool { return f.session == session }))
}

// close has everything recorded and waits for the writer. Nothing is counted any
// more.
func (r *refusals) close(ctx context.Context) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	r.mu.Unlock()
	close(r.over)
	stop := context.AfterFunc(ctx, r.cancel)
	defer stop()
	r.writer.Wait()
	r.cancel()
	return r.append(ctx, r.take(func(refusal, counted) bool { return true }))
}
