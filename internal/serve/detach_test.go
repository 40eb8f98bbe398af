package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What does not start the runtime is said in its own words, and one that answers
// already is left alone.
func TestDetach(t *testing.T) {
	r := run(t, nil)
	if err := Detach(t.Context(), "/no/such/program", nil, r.dir); err != nil {
		t.Errorf("a runtime answers: %v", err)
	}
	script := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\necho 'iff: the home is broken' >&2\necho \"arguments: $* $SECRET\" >&2\nexit 3\n"), 0o700))
	t.Setenv("SECRET", "leaked")
	err := Detach(t.Context(), script, []string{"serve", "--detach"}, filepath.Join(t.TempDir(), "none"))
	if !is(err, StartFailed) || !strings.Contains(err.Error(), "the home is broken / arguments: serve --detach") || strings.Contains(err.Error(), "leaked") {
		t.Errorf("it failed: %v", err)
	}
}
