package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/hook"
)

// Whatever goes wrong, the exit code is the one that blocks: with any other the
// agent runs the tool.
func TestHookExits(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("testdata", "script", "hook.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	_, good, _ := strings.Cut(string(script), "-- claude-ours.json --\n")
	good, _, _ = strings.Cut(good, "\n")
	open, never := io.Pipe()
	defer never.Close()
	for what, c := range map[string]struct {
		in   io.Reader
		args []string
		code int
	}{
		"allowed":        {strings.NewReader(good), nil, exitHolds},
		"allowed, named": {strings.NewReader(good), []string{"--agent", "claude-code"}, exitHolds},
		"denied":         {strings.NewReader(strings.Replace(good, "mcp__iff__", "mcp__other__", 1)), nil, hookDenies},
		"empty":          {strings.NewReader(""), nil, hookDenies},
		"too long":       {io.MultiReader(strings.NewReader(good), bytes.NewReader(make([]byte, hook.MaxInput))), nil, hookDenies},
		"never":          {open, nil, hookDenies},
		"unknown flag":   {strings.NewReader(good), []string{"--nonsense"}, hookDenies},
		"unknown agent":  {strings.NewReader(good), []string{"--agent", "somebody"}, hookDenies},
		"an argument":    {strings.NewReader(good), []string{"x"}, hookDenies},
		"json":           {strings.NewReader("{}"), []string{"--json"}, hookDenies},
	} {
		var out, said strings.Builder
		args := append([]string{"hook", "--home", t.TempDir()}, c.args...)
		if code := run(t.Context(), args, c.in, &out, &said); code != c.code || out.String() != "" || (said.String() == "") != (c.code == exitHolds) {
			t.Errorf("%s: exit %d, %q, %q", what, code, out.String(), said.String())
		}
	}
}
