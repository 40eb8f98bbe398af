// Command gen writes the test vectors: go run ./vectors/gen -o vectors. The
// same source always writes the same bytes. What is expected stands in the
// tables here and is not asked of the implementation; canonical forms of
// manifests, hashes and signatures are computed, and vectors/check.mjs
// computes them again.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("o", "vectors", "the `directory` to write into")
	flag.Parse()
	if err := writeAll(*out, all()); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// all returns every vector, family by family.
func all() []vector {
	var out []vector
	for _, f := range []struct {
		name    string
		vectors []vector
	}{
		{"canonical", canonicalVectors()},
		{"labels", labelVectors()},
		{"grants", grantVectors()},
		{"manifests", manifestVectors()},
		{"content", contentVectors()},
		{"signatures", signatureVectors()},
		{"trust", trustVectors()},
		{"logs", logVectors()},
		{"verdicts", verdictVectors()},
		{"policy", policyVectors()},
	} {
		for _, v := range f.vectors {
			v.family = f.name
			out = append(out, v)
		}
	}
	return out
}

// writeAll replaces the families in dir, so that a vector that is no longer
// made does not stay behind.
func writeAll(dir string, vectors []vector) error {
	gone := map[string]bool{}
	for _, v := range vectors {
		family := filepath.Join(dir, v.family)
		if !gone[family] {
			if err := clear(family); err != nil {
				return err
			}
			gone[family] = true
		}
		path := filepath.Join(family, v.name+".txt")
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s is made twice; rename one", path)
		}
		if err := os.WriteFile(path, v.format(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// clear makes the directory and removes the vectors in it.
func clear(family string) error {
	old, err := filepath.Glob(filepath.Join(family, "*.txt"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return os.MkdirAll(family, 0o755)
}

// must unwraps what cannot fail for the inputs in the tables.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("bug in a table: %v", err))
	}
	return v
}
