package record_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
	"pgregory.net/rapid"
)

var when = time.Date(2026, 11, 20, 12, 0, 0, 123, time.UTC)

// bodies has one body of every kind.
var bodies = []record.Body{
	record.Init{}, record.KeyCreated{}, record.KeyRotated{}, record.TrustChanged{}, record.SkillAdopted{}, record.SkillSigned{},
	record.SkillLoaded{}, record.SkillRefused{}, record.SkillEvicted{}, record.Revocation{}, record.Request{},
	record.ReversibleRequest{}, record.Decision{}, record.LateDecision{}, record.Intent{}, record.Executed{}, record.Error{},
	record.Staged{}, record.CommitIntent{}, record.Committed{}, record.RollbackIntent{}, record.RolledBack{}, record.Resolved{},
	record.Mutation{}, record.Boot{}, record.Lock{}, record.Session{}, record.Barrier{}, record.Verdict{}, record.Recovery{},
	record.Checkpoint{}, record.Tool{}, record.Hook{}, record.Refused{},
}

// tokens are the closed sets that a random body draws from.
var tokens = map[reflect.Type][]string{
	reflect.TypeFor[record.Choice]():     {"approve", "deny"},
	reflect.TypeFor[record.ToolEvent]():  {"pinned", "changed", "accepted", "gone"},
	reflect.TypeFor[record.Channel]():    {"agent", "mcp", "http"},
	reflect.TypeFor[record.Cause]():      {"human", "timeout", "crash"},
	reflect.TypeFor[record.Finding]():    {"executed", "partial"},
	reflect.TypeFor[record.Transition](): {"opened", "skill", "reset", "closed"},
	reflect.TypeFor[record.Result]():     {"PASS", "OPEN"},
}

var nasty = []string{
	"", "plain", "line\nline", "tab\tcr\r", "nul\x00", "\x1b[31mred", "bidi\u202eabc\u2066x", "bad\xff\xfeutf8", "\u007f\u0085\u009b2J",
	`back\slash "quote" \u202e`, "tag\U000e0041", "a\u200bb\ufeff", "\u2028\u2029", "é\u0301 漢字 😀", "</script>&", "\ufffe\uffff\ufffd", "🏳️‍🌈",
}

// fill sets every field of v at random.
func fill(v reflect.Value, r *rand.Rand, text func() string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		if r.IntN(2) == 0 {
			v.Set(reflect.ValueOf(when.Add(time.Duration(r.Int64N(1 << 50)))))
		}
		return
	}
	if set, ok := tokens[v.Type()]; ok {
		v.SetString(set[r.IntN(len(set))])
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text())
	case reflect.Int64:
		v.SetInt(r.Int64N(1<<54) - 1<<53)
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).SetUint(uint64(r.IntN(256)))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fill(v.Index(i), r, text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), r, text)
		}
	default:
		panic("a body has a field of kind " + v.Kind().String())
	}
}

func random(b record.Body, r *rand.Rand, text func() string) record.Body {
	v := reflect.New(reflect.TypeOf(b)).Elem()
	fill(v, r, text)
	return v.Interface().(record.Body)
}

func place(r *rand.Rand, b record.Body) record.Record {
	seq := r.Int64N(1 << 53)
	rec := record.Record{Seq: seq, Batch: r.Int64N(seq + 1), Time: when, Session: "S-1", Request: "01J9.a_b:c", Body: b}
	fill(reflect.ValueOf(&rec.Prev).Elem(), r, nil)
	return rec
}

func TestBodiesAreAllKinds(t *testing.T) {
	var have []record.Kind
	for _, b := range bodies {
		have = append(have, b.Kind())
	}
	if want := record.Kinds(); !slices.Equal(slices.Sorted(slices.Values(have)), want) {
		t.Errorf("the tests have %v, the package %v", have, want)
	}
}

// Any body comes back as it was, from one line that the general canonicaliser
// agrees with and that shows nothing hidden.
func TestLinesOfRandomBodies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		text := func() string {
			if r.IntN(3) == 0 {
				return rapid.String().Draw(t, "text")
			}
			return nasty[r.IntN(len(nasty))]
		}
		b := random(bodies[r.IntN(len(bodies))], r, text)
		rec := place(r, b)
		line, err := rec.Line()
		if err != nil {
			t.Fatal(err)
		}
		back, err := record.ParseLine(string(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if again, err := back.Line(); err != nil || string(again) != string(line) {
			t.Fatalf("%s became %s (%v)", line, again, err)
		}
		if err := agrees(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	})
}

var escapes = regexp.MustCompile(`\\u[0-9a-f]{4}(\\ud[c-f][0-9a-f]{2})?|\\.`)

// agrees compares a line with what the general canonicaliser makes of it, but
// for the escapes that only lines have; and looks for raw hidden characters.
func agrees(line []byte) error {
	shown := escapes.ReplaceAllStringFunc(string(line), func(e string) string {
		s, err := strconv.Unquote(`"` + e + `"`)
		if len(e) == 12 { // a surrogate pair, which Go has no escape for
			high, _ := strconv.ParseUint(e[2:6], 16, 32)
			low, _ := strconv.ParseUint(e[8:], 16, 32)
			s, err = string(rune((high-0xd800)<<10+(low-0xdc00)+0x10000)), nil
		}
		if err != nil || s < "\x7f" {
			return e
		}
		return s
	})
	canonical, err := canonical.Transform(line, canonical.Limits{})
	if err != nil {
		return err
	}
	if string(canonical) != shown {
		return fmt.Errorf("the canonicaliser writes %s", canonical)
	}
	for _, r := range string(line) {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == utf8.RuneError && !strings.Contains(string(line), "\ufffd") {
			return fmt.Errorf("%U stands raw in it", r)
		}
	}
	return nil
}

// Every text field of every kind takes every nasty string: one line out.
func TestNastyTextInEveryField(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, b := range bodies {
		for _, s := range nasty {
			line, err := place(r, random(b, r, func() string { return s })).Line()
			if err != nil {
				t.Errorf("%s with %q: %v", b.Kind(), s, err)
				continue
			}
			if err := agrees(line); err != nil {
				t.Errorf("%s with %q: %v", b.Kind(), s, err)
			}
			if _, err := record.ParseLine(string(line)); err != nil {
				t.Errorf("%s with %q: %v", b.Kind(), s, err)
			}
		}
	}
}

func TestLinesAreReadStrictly(t *testing.T) {
	good, err := record.Record{Seq: 7, Batch: 5, Time: when, Session: "s", Request: "r", Body: record.KeyCreated{Name: "é\u202e", Fingerprint: "f"}}.Line()
	if err != nil {
		t.Fatal(err)
	}
	line := string(good)
	for name, bad := range map[string]string{
		"unknown kind":       strings.Replace(line, "key.created", "key.eaten", 1),
		"unknown field":      strings.Replace(line, `"name"`, `"x":1,"name"`, 1),
		"field missing":      strings.Replace(line, `"fingerprint":"f",`, "", 1),
		"field twice":        strings.Replace(line, `"fingerprint":"f",`, `"fingerprint":"f","fingerprint":"f",`, 1),
		"another kind":       strings.Replace(line, "key.created", "init", 1),
		"bad year":           strings.Replace(line, "2026", "26", 1),
		"bad day":            strings.Replace(line, "11-20", "11-31", 1),
		"no such hour":       strings.Replace(line, "T12", "T24", 1),
		"trailing bytes":     line + "x",
		"a space":            strings.Replace(line, ",", ", ", 1),
		"escape respelled":   strings.Replace(line, `\u202e`, `\u202E`, 1),
		"escape not needed":  strings.Replace(line, "é", `\u00e9`, 1),
		"raw bidi":           strings.Replace(line, `\u202e`, "\u202e", 1),
		"number respelled":   strings.Replace(line, `"seq":7`, `"seq":7.0`, 1),
		"leading zero":       strings.Replace(line, `"seq":7`, `"seq":07`, 1),
		"negative":           strings.Replace(line, `"seq":7`, `"seq":-7`, 1),
		"batch behind seq":   strings.Replace(line, `"batch":5`, `"batch":8`, 1),
		"upper-case hash":    strings.Replace(line, strings.Repeat("0", 64), strings.Repeat("A", 64), 1),
		"short hash":         strings.Replace(line, strings.Repeat("0", 64), strings.Repeat("0", 63), 1),
		"carriage return":    line + "\r",
		"byte order mark":    "\ufeff" + line,
		"session with quote": strings.Replace(line, `"session":"s"`, `"session":"s\""`, 1),
		"bool respelled":     strings.Replace(line, "false", "0", 1),
		"two lines":          line + "\n" + line,
		"empty":              "",
	} {
		if bad == line {
			t.Errorf("%s: the test does not change the line", name)
		}
		if r, err := record.ParseLine(bad); !errors.Is(err, record.ErrLine) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// A hash is 64 lower-case digits, whatever stands at whichever place.
func TestHashesAreReadStrictly(t *testing.T) {
	prev := record.Hash{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xff, 0x90, 0x0a, 31: 0x9f}
	line, err := record.Record{Seq: 1, Batch: 1, Time: when, Prev: prev, Body: record.Lock{}}.Line()
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(line), prev.String())
	read, kind := 0, 0 // kind: what a reader would take that takes what package hex does
	for i := range 2 * len(prev) {
		was := line[at+i]
		for c := range 0x100 {
			line[at+i] = byte(c)
			want := prev
			_, bad := hex.Decode(want[:], line[at:at+2*len(want)])
			lower := c < 'A' || c > 'F'
			got, err := record.ParseLine(string(line))
			if (err == nil) != (bad == nil && lower) || err == nil && got.Prev != want {
				t.Errorf("byte %#x at digit %d: %x, %v", c, i, got.Prev, err)
			}
			if err == nil {
				read++
			}
			if bad == nil && !lower {
				kind++
			}
		}
		line[at+i] = was
	}
	if read != 64*16 || kind != 64*6 {
		t.Errorf("%d hashes were read, not 16 for each digit; a kinder reader would take %d more, not 6 for each", read, kind)
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	for name, e := range map[string]record.Entry{
		"no body":     {},
		"session":     {Session: "a b", Body: record.KeyCreated{}},
		"request":     {Request: "\"", Body: record.KeyCreated{}},
		"long id":     {Request: strings.Repeat("x", record.MaxID+1), Body: record.KeyCreated{}},
		"no choice":   record.Of(record.Decision{Cause: record.CauseHuman}),
		"other cause": record.Of(record.Decision{Cause: "whim", Choice: record.Approve}),
		"number":      record.Of(record.Boot{PID: 1 << 54}),
	} {
		if _, err := record.Encode(e); !errors.Is(err, record.ErrLine) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := record.Of(record.Checkpoint{Note: strings.Repeat("x", record.MaxLine)})
	if _, err := record.Encode(e); !errors.Is(err, record.ErrTooLong) {
		t.Errorf("long: %v", err)
	}
	e = record.Of(record.Checkpoint{Note: strings.Repeat("x", record.MaxLine-400)})
	enc, err := record.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	line := enc.AppendLine(nil, 1<<53, 1<<53, record.Hash{}, record.StampOf(when))
	if len(line) > record.MaxLine || len(line)+1 > enc.Size() {
		t.Errorf("%d bytes, promised %d", len(line), enc.Size())
	}
}

// What is read is what would be written, byte for byte.
func FuzzParseLine(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, b := range bodies {
		line, err := place(r, random(b, r, func() string { return nasty[r.IntN(len(nasty))] })).Line()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(line))
	}
	f.Fuzz(func(t *testing.T, line string) {
		rec, err := record.ParseLine(line)
		if err != nil {
			if !errors.Is(err, record.ErrLine) {
				t.Errorf("%v is not ErrLine", err)
			}
			return
		}
		if again, err := rec.Line(); err != nil || string(again) != line {
			t.Errorf("%q is read as %q (%v)", line, again, err)
		}
		if err := agrees([]byte(line)); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkParseLine(b *testing.B) {
	line := string(typical(b))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.ParseLine(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	rec, err := record.ParseLine(string(typical(b)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.Encode(record.Entry{Session: rec.Session, Request: rec.Request, Body: rec.Body}); err != nil {
			b.Fatal(err)
		}
	}
}

func typical(tb testing.TB) []byte {
	body := record.Intent{
		Attempt: 1, Fence: 3, Key: "01J9ZK3V7M8Q4R5T6W7X8Y9Z0A", Staging: ".iff-01J9ZK3V7M8Q4R5T6W7X8Y9Z0A",
		Plan: []record.Change{{Object: "work/reports/2026-q3.md", Before: corpus.State(strings.Repeat("a", 64)), After: corpus.State(strings.Repeat("b", 64))}},
	}
	line, err := record.Record{Seq: 4711, Batch: 4700, Time: when, Session: "7K2M", Request: "01J9ZK3V7M8Q4R5T6W7X8Y9Z0A", Body: body}.Line()
	if err != nil {
		tb.Fatal(err)
	}
	return line
}

// Skimming accepts the same lines and folds to the same state.
func TestSkimmingIsParsing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var parsed, skimmed record.State
	var s record.Skimmer
	open := 0 // calls, at all steps
	for i := range int64(3000) {
		rec := record.Record{Seq: i, Batch: i, Time: when, Session: "s", Request: fmt.Sprint("r", i%7), Body: random(bodies[r.IntN(len(bodies))], r, func() string { return nasty[r.IntN(len(nasty))] })}
		line, err := rec.Line()
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 { // one byte off
			line[r.IntN(len(line))] ^= 1 << r.IntN(8)
		}
		a, errA := record.ParseLine(string(line))
		b, errB := s.Line(string(line))
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%s: parsed %v, skimmed %v", line, errA, errB)
		}
		if errA != nil {
			continue
		}
		parsed.Apply(a)
		skimmed.Apply(b)
		open += len(parsed.Calls())
		if string(parsed.Canonical()) != string(skimmed.Canonical()) {
			t.Fatalf("%s: %s, skimmed %s", line, parsed.Canonical(), skimmed.Canonical())
		}
	}
	if open == 0 {
		t.Error("no calls: this shows nothing")
	}
}

func BenchmarkSkim(b *testing.B) {
	line := string(typical(b))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var s record.Skimmer
	for b.Loop() {
		if _, err := s.Line(line); err != nil {
			b.Fatal(err)
		}
	}
}
