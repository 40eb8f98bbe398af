package record_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/record"
)

var when = time.Date(2026, 11, 20, 12, 0, 0, 123, time.UTC)

var some = record.Skill{Name: "pdf", Version: 3, Signer: "ops", Level: "declared", Content: "c0", Subject: "50"}

// all has one body of every kind.
func all() []record.Body {
	return []record.Body{
		record.Init{Operator: "me", Profile: "dev", Scheme: "default", Root: "SHA256:x", TrustDigest: "d1"},
		record.KeyCreated{Name: "me", Fingerprint: "SHA256:y", Protected: true},
		record.TrustChanged{Version: 2, Digest: "d2", Added: []string{"ops"}, Revoked: []string{}},
		record.SkillAdopted{Directory: "/s/pdf", Skill: some},
		record.SkillSigned{Directory: "/s/pdf", Skill: some},
		record.SkillLoaded{Directory: "/s/pdf", Skill: some},
		record.SkillRefused{Directory: "/s/pdf", Step: 3, Reason: "content-changed", Where: "a\u202eb\n"},
	}
}

func TestEveryKindRoundTrips(t *testing.T) {
	for _, b := range all() {
		line, err := record.Record{Time: when, Body: b}.Line()
		if err != nil {
			t.Fatalf("%s: %v", b.Kind(), err)
		}
		if strings.ContainsAny(string(line), "\n\r") {
			t.Errorf("%s: more than a line: %q", b.Kind(), line)
		}
		back, err := record.ParseLine(line)
		if err != nil {
			t.Fatalf("%s: %v", b.Kind(), err)
		}
		again, err := back.Line()
		if err != nil || string(again) != string(line) {
			t.Errorf("%s: %s became %s (%v)", b.Kind(), line, again, err)
		}
	}
}

func TestLinesAreReadStrictly(t *testing.T) {
	line, err := record.Record{Time: when, Body: record.KeyCreated{Name: "me"}}.Line()
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"unknown kind":       strings.Replace(string(line), "key.created", "key.eaten", 1),
		"unknown field":      strings.Replace(string(line), `"name"`, `"x":1,"name"`, 1),
		"field missing":      strings.Replace(string(line), `"name":"me",`, "", 1),
		"another kind":       strings.Replace(string(line), "key.created", "init", 1),
		"bad time":           strings.Replace(string(line), "2026", "26", 1),
		"trailing bytes":     string(line) + "x",
		"duplicate":          strings.Replace(string(line), `"kind"`, `"kind":"init","kind"`, 1),
		"nothing":            "",
		"longer than a line": `{"body":"` + strings.Repeat("x", record.MaxLine) + `"}`,
	} {
		if bad == string(line) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if r, err := record.ParseLine([]byte(bad)); err == nil {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
	if _, err := (record.Record{}).Line(); err == nil {
		t.Error("a record without a body has a line")
	}
	if _, err := (record.Record{Body: record.SkillAdopted{Directory: strings.Repeat("x", record.MaxLine)}}).Line(); err == nil {
		t.Error("a record longer than a line has a line")
	}
	if _, err := (record.Record{Body: record.SkillAdopted{Directory: "a\xff"}}).Line(); err == nil {
		t.Error("bytes that are not UTF-8 reach a line")
	}
}

func TestObservedNeverFalls(t *testing.T) {
	var s record.State
	see := func(version int64, subject string) {
		k := some
		k.Version, k.Subject = version, subject
		s.Apply(record.Record{Body: record.SkillLoaded{Skill: k}})
	}
	id := record.Identity{Name: "pdf", Signer: "ops"}
	if _, ok := s.Observed(id); ok {
		t.Error("the empty state has seen something")
	}
	see(3, "a")
	see(2, "b")
	see(3, "c")
	if got, _ := s.Observed(id); got != (record.Observed{Version: 3, Subject: "a"}) {
		t.Errorf("observed %+v", got)
	}
	if _, ok := s.Observed(record.Identity{Name: "pdf", Signer: "eve"}); ok {
		t.Error("another signer's version counts")
	}
}

func TestTrustNeverFalls(t *testing.T) {
	var s record.State
	for _, b := range []record.Body{
		record.Init{Root: "r", TrustDigest: "d1"}, record.TrustChanged{Version: 3, Digest: "d3"}, record.TrustChanged{Version: 2, Digest: "d2"},
	} {
		s.Apply(record.Record{Body: b})
	}
	if v, d := s.Trust(); v != 3 || d != "d3" || s.Root() != "r" {
		t.Errorf("trust %d %s, root %s", v, d, s.Root())
	}
}

func FuzzParseLine(f *testing.F) {
	for _, b := range all() {
		line, err := record.Record{Time: when, Body: b}.Line()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := record.ParseLine(data)
		if err != nil {
			return
		}
		line, err := r.Line()
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %v", data, err)
		}
		if back, err := record.ParseLine(line); err != nil || back.Body.Kind() != r.Body.Kind() || !back.Time.Equal(r.Time) {
			t.Fatalf("%q became %q (%v)", data, line, err)
		}
		var s record.State
		s.Apply(r)
	})
}

func Example() {
	r := record.Record{Time: when, Body: record.SkillRefused{Directory: "/s/pdf", Step: 3, Reason: "content-changed", Where: "run.sh"}}
	line, err := r.Line()
	fmt.Println(string(line), err)
	// Output:
	// {"body":{"directory":"/s/pdf","reason":"content-changed","step":3,"where":"run.sh"},"kind":"skill.refused","time":"2026-11-20T12:00:00.000000123Z"} <nil>
}
