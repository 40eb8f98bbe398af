package record_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

const twoChanges = `[{"after":"absent","before":"any","object":"work/a\u202e\\x0a"},{"after":"","before":"unreadable","object":"é\""}]`

// A list is spelled as it is within a line, and comes back as it was.
func TestChanges(t *testing.T) {
	list, err := record.ParseChanges([]byte(twoChanges))
	if err != nil {
		t.Fatal(err)
	}
	if want := (record.Change{Object: "work/a\u202e\\x0a", Before: corpus.Any, After: corpus.Absent}); len(list) != 2 || list[0] != want {
		t.Errorf("it is read as %v", list)
	}
	line, err := record.Record{Body: record.Staged{Plan: list}}.Line()
	if err != nil || !bytes.Contains(line, []byte(`"plan":`+twoChanges+`}`)) {
		t.Errorf("a line has it as %s (%v)", line, err)
	}
	if got := string(record.FormatChanges(nil)); got != "[]" {
		t.Errorf("no changes are %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Change {
			return record.Change{Object: corpus.Object(rapid.String().Draw(t, "object")), Before: corpus.State(rapid.String().Draw(t, "before")), After: corpus.Absent}
		}), 0, 5).Draw(t, "list")
		data := record.FormatChanges(list)
		back, err := record.ParseChanges(data)
		if err != nil || len(back) != len(list) {
			t.Fatalf("%s: %v, %v", data, back, err)
		}
		for i := range list {
			if back[i] != list[i] {
				t.Errorf("%v came back as %v", list[i], back[i])
			}
		}
	})
}

func TestChangesAreReadStrictly(t *testing.T) {
	one := `{"after":"absent","before":"any","object":"work/a"}`
	for name, bad := range map[string]string{
		"empty":          "",
		"an object":      one,
		"unended":        "[" + one,
		"a comma":        "[" + one + ",]",
		"no comma":       "[" + one + one + "]",
		"a space":        "[" + one + ", " + one + "]",
		"a newline":      "[" + one + "]\n",
		"null":           "null",
		"a null":         "[null]",
		"another order":  `[{"before":"any","after":"absent","object":"work/a"}]`,
		"a field more":   `[{"after":"absent","before":"any","object":"work/a","x":1}]`,
		"a field less":   `[{"after":"absent","before":"any"}]`,
		"escape":         strings.Replace("["+one+"]", "work", `\u0077ork`, 1),
		"raw":            strings.Replace("["+one+"]", "work", "\u202e", 1),
		"not UTF-8":      strings.Replace("["+one+"]", "work", "\xff", 1),
		"a number":       `[{"after":"absent","before":1,"object":"work/a"}]`,
		"a second list":  "[" + one + "][]",
		"a list in list": "[[" + one + "]]",
	} {
		if list, err := record.ParseChanges([]byte(bad)); !errors.Is(err, record.ErrLine) || list != nil {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

func TestChangesAreBounded(t *testing.T) {
	most := make([]record.Change, record.MaxChanges)
	list, err := record.ParseChanges(record.FormatChanges(most))
	if err != nil || len(list) != record.MaxChanges {
		t.Errorf("%d changes: %v", len(list), err)
	}
	if _, err := record.ParseChanges(record.FormatChanges(append(most, record.Change{}))); !errors.Is(err, record.ErrLine) {
		t.Errorf("one more: %v", err)
	}
}

// What fits makes a line even beside the longest payload and some words; what is
// one byte longer does not fit.
func TestPlanFits(t *testing.T) {
	list := []record.Change{{Object: "", Before: corpus.Absent, After: corpus.Any}}
	room := record.MaxInlineChanges - len(record.FormatChanges(list))
	list[0].Object = corpus.Object(strings.Repeat("x", room))
	if !record.PlanFits(list) || !record.PlanFits(nil) {
		t.Error("the longest, or none, does not fit")
	}
	text := strings.Repeat("\x00", record.MaxInline)
	body := record.Executed{Outcome: record.Outcome{Readings: list, Result: record.Payload{Text: text}, Detail: strings.Repeat("x", 4<<10)}}
	if _, err := record.Encode(record.Of(body)); err != nil {
		t.Error(err)
	}
	list[0].Object += "x"
	if record.PlanFits(list) || record.PlanFits(make([]record.Change, record.MaxChanges)) {
		t.Error("what is too long fits")
	}
}

// What is read is what would be written, byte for byte.
func FuzzParseChanges(f *testing.F) {
	for _, seed := range []string{"[]", twoChanges, "[{}]", "null", `[{"after":"\ud83d\ude00","before":"","object":""}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := record.ParseChanges(data)
		if err != nil {
			if !errors.Is(err, record.ErrLine) {
				t.Errorf("%v is not ErrLine", err)
			}
			return
		}
		if again := record.FormatChanges(list); !bytes.Equal(again, data) {
			t.Errorf("%q is read as %q", data, again)
		}
	})
}
