package iff

import (
	"testing"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/label"
)

// A server that works in a corpus speaks with at least the corpus's label.
func TestServersDominateTheirCorpora(t *testing.T) {
	scheme, _ := label.Builtin("default")
	low, high := scheme.Bottom(), scheme.Top()
	for name, c := range map[string]struct {
		dir     string
		command []string
		label   label.Label
		ok      bool
	}{
		"elsewhere":         {"/srv", []string{"server"}, low, true},
		"in it":             {"/notes/a", []string{"server"}, low, false},
		"above it":          {"/", []string{"server"}, low, false},
		"told in a word":    {"", []string{"server", "/notes"}, low, false},
		"beside it":         {"/notes2", []string{"server", "notes"}, low, true},
		"in it, high":       {"/notes", []string{"server"}, high, true},
		"in it, not absent": {"/notes", []string{"server"}, label.Label{}, false},
	} {
		config := home.Config{
			Corpora:   []home.CorpusConfig{{Name: "work", Root: "/notes", Label: high}},
			Upstreams: []home.UpstreamConfig{{Name: "s", Dir: c.dir, Command: c.command, Label: c.label}},
		}
		if err := dominated(config); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
