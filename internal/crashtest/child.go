package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

const (
	origin  = "iff/log/crashtest"
	writers = 24
)

// small makes what happens rarely happen often: new segments, new room, checkpoints.
var small = file.Options{SegmentBytes: 60_000, Pad: 30_000, PadAfter: 10_000}

func options() audit.Options { return audit.Options{CheckpointEvery: 200} }

func pin() audit.Pin { return audit.Pin{Origin: origin, Key: trusttest.NewKey(1).Public()} }

// open opens the log in a directory, or creates it.
func open(ctx context.Context, fsys durable.FS, dir string) (*audit.Log, audit.Recovered, error) {
	store, err := file.Open(fsys, dir, &small)
	if errors.Is(err, fs.ErrNotExist) {
		store, err = file.Create(fsys, dir, &small)
	}
	if err != nil {
		return nil, audit.Recovered{}, err
	}
	l, found, err := audit.Open(ctx, store, pin(), options(), trusttest.NewKey(1))
	var e *audit.Error
	if errors.As(err, &e) && e.Reason == audit.LogEmpty {
		l, err = audit.Create(ctx, store, record.Init{Origin: origin}, trusttest.NewKey(1), options())
	}
	if err != nil {
		return nil, found, errors.Join(err, store.Close())
	}
	return l, found, nil
}

// pour appends calls to a log until the input ends, and then closes it. To out it writes a line for each record that was
// acknowledged: its number and its hash.
func pour(ctx context.Context, fsys durable.FS, dir string, in io.Reader, out io.Writer) error {
	l, found, err := open(ctx, fsys, dir)
	if err != nil {
		return err
	}
	p := pourer{log: l, out: out, stop: make(chan struct{})}
	for _, d := range found.InDoubt[:min(len(found.InDoubt), 100)] {
		err = errors.Join(err, p.append(ctx, record.Entry{Session: d.Session, Request: d.ID, Body: record.Resolved{By: "recovery", Evidence: "none", Finding: record.FoundConflict}}))
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(p.stop)
	}()
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Go(func() { errs[w] = p.calls(ctx, w) })
	}
	wg.Wait()
	return errors.Join(append(errs, err, l.Close())...)
}

// pourer appends from many goroutines.
type pourer struct {
	log  *audit.Log
	stop chan struct{}

	mu  sync.Mutex // guards out
	out io.Writer
}

func (p *pourer) calls(ctx context.Context, writer int) error {
	for n := 0; ; n++ {
		select {
		case <-p.stop:
			return nil
		default:
		}
		id := fmt.Sprintf("%d-%d-%d", os.Getpid(), writer, n)
		e := call(id, 50+(writer*97+n*31)%3000)
		for _, part := range [][]record.Entry{e[:1], e[1:3], e[3:]} {
			if n%7 == 3 {
				part = e // all at once
			}
			if err := p.append(ctx, part...); err != nil {
				return err
			}
			if len(part) == len(e) {
				break
			}
		}
		if writer == 0 && n%20 == 19 {
			if _, err := p.log.Checkpoint(ctx); err != nil {
				return err
			}
		}
	}
}

// call is the records of one call whose outcome has some length.
func call(id string, length int) []record.Entry {
	bodies := []record.Body{
		record.Request{Agent: "a", Capability: "fs.write.irrev", Effect: "irreversible", Target: "work/a"},
		record.Decision{Broker: "b", Cause: record.CauseLevel, Choice: record.Approve, Profile: "dev"},
		record.Intent{Attempt: 1, Fence: 1, Key: id},
		record.Executed{Outcome: record.Outcome{Detail: strings.Repeat("x", length)}},
	}
	out := make([]record.Entry, len(bodies))
	for i, b := range bodies {
		out[i] = record.Entry{Session: "s", Request: id, Body: b}
	}
	return out
}

func (p *pourer) append(ctx context.Context, entries ...record.Entry) error {
	marks, err := p.log.Append(ctx, entries...)
	if err != nil {
		return err
	}
	var text []byte
	for _, m := range marks {
		text = fmt.Appendf(text, "%d %s\n", m.Seq, m.Hash)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = p.out.Write(text)
	return err
}
