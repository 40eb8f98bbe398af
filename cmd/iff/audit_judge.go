package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/record"
)

// verify reads the log and holds it against what is known of it.
func (v *verification) verify(a *app) (*audit.Report, error) {
	var err error
	if v.own, err = audit.Remember(a.ctx, v.store); err != nil {
		return nil, err
	}
	opts := audit.VerifyOptions{Pin: v.pin, Blobs: v.blobs}
	for _, k := range v.anchors {
		if k.note != nil {
			opts.Anchors = append(opts.Anchors, k.Anchored)
		}
	}
	m := a.meter("verifying", logBytes(v.dir))
	defer m.done()
	opts.Progress = m.at
	report, err := v.read(a.ctx, opts)
	if err != nil {
		return nil, err
	}
	return report, v.own.Hold(a.ctx, v.store, report)
}

const (
	// healing is how long a line at the end that is no record is given to become
	// one: another process may be writing it.
	healing     = 5
	healingStep = 100 * time.Millisecond
)

// read verifies. A batch that another process is writing just now looks like
// damage at the end, and is whole a moment later; then the log is taken to end
// before it.
func (v *verification) read(ctx context.Context, opts audit.VerifyOptions) (*audit.Report, error) {
	for again := true; ; again = false {
		report, err := audit.Verify(ctx, v.store, opts)
		if err != nil || !v.atTheEnd(report.Problem) {
			return report, err
		}
		for range healing {
			select {
			case <-time.After(healingStep):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if v.healed(ctx, report) {
				v.grew(report, opts.Anchors)
				return report, nil
			}
		}
		if !again {
			return report, nil
		}
	}
}

// atTheEnd says whether a problem may be a batch that is being written.
func (v *verification) atTheEnd(p *audit.Problem) bool {
	if p == nil || p.Reason != audit.LineInvalid && p.Reason != audit.LineUnended && p.Reason != audit.LineBlank {
		return false
	}
	all := segmentsIn(v.dir)
	return len(all) > 0 && filepath.Base(all[len(all)-1]) == segmentName(p.At)
}

func segmentName(at audit.Position) string { return fmt.Sprintf("%020d.jsonl", at.Segment) }

// healed says whether the record that was missing is there now.
func (v *verification) healed(ctx context.Context, report *audit.Report) bool {
	for s, err := range audit.Records(ctx, v.store, report.Problem.At) {
		return err == nil && s.Seq == report.Records && s.Prev == report.Chain
	}
	return false
}

// grew takes the problem away. The anchors were asked before the log was read,
// so it had all that they vouch for.
func (v *verification) grew(report *audit.Report, anchors []audit.Anchored) {
	report.Unchecked = append(report.Unchecked, fmt.Sprintf("records from %d on: they were being written", report.Records))
	report.Problem = nil
	for _, k := range anchors {
		if k.Size > report.Records {
			report.Problem = &audit.Problem{Reason: audit.RolledBack, Seq: report.Records, Detail: fmt.Sprintf("%s vouches for %d records, the log had %d: the end is missing", k.By, k.Size, report.Records)}
		}
	}
}

// result puts together what was found.
func (v *verification) result(ctx context.Context, r *audit.Report) (auditVerifyJSON, error) {
	out := auditVerifyJSON{
		Directory: v.dir, Origin: r.Origin, Records: r.Records, Bytes: r.Bytes, Segments: int64(r.Segments), Checkpoints: r.Checkpoints,
		Signed: r.Signed, Keys: []string{}, Root: r.Root.String(), Chain: r.Chain.String(), State: r.State.String(), Blobs: r.Blobs,
		Anchors: []anchorJSON{}, Open: openCalls(r.Calls), Unchecked: list(r.Unchecked),
	}
	keys := v.keys
	for _, text := range r.Keys {
		if r.Origin == "" { // the first record was refused
			break
		}
		vkey, err := verifierKey(r.Origin, text)
		if err != nil {
			return out, err
		}
		k, err := note.NewVerifier(vkey)
		if err != nil {
			return out, err
		}
		out.Keys, keys = append(out.Keys, vkey), withKey(keys, k)
	}
	for i := range v.anchors {
		k := &v.anchors[i]
		k.judge(r, keys)
		out.Anchors = append(out.Anchors, k.anchorJSON)
		switch {
		case k.vouches():
			out.Anchored = max(out.Anchored, k.Anchored.Size)
			if k.Status == "copy" {
				out.Unchecked = append(out.Unchecked, k.Name+": it did not answer, so the copy in the home was compared, which whoever writes there could set back")
			}
		case k.Status == string(anchor.Unreachable) || k.Status == string(anchor.Refused) || k.Status == "nothing":
			out.Unchecked = append(out.Unchecked, k.Name+": "+k.Detail)
		}
	}
	out.Problem = v.problem(ctx, r)
	out.Holds = out.Problem == nil
	return out, nil
}

// vouches says whether the log holds against the anchor.
func (k *vouching) vouches() bool { return k.Status == "holds" || k.Status == "copy" }

// judge finds out what an anchor is worth, once the log was read.
func (k *vouching) judge(r *audit.Report, keys []note.Verifier) {
	if k.note == nil {
		return
	}
	if k.kept && k.origin != r.Origin && r.Origin != "" {
		k.Status, k.Detail = string(audit.OriginOther), fmt.Sprintf("it is of the log %s", said(k.origin))
		return
	}
	if _, err := audit.OpenCheckpoint(k.note, keys...); k.kept && err != nil {
		k.Status, k.Detail = string(audit.NoteSignature), "none of the keys that are known of the log signed it"
		return
	}
	if slices.ContainsFunc(r.Anchors, func(a audit.Anchored) bool { return a.Size == k.Anchored.Size && a.Root == k.Root }) {
		return
	}
	if fromAnchor(r.Problem) || k.Anchored.Size <= r.Records {
		k.Status, k.Detail = string(audit.Forked), "it saw other records"
		if k.Anchored.Size > r.Records {
			k.Status, k.Detail = string(audit.RolledBack), "it saw more records"
		}
		return
	}
	k.Status, k.Detail = "not-reached", "the log does not hold up to there"
}

// fromAnchor says whether it was an anchor that a log does not hold against.
func fromAnchor(p *audit.Problem) bool {
	return p != nil && (p.Reason == audit.RolledBack || p.Reason == audit.Forked)
}

// problem is the first that matters: of the log itself, then of an anchor that
// cannot be of this log, then of an anchor that the log does not hold against.
func (v *verification) problem(ctx context.Context, r *audit.Report) *auditProblemJSON {
	if p := r.Problem; p != nil && !fromAnchor(p) && p.Reason != audit.LogEmpty {
		return v.place(ctx, p)
	}
	for _, k := range v.anchors {
		switch k.Status {
		case "holds", "copy", "nothing", "not-reached", string(anchor.Unreachable), string(anchor.Refused), string(audit.Forked), string(audit.RolledBack):
		default:
			return &auditProblemJSON{Reason: k.Status, Record: min(k.Anchored.Size, r.Records), Detail: k.Name + ": " + k.Detail, Remedy: remedyFor(k.Status)}
		}
	}
	if r.Problem == nil {
		return nil
	}
	return &auditProblemJSON{Reason: string(r.Problem.Reason), Record: r.Problem.Seq, Detail: r.Problem.Detail, Remedy: remedyFor(string(r.Problem.Reason))}
}

// place describes a problem at a place in the log.
func (v *verification) place(ctx context.Context, p *audit.Problem) *auditProblemJSON {
	out := &auditProblemJSON{
		Reason: string(p.Reason), Segment: segmentName(p.At), Byte: p.At.Offset, Line: p.Line(), Record: p.Seq,
		Detail: detailOf(p), Remedy: remedyFor(string(p.Reason)),
	}
	if out.Byte == 0 {
		out.Line = 1 // also where the file is named for another record
	}
	if v.atTheEnd(p) && p.Seq > v.own.Size() && v.torn(ctx, p) {
		out.Detail += "; nothing that was written later stands behind it, so a crash can have left it"
		out.Remedy = "after a crash: any verb that writes cuts it off and records that, such as iff audit anchor --new; else restore the log from a copy"
	}
	return out
}

// detailOf is the problem's detail with its cause.
func detailOf(p *audit.Problem) string {
	e, ok := p.Error().(*audit.Error)
	if !ok || e.Err == nil {
		return p.Detail
	}
	return p.Detail + " (" + shown(e.Err) + ")"
}

// maxTorn is more than is ever written at once.
const maxTorn = 8 << 20

// torn says whether what stands at a problem can be a batch that a crash cut
// short: no record of a later batch stands behind it.
func (v *verification) torn(ctx context.Context, p *audit.Problem) bool {
	seen := 0
	for b, err := range v.store.Blocks(ctx, p.At) {
		if seen += len(b.Data); err != nil || seen > maxTorn || b.At.Segment != p.At.Segment {
			return false
		}
		for line := range bytes.Lines(b.Data) {
			r, err := record.ParseLine(string(bytes.TrimSuffix(line, []byte("\n"))))
			if err == nil && r.Batch > p.Seq {
				return false
			}
		}
	}
	return true
}
