package capability

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/canonical"
	"pgregory.net/rapid"
)

const plainEnvelope = `{"arguments":{"n":1},"capability":"fs.read","reasoning":"why","schema":"iff/call/v1","target":"a/b"}`

func mustEnvelope(t testing.TB, data string) Envelope {
	t.Helper()
	e, err := ParseEnvelope([]byte(data))
	if err != nil {
		t.Fatalf("ParseEnvelope(%.200s): %v", data, err)
	}
	return e
}

func TestEnvelope(t *testing.T) {
	e, err := NewEnvelope(Call{mustTarget(t, FSRead, "a/b"), []byte(` { "n" : 1.0 } `), "why"})
	if err != nil {
		t.Fatal(err)
	}
	if string(e.Bytes()) != plainEnvelope || e.Hash() != sha256.Sum256([]byte(plainEnvelope)) {
		t.Errorf("bytes %s", e.Bytes())
	}
	if e.Target().String() != "a/b" || e.Target().Capability() != FSRead || e.Arguments() != `{"n":1}` || e.Reasoning() != "why" {
		t.Errorf("members %v %v %v", e.Target(), e.Arguments(), e.Reasoning())
	}
	if again := mustEnvelope(t, plainEnvelope); again != e {
		t.Error("reads back as another")
	}
	// The hash is part of the format: it must never change.
	hash := e.Hash()
	if got := hex.EncodeToString(hash[:]); got != envelopeHash {
		t.Errorf("hash %s", got)
	}
}

const envelopeHash = "e213309130cf4443d92a655188732a95af821fb4c76327eccdc8ae573663dbd0"

func TestEnvelopeIsFrozen(t *testing.T) {
	arguments := []byte(`{"a":1}`)
	e, err := NewEnvelope(Call{Target: mustTarget(t, FSRead, "a"), Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	before, hash := string(e.Bytes()), e.Hash()
	arguments[2] = 'b'
	e.Bytes()[0] = 'x'
	if string(e.Bytes()) != before || e.Hash() != hash || e.Arguments() != `{"a":1}` {
		t.Error("an envelope changed")
	}
}

func TestZeroEnvelope(t *testing.T) {
	var e Envelope
	if e.Bytes() != nil || e.Hash() != [32]byte{} || !e.Target().IsZero() || !e.IsZero() {
		t.Error("the zero envelope is a call")
	}
}

func TestNewEnvelopeRefuses(t *testing.T) {
	target := mustTarget(t, FSRead, "a")
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	cases := []struct {
		name   string
		call   Call
		reason Reason
	}{
		{"no target", Call{}, CallInvalid},
		{"array", Call{target, []byte(`[]`), ""}, CallInvalid},
		{"string", Call{target, []byte(`"{}"`), ""}, CallInvalid},
		{"null", Call{target, []byte(`null`), ""}, CallInvalid},
		{"no JSON", Call{target, []byte(`{`), ""}, Reason(canonical.Syntax)},
		{"duplicate key", Call{target, []byte(`{"a":1,"a":2}`), ""}, Reason(canonical.DuplicateKey)},
		{"key in another case", Call{target, []byte(`{"a":1,"A":2}`), ""}, Reason(canonical.CaseKey)},
		{"inexact number", Call{target, []byte(`{"a":9007199254740993}`), ""}, Reason(canonical.NumberInexact)},
		{"deep", Call{target, []byte(deep), ""}, Reason(canonical.TooDeep)},
		{"deep only within the envelope", Call{target, []byte(strings.Repeat(`{"a":`, 32) + "1" + strings.Repeat("}", 32)), ""}, Reason(canonical.TooDeep)},
		{"bad UTF-8 in arguments", Call{target, []byte("{\"a\":\"\xff\"}"), ""}, Reason(canonical.BadUTF8)},
		{"bad UTF-8 in reasoning", Call{target, nil, "\xff"}, Reason(canonical.BadUTF8)},
		{"long reasoning", Call{target, nil, strings.Repeat("a", MaxReasoning+1)}, ReasoningTooLong},
		{"large arguments", Call{target, []byte(`{"a":"` + strings.Repeat("a", MaxEnvelope) + `"}`), ""}, Reason(canonical.TooLarge)},
		{"large altogether", Call{target, []byte(`{"a":"` + strings.Repeat("a", MaxEnvelope-60) + `"}`), ""}, Reason(canonical.TooLarge)},
	}
	for _, c := range cases {
		if e, err := NewEnvelope(c.call); asError(err).Reason != c.reason || !e.IsZero() {
			t.Errorf("%s: %v, want %s", c.name, err, c.reason)
		}
	}
	if _, err := NewEnvelope(Call{target, nil, strings.Repeat("a", MaxReasoning)}); err != nil {
		t.Errorf("the longest reasoning: %v", err)
	}
}

func TestParseEnvelopeRefuses(t *testing.T) {
	edit := func(old, new string) string { return strings.Replace(plainEnvelope, old, new, 1) }
	cases := []struct {
		name, data string
		reason     Reason
		offset     int
	}{
		{"empty", "", Reason(canonical.Syntax), 0},
		{"white space", " " + plainEnvelope, CallNotCanonical, 0},
		{"newline at the end", plainEnvelope + "\n", CallNotCanonical, len(plainEnvelope)},
		{"order of keys", `{"capability":"fs.read","arguments":{"n":1},"reasoning":"why","schema":"iff/call/v1","target":"a/b"}`, CallNotCanonical, 2},
		{"escape", edit(`why`, `wh\u0079`), CallNotCanonical, strings.Index(plainEnvelope, "why") + 2},
		{"number", edit(`1`, `1.0`), CallNotCanonical, 19},
		{"schema", edit("iff/call/v1", "iff/call/v2"), CallInvalid, -1},
		{"capability", edit("fs.read", "fs.reed"), CapabilityUnknown, -1},
		{"no capability", edit("fs.read", ""), CapabilityUnknown, -1},
		{"target", edit("a/b", "a/../b"), TargetInvalid, -1},
		{"target spelling", edit("a/b", "work:a"), TargetNotCanonical, -1},
		{"target pattern", edit("a/b", "a/**"), TargetInvalid, -1},
		{"arguments", edit(`{"n":1}`, `[]`), CallInvalid, -1},
		{"missing", edit(`"reasoning":"why",`, ``), Reason(canonical.MissingField), 0},
		{"unknown", edit(`"schema"`, `"scheme":1,"schema"`), Reason(canonical.UnknownField), strings.Index(plainEnvelope, `"schema"`)},
		{"duplicate", edit(`"schema"`, `"reasoning":"x","schema"`), Reason(canonical.DuplicateKey), strings.Index(plainEnvelope, `"schema"`)},
		{"case", edit(`"target"`, `"Target"`), Reason(canonical.CaseKey), strings.Index(plainEnvelope, `"target"`)},
		{"null", edit(`"why"`, `null`), Reason(canonical.WrongType), strings.Index(plainEnvelope, `"why"`)},
		{"trailing", plainEnvelope + "{}", Reason(canonical.TrailingBytes), len(plainEnvelope)},
		{"large", edit("why", strings.Repeat("a", MaxEnvelope)), Reason(canonical.TooLarge), MaxEnvelope},
		{"reasoning", edit("why", strings.Repeat("a", MaxReasoning+1)), ReasoningTooLong, -1},
	}
	mustEnvelope(t, plainEnvelope)
	for _, c := range cases {
		e, err := ParseEnvelope([]byte(c.data))
		if got := asError(err); got.Reason != c.reason || got.Offset != c.offset || !e.IsZero() {
			t.Errorf("%s: %v (%s at %d), want %s at %d", c.name, err, got.Reason, got.Offset, c.reason, c.offset)
		}
	}
}

func TestEnvelopeErrorsKeepTheirCause(t *testing.T) {
	_, err := ParseEnvelope([]byte(`{"schema":1}`))
	var cause *canonical.Error
	if !errors.As(err, &cause) {
		t.Errorf("%v does not wrap *canonical.Error", err)
	}
	_, err = ParseEnvelope([]byte(strings.Replace(plainEnvelope, "a/b", "a/../b", 1)))
	if e := asError(err); asError(e.Err).Offset != 2 {
		t.Errorf("%v does not say where in the target", err)
	}
}

// One flipped bit is another call or none.
func TestEveryBitOfAnEnvelopeCounts(t *testing.T) {
	e := mustEnvelope(t, plainEnvelope)
	for i := range len(plainEnvelope) * 8 {
		data := []byte(plainEnvelope)
		data[i/8] ^= 1 << (i % 8)
		if other, err := ParseEnvelope(data); err == nil && (other.Hash() == e.Hash() || other == e) {
			t.Errorf("bit %d does not count", i)
		}
	}
}

func TestEnvelopeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call := Call{Target: drawTarget(t), Reasoning: rapid.String().Draw(t, "reasoning")}
		call.Arguments = []byte(rapid.SampledFrom([]string{"", "{}", `{"b":[1,{"a":null}],"a":"é"}`}).Draw(t, "arguments"))
		e, err := NewEnvelope(call)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseEnvelope(e.Bytes())
		if err != nil || again != e {
			t.Fatalf("%s reads back as %s, %v", e.Bytes(), again.Bytes(), err)
		}
		if again.Target() != call.Target || again.Reasoning() != call.Reasoning {
			t.Fatalf("%s is another call", e.Bytes())
		}
	})
}

func BenchmarkNewEnvelope(b *testing.B) {
	call := Call{mustTarget(b, FSWriteRev, "reports/q1.md"), []byte(`{"content":"` + strings.Repeat("text ", 100) + `"}`), "the report is due"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewEnvelope(call); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseEnvelope(b *testing.B) {
	data := []byte(plainEnvelope)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseEnvelope(data); err != nil {
			b.Fatal(err)
		}
	}
}
