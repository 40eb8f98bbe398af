package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/record"
)

const (
	perLog  = 40                     // processes that are killed on one log
	longest = 120 * time.Millisecond // that one of them lives
)

// run kills processes, one after the other.
type run struct {
	dir     string
	command []string // to which the log's directory is added
	rand    *rand.Rand

	log  string                // the directory of the present log
	seen []record.Hash         // records that were there when it was last opened
	told map[int64]record.Hash // acknowledged since

	killed, closed, acked, torn, records, doubts int64
}

func (r *run) summary(took time.Duration) string {
	return fmt.Sprintf("%d killed, %d let go; %d records acknowledged, %d in the logs; %d torn tails, %d calls in doubt; %v", r.killed, r.closed, r.acked, r.records, r.torn, r.doubts, took.Round(time.Second))
}

// kills kills n processes. progress is called now and then.
func (r *run) kills(ctx context.Context, n int, progress func()) error {
	for i := range n {
		if i%perLog == 0 {
			if i > 0 {
				progress()
			}
			if err := r.begin(i / perLog); err != nil {
				return err
			}
		}
		if err := r.once(ctx); err != nil {
			return fmt.Errorf("process %d, log %s: %w", i, r.log, err)
		}
	}
	r.records += int64(len(r.seen))
	return nil
}

func (r *run) begin(number int) error {
	if r.log != "" {
		r.records += int64(len(r.seen))
		if err := os.RemoveAll(r.log); err != nil {
			return err
		}
	}
	r.log, r.seen = filepath.Join(r.dir, fmt.Sprintf("log-%d", number)), nil
	return nil
}

// once has one process append and die, and checks what it left.
func (r *run) once(ctx context.Context) error {
	if err := r.pour(ctx); err != nil {
		return err
	}
	before, err := r.read(ctx)
	if err != nil {
		return err
	}
	l, found, err := open(ctx, durable.OS(), r.log)
	if err != nil {
		return fmt.Errorf("it does not open: %w", err)
	}
	if found.Torn > 0 {
		r.torn++
	}
	r.doubts += int64(len(found.InDoubt))
	if err := doubtful(before, found); err != nil {
		return errors.Join(err, l.Close())
	}
	if err := l.Close(); err != nil {
		return err
	}
	if _, err := r.read(ctx); err != nil {
		return fmt.Errorf("opened and closed: %w", err)
	}
	return r.verify(ctx)
}

// pour starts a process, kills it, and takes down what it acknowledged. One in 20 is not killed but told to close the log.
func (r *run) pour(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, r.command[0], append(r.command[1:], r.log)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	gentle := r.rand.IntN(20) == 0
	lines := bufio.NewReader(out)
	if (r.killed+r.closed)%2 == 1 { // every second one is under way, also on a busy machine
		_, _ = lines.Peek(1) // where there is none, it has ended
	}
	timer := time.AfterFunc(time.Duration(r.rand.Int64N(int64(longest))), func() {
		_ = in.Close()
		if !gentle {
			_ = cmd.Process.Kill()
		}
	})
	defer timer.Stop()
	told, err := acknowledged(lines)
	r.told = told
	r.acked += int64(len(told))
	ended := cmd.Wait()
	switch {
	case err != nil:
		return err
	case stderr.Len() > 0:
		return fmt.Errorf("the process failed: %w: %s", ended, stderr.Bytes())
	case gentle && ended != nil:
		return fmt.Errorf("the process did not close the log: %w", ended)
	case gentle:
		r.closed++
	default:
		r.killed++
	}
	return ctx.Err()
}

// acknowledged reads what a process wrote, as far as it got.
func acknowledged(lines *bufio.Reader) (map[int64]record.Hash, error) {
	told := map[int64]record.Hash{}
	for {
		text, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return told, nil // the last may be cut off
		}
		if err != nil {
			return nil, err
		}
		var seq int64
		var hash []byte
		if _, err := fmt.Sscanf(text, "%d %x\n", &seq, &hash); err != nil || len(hash) != len(record.Hash{}) {
			return nil, fmt.Errorf("the process wrote %q: %w", text, err)
		}
		if _, twice := told[seq]; twice {
			return nil, fmt.Errorf("record %d was acknowledged twice", seq)
		}
		told[seq] = record.Hash(hash)
	}
}

// read reads the whole records of the log by itself, checks the chain, and that all is there that was acknowledged and that was there
// before. What it finds is what must be there from now on.
func (r *run) read(ctx context.Context) ([]record.Record, error) {
	lines, err := lines(ctx, r.log)
	if err != nil {
		return nil, err
	}
	var records []record.Record
	var leaves []record.Hash
	var prev record.Hash
	for i, line := range lines {
		rec, err := record.ParseLine(string(line))
		if err != nil || rec.Seq != int64(i) || rec.Prev != prev {
			break // the end, or a torn one; what stands behind it is looked at when the log is verified
		}
		prev = record.Leaf(line)
		records, leaves = append(records, rec), append(leaves, prev)
	}
	for i, hash := range r.seen {
		if i >= len(leaves) || leaves[i] != hash {
			return nil, fmt.Errorf("record %d was there before, and is not now; there are %d", i, len(leaves))
		}
	}
	for seq, hash := range r.told {
		if seq >= int64(len(leaves)) || leaves[seq] != hash {
			return nil, fmt.Errorf("record %d was acknowledged as %s, and is not there; there are %d", seq, hash, len(leaves))
		}
	}
	r.told = nil
	r.seen = leaves
	return records, nil
}

// lines are all lines of a log, as they lie in its files.
func lines(ctx context.Context, dir string) ([][]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(bytes.TrimRight(data, "\n")) {
			all = append(all, bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	return all, ctx.Err()
}

// doubtful holds the calls that opening found in doubt against the records.
func doubtful(records []record.Record, found audit.Recovered) error {
	open := map[string]bool{}
	for _, r := range records {
		switch r.Body.(type) {
		case record.Intent:
			open[r.Request] = true
		case record.Executed, record.Resolved:
			delete(open, r.Request)
		}
	}
	for _, d := range found.InDoubt {
		if !open[d.ID] {
			return fmt.Errorf("call %s is said to be in doubt and is not", d.ID)
		}
		delete(open, d.ID)
	}
	for id := range open {
		return fmt.Errorf("call %s has an intent and no outcome, and is not said to be in doubt", id)
	}
	return nil
}

// verify verifies the log as anybody can.
func (r *run) verify(ctx context.Context) error {
	store, err := file.OpenRead(durable.OS(), r.log)
	if err != nil {
		return err
	}
	rep, err := audit.Verify(ctx, store, audit.VerifyOptions{Pin: pin(), Blobs: true})
	if err != nil {
		return err
	}
	if !rep.Holds() {
		return rep.Problem.Error()
	}
	if rep.Records != int64(len(r.seen)) {
		return fmt.Errorf("%d records verified, %d are there", rep.Records, len(r.seen))
	}
	return store.Close()
}
