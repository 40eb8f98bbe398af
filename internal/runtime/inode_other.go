//go:build !linux && !darwin

package runtime

import "os"

// inode tells no file from another here: paths alone are guarded. No host does
// file calls on such a system.
type inode struct{ path string }

// look looks at a path.
func look(path string) sight {
	info, err := os.Lstat(path)
	if err != nil {
		return sight{}
	}
	return sight{inode{path}, info.IsDir(), info.Mode()&os.ModeSymlink != 0, true}
}
