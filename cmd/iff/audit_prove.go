package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

type auditProveCmd struct {
	Seq   int64  `arg:"" help:"Number of the record."`
	Out   string `short:"o" help:"Write to this file and not to standard output." placeholder:"FILE"`
	Force bool   `help:"Replace the file if there is one."`
}

type auditProveJSON struct {
	Record  int64  `json:"record" doc:"number of the record"`
	Leaf    string `json:"leaf" doc:"SHA-256(0x00 || line), hex"`
	Size    int64  `json:"size" doc:"records under the checkpoint that it is proved against"`
	Receipt string `json:"receipt" doc:"the receipt, a C2SP tlog-proof"`
	File    string `json:"file" doc:"what it was written to; empty if nothing"`
}

// Run proves against the newest checkpoint.
func (c auditProveCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		v := h.View()
		text, signed := v.Newest()
		if c.Seq < 0 || c.Seq >= v.Size() {
			return &audit.Error{Reason: audit.NoRecord, Detail: fmt.Sprintf("there is no record %d; the log has %d", c.Seq, v.Size())}
		}
		if c.Seq >= signed {
			return &advisedError{
				&audit.Error{Reason: audit.NoRecord, Detail: fmt.Sprintf("record %d is behind the newest checkpoint, which covers the %d before it", c.Seq, signed)},
				"wait for the next checkpoint; any verb that writes ends with one, such as iff audit anchor --new",
			}
		}
		r, err := v.Receipt(a.ctx, c.Seq)
		if err != nil {
			return damaged(err)
		}
		checkpoint, err := audit.ReadCheckpoint(text)
		if err != nil {
			return err
		}
		out := auditProveJSON{Record: c.Seq, Leaf: r.Leaf.String(), Size: checkpoint.Size, Receipt: string(r.Marshal()), File: c.Out}
		if c.Out != "" {
			if _, err := a.writeFile(c.Out, c.Force, func(w io.Writer) error { _, err := io.WriteString(w, out.Receipt); return err }); err != nil {
				return err
			}
		}
		return a.print(out, func() error {
			if c.Out == "" {
				a.printf("%s", out.Receipt)
				return nil
			}
			a.printf("%s: record %s is among the %s records of %s\n", visible.Escape(c.Out), count(c.Seq), count(out.Size), said(checkpoint.Origin))
			a.printf("next: iff audit check %s, or elsewhere with --key and the key that iff audit anchor --key prints\n", visible.Escape(c.Out))
			return nil
		})
	})
}

type auditCheckCmd struct {
	File   string   `arg:"" help:"The receipt; - is standard input."`
	Record string   `help:"The line that it is to be of, as iff audit show --json prints it; - is standard input." placeholder:"FILE"`
	Key    []string `help:"The log's verifier key; by default those of the home's log. Can be given again." sep:"none" placeholder:"VKEY"`
}

type auditCheckJSON struct {
	Holds  bool   `json:"holds" doc:"the receipt proves that the record is in the log"`
	Origin string `json:"origin" doc:"name of the log; empty if that is not proved"`
	Record int64  `json:"record" doc:"number of the record"`
	Leaf   string `json:"leaf" doc:"SHA-256(0x00 || line) of the record, hex"`
	Size   int64  `json:"size" doc:"records under the checkpoint"`
	Root   string `json:"root" doc:"their RFC 6962 root, hex"`
	Line   bool   `json:"line" doc:"the line was given, and it is the record"`
	Reason string `json:"reason" doc:"why it does not hold, a closed token; empty if it does"`
	Detail string `json:"detail" doc:"what is wrong; empty if nothing"`
	Remedy string `json:"remedy" doc:"what to do; empty if nothing"`
}

// Run needs a home only for its keys.
func (c auditCheckCmd) Run(a *app) error {
	if c.File == "-" && c.Record == "-" {
		return &usageError{reason: "usage", detail: "receipt and record cannot both come from standard input", remedy: "give one of them as a file"}
	}
	keys, err := c.keys(a)
	if err != nil {
		return err
	}
	data, err := a.readAtMost(c.File, 64<<10)
	if err != nil {
		return err
	}
	var line []byte
	if c.Record != "" {
		if line, err = a.readAtMost(c.Record, record.MaxLine+1); err != nil {
			return err
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
	}
	out, err := check(data, line, c.Record != "", keys)
	var bad *audit.Error
	if errors.As(err, &bad) {
		out.Reason, out.Detail, out.Remedy = string(bad.Reason), shown(err), remedyFor(string(bad.Reason))
	} else if err != nil {
		return err
	}
	out.Holds = err == nil
	if err := a.print(out, func() error { return a.printChecked(out) }); err != nil {
		return err
	}
	if !out.Holds {
		return &outcomeError{code: exitDoesNot}
	}
	return nil
}

func (c auditCheckCmd) keys(a *app) (out []note.Verifier, err error) {
	for _, text := range c.Key {
		k, err := parseLogKey(text)
		if err != nil {
			return nil, err
		}
		out = withKey(out, k.verifier)
	}
	if len(out) > 0 {
		return out, nil
	}
	f, err := home.OpenLogFiles(a.dir, home.Options{Now: a.now})
	if err != nil {
		return nil, &advisedError{err, "give the log's key: iff audit check --key VKEY FILE; or name a home with --home DIR"}
	}
	return f.Keys, f.Store.Close()
}

func check(data, line []byte, given bool, keys []note.Verifier) (auditCheckJSON, error) {
	var out auditCheckJSON
	r, err := audit.ParseReceipt(data)
	if err != nil {
		return out, err
	}
	out.Record, out.Leaf = r.Seq, r.Leaf.String()
	checkpoint, err := r.Check(keys...)
	if err != nil {
		return out, err
	}
	out.Origin, out.Size, out.Root = checkpoint.Origin, checkpoint.Size, checkpoint.Root.String()
	if given && record.Leaf(line) != r.Leaf {
		return out, &audit.Error{Reason: audit.ProofInvalid, Detail: fmt.Sprintf("the receipt is of record %d, and the line is not that record: its leaf hash is %s", r.Seq, record.Leaf(line))}
	}
	out.Line = given
	return out, nil
}

func (a *app) printChecked(out auditCheckJSON) error {
	if !out.Holds {
		a.printf("%s %s\n  %s\n", a.paint(red, "DOES NOT HOLD:"), undouble(visible.Escape(out.Detail)), out.Remedy)
		return nil
	}
	rows := [][]string{
		{"log", said(out.Origin)},
		{"record", count(out.Record)},
		{"leaf", out.Leaf},
		{"checkpoint", fmt.Sprintf("%s records, root %s", count(out.Size), out.Root)},
	}
	if err := a.table(rows); err != nil {
		return err
	}
	what := "a line with this leaf hash is in the log; which line, --record says"
	if out.Line {
		what = "the line is that record, and it is in the log"
	}
	a.printf("%s %s\n", a.paint(green, "holds:"), what)
	return nil
}
