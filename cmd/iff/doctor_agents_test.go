package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/connect"
)

// TestDoctorProof: a proof counts while the files that it was made over are as they
// were, and is a failed check from then on.
func TestDoctorProof(t *testing.T) {
	dir := t.TempDir()
	agent, _ := connect.Find("opencode")
	place := connect.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "project"), Etc: filepath.Join(dir, "etc"), Iff: "/usr/bin/iff"}
	if err := os.MkdirAll(filepath.Join(place.Dir, ".opencode"), 0o700); err != nil {
		t.Fatal(err)
	}
	over, err := connect.Look(agent, place, nil)
	if err != nil {
		t.Fatal(err)
	}
	says := func(proof string, over *connect.Over) checkJSON {
		d := &doctor{holds: true}
		d.proof(connect.Record{Agent: agent.Name, Home: place.Home, Dir: place.Dir, Etc: place.Etc, Iff: place.Iff, Proof: proof, Over: over})
		if len(d.checks) != 1 || d.holds == (d.checks[0].Status == "no") {
			t.Errorf("%q: %+v, holds %v", proof, d.checks, d.holds)
		}
		return d.checks[0]
	}
	expect := func(when string, got checkJSON, status, detail string) {
		t.Helper()
		if got.Status != status || !strings.Contains(got.Detail, detail) {
			t.Errorf("%s: %+v, want %s with %q", when, got, status, detail)
		}
	}
	const proved = "proved: opencode offers iff's 13 tools and nothing else"
	expect("as it was", says(proved, over), "ok", proved)
	expect("not over anything", says(proved, nil), "no", "void")
	expect("not run", says("", over), "open", "not proved")
	expect("open", says("open: opencode: it offers bash", over), "no", "it offers bash")
	plant := filepath.Join(place.Dir, ".opencode", "opencode.json\x1b[2J.json")
	if err := os.WriteFile(plant, []byte(`{"x": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := says(proved, over)
	expect("a file has appeared", got, "no", "is new; look at that, then: iff connect opencode "+place.Dir)
	if strings.Contains(got.Detail, "\x1b") {
		t.Errorf("what a file is called reaches the terminal: %q", got.Detail)
	}
}
