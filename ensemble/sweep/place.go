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

// room is dir, or memory where there is any.
func room(dir string) string {
	if dir != "" {
		return dir
	}
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return os.TempDir()
}
