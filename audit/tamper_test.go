package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// edit has a function change the lines.
func edit(change func(lines [][]byte) [][]byte) func(testing.TB, files) {
	return func(_ testing.TB, f files) { f.set(change(f.lines())) }
}

// line has a function change one line.
func line(n int, change func(line string) string) func(testing.TB, files) {
	return edit(func(lines [][]byte) [][]byte {
		lines[n] = []byte(change(string(lines[n])))
		return lines
	})
}

func replaced(old, with string) func(string) string {
	return func(s string) string {
		if !strings.Contains(s, old) {
			panic(fmt.Sprintf("bug: %q is not in %s", old, s))
		}
		return strings.Replace(s, old, with, 1)
	}
}

// rechained changes records from one on and gives every line behind it the right number and hash.
func rechained(from int, change func(*record.Record) bool) func(testing.TB, files) {
	return func(t testing.TB, f files) {
		lines := f.lines()
		out := slices.Clone(lines[:from])
		for _, l := range lines[from:] {
			r, err := record.ParseLine(string(l))
			must(t, err)
			moved := r.Seq - int64(len(out))
			r.Seq, r.Batch = int64(len(out)), min(max(r.Batch-moved, 0), int64(len(out)))
			if r.Prev = (record.Hash{}); len(out) > 0 {
				r.Prev = record.Leaf(out[len(out)-1])
			}
			if !change(&r) {
				continue
			}
			l, err := r.Line()
			must(t, err)
			out = append(out, l)
		}
		f.set(out)
	}
}

// altered changes the target of one request.
func altered(seq int64) func(*record.Record) bool {
	return func(r *record.Record) bool {
		if b, ok := r.Body.(record.Request); ok && r.Seq == seq {
			b.Target = "work/other.md"
			r.Body = b
		}
		return true
	}
}

// rewritten makes the whole log anew, as whoever has the log's keys can.
func rewritten(change func(*record.Record)) func(testing.TB, files) {
	return func(tb testing.TB, f files) {
		var records []record.Record
		for _, l := range f.lines() {
			r, err := record.ParseLine(string(l))
			must(tb, err)
			change(&r)
			records = append(records, r)
		}
		m := &audittest.Memory{}
		lines, err := linesOfMemory(tb, m, rewrite(tb, m, records))
		must(tb, err)
		f.set(lines)
		delete(f, "snapshot")
		delete(f, "index")
	}
}

const edited = 26 // a request

// tampers are changes to a victim. Those that are alone leave a log that holds by itself: only an anchor shows them.
func tampers(other files) []struct {
	name  string
	alone bool
	do    func(testing.TB, files)
} {
	crlf := func(s string) string { return s + "\r" }
	segment := func(do func(f files, names []string)) func(testing.TB, files) {
		return func(_ testing.TB, f files) { do(f, f.segments()) }
	}
	return []struct {
		name  string
		alone bool
		do    func(testing.TB, files)
	}{
		{"edit a word", false, line(edited, replaced("opencode", "openc0de"))},
		{"edit the time", false, line(edited, replaced(`"time":"2026`, `"time":"2025`))},
		{"edit a session", false, line(edited, replaced(`"session":"7K2M"`, `"session":"7K2N"`))},
		{"edit the first record", false, line(0, replaced(`"operator":"me"`, `"operator":"ne"`))},
		{"edit a hash", false, line(edited, replaced(`"prevHash":"`, `"prevHash":"0`))},
		{"delete a line", false, edit(func(l [][]byte) [][]byte { return slices.Delete(l, edited, edited+1) })},
		{"delete a call", false, edit(func(l [][]byte) [][]byte { return slices.Delete(l, edited, edited+4) })},
		{"swap two lines", false, edit(func(l [][]byte) [][]byte { l[edited], l[edited+1] = l[edited+1], l[edited]; return l })},
		{"reverse", false, edit(func(l [][]byte) [][]byte { slices.Reverse(l); return l })},
		{"duplicate a line", false, edit(func(l [][]byte) [][]byte { return slices.Insert(l, edited, l[edited]) })},
		{"duplicate the last line", false, edit(func(l [][]byte) [][]byte { return append(l, l[len(l)-1]) })},
		{"a line of another log", false, edit(func(l [][]byte) [][]byte { l[edited] = other.lines()[edited]; return l })},
		{"the end of another log", false, edit(func(l [][]byte) [][]byte { return append(l[:edited], other.lines()[edited:]...) })},
		{"a segment of another log", false, segment(func(f files, n []string) { f[n[1]] = other[other.segments()[1]] })},
		{"the whole of another log", false, func(_ testing.TB, f files) { f.set(other.lines()) }},
		{"change and hash again", false, rechained(edited, altered(edited))},
		{"hash again without checkpoints", true, rechained(edited, func(r *record.Record) bool {
			_, is := r.Body.(record.Checkpoint)
			_, rotated := r.Body.(record.KeyRotated)
			return altered(edited)(r) && !is && !rotated
		})},
		{"hash again, signed by another key", false, rechained(edited, signedBy(trusttest.NewKey(9)))},
		{"change with the log's keys", true, rewritten(func(r *record.Record) { altered(edited)(r) })},
		{"rewrite all with the log's keys", true, rewritten(func(r *record.Record) { r.Time = r.Time.Add(time.Hour) })},
		{"cut off the end", true, edit(func(l [][]byte) [][]byte { return l[:len(l)-9] })},
		{"cut off half of a line", false, func(_ testing.TB, f files) {
			n := f.segments()
			last := n[len(n)-1]
			f[last] = f[last][:len(f[last])-100]
		}},
		{"cut off the last newline", false, func(_ testing.TB, f files) {
			n := f.segments()
			last := n[len(n)-1]
			f[last] = f[last][:len(f[last])-1]
		}},
		{"empty", false, func(_ testing.TB, f files) { f.set(nil) }},
		{"the segment empty", false, segment(func(f files, n []string) {
			for _, name := range n[1:] {
				delete(f, name)
			}
			f[n[0]] = nil
		})},
		{"only the first record", true, edit(func(l [][]byte) [][]byte { return l[:1] })},
		{"a space", false, line(edited, replaced(`"body":`, `"body": `))},
		{"fields in another order", false, line(edited, func(s string) string {
			return replaced(`,"session":"7K2M"`, "")(s[:len(s)-1]) + `,"session":"7K2M"}`
		})},
		{"an escape that is not needed", false, line(edited, replaced("opencode", `\u006fpencode`))},
		{"an escaped slash", false, line(edited, replaced("work/", `work\/`))},
		{"a number spelled otherwise", false, line(edited, replaced(fmt.Sprintf(`"seq":%d`, edited), fmt.Sprintf(`"seq":%d.0`, edited)))},
		{"a field twice", false, line(edited, replaced(`"session":`, `"session":"","session":`))},
		{"a field more", false, line(edited, replaced(`"body":{`, `"body":{"a":1,`))},
		{"capital hex", false, line(edited, func(s string) string {
			i := strings.Index(s, `"prevHash":"`) + 12
			return s[:i] + strings.ToUpper(s[i:i+64]) + s[i+64:]
		})},
		{"CRLF", false, line(edited, crlf)},
		{"CRLF everywhere", false, edit(func(l [][]byte) [][]byte {
			for i := range l {
				l[i] = []byte(crlf(string(l[i])))
			}
			return l
		})},
		{"BOM", false, line(0, func(s string) string { return "\ufeff" + s })},
		{"two lines joined", false, edit(func(l [][]byte) [][]byte {
			l[edited] = append(l[edited], l[edited+1]...)
			return slices.Delete(l, edited+1, edited+2)
		})},
		{"a line split", false, line(edited, replaced(`"body"`, "\n\"body\""))},
		{"newlines between lines", false, edit(func(l [][]byte) [][]byte { return slices.Insert(l, edited, nil, nil) })},
		{"newlines at the end of a segment", false, segment(func(f files, n []string) { f[n[0]] = append(f[n[0]], "\n\n\n"...) })},
		{"newlines over two blocks", false, segment(func(f files, n []string) {
			i := bytes.IndexByte(f[n[1]], '\n') + 1
			f[n[1]] = slices.Concat(f[n[1]][:i], bytes.Repeat([]byte("\n"), 600_000), f[n[1]][i:])
		})},
		{"zeros between lines", false, edit(func(l [][]byte) [][]byte { return slices.Insert(l, edited, []byte("\x00\x00")) })},
		{"a segment renamed", false, segment(func(f files, n []string) { f["00000000000000000027.jsonl"] = f[n[1]]; delete(f, n[1]) })},
		{"a segment missing", false, segment(func(f files, n []string) { delete(f, n[1]) })},
		{"the first segment missing", false, segment(func(f files, n []string) { delete(f, n[0]) })},
		{"the last segments missing", true, segment(func(f files, n []string) { delete(f, n[len(n)-1]); delete(f, n[len(n)-2]) })},
		{"a segment twice", false, segment(func(f files, n []string) { f["00000000000000000900.jsonl"] = f[n[1]] })},
		{"two segments swapped", false, segment(func(f files, n []string) { f[n[1]], f[n[2]] = f[n[2]], f[n[1]] })},
		{"an empty segment at the end", false, segment(func(f files, n []string) { f["00000000000000000900.jsonl"] = nil })},
		{"an older note in a checkpoint", false, olderNote},
		{"a rotation that one key signed", false, rechained(1, func(r *record.Record) bool {
			if b, ok := r.Body.(record.KeyRotated); ok {
				b.OldSignature = b.NewSignature
				r.Body = b
			}
			return true
		})},
	}
}

// signedBy signs every checkpoint anew with a key that is not the log's.
func signedBy(key trusttest.Key) func(*record.Record) bool {
	return func(r *record.Record) bool {
		if b, ok := r.Body.(record.Checkpoint); ok {
			v, err := audit.Verifier(origin, key.Public())
			if err == nil {
				var out []byte
				out, err = note.Sign(&note.Note{Text: b.Note[:strings.Index(b.Note, "\n\n")+1]}, noteKey{v, key})
				r.Body = record.Checkpoint{Note: string(out)}
			}
			if err != nil {
				panic("bug: " + err.Error())
			}
		}
		return altered(edited)(r)
	}
}

func olderNote(t testing.TB, f files) {
	var first record.Body
	rechained(0, func(r *record.Record) bool {
		if _, ok := r.Body.(record.Checkpoint); ok {
			if first == nil {
				first = r.Body
			}
			r.Body = first
		}
		return true
	})(t, f)
}

// Every change is found given one anchor, and most without; for the others the report says that nobody vouches for the records.
func TestTampers(t *testing.T) {
	v := newVictim(t, origin, 0)
	other := newVictim(t, "iff/log/other", 1000)
	anchor := v.anchors[len(v.anchors)-1]
	if len(v.segments()) < 4 || anchor.Size < edited+10 {
		t.Fatalf("%d segments, anchored to %d", len(v.segments()), anchor.Size)
	}
	if rep := v.report(t, v.files, anchor); !rep.Holds() || rep.AnchoredTo != anchor.Size {
		t.Fatalf("the log itself: %+v", rep)
	}
	for _, tamper := range tampers(other.files) {
		t.Run(tamper.name, func(t *testing.T) {
			f := v.clone()
			tamper.do(t, f)
			if maps.EqualFunc(f, v.files, bytes.Equal) {
				t.Fatal("nothing was changed")
			}
			if rep := v.report(t, f, anchor); rep.Holds() {
				t.Error("an anchor does not help")
			} else {
				t.Log(rep.Problem.Error())
			}
			alone := v.report(t, f)
			if alone.Holds() != tamper.alone {
				t.Errorf("without an anchor it holds: %v", alone.Holds())
			}
			if want := fmt.Sprintf("all %d records: nobody outside vouches", alone.Records); !strings.Contains(strings.Join(alone.Unchecked, "\n"), want) {
				t.Errorf("without an anchor: %q", alone.Unchecked)
			}
			delete(f, "snapshot")
			if err := opens(t, f); (err == nil) != tamper.alone && !torn(tamper.name) {
				t.Errorf("it opens without a snapshot: %v", err)
			}
		})
	}
}

// torn are the changes that a crash can have made as well: they are cut off.
func torn(name string) bool { return strings.HasPrefix(name, "cut off") }

// report verifies files.
func (v *victim) report(t testing.TB, f files, anchors ...audit.Anchored) *audit.Report {
	t.Helper()
	store, err := file.OpenRead(f.disk(t), "/log")
	must(t, err)
	defer store.Close()
	rep, err := audit.Verify(context.Background(), store, audit.VerifyOptions{Pin: pin(), Anchors: anchors, Blobs: true, Workers: 2})
	must(t, err)
	return rep
}

func opens(t testing.TB, f files) error {
	t.Helper()
	store, err := file.Open(f.disk(t), "/log", nil)
	if err != nil {
		return err
	}
	l, _, err := openLog(context.Background(), store, rarely())
	if err != nil {
		return err
	}
	return l.Close()
}

// A segment in the middle that has no lines is told in the report.
func TestEmptySegmentIsReported(t *testing.T) {
	v := newVictim(t, origin, 0)
	f := v.clone()
	f[f.segments()[1]] = nil
	store, err := file.OpenRead(f.disk(t), "/log")
	must(t, err)
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: pin()})
	if err != nil || rep.Holds() {
		t.Errorf("%v: %+v", err, rep)
	}
}

// The line of a segment that is named for another record, and the place of what an anchor misses, are places in the log.
func TestPlaces(t *testing.T) {
	v := newVictim(t, origin, 0)
	f := v.clone()
	delete(f, f.segments()[1])
	if p := v.report(t, f).Problem; p == nil || p.Line() < 1 {
		t.Errorf("line %d: %v", p.Line(), p.Error())
	}
	f = v.clone()
	edit(func(l [][]byte) [][]byte { return l[:90] })(t, f)
	if p := v.report(t, f, v.anchors[len(v.anchors)-1]).Problem; p == nil || p.At.Segment == 0 && p.At.Offset == 0 {
		t.Errorf("%v: %v", p.At, p.Error())
	}
}

// What the holder of the keys does to records that no anchor covers cannot be found. The report says which those are.
func TestBehindTheAnchor(t *testing.T) {
	v := newVictim(t, origin, 0)
	for i, anchor := range v.anchors {
		for what, do := range map[string]func(testing.TB, files){
			"change": rewritten(func(r *record.Record) {
				if b, ok := r.Body.(record.Executed); ok && r.Seq >= anchor.Size {
					b.Detail = "other"
					r.Body = b
				}
			}),
			"cut": edit(func(l [][]byte) [][]byte { return l[:anchor.Size+1] }),
		} {
			f := v.clone()
			do(t, f)
			rep := v.report(t, f, anchor)
			if !rep.Holds() {
				t.Errorf("anchor %d, %s: %v", i, what, rep.Problem.Error())
				continue
			}
			want := fmt.Sprintf("records %d to %d: nobody outside vouches for them yet", anchor.Size, rep.Records-1)
			if !slices.Contains(rep.Unchecked, want) || rep.AnchoredTo != anchor.Size {
				t.Errorf("anchor %d, %s: want %q in %q", i, what, want, rep.Unchecked)
			}
			if i+1 < len(v.anchors) && v.report(t, f, v.anchors[i+1]).Holds() {
				t.Errorf("anchor %d, %s: the next anchor does not show it", i, what)
			}
		}
	}
}

// Another log, or one that begins with another key, is not taken for the one that is pinned.
func TestPinned(t *testing.T) {
	other := newVictim(t, "iff/log/other", 0)
	if rep := other.report(t, other.files); rep.Holds() || rep.Problem.Reason != audit.OriginOther {
		t.Errorf("another origin: %+v", rep.Problem)
	}
	v := newVictim(t, origin, 0)
	store, err := file.OpenRead(v.disk(t), "/log")
	must(t, err)
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: audit.Pin{Origin: origin, Key: trusttest.NewKey(5).Public()}})
	must(t, err)
	if rep.Holds() || rep.Problem.Reason != audit.KeyOther {
		t.Errorf("another key: %+v", rep.Problem)
	}
	if rep, err = audit.Verify(t.Context(), store, audit.VerifyOptions{}); err != nil || !rep.Holds() || !strings.Contains(strings.Join(rep.Unchecked, "\n"), "which log this is") {
		t.Errorf("not pinned: %+v, %v", rep, err)
	}
}
