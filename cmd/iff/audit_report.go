package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/visible"
)

// printVerified says what was checked, what was not, and what came of it.
func (a *app) printVerified(out auditVerifyJSON, took time.Duration) error {
	rows := [][]string{
		{"log", said(out.Origin)},
		{"in", short(out.Directory)},
		{"records", fmt.Sprintf("%s, %s in %s", count(out.Records), size(out.Bytes), plural(int(out.Segments), "segment"))},
		{"checkpoints", fmt.Sprintf("%s, the newest of %s of %s records", count(out.Checkpoints), count(out.Signed), count(out.Records))},
	}
	rows = append(rows, labelled("key", out.Keys)...)
	rows = append(rows, []string{"root", out.Root})
	if out.Blobs > 0 {
		rows = append(rows, []string{"payloads", count(out.Blobs)})
	}
	rows = append(rows, labelled("anchors", anchorLines(out.Anchors))...)
	if out.Anchored > 0 {
		rows = append(rows, []string{"anchored", anchoredWords(out.Anchors, out.Anchored, out.Records)})
	}
	rows = append(rows, labelled("not checked", out.Unchecked)...)
	rows = append(rows, labelled("in doubt", doubtLines(out.Open))...)
	if err := a.table(rows); err != nil {
		return err
	}
	if out.Problem != nil {
		a.printProblem(out)
		return nil
	}
	speed := ""
	if a.screen && took > 0 {
		speed = fmt.Sprintf("   %s, %s/s", lasted(took), size(int64(float64(out.Bytes)/took.Seconds())))
	}
	a.printf("%s%s\n", a.paint(green, "holds: every line, link, checkpoint, signature and folded state"), a.paint(faint, speed))
	return nil
}

// labelled puts a label before the first of several lines.
func labelled(label string, lines []string) [][]string {
	var out [][]string
	for _, l := range lines {
		out = append(out, []string{label, undouble(visible.Escape(l))})
		label = ""
	}
	return out
}

func anchorLines(anchors []anchorJSON) []string {
	var out []string
	for _, k := range anchors {
		line := fmt.Sprintf("%s: %s", k.Name, k.Status)
		if k.Size > 0 {
			line += fmt.Sprintf(", %s records", count(k.Size))
		}
		if k.Time != "" {
			line += ", " + k.Time
		}
		if k.Detail != "" {
			line += " (" + k.Detail + ")"
		}
		out = append(out, line)
	}
	return out
}

// anchoredWords says up to where the log is complete by the word of others.
func anchoredWords(anchors []anchorJSON, to, records int64) string {
	if to == 0 {
		return fmt.Sprintf("nobody outside vouches for this log; %s unanchored", span(0, records-1))
	}
	var by []string
	for _, k := range anchors {
		if k.Size == to && (k.Status == "holds" || k.Status == "copy") {
			by = append(by, undouble(visible.Escape(k.Name)))
		}
	}
	text := fmt.Sprintf("complete to %s of %s by %s", count(to), count(records), strings.Join(by, ", "))
	if to < records {
		text += fmt.Sprintf("; %s unanchored", span(to, records-1))
	}
	return text
}

// doubtLines lists the calls of which nobody knows whether they happened.
func doubtLines(open []openCallJSON) []string {
	const most = 5
	var out []string
	for _, c := range open {
		if c.Status != "in-doubt" && c.Status != "intended" {
			continue
		}
		if len(out) == most {
			return append(out, "and more: iff audit stat --json")
		}
		out = append(out, fmt.Sprintf("call %s, intent in record %s: iff audit show --call %s", c.Call, count(c.Record), c.Call))
	}
	return out
}

func (a *app) printProblem(out auditVerifyJSON) {
	p := out.Problem
	place := ""
	if p.Segment != "" {
		place = fmt.Sprintf("%s byte %d, line %d, record %d: ", p.Segment, p.Byte, p.Line, p.Record)
	}
	a.printf("\n%s %s%s\n", a.paint(red, "DOES NOT HOLD:"), place, p.Reason)
	a.printf("  %s\n", undouble(visible.Escape(p.Detail)))
	sound := p.Record
	if p.Reason == string(audit.ChainBroken) {
		sound-- // the line before may be the one that was changed
	}
	if p.Segment != "" && sound > 0 {
		a.printf("  %s hold; nothing is said of what stands behind them\n", span(0, sound-1))
	}
	a.printf("  %s\n", p.Remedy)
}
