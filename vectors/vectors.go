// Package vectors holds the test vectors of the formats: canonical JSON,
// labels, grants, manifests, content roots, signatures, trust chains, logs, verdicts
// and policies. One file is one input with what has to come of it, ok, an answer or a closed reason token.
//
// README.md specifies the files for implementers in any language. The
// generator is in gen; vectors_test.go runs every file through this module and
// check.mjs through an independent implementation.
package vectors

import (
	"embed"
	"io/fs"
)

//go:embed canonical content grants labels logs manifests policy signatures trust verdicts
var files embed.FS

// Files returns the vectors, one directory for each family and in it one file,
// NAME.txt, for each vector.
func Files() fs.FS { return files }
