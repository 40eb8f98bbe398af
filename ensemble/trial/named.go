package trial

import (
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// named is a call with its paths in a corpus. Minds know one corpus and name paths
// in it without saying so; without a prefix a path means the corpus called work
// (package capability). A path with a prefix, and arguments that cannot be read, stay
// as they are: what becomes of them is the gate's business.
func named(corpus string, c gate.Call) gate.Call {
	if corpus == capability.DefaultCorpus || !strings.HasPrefix(c.Capability, "fs.") {
		return c
	}
	c.Target = prefixed(corpus, c.Target)
	var args map[string]canonical.Raw
	var to string
	if readInto(c.Arguments, &args) != nil || readInto([]byte(args["to"].String()), &to) != nil {
		return c
	}
	quoted, err := canonical.Marshal(prefixed(corpus, to))
	if err != nil {
		return c
	}
	if args["to"], err = canonical.NewRaw(quoted, canonical.Limits{Bytes: len(quoted) + 1}); err != nil {
		return c
	}
	if form, err := canonical.Marshal(args); err == nil {
		c.Arguments = form
	}
	return c
}

func readInto[T any](data []byte, to *T) error {
	return canonical.Parse(data, to, canonical.Limits{Bytes: len(data) + 1})
}

// prefixed names a path in a corpus, unless it names one itself.
func prefixed(corpus, path string) string {
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ":") {
		return path
	}
	return corpus + ":" + path
}
