package e2e

import (
	"testing"

	"github.com/iff-run/iff/internal/canonical"
)

// document is a JSON value of which a test wants some members.
type document struct {
	t   *testing.T
	raw canonical.Raw
}

// parse reads JSON; what is none ends the test.
func parse(t *testing.T, text string) document {
	t.Helper()
	raw, err := canonical.NewRaw([]byte(text), canonical.Limits{Bytes: 64 << 20, Depth: 200})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return document{t, raw}
}

func into[T any](d document) T {
	d.t.Helper()
	var out T
	if err := canonical.Parse([]byte(d.raw.String()), &out, canonical.Limits{Bytes: 64 << 20, Depth: 200}); err != nil {
		d.t.Fatalf("%v\n%s", err, d.raw.String())
	}
	return out
}

// at is the member behind names, one in the other; an absent one is the string "".
func (d document) at(names ...string) document {
	d.t.Helper()
	for _, name := range names {
		raw, ok := into[map[string]canonical.Raw](d)[name]
		if !ok {
			return parse(d.t, `""`)
		}
		d = document{d.t, raw}
	}
	return d
}

func (d document) list() []document {
	d.t.Helper()
	var out []document
	for _, raw := range into[[]canonical.Raw](d) {
		out = append(out, document{d.t, raw})
	}
	return out
}

func (d document) text() string { return into[string](d) }

// texts is a member of each element of a list.
func (d document) texts(name string) []string {
	d.t.Helper()
	var out []string
	for _, e := range d.list() {
		out = append(out, e.at(name).text())
	}
	return out
}
