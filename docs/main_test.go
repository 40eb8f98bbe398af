// Package docs_test checks what the documents say about logs, and the verifier
// among them, against package audit.
package docs_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// The keys of the logs here.
const (
	logKey      = 1
	nextKey     = 2
	strangerKey = 7
)

const origin = "iff/log/0123456789abcdef01234567"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// segments are the files that lines lie in, by name.
type segments map[string][]byte

func readSegments(t testing.TB, dir string) segments {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	must(t, err)
	out := segments{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must(t, err)
		out[filepath.Base(path)] = data
	}
	return out
}

// write puts the segments into dir, in place of those that are there.
func (s segments) write(t testing.TB, dir string) {
	t.Helper()
	for name := range readSegments(t, dir) {
		must(t, os.Remove(filepath.Join(dir, name)))
	}
	for name, data := range s {
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
}

func (s segments) clone() segments {
	out := segments{}
	for name, data := range s {
		out[name] = bytes.Clone(data)
	}
	return out
}

func (s segments) names() []string { return slices.Sorted(maps.Keys(s)) }

// lines are the lines without their newlines and without what pads the last
// segment.
func (s segments) lines() []string {
	var out []string
	for _, name := range s.names() {
		if text := strings.TrimRight(string(s[name]), "\n"); text != "" {
			out = append(out, strings.Split(text, "\n")...)
		}
	}
	return out
}

func name(first int) string { return fmt.Sprintf("%020d.jsonl", first) }

// sample is a log that iff wrote, and what was kept of it elsewhere.
type sample struct {
	segments
	notes    [][]byte // checkpoints, in order
	receipts [][]byte // of some records, under different checkpoints
}

// small makes many segments of a few records.
var small = file.Options{SegmentBytes: 6000, Pad: 3000, PadAfter: 1}

func begin(origin string) record.Init {
	return record.Init{Origin: origin, Operator: "me", Profile: "dev", Scheme: "default", Root: "SHA256:root", TrustDigest: strings.Repeat("d", 64)}
}

func create(t testing.TB, dir, origin string, key byte, every int64) *audit.Log {
	t.Helper()
	store, err := file.Create(durable.OS(), dir, &small)
	must(t, err)
	clock := func() time.Time { return trusttest.Now }
	l, err := audit.Create(t.Context(), store, begin(origin), trusttest.NewKey(key), audit.Options{Now: clock, CheckpointEvery: every})
	must(t, err)
	return l
}

func appended(t testing.TB, l *audit.Log, entries ...record.Entry) {
	t.Helper()
	_, err := l.Append(t.Context(), entries...)
	must(t, err)
}

// nasty strings come out of a line escaped, or not at all.
var nasty = []string{
	"", "two\nlines", "tab\tcr\r", "nul\x00", "\x1b[31mred", "bidi\u202eabc\u2066x", "bad\xff\xfeutf8", "\u007f\u0085\u009b2J", `back\slash "quote" \u202e`,
	"tag\U000e0041", "a\u200bb\ufeff", "\u2028\u2029", "é\u0301 漢字 😀", "</script>&", "\ufffe\uffff\ufffd", "🏳️‍🌈", `"},"kind":"init"}`, `{"seq":0}`,
	// just outside and just inside of what is written as escapes
	"~\u00a0\u00ac\u00ae\u061b\u061d\u180d\u180f\u200a\u2010\u2027\u202f\u205f\u2070\ufefe\uff00\ufff8\ufffc\ufffd\U00010000\U000dffff\U000e1000\U0010ffff",
	"\u001f\u007f\u009f\u00ad\u061c\u180e\u200b\u200f\u2028\u202e\u2060\u206f\ufeff\ufff9\ufffb\ufffe\uffff\U000e0000\U000e0fff",
}

// call is the records of one call.
func call(i int) []record.Entry {
	id, text := fmt.Sprintf("01J9Z-%d", i), nasty[i%len(nasty)]
	plan := []record.Change{{Object: corpus.Object("work/" + text), Before: corpus.Absent, After: corpus.State(fmt.Sprintf("%064d", i))}}
	of := func(b record.Body) record.Entry { return record.Entry{Session: "7K2M", Request: id, Body: b} }
	return []record.Entry{
		of(record.Request{Agent: "opencode", Capability: "fs.write.irrev", Effect: "irreversible", Level: "declared", Mark: "PUBLIC", Plan: plan, Target: text}),
		of(record.Decision{Broker: "level", Cause: record.CauseLevel, Choice: record.Approve, Expires: trusttest.Now, Profile: "dev"}),
		of(record.Intent{Attempt: 1, Fence: 1, Key: id, Plan: plan, Staging: ".iff-" + id}),
		of(record.Executed{Outcome: record.Outcome{Detail: text, Readings: plan}}),
	}
}

// someCalls make a log of several segments in which something follows
// everything.
const someCalls = 24

// write makes a log as a killed process leaves it: with calls, sessions,
// skills, two changes of key and, at the end, room for lines to come.
func write(t testing.TB, origin string, key byte, calls int) sample {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	l := create(t, dir, origin, key, 20)
	var out sample
	for i := range calls {
		appended(t, l, call(i)...)
		switch i {
		case calls / 4:
			must(t, l.Rotate(t.Context(), trusttest.NewKey(key+1)))
		case calls / 2:
			skill := record.Skill{Name: "hello", Version: int64(i), Signer: "ops", Level: "declared"}
			appended(t, l, record.Of(record.SkillLoaded{Directory: "/a", Skill: skill}), record.Of(record.SkillLoaded{Directory: "/b\u202e", Skill: skill}))
			appended(t, l, record.Entry{Session: "7K2M", Body: record.Session{Agent: "a", Transition: record.SessionOpened}})
		case 3 * calls / 4:
			appended(t, l, call(1000)[:3]...)
			must(t, l.Rotate(t.Context(), trusttest.NewKey(key)))
		}
		if i%4 == 1 {
			out.keep(t, l)
		}
	}
	end := call(calls)
	end[3].Body = record.Executed{Outcome: record.Outcome{Detail: "b\u202e", Result: record.Payload{Digest: record.Hash{1}}}}
	appended(t, l, end...)
	out.segments = readSegments(t, dir)
	must(t, l.Close())
	return out
}

// keep makes a checkpoint and keeps it, and receipts under it.
func (s *sample) keep(t testing.TB, l *audit.Log) {
	t.Helper()
	note, err := l.Checkpoint(t.Context())
	must(t, err)
	s.notes = append(s.notes, note)
	v := l.View()
	for _, seq := range []int64{0, v.Size() / 3, v.Size() - 1} {
		r, err := v.Receipt(t.Context(), seq)
		must(t, err)
		s.receipts = append(s.receipts, r.Marshal())
	}
}

// audited is what package audit says about segments.
func audited(t testing.TB, s segments, o audit.VerifyOptions) *audit.Report {
	t.Helper()
	dir := t.TempDir()
	s.write(t, dir)
	return auditedAt(t, dir, o)
}

func auditedAt(t testing.TB, dir string, o audit.VerifyOptions) *audit.Report {
	t.Helper()
	store, err := file.OpenRead(durable.OS(), dir)
	must(t, err)
	defer store.Close()
	rep, err := audit.Verify(context.WithoutCancel(t.Context()), store, o)
	must(t, err)
	return rep
}

func pinned(key byte) audit.Pin {
	return audit.Pin{Origin: origin, Key: trusttest.NewKey(key).Public()}
}

// python is where Python 3 lies. Without it these tests cannot say anything.
func python(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("python3 is not in PATH (%v): docs/verify.py is not checked; install Python 3.8 or newer", err)
	}
	return path
}

// run runs docs/verify.py as people do.
func run(t testing.TB, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command(python(t), append([]string{"verify.py"}, args...)...)
	data, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(data)
}
