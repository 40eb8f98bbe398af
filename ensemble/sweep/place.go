package sweep

import (
	"os"

	"github.com/iff-run/iff/internal/scratch"
)

// place is the kind of directory in which a sweep makes corpora.
func place() scratch.Kind {
	return scratch.Kind{
		Prefix: "iff-sweep-", Marker: "made-by-iff-sweep",
		Text: "All that is here is removed when the sweep ends, or when the next one begins.\n",
	}
}

// makeIn makes the directory below dir; if that is empty in memory, or where
// temporary files are if there is none that can be written to.
func makeIn(dir string) (*scratch.Dir, error) {
	if dir != "" {
		return place().Make(dir)
	}
	return inFirst("/dev/shm", os.TempDir())
}

// inFirst makes it in the first place where one can be made.
func inFirst(places ...string) (at *scratch.Dir, err error) {
	for _, dir := range places {
		if at, err = place().Make(dir); err == nil {
			return at, nil
		}
	}
	return nil, err
}
