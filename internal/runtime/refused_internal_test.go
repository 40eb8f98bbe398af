package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iff-run/iff/record"
)

// paper is a log of refusals.
type paper struct {
	mu      sync.Mutex
	err     error
	entries []record.Entry
	bodies  map[string]int64 // counts by session, agent, channel and reason
}

func (p *paper) append(_ context.Context, entries ...record.Entry) ([]record.Mark, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	if p.bodies == nil {
		p.bodies = make(map[string]int64)
	}
	p.entries = append(p.entries, entries...)
	for _, e := range entries {
		b := e.Body.(record.Refused)
		p.bodies[strings.Join([]string{e.Session, b.Agent, string(b.Channel), b.Reason}, " ")] += b.Count
	}
	return nil, nil
}

func (p *paper) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

func (p *paper) said() (records int, all int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.bodies {
		all += n
	}
	return len(p.entries), all
}

func deepFrame(session string) refusal {
	return refusal{"uid-1000", session, record.ChannelMCP, "too-deep"}
}

// A flood makes two records, none is lost, and who floods is not kept waiting.
func TestFloodOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log paper
		r := newRefusals(t.Context(), log.append)
		note(t, r, deepFrame("s1.1"), 1)
		synctest.Wait()
		if n, all := log.said(); n != 1 || all != 1 {
			t.Errorf("the first makes %d records of %d", n, all)
		}
		note(t, r, deepFrame("s1.1"), 9_999)
		synctest.Wait()
		if n, _ := log.said(); n != 1 {
			t.Errorf("a flood makes %d records before the minute is over", n)
		}
		// Who crashes now has lost a count and nothing else.
		if err := lost(&log, 10_000); err == nil {
			t.Error("a count that is not written is not missed")
		}
		time.Sleep(refusalsWait)
		synctest.Wait()
		if n, _ := log.said(); n != 2 {
			t.Errorf("%d records after a minute", n)
		}
		if err := lost(&log, 10_000); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * refusalsWait)
		synctest.Wait()
		r.mu.Lock()
		if r.writing || len(r.counts) > 0 {
			t.Error("the writer stays when there is nothing to write")
		}
		r.mu.Unlock()
		note(t, r, deepFrame("s1.1"), 1)
		synctest.Wait()
		if n, _ := log.said(); n != 3 {
			t.Errorf("one more after a rest: %d records", n)
		}
		must(t, r.close(t.Context()))
		note(t, r, deepFrame("s1.1"), 1) // nobody hears it any more
		if n, _ := log.said(); n != 3 {
			t.Errorf("%d records when it is closed", n)
		}
	})
}

func note(t *testing.T, r *refusals, f refusal, times int) {
	t.Helper()
	for range times {
		must(t, r.note(f))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lost says whether the log counts all.
func lost(log *paper, want int64) error {
	if _, all := log.said(); all != want {
		return fmt.Errorf("%d of %d refusals are in the log", all, want)
	}
	return nil
}

// The end of a session, and that of the runtime, bring every count into the log;
// a collector that forgets is noticed.
func TestRefusalsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(drops bool) (*paper, error) {
			var log paper
			r := newRefusals(t.Context(), log.append)
			for _, session := range []string{"", "s1.1", "s1.2"} {
				note(t, r, deepFrame(session), 7)
			}
			synctest.Wait() // the first ones are told
			for _, session := range []string{"", "s1.1", "s1.2"} {
				note(t, r, deepFrame(session), 3)
			}
			if drops {
				clear(r.counts)
			}
			must(t, r.end(t.Context(), "s1.1"))
			if want := int64(10); !drops && log.bodies["s1.1 uid-1000 mcp too-deep"] != want {
				t.Errorf("at the end of its session: %v", log.bodies)
			}
			must(t, r.close(t.Context()))
			return &log, lost(&log, 30)
		}
		log, err := run(false)
		must(t, err)
		if n, _ := log.said(); n > 6 {
			t.Errorf("%d records", n)
		}
		if _, err := run(true); err == nil {
			t.Error("a collector that drops counts is not noticed")
		}
	})
}

// However many kinds there are, a bounded number is told apart, and an agent that
// makes many up leaves some to the others.
func TestManyKindsOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flooding = 3 * mostRefusals
		var log paper
		r := newRefusals(t.Context(), log.append)
		for i := range flooding {
			note(t, r, deepFrame(fmt.Sprintf("s1.%d", i)), 2)
		}
		kept := len(r.counts)
		note(t, r, refusal{"uid-1001", "late", record.ChannelMCP, "too-deep"}, 1)
		note(t, r, deepFrame("late"), 1) // as it would be if the other's were not apart
		must(t, r.close(t.Context()))
		must(t, lost(&log, 2*flooding+2))
		more := log.bodies[" uid-1000 mcp "+string(RefusedMore)]
		if n, _ := log.said(); kept > mostRefusals/2+1 || n > 2*kept+1 || more != 2*(flooding-mostRefusals/2)+1 {
			t.Errorf("%d kinds are kept; %d records, %d more", kept, n, more)
		}
		if log.bodies["late uid-1001 mcp too-deep"] != 1 || log.bodies["late uid-1000 mcp too-deep"] != 0 {
			t.Errorf("one agent takes all the kinds there are: %v", log.bodies)
		}
	})
}

// Where there are as many agents as kinds, what they have too much of is counted
// without a name.
func TestManyAgentsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log paper
		r := newRefusals(t.Context(), log.append)
		for i := range 3 * mostRefusals {
			f := deepFrame("")
			f.agent = fmt.Sprintf("uid-%d", i)
			note(t, r, f, 2)
		}
		if len(r.counts) > mostRefusals+1 {
			t.Errorf("%d kinds are kept", len(r.counts))
		}
		must(t, r.close(t.Context()))
		if more := log.bodies["  mcp "+string(RefusedMore)]; more < 4*mostRefusals {
			t.Errorf("%d more", more)
		}
		must(t, lost(&log, 6*mostRefusals))
	})
}

// A log that fails takes nothing from who is answered: it is said once, and what
// was counted is written when it can be.
func TestRefusalsOfALogThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log paper
		full := errors.New("no room")
		log.fail(full)
		r := newRefusals(t.Context(), log.append)
		note(t, r, deepFrame("s1.1"), 1)
		synctest.Wait()
		if err := r.note(deepFrame("s1.1")); !errors.Is(err, full) {
			t.Errorf("it is not said: %v", err)
		}
		note(t, r, deepFrame("s1.1"), 8)
		time.Sleep(refusalsWait + time.Second)
		synctest.Wait()
		log.fail(nil)
		time.Sleep(refusalsWait)
		synctest.Wait()
		must(t, lost(&log, 10))
		log.fail(full)
		if err := r.note(deepFrame("s1.2")); !errors.Is(err, full) {
			t.Errorf("the second failure is not said: %v", err)
		}
		if err := r.close(t.Context()); !errors.Is(err, full) {
			t.Errorf("closed with %v", err)
		}
	})
}

// Nothing but tokens gets into a record.
func TestReasonsOfRefusalsAreTokens(t *testing.T) {
	for _, s := range []string{"", "Too-Deep", "too deep", "a\nb", "\u202e", `"`, strings.Repeat("a", longestToken+1)} {
		if isToken(s) {
			t.Errorf("%q is a token", s)
		}
	}
	for _, s := range []string{"too-deep", "base64-invalid", string(RefusedMore)} {
		if !isToken(s) {
			t.Errorf("%q is no token", s)
		}
	}
	var all []refusal
	for _, s := range []string{"b", "a"} {
		all = append(all, deepFrame(s))
	}
	slices.SortFunc(all, refusal.compare)
	if all[0].session != "a" {
		t.Error("records have no order")
	}
}
