package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/visible"
)

type auditVerifyCmd struct {
	Log    string   `help:"Check the log in this directory, such as a copy, and not the home's." placeholder:"DIR"`
	Key    string   `help:"The log's name and the key that it must have begun with; by default what iff.toml says." placeholder:"VKEY"`
	Anchor []string `help:"A checkpoint that was kept elsewhere; the log must continue it. Can be given again." sep:"none" placeholder:"FILE"`
	Blobs  bool     `help:"Read and hash payloads too."`
}

type anchorJSON struct {
	Name   string `json:"name" doc:"file, or name of the witness"`
	Status string `json:"status" doc:"holds, copy (it did not answer; what it last held is in the home), nothing (it has no checkpoint yet), not-reached, or a reason"`
	Size   int64  `json:"size" doc:"records that it vouches for"`
	Time   string `json:"time" doc:"of its cosignature, RFC 3339; empty if it gives none"`
	Detail string `json:"detail" doc:"why it does not hold or did not answer; else empty"`
}

type auditProblemJSON struct {
	Reason  string `json:"reason" doc:"closed token, see docs/reasons.md"`
	Segment string `json:"segment" doc:"file of the first bad byte; empty where there is none, as when the end is missing"`
	Byte    int64  `json:"byte" doc:"where in it the first line begins that does not hold"`
	Line    int64  `json:"line" doc:"number of that line in the file, from 1"`
	Record  int64  `json:"record" doc:"number of the record that should be there"`
	Detail  string `json:"detail" doc:"what is wrong"`
	Remedy  string `json:"remedy" doc:"what to do"`
}

type auditVerifyJSON struct {
	Holds       bool              `json:"holds" doc:"no problem was found in what was checked"`
	Directory   string            `json:"directory" doc:"where the log lies"`
	Origin      string            `json:"origin" doc:"name of the log"`
	Records     int64             `json:"records" doc:"records checked; all before the problem if there is one"`
	Bytes       int64             `json:"bytes" doc:"of their lines"`
	Segments    int64             `json:"segments" doc:"files they lie in"`
	Checkpoints int64             `json:"checkpoints" doc:"signed heads checked"`
	Signed      int64             `json:"signed" doc:"records under the newest of them"`
	Keys        []string          `json:"keys" doc:"verifier keys that signed them, in order"`
	Root        string            `json:"root" doc:"RFC 6962 root over the records, hex"`
	Chain       string            `json:"chain" doc:"leaf hash of the last one, hex"`
	State       string            `json:"state" doc:"SHA-256 of the folded state, hex"`
	Blobs       int64             `json:"blobs" doc:"payloads read"`
	Anchors     []anchorJSON      `json:"anchors" doc:"who outside was compared with"`
	Anchored    int64             `json:"anchored" doc:"records that somebody outside vouches for"`
	Open        []openCallJSON    `json:"open" doc:"calls without an outcome, those in doubt among them"`
	Unchecked   []string          `json:"unchecked" doc:"what could not be checked, or was not asked for"`
	Problem     *auditProblemJSON `json:"problem" doc:"the first place that does not hold; null if there is none"`
}

// Run needs no lock, and no home that opens: a log that does not hold keeps a
// home from opening.
func (c auditVerifyCmd) Run(a *app) error {
	// Unlike other verbs it reads gigabytes: collecting as often as usual keeps
	// it within 64 MB.
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	v, err := c.prepare(a)
	if err != nil {
		return err
	}
	defer v.store.Close()
	begun := a.now()
	report, err := v.verify(a)
	if err != nil {
		return err
	}
	out, err := v.result(a.ctx, report)
	if err != nil {
		return err
	}
	if err := a.print(out, func() error { return a.printVerified(out, a.now().Sub(begun)) }); err != nil {
		return err
	}
	if !out.Holds {
		return &outcomeError{code: exitDoesNot}
	}
	return nil
}

// verification is what is checked, and against what.
type verification struct {
	dir     string
	store   audit.Store
	pin     audit.Pin
	keys    []note.Verifier // of the log, known beforehand
	anchors []vouching
	blobs   bool
	own     audit.Remembered
}

// vouching is an anchor and what it says.
type vouching struct {
	anchorJSON
	audit.Anchored
	note   []byte // nil if it says nothing
	kept   bool   // a file that a person named: its signature is not checked yet
	origin string // of kept
}

func (c auditVerifyCmd) prepare(a *app) (*verification, error) {
	v := &verification{blobs: c.Blobs}
	var given *logKey
	if c.Key != "" {
		k, err := parseLogKey(c.Key)
		if err != nil {
			return nil, err
		}
		given = &k
	}
	if err := c.open(a, v); err != nil {
		return nil, err
	}
	if given != nil {
		v.pin = audit.Pin{Origin: given.origin, Key: given.key}
		v.keys = withKey(v.keys, given.verifier)
	}
	for _, name := range c.Anchor {
		k, err := a.keptAnchor(name)
		if err != nil {
			return nil, errors.Join(err, v.store.Close())
		}
		v.anchors = append(v.anchors, k)
	}
	return v, nil
}

// open finds the log: in the directory that was named, or in the home.
func (c auditVerifyCmd) open(a *app, v *verification) error {
	if c.Log != "" {
		dir, err := filepath.Abs(c.Log)
		if err != nil {
			return err
		}
		store, err := file.OpenRead(durable.OS(), dir)
		if errors.Is(err, fs.ErrNotExist) {
			return &usageError{reason: "usage", detail: "--log " + visible.Escape(c.Log) + ": there is no such directory", remedy: "name the directory that has the .jsonl files"}
		}
		if err != nil {
			return err
		}
		v.dir, v.store = dir, store
		return nil
	}
	f, err := home.OpenLogFiles(a.dir, home.Options{Now: a.now})
	if err != nil {
		return err
	}
	v.dir, v.store, v.pin, v.keys = f.Dir, f.Store, f.Pin, f.Keys
	for _, n := range f.Anchors {
		v.anchors = append(v.anchors, ask(a.ctx, n))
	}
	return nil
}

// ask asks an anchor what it holds.
func ask(ctx context.Context, n anchor.Anchor) vouching {
	out := vouching{anchorJSON: anchorJSON{Name: n.Name(), Status: "holds"}}
	held, ok, err := n.Newest(ctx)
	switch {
	case err != nil:
		out.Status, out.Detail = reasonOf(err), shown(err)
		return out
	case !ok:
		out.Status, out.Detail = "nothing", "it has no checkpoint of this log yet"
		return out
	case held.Offline != nil:
		out.Status, out.Detail = "copy", shown(held.Offline)
	}
	out.says(home.Anchored(held), held.Note)
	return out
}

// keptAnchor reads a checkpoint that a person kept. Who signed it is found out
// when the log's keys are known.
func (a *app) keptAnchor(name string) (vouching, error) {
	const limit = 64 << 10
	data, err := a.readAtMost(name, limit)
	if err != nil {
		return vouching{}, err
	}
	c, err := audit.ReadCheckpoint(data)
	if err != nil {
		return vouching{}, &usageError{reason: reasonOf(err), detail: "--anchor " + visible.Escape(name) + ": " + shown(err)}
	}
	label := "file " + visible.Escape(name)
	out := vouching{anchorJSON: anchorJSON{Name: label, Status: "holds"}, kept: true}
	out.says(audit.Anchored{By: label, Size: c.Size, Root: c.Root}, data)
	out.origin = c.Origin
	return out, nil
}

func (v *vouching) says(a audit.Anchored, text []byte) {
	v.Anchored, v.note, v.anchorJSON.Size = a, text, a.Size
	if !a.Time.IsZero() {
		v.anchorJSON.Time = a.Time.UTC().Format(time.RFC3339)
	}
}
