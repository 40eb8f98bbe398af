package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

func TestMeter(t *testing.T) {
	var out bytes.Buffer
	c := &clock{now: trusttest.Now}
	a := &app{err: &out, now: c.Now, tty: true, screen: true}
	m := a.meter("verifying", 4_000_000_000)
	m.at(100)
	if out.Len() > 0 {
		t.Errorf("within the first second it prints %q", out.String())
	}
	c.pass(2 * time.Second)
	m.at(1_000_000_000)
	want := "\r\x1b[Kverifying  [######..................]  1.0 GB of 4.0 GB  500 MB/s  6 s left"
	if out.String() != want {
		t.Errorf("it prints %q\nnot %q", out.String(), want)
	}
	c.pass(100 * time.Millisecond)
	m.at(2_000_000_000)
	if out.String() != want {
		t.Errorf("it prints again after 100 ms: %q", out.String())
	}
	m.done()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("the line stays: %q", out.String())
	}
	out.Reset()
	for _, quiet := range []*app{
		{err: &out, now: c.Now, tty: true, screen: false}, {err: &out, now: c.Now, tty: false, screen: true}, {err: &out, now: c.Now, tty: true, screen: true, json: true},
	} {
		m := quiet.meter("x", 10)
		c.pass(time.Minute)
		m.at(5)
		m.done()
	}
	if out.Len() > 0 {
		t.Errorf("where nobody watches it prints %q", out.String())
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(1000): "1,000", count(-1234567): "-1,234,567",
		size(0): "0 bytes", size(1): "1 byte", size(999): "999 bytes", size(1000): "1.0 kB", size(9_949_999): "9.9 MB", size(64_000_000): "64 MB", size(999_900_000): "1.0 GB",
		lasted(0): "0 ns", lasted(1500 * time.Microsecond): "1.5 ms", lasted(90 * time.Second): "1.5 min", lasted(36 * time.Hour): "36 h",
		wait(0): "1 s", wait(61 * time.Second): "1 min 1 s", wait(2 * time.Hour): "2 h 0 min",
		rate(100, 10): "10 a second", rate(10, 600): "1 a minute", rate(1, 86400): "1.0 a day", rate(3, 0): "3 a second",
		span(3, 3): "record 3", span(3, 1004): "records 3 to 1,004",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestCells(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a=b": "a=b", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "'x": "''x", "＝1": "'＝1", "\t=1": "'\t=1",
	} {
		if got := cell(in); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
}

func TestWhen(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"2027-01-31": "2027-01-31T00:00:00Z", "2027-01-31T14:02:11Z": "2027-01-31T14:02:11Z", "2027-01-31T14:02:11+02:00": "2027-01-31T12:02:11Z",
		"2027-01-31 14:02": "2027-01-31T14:02:00Z", "90m": "2026-11-20T10:30:00Z", "7d": "2026-11-13T12:00:00Z", "0d": "2026-11-20T12:00:00Z", "": "0001-01-01T00:00:00Z",
	} {
		got, err := parseWhen("--since", in, now)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q is %v, %v; not %s", in, got, err, want)
		}
	}
	for _, bad := range []string{"soon", "-3h", "d", "-1d", "99999999d", "2027-13-01", "12", "0s"} {
		if got, err := parseWhen("--since", bad, now); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

// bodies is one body of each kind, empty.
var bodies = []record.Body{
	record.Init{}, record.KeyCreated{}, record.KeyRotated{}, record.TrustChanged{}, record.SkillAdopted{}, record.SkillSigned{}, record.SkillLoaded{},
	record.SkillRefused{}, record.SkillEvicted{}, record.Revocation{}, record.Request{}, record.ReversibleRequest{}, record.Decision{}, record.LateDecision{},
	record.Intent{}, record.Executed{}, record.Error{}, record.Staged{}, record.CommitIntent{}, record.Committed{}, record.RollbackIntent{}, record.RolledBack{},
	record.Resolved{}, record.Mutation{}, record.Boot{}, record.Lock{}, record.Session{}, record.Barrier{}, record.Verdict{}, record.Recovery{}, record.Checkpoint{}, record.Tool{}, record.Hook{}, record.Refused{},
}

// filled puts a text into every string of a value, two of each list. Closed
// tokens, which a line with another word is refused for, stay empty.
func filled(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(text)
		}
	case reflect.Int64:
		v.SetInt(7)
	case reflect.Struct:
		if _, isTime := v.Interface().(time.Time); isTime {
			v.Set(reflect.ValueOf(trusttest.Now))
			return
		}
		for i := range v.NumField() {
			filled(v.Field(i), text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			filled(v.Index(i), text)
		}
	}
}

func filledBody(b record.Body, text string) record.Body {
	v := reflect.New(reflect.TypeOf(b)).Elem()
	filled(v, text)
	return v.Interface().(record.Body)
}

var raw = regexp.MustCompile("[\x00-\x1f\x7f\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

// TestNothingRaw has every kind say whatever a string can hold: what people
// see is one line, in which nothing acts on a terminal.
func TestNothingRaw(t *testing.T) {
	var kinds []record.Kind
	for _, b := range bodies {
		kinds = append(kinds, b.Kind())
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, record.Kinds()) {
		t.Fatalf("the kinds here are %v", kinds)
	}
	store, err := new(audittest.Memory).Open()
	if err != nil {
		t.Fatal(err)
	}
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		for _, b := range bodies {
			b = filledBody(b, text)
			seen := append(callCells(b), summary(b), essence(b))
			var out bytes.Buffer
			a := &app{ctx: context.Background(), out: &out}
			tr := tracer{app: a, store: store, room: 100, id: "x"}
			tr.step(audit.Stored{Record: record.Record{Body: b}}, "")
			for line := range strings.Lines(out.String()) {
				seen = append(seen, strings.TrimSuffix(line, "\n"))
			}
			for _, s := range seen {
				if raw.MatchString(s) || !utf8.ValidString(s) {
					t.Errorf("%s of %q: %q", b.Kind(), text, s)
				}
			}
		}
	}
	for _, text := range []string{"", nasty, strings.ToValidUTF8(nasty, "?"), "a\r\nb", "\u2028", "\xff", strings.Repeat("\x1b", 300)} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.String().Draw(t, "text")) })
	if !raw.MatchString("a\x1b[2J") || raw.MatchString("a b") {
		t.Error("the check does not see what it looks for")
	}
}

// TestSaid: what is quoted cannot end its quotes, and nothing else has blanks.
func TestSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := said(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a "\\u{}\n]*`)).Draw(t, "text"))
		inner, quoted := strings.CutPrefix(s, `"`)
		if quoted {
			inner, quoted = strings.CutSuffix(inner, `"`)
		}
		if strings.Contains(inner, `"`) || !quoted && (s == "" || strings.ContainsAny(s, " \u3000")) {
			t.Errorf("%q", s)
		}
	})
	if said("a") == said(`"a"`) || said("a b") == said("\"a b\"") || said("") != `""` {
		t.Error("two texts are said in one way")
	}
}

func stored(seq int64, b record.Body) audit.Stored {
	return audit.Stored{Record: record.Record{Seq: seq, Time: trusttest.Now, Session: "7K2M4Q", Request: callID(int(seq)), Body: b}}
}

// TestRows: on a terminal no row is wider than it; a narrow one has the ends of
// ids; any number of rows comes through.
func TestRows(t *testing.T) {
	for _, width := range []int{0, 60, 100, 200} {
		var out bytes.Buffer
		table := &rows{out: bufio.NewWriter(&out), width: width, paint: func(_, s string) string { return s }, all: true}
		for i := range int64(heldRows + 50) {
			b := filledBody(bodies[int(i)%len(bodies)], "漢字 e\u0301 "+strings.Repeat("wide ", 30))
			if err := table.add(stored(i, b)); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.flush(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != heldRows+51 {
			t.Errorf("width %d: %d lines", width, len(lines))
		}
		for _, l := range lines {
			if n := columns(l); width > 90 && n > width {
				t.Errorf("width %d: %d columns: %s", width, n, l)
			}
		}
		if whole := strings.Contains(out.String(), callID(3)); whole != (width == 0 || width == 200) {
			t.Errorf("width %d: the id stands whole: %v", width, whole)
		}
		if width > 0 && !strings.Contains(out.String(), "00000003") {
			t.Errorf("width %d: the end of the id is not there", width)
		}
	}
}

func TestWrapped(t *testing.T) {
	tr := tracer{whole: "; all of it elsewhere"}
	for _, text := range []string{"", "short", strings.Repeat("word ", 50), strings.Repeat(`\u{202e}`, 50), strings.Repeat("漢", 90), strings.Repeat("x", 500)} {
		got := tr.wrapped(text, 40, 100)
		if strings.Join(got, "") != text {
			t.Errorf("%q becomes %q", text, got)
		}
		for _, l := range got {
			if columns(l) > 40 || strings.Count(l, `\u{`) != strings.Count(l, "}") {
				t.Errorf("a line is %q", l)
			}
		}
	}
	if got := tr.wrapped(strings.Repeat("x", 500), 40, 2); len(got) != 3 || got[2] != "... 420 bytes more; all of it elsewhere" {
		t.Errorf("%q", got)
	}
}

func TestSkillFilter(t *testing.T) {
	tool := record.Skill{Name: "tool", Subject: strings.Repeat("a", 64)}
	f, err := filterFlags{Skill: "tool", From: 2}.compile(trusttest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if f.start() != 0 {
		t.Error("the versions of a skill are not looked for from the beginning")
	}
	for i, step := range []struct {
		id   string
		body record.Body
		want bool
	}{
		{"", record.SkillAdopted{Skill: tool}, false}, // before From
		{"", record.SkillAdopted{Skill: record.Skill{Name: "other", Subject: "b"}}, false},
		{"", record.SkillLoaded{Skill: tool}, true},
		{"", record.Lock{Skills: []string{"c", tool.Subject}}, true},
		{"", record.Lock{Skills: []string{"c"}}, false},
		{"", record.Session{Skill: tool.Subject}, true},
		{"1", record.Request{Skill: tool.Subject}, true},
		{"2", record.Request{Skill: "b"}, false},
		{"1", record.Decision{}, true},
		{"2", record.Decision{}, false},
		{"1", record.Executed{}, true},
		{"1", record.LateDecision{}, true},
		{"3", record.ReversibleRequest{Request: record.Request{Skill: tool.Subject}}, true},
		{"3", record.Committed{}, true},
		{"", record.Mutation{Skill: "tool"}, true},
		{"", record.Revocation{Evicted: []string{"tool"}}, true},
		{"", record.SkillEvicted{Skill: tool}, true},
		{"", record.SkillRefused{}, false},
		{"", record.Checkpoint{}, false},
	} {
		if got := f.match(audit.Stored{Record: record.Record{Seq: int64(i), Request: step.id, Body: step.body}}); got != step.want {
			t.Errorf("record %d, %s: %v", i, step.body.Kind(), got)
		}
	}
}

// catching is a store whose end is caught half written a number of times.
type catching struct {
	audit.Store
	times *int
	tear  func([]byte) []byte
}

func (c catching) Blocks(ctx context.Context, from audit.Position) iter.Seq2[audit.Block, error] {
	return func(yield func(audit.Block, error) bool) {
		torn := *c.times > 0
		*c.times--
		for b, err := range c.Store.Blocks(ctx, from) {
			if torn {
				b.Data = c.tear(b.Data)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// TestCaughtWriting: a batch that is being written is not damage; one that
// stays so is.
func TestCaughtWriting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	store, err := file.Create(durable.OS(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := audit.Create(t.Context(), store, record.Init{Origin: "iff/log/x"}, trusttest.NewKey(1), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := l.Append(t.Context(), record.Of(record.KeyCreated{Name: "x"})); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// A checkpoint is remembered only once it is written whole.
	if err := os.Remove(filepath.Join(dir, "snapshot")); err != nil {
		t.Fatal(err)
	}
	half := func(data []byte) []byte { return data[:len(data)-100] }
	hole := func(data []byte) []byte {
		data = bytes.Clone(data)
		begin := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
		copy(data[begin:], "\n\n\n\n")
		return data
	}
	for name, c := range map[string]struct {
		times int
		tear  func([]byte) []byte
		holds bool
	}{"whole": {0, half, true}, "caught": {1, half, true}, "caught for a while": {4, half, true}, "a hole": {2, hole, true}, "for good": {1000, half, false}} {
		reader, err := file.OpenRead(durable.OS(), dir)
		if err != nil {
			t.Fatal(err)
		}
		v := &verification{dir: dir, store: catching{reader, &c.times, c.tear}}
		report, err := v.verify(&app{ctx: t.Context(), now: time.Now})
		if err != nil || report.Holds() != c.holds {
			t.Errorf("%s: %v, %+v", name, err, report.Problem)
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriteFile: a failure leaves what was there.
func TestWriteFile(t *testing.T) {
	a, name := new(app), filepath.Join(t.TempDir(), "out")
	fill := func(text string, err error) func(w io.Writer) error {
		return func(w io.Writer) error { fmt.Fprint(w, text); return err }
	}
	failed := errors.New("the disk is gone")
	if _, err := a.writeFile(name, false, fill("half", failed)); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("half a file is there")
	}
	if n, err := a.writeFile(name, false, fill("first", nil)); err != nil || n != 5 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := a.writeFile(name, false, fill("second", nil)); err == nil {
		t.Error("a file is written over")
	}
	if _, err := a.writeFile(name, true, fill("second", failed)); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(name); string(data) != "first" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := a.writeFile(name, true, fill("second", nil)); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(name); string(data) != "second" {
		t.Errorf("%q, %v", data, err)
	}
	left, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
