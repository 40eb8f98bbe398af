package model_test

import (
	"strings"
	"testing"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/model"
	"github.com/iff-run/iff/internal/canonical"
)

func FuzzChat(f *testing.F)     { fuzz(f, model.Chat) }
func FuzzMessages(f *testing.F) { fuzz(f, model.Messages) }

// fuzz has a mind hear what nobody would say: it ends, in one count, and a call has
// the form of calls.
func fuzz(f *testing.F, d model.Dialect) {
	for _, a := range script {
		f.Add(say(d, a))
	}
	f.Add(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"read_file","arguments":{"path":"a"}}}]}}]}`)
	f.Add(`{"choices":[{"message":{"tool_calls":{}}}],"content":[{"type":"tool_use"}],"n":1e999}`)
	f.Add(strings.Repeat(`{"content":[`, 70))
	f.Fuzz(func(t *testing.T, body string) {
		m := mind(t, options(d, "https://api.example.com/v1", still{body}))
		turn := ensemble.Turn{Rounds: 2}
		for range 2 { // what was heard is told again, and has to be written
			c, ok, err := m.Next(t.Context(), turn)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				continue
			}
			if err := canonical.Check(c.Arguments, canonical.Limits{Bytes: 8 << 20}); err != nil || c.Capability != "fs.read" && c.Capability != "fs.write.irrev" {
				t.Errorf("%+v: %v", c, err)
			}
		}
		whole(t, m)
		if y := m.Tally(); y.Turns != 2 {
			t.Errorf("%+v", y)
		}
		if last := m.Notes().Last; len(last) > 300 || strings.ContainsFunc(last, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q", last)
		}
	})
}
