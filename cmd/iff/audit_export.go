package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

type auditExportCmd struct {
	Format string `help:"jsonl: the lines as they stand in the log; csv: for spreadsheets, with an apostrophe before what would run as a formula." enum:"jsonl,csv" default:"jsonl"`
	Out    string `short:"o" help:"Write to this file and not to standard output." placeholder:"FILE"`
	Force  bool   `help:"Replace the file if there is one."`
	filterFlags
}

type auditExportJSON struct {
	File    string `json:"file" doc:"what was written"`
	Format  string `json:"format" doc:"jsonl or csv"`
	Records int64  `json:"records" doc:"how many"`
	Bytes   int64  `json:"bytes" doc:"length of the file"`
}

// Run writes to a file as a whole or not at all.
func (c auditExportCmd) Run(a *app) error {
	f, err := c.compile(a.now())
	if err != nil {
		return err
	}
	if a.json && c.Out == "" {
		return &usageError{reason: "usage", detail: "--json says what was written to a file, and there is none", remedy: "name one with -o FILE, or leave --json out: the records go to standard output"}
	}
	return a.withHome(home.Read, func(h *home.Home) error {
		out := auditExportJSON{File: c.Out, Format: c.Format}
		if c.Out == "" {
			quiet := *a
			quiet.tty = false // the records themselves may go to the terminal
			_, err := c.write(&quiet, h, f, a.out)
			return err
		}
		var err error
		out.Bytes, err = a.writeFile(c.Out, c.Force, func(w io.Writer) (err error) {
			out.Records, err = c.write(a, h, f, w)
			return err
		})
		if err != nil {
			return err
		}
		return a.print(out, func() error {
			a.printf("%s: %s, %s\n", visible.Escape(out.File), plural(int(out.Records), "record"), size(out.Bytes))
			return nil
		})
	})
}

func (c auditExportCmd) write(a *app, h *home.Home, f *filter, w io.Writer) (written int64, err error) {
	buffered := bufio.NewWriterSize(w, 256<<10)
	var out lines = rawLines{buffered}
	if c.Format == "csv" {
		if out, err = newCSVLines(buffered); err != nil {
			return 0, err
		}
	}
	err = a.each(h, f, func(s audit.Stored) error { written++; return out.add(s) })
	return written, errors.Join(err, out.flush())
}

// writeFile makes a file of what fill writes, readable by nobody else: a new
// one, or with force in the place of one that is there. If fill fails there is
// no new file and the old one is as it was.
func (a *app) writeFile(name string, force bool, fill func(io.Writer) error) (length int64, err error) {
	path := name
	if force {
		path = filepath.Join(filepath.Dir(name), ".iff-export-"+strconv.Itoa(os.Getpid())+"-"+filepath.Base(name))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return 0, &usageError{reason: "usage", detail: visible.Escape(path) + ": there is a file already", remedy: "name another, or replace it with --force"}
	}
	if err != nil {
		return 0, &usageError{reason: "usage", detail: visible.Escape(err.Error()), remedy: "name a file in a directory that you can write to"}
	}
	err = fill(f)
	if err == nil {
		length, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && force {
		err = os.Rename(path, name)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(path))
	}
	return length, nil
}

// csvLines writes records as rows of a spreadsheet.
type csvLines struct {
	csv *csv.Writer
	out *bufio.Writer
	row []string
}

// csvColumns are stable: releases add columns at the end and do not rename or
// remove them.
var csvColumns = []string{
	"seq", "time", "kind", "session", "request", "agent", "capability", "target", "choice", "cause", "reason", "objects", "summary", "body", "batch", "prevHash", "leaf",
}

func newCSVLines(out *bufio.Writer) (csvLines, error) {
	l := csvLines{csv: csv.NewWriter(out), out: out, row: make([]string, len(csvColumns))}
	return l, l.csv.Write(csvColumns)
}

func (l csvLines) add(s audit.Stored) error {
	cells := []string{
		strconv.FormatInt(s.Seq, 10), string(record.StampOf(s.Time)), string(s.Body.Kind()), s.Session, s.Request,
	}
	cells = append(cells, callCells(s.Body)...)
	cells = append(cells, summary(s.Body), string(bodyOf(s.Line)), strconv.FormatInt(s.Batch, 10), s.Prev.String(), record.Leaf(s.Line).String())
	for i, c := range cells {
		l.row[i] = cell(c)
	}
	return l.csv.Write(l.row)
}

func (l csvLines) flush() error {
	l.csv.Flush()
	return errors.Join(l.csv.Error(), l.out.Flush())
}

// cell is a text that a spreadsheet takes as text: one that begins as a formula
// does, or with the apostrophe itself, gets an apostrophe in front.
func cell(s string) string {
	for _, lead := range []string{"=", "+", "-", "@", "'", "\t", "\r", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(s, lead) {
			return "'" + s
		}
	}
	return s
}

// callCells are agent, capability, target, choice, cause, reason and objects,
// each escaped and empty where a kind has none.
func callCells(b record.Body) []string {
	var agent, capability, target, choice, cause, reason string
	var objects []string
	request := func(b record.Request) {
		agent, capability, target, objects = b.Agent, b.Capability, b.Target, objectsOf(b.Plan)
	}
	decision := func(b record.Decision) { choice, cause, reason = string(b.Choice), string(b.Cause), b.Reason }
	outcome := func(b record.Outcome) { reason, objects = b.Reason, objectsOf(b.Readings) }
	switch b := b.(type) {
	case record.Request:
		request(b)
	case record.ReversibleRequest:
		request(b.Request)
	case record.Decision:
		decision(b)
	case record.LateDecision:
		decision(b.Decision)
	case record.Intent:
		objects = objectsOf(b.Plan)
	case record.CommitIntent:
		objects = objectsOf(b.Plan)
	case record.RollbackIntent:
		objects = objectsOf(b.Plan)
	case record.Staged:
		objects = objectsOf(b.Plan)
	case record.Executed:
		outcome(b.Outcome)
	case record.Error:
		outcome(b.Outcome)
	case record.Committed:
		outcome(b.Outcome)
	case record.RolledBack:
		outcome(b.Outcome)
	case record.Resolved:
		reason, objects = string(b.Finding), objectsOf(b.Readings)
	case record.Mutation:
		objects = []string{b.Object}
	case record.Session:
		agent, reason = b.Agent, string(b.Transition)
	case record.SkillRefused:
		reason = b.Reason
	case record.SkillEvicted:
		reason = b.Reason
	case record.Verdict:
		reason = string(b.Result)
	case record.Tool:
		target, reason = b.Server+"/"+b.Tool, string(b.Event)
	case record.Refused:
		agent, reason = b.Agent, b.Reason
	case record.Hook:
		agent, target, choice, reason = b.Agent, b.Tool, string(b.Choice), b.Reason
	}
	out := []string{agent, capability, target, choice, cause, reason}
	for i := range out {
		out[i] = visible.Escape(out[i])
	}
	if len(objects) == 0 {
		return append(out, "")
	}
	return append(out, saidAll(objects))
}

func objectsOf(all []record.Change) []string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = string(c.Object)
	}
	return out
}

// bodyOf cuts the body out of a line. What stands behind it in a line cannot
// hold the name of the next field.
func bodyOf(line []byte) []byte {
	from, to := bytes.Index(line, []byte(`"body":`)), bytes.LastIndex(line, []byte(`,"kind":"`))
	if from < 0 || to < from {
		return nil
	}
	return line[from+len(`"body":`) : to]
}
