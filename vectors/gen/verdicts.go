package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict/verdicttest"
)

// verdictVectors are the smallest logs of every class and rule, with the verdicts
// that stand beside them in package verdicttest.
func verdictVectors() []vector {
	var out []vector
	for _, c := range verdicttest.Cases() {
		out = append(out, verdictVector(c))
	}
	return out
}

// reading is a line that is no record: what a corpus was.
type reading struct {
	At       string `json:"at"`
	Corpus   string `json:"corpus"`
	Snapshot string `json:"snapshot"`
}

const onlyCorpus = "work"

func verdictVector(c verdicttest.Case) vector {
	result, rest, _ := strings.Cut(c.Want, " ")
	result = strings.ToLower(result)
	v := vector{name: result + "-" + slug(c.Name), expect: result, comment: c.Name}.with("guarded", onlyCorpus+"/G")
	v.payload = []byte(strings.Join(verdictLines(c), "\n"))
	return v.with("findings", string(must(canonical.Marshal(findingsOf(rest)))))
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slug(name string) string { return notSlug.ReplaceAllString(strings.ToLower(name), "-") }

// verdictLines are the readings at both ends, and between them the log, which begins
// with the runtime that has fence 1.
func verdictLines(c verdicttest.Case) []string {
	l, lines := &logText{}, []string{readingLine("start", c.Start)}
	add := func(e record.Entry) {
		l.add(e)
		lines = append(lines, l.lines[len(l.lines)-1])
	}
	add(record.Of(record.Boot{Fence: 1, PID: 7, Profile: "strict", Version: "1"}))
	for _, e := range must(verdicttest.Script(c.Log)) {
		if e.Snapshot != nil {
			lines = append(lines, snapshotLine("barrier", e.Snapshot.Text()))
			continue
		}
		add(record.Entry{Session: e.Record.Session, Request: e.Record.Request, Body: e.Record.Body})
	}
	return append(lines, readingLine("end", c.End))
}

func readingLine(at, states string) string {
	return snapshotLine(at, verdicttest.States(states).Text())
}

func snapshotLine(at string, text []byte) string {
	return string(must(canonical.Marshal(reading{at, onlyCorpus, string(text)})))
}

// findingsOf reads class:object:call, objects without their corpus.
func findingsOf(text string) [][]string {
	out := [][]string{}
	for _, word := range strings.Fields(text) {
		parts := strings.Split(word, ":")
		if parts[1] != "" {
			parts[1] = onlyCorpus + "/" + parts[1]
		}
		out = append(out, parts)
	}
	slices.SortFunc(out, func(a, b []string) int {
		return bytes.Compare(must(canonical.Marshal(a)), must(canonical.Marshal(b)))
	})
	return out
}
