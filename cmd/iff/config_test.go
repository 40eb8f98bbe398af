package main

import (
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/internal/home"
)

// TestDocsSchema holds the JSON schema that editors use against the settings that
// the program reads.
func TestDocsSchema(t *testing.T) {
	text, err := home.Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join(moduleRoot, "docs", "iff.schema.json"), string(text), "rewrite it: go test ./cmd/iff -run TestDocs -update")
}
