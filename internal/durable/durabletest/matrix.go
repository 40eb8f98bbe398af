package durabletest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/durable"
)

// Case is one run of a body under faults, and one disk that follows from it.
type Case struct {
	Faults   []Fault // those that struck, in order
	Calls    []Call  // that the body made
	Reads    []Call  // that the body made
	Survival string  // "" when the process runs on and Disk is as it sees it
	Crashed  bool    // the machine stopped during the body
	Err      error   // what the body returned
	Acked    bool    // the body returned nil and the machine had not stopped: all it promised must hold
	Disk     *Disk   // what the next start finds, or the running process sees
}

// String tells the case in one line. Of the reads it has those that a fault struck.
func (c *Case) String() string {
	var told []string
	for i, call := range c.Calls {
		told = append(told, call.String()+c.struckAt(i, false))
	}
	for i, read := range c.Reads {
		if struck := c.struckAt(i, true); struck != "" {
			told = append(told, fmt.Sprintf("read %d: %v%s", i, read, struck))
		}
	}
	after := "running on"
	if c.Survival != "" {
		after = "after a restart, " + c.Survival
	}
	return fmt.Sprintf("[%s] returned %v; %s", strings.Join(told, ", "), c.Err, after)
}

func (c *Case) struckAt(i int, read bool) string {
	var b strings.Builder
	for _, f := range c.Faults {
		if f.At == i && f.Read == read {
			fmt.Fprintf(&b, " <%v>", f.Mode)
		}
	}
	return b.String()
}

// Struck says that a fault hit a call or read of kind op.
func (c *Case) Struck(op Op) bool {
	return slices.ContainsFunc(c.Faults, func(f Fault) bool {
		made := c.Calls
		if f.Read {
			made = c.Reads
		}
		return f.At < len(made) && made[f.At].Op == op
	})
}

// mostCalls bounds the calls, and the reads, of a body that never ends.
const mostCalls = 1000

// Matrix runs body on a fresh disk for every fault at every call it makes, and for every failure again with a crash at every
// later call; nothing hangs, and reads do not fail (see [MatrixReads]). After each run it calls check with the disk as the
// process sees it, unless it crashed, and then as the next start finds it for each survival. prepare makes the disk to start
// from, without faults, and is synced; nil is an empty disk.
//
// body must do the same each time. check runs right after its body, so the two may share variables, which body
// resets. Matrix gives the number of cases checked, and an error with the first cases that did not hold and how many there were.
func Matrix(prepare, body func(durable.FS) error, check func(*Case) error) (cases int, err error) {
	m := &matrix{prepare: prepare, body: body, check: check}
	m.try()
	for _, mode := range []Mode{FailLost, FailKept, Short, ShortFull, Crash} {
		m.each(mode)
	}
	return m.result()
}

// MatrixReads is Matrix with other faults: of the reads that body makes, one at a time fails. It runs body once more than body
// reads.
func MatrixReads(prepare, body func(durable.FS) error, check func(*Case) error) (cases int, err error) {
	m := &matrix{prepare: prepare, body: body, check: check}
	m.try()
	for i := range mostCalls {
		if run := m.try(Fault{At: i, Mode: FailLost, Read: true}); i >= len(run.Reads) {
			return m.result()
		}
	}
	m.fail(fmt.Errorf("durabletest: the body makes more than %d reads", mostCalls))
	return m.result()
}

type matrix struct {
	prepare, body func(durable.FS) error
	check         func(*Case) error
	cases, failed int
	first         []error
}

func (m *matrix) result() (cases int, err error) {
	if m.failed > len(m.first) {
		m.first = append(m.first, fmt.Errorf("and %d more", m.failed-len(m.first)))
	}
	return m.cases, errors.Join(m.first...)
}

// each strikes every call in one mode, and crashes at every call after.
func (m *matrix) each(mode Mode) {
	for i := 0; ; i++ {
		run := m.try(Fault{At: i, Mode: mode})
		if i >= len(run.Calls) {
			return
		}
		if len(run.Faults) == 0 || mode == Crash {
			continue
		}
		for j := i + 1; ; j++ {
			if twice := m.try(Fault{At: i, Mode: mode}, Fault{At: j, Mode: Crash}); j >= len(twice.Calls) {
				break
			}
		}
	}
}

// try runs the body once and checks all that follows from it, unless the faults did not strike.
func (m *matrix) try(faults ...Fault) *Case {
	d := New()
	run := &Case{Disk: d}
	if m.prepare != nil {
		if err := m.prepare(d); err != nil {
			m.fail(fmt.Errorf("durabletest: prepare: %w", err))
			return run
		}
		d.Settle()
	}
	d.Arm(faults...)
	run.Err = m.body(d)
	run.Faults, run.Calls, run.Reads, run.Crashed = d.Fired(), d.Calls(), d.Reads(), d.Crashed()
	run.Acked = run.Err == nil && !run.Crashed
	if len(run.Calls) > mostCalls {
		m.fail(fmt.Errorf("durabletest: the body makes more than %d calls", mostCalls))
		return &Case{}
	}
	if len(run.Faults) == len(faults) {
		m.follow(run)
	}
	return run
}

func (m *matrix) follow(run *Case) {
	if !run.Crashed {
		m.one(*run)
	}
	for _, s := range Survivals() {
		next := *run
		next.Survival, next.Disk = s.Name, run.Disk.Restart(s)
		m.one(next)
	}
}

func (m *matrix) one(c Case) {
	m.cases++
	if err := m.check(&c); err != nil {
		m.fail(fmt.Errorf("%v: %w", &c, err))
	}
}

func (m *matrix) fail(err error) {
	if m.failed++; len(m.first) < 5 {
		m.first = append(m.first, err)
	}
}
