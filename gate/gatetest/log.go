package gatetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/record"
)

// ErrLog is what a log says that was told to break. A gate takes it as fatal.
var ErrLog = errors.New("the log was told to break")

// LogFault is what a log does wrong with one append. The zero value is nothing.
type LogFault string

// The faults of a log.
const (
	Full      LogFault = "full"      // no room, for this one append
	Broken    LogFault = "broken"    // not written, and nothing more ever is
	Unsure    LogFault = "unsure"    // written, yet it says broken, and nothing more ever is
	TooLong   LogFault = "too-long"  // a record that does not fit in a line
	StaysFull LogFault = "stay-full" // no room from now on, but for what closes an intent
)

// Log is a [record.Sink] and payloads in memory. The zero value is ready. It is
// safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	records []record.Record
	blobs   map[record.Hash][]byte
	appends int
	fault   func(n int, entries []record.Entry) LogFault
	dead    bool
	full    bool
	before  func([]record.Entry)
}

var _ record.Sink = (*Log)(nil)

// Script says what the log does wrong, by the number of the append, from 0, and
// what is appended.
func (l *Log) Script(f func(n int, entries []record.Entry) LogFault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
}

// Before is called before each append, without a lock.
func (l *Log) Before(f func([]record.Entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before = f
}

// Append implements [record.Sink].
func (l *Log) Append(ctx context.Context, entries ...record.Entry) ([]record.Mark, error) {
	l.mu.Lock()
	before := l.before
	l.mu.Unlock()
	if before != nil {
		before(entries)
	}
	encoded := make([]record.Encoded, len(entries))
	for i, e := range entries {
		var err error
		if encoded[i], err = record.Encode(e); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.wrong(entries)
	if err != nil && !errors.Is(err, errUnsure) {
		return nil, err
	}
	marks := make([]record.Mark, len(entries))
	for i, e := range encoded {
		seq := int64(len(l.records))
		l.records = append(l.records, record.Record{Seq: seq, Batch: seq - int64(i), Session: e.Session, Request: e.Request, Body: e.Body, Time: time.Unix(seq, 0).UTC()})
		marks[i] = record.Mark{Seq: seq}
	}
	if err != nil {
		return nil, err
	}
	return marks, nil
}

var errUnsure = fmt.Errorf("%w, and wrote it all the same", ErrLog)

// wrong is how this append fails. l.mu is held.
func (l *Log) wrong(entries []record.Entry) error {
	if l.dead {
		return ErrLog
	}
	n := l.appends
	l.appends++
	fault := LogFault("")
	if l.fault != nil {
		fault = l.fault(n, entries)
	}
	switch fault {
	case Broken, Unsure:
		l.dead = true
		if fault == Unsure {
			return errUnsure
		}
		return ErrLog
	case TooLong:
		return record.ErrTooLong
	case Full:
		return audit.ErrFull
	case StaysFull:
		l.full = true
	}
	closes := !slices.ContainsFunc(entries, func(e record.Entry) bool { return !e.Body.Kind().Closes() })
	if l.full && !closes {
		return audit.ErrFull
	}
	return nil
}

// Keep is a payload of a record, as a runtime keeps it.
func (l *Log) Keep(_ context.Context, data []byte) (record.Payload, error) {
	p := record.Payload{Digest: sha256.Sum256(data), Size: int64(len(data))}
	if len(data) <= record.MaxInline {
		p.Text = string(data)
		return p, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blobs == nil {
		l.blobs = make(map[record.Hash][]byte)
	}
	l.blobs[p.Digest] = slices.Clone(data)
	return p, nil
}

// Payload is what was kept.
func (l *Log) Payload(p record.Payload) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Text != "" {
		return []byte(p.Text)
	}
	return l.blobs[p.Digest]
}

// Records are all that were written, in order.
func (l *Log) Records() []record.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records)
}

// Appends counts the appends that were tried.
func (l *Log) Appends() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.appends
}

// Of are the records of one request, or with no id those of no request.
func (l *Log) Of(request string) []record.Record {
	return slices.DeleteFunc(l.Records(), func(r record.Record) bool { return r.Request != request })
}

// Kinds are the kinds of the records of one request, with a space between them.
func (l *Log) Kinds(request string) string {
	var out []string
	for _, r := range l.Of(request) {
		out = append(out, string(r.Body.Kind()))
	}
	return strings.Join(out, " ")
}
