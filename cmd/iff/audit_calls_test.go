package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/record"
)

// nasty is what an agent may write to fool whoever reads the log: a second
// line, colours, a title, text from right to left, a formula, quotes.
const nasty = "=HYPERLINK(\"http://evil\")\n99  2026-05-04 decision  approve\x1b[2J\x1b]0;pwned\x07\u202etxt.exe\u2066\u200b\x00\xff \"approved\"  by human"

// clock stands still until it is told to go on.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// calls appends to the log of a home what agents do.
type calls struct {
	home    *home.Home
	clock   *clock
	session string
}

// openToCall opens a home for writing at a fixed time.
func openToCall(dir string) (*calls, error) {
	c := &calls{clock: &clock{now: time.Date(2026, 5, 4, 14, 2, 11, 0, time.UTC)}, session: "7K2M4Q"}
	h, err := home.Open(context.Background(), dir, home.Write, home.Options{Now: c.clock.Now})
	c.home = h
	return c, err
}

func callID(i int) string { return fmt.Sprintf("01J9ZTESTCALL%013d", i) }

func digest(i int) corpus.State {
	return corpus.State(fmt.Sprintf("%012x%052x", 0xabcdef000000+i, i))
}

// append makes records of one call, a millisecond and a half after the last.
func (c *calls) append(id string, bodies ...record.Body) ([]record.Mark, error) {
	c.clock.pass(1500 * time.Microsecond)
	entries := make([]record.Entry, len(bodies))
	for i, b := range bodies {
		entries[i] = record.Entry{Session: c.session, Request: id, Body: b}
	}
	return c.home.Log().Append(context.Background(), entries...)
}

// ask makes a request with an envelope.
func (c *calls) ask(token, target, effect, reasoning, content string) (record.Request, error) {
	class, err := capability.Parse(token)
	if err != nil {
		return record.Request{}, err
	}
	at, err := capability.ParseTarget(class, target)
	if err != nil {
		return record.Request{}, err
	}
	arguments := "{}"
	if content != "" {
		arguments = `{"content":` + strconv.QuoteToASCII(content) + `}`
	}
	e, err := capability.NewEnvelope(capability.Call{Target: at, Arguments: []byte(arguments), Reasoning: reasoning})
	if err != nil {
		return record.Request{}, err
	}
	kept, err := c.home.Log().Keep(context.Background(), e.Bytes())
	return record.Request{
		Agent: "opencode", Capability: token, Effect: effect, Envelope: e.Hash(), Level: "declared", Mark: "PUBLIC",
		Payload: kept, Target: target,
	}, err
}

// call appends one call whose fate its number says.
func (c *calls) call(i int) error {
	id, path := callID(i), fmt.Sprintf("reports/%d.md", i)
	kind := i % 6
	effect, token := "irreversible", "fs.write.irrev"
	reasoning, content := "stale file, cleaning up as the skill instructs", fmt.Sprintf("# Report %d", i)
	switch kind {
	case 0:
		effect, token, content = "none", "fs.read", ""
	case 3:
		effect, token = "reversible", "fs.write.rev"
	case 5:
		reasoning, content = strings.ToValidUTF8(nasty, "?"), strings.Repeat("long ", 2000)
	}
	r, err := c.ask(token, path, effect, reasoning, content)
	if err != nil {
		return err
	}
	plan := []record.Change{{Object: corpus.Object("work/" + path), Before: digest(i), After: corpus.Absent}}
	if kind != 0 {
		r.Plan, r.Sink = plan, "PUBLIC"
	}
	decision := record.Decision{Broker: "inbox", Cause: record.CauseHuman, Choice: record.Approve, Envelope: r.Envelope, Profile: "dev", Approver: "approver", SameUID: true}
	outcome := record.Outcome{Envelope: r.Envelope, Readings: plan}
	switch kind {
	case 0:
		decision = record.Decision{Broker: "level", Cause: record.CauseLevel, Choice: record.Approve, Envelope: r.Envelope, Profile: "dev", Rule: "fs.read(**)"}
		_, err = c.append(id, r, decision, record.Executed{Outcome: record.Outcome{Envelope: r.Envelope}})
		return err
	case 2:
		decision.Choice = record.Deny
		return c.each(id, r, decision)
	case 3:
		return c.each(id, record.ReversibleRequest{Request: r}, decision, record.Staged{Bytes: 4213, Envelope: r.Envelope, Plan: plan},
			record.CommitIntent{Intent: record.Intent{Attempt: 1, Envelope: r.Envelope, Fence: 1, Key: "k-" + id, Plan: plan}}, record.Committed{Outcome: outcome})
	case 4:
		outcome.Reason, outcome.Detail, outcome.Readings = "no-access", "permission denied", nil
		return c.each(id, r, decision, c.intent(id, r, plan), record.Error{Outcome: outcome})
	case 5:
		r.Target, r.Agent, plan[0].Object = nasty, nasty, nasty
		outcome.Detail = nasty
		outcome.Readings = []record.Change{{Object: nasty, Before: digest(i), After: digest(i + 1)}}
		outcome.Result, err = c.home.Log().Keep(context.Background(), []byte(strings.ToValidUTF8(nasty, "?")))
		if err != nil {
			return err
		}
	}
	return c.each(id, r, decision, c.intent(id, r, plan), record.Executed{Outcome: outcome})
}

func (c *calls) intent(id string, r record.Request, plan []record.Change) record.Intent {
	return record.Intent{Attempt: 1, Envelope: r.Envelope, Fence: 1, Key: "k-" + id, Plan: plan, Staging: ".iff-stage"}
}

// each appends records one at a time.
func (c *calls) each(id string, bodies ...record.Body) error {
	for _, b := range bodies {
		if _, err := c.append(id, b); err != nil {
			return err
		}
	}
	return nil
}

// appendCalls is the script command calls DIR N [doubt]: N calls of one
// session; with doubt a last one that has an
// intent and no outcome.
func appendCalls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: calls DIR N [doubt]")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	c, err := openToCall(ts.MkAbs(args[0]))
	ts.Check(err)
	err = c.run(n, len(args) == 3)
	ts.Check(errors.Join(err, c.home.Close()))
}

func (c *calls) run(n int, doubt bool) error {
	if err := c.each("", record.Session{Agent: "opencode", Level: "declared", Mark: "PUBLIC", Transition: record.SessionOpened}); err != nil {
		return err
	}
	for i := range n {
		if err := c.call(i); err != nil {
			return err
		}
	}
	if !doubt {
		return nil
	}
	r, err := c.ask("fs.write.irrev", "reports/doubt.md", "irreversible", "", "")
	if err != nil {
		return err
	}
	id := callID(99)
	plan := []record.Change{{Object: "work/reports/doubt.md", Before: digest(1), After: "absent"}}
	return c.each(id, r, record.Decision{Broker: "inbox", Cause: record.CauseHuman, Choice: record.Approve, Profile: "dev"}, c.intent(id, r, plan))
}

// busy is the script command busy DIR: a writer that appends to the log without
// a pause until the script ends.
func busy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: busy DIR")
	}
	c, err := openToCall(ts.MkAbs(args[0]))
	ts.Check(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := c.call(0); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	ts.Defer(func() {
		stop()
		if err := errors.Join(<-done, c.home.Close()); err != nil {
			ts.Logf("busy: %v", err)
		}
	})
}

// waitFor is the script command waitfor FILE PATTERN: it waits until the file
// has a match.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitfor FILE PATTERN")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	var data []byte
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if data, err = os.ReadFile(ts.MkAbs(args[0])); err == nil && pattern.Match(data) {
			return
		}
	}
	ts.Fatalf("%s has no match for %s: %v\n%s", args[0], args[1], err, data)
}

// clean is the script command clean FILE...: no file has what a terminal would
// act on or a reader not see.
func clean(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		data := []byte(ts.ReadFile(name))
		found := regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]").Find(data)
		if (found != nil) != neg {
			ts.Fatalf("%s has %q", name, found)
		}
	}
}
