//go:build linux || darwin

package sweep

import "golang.org/x/sys/unix"

// room is how many bytes can be written where a directory is; 0 if that cannot be
// told.
func room(dir string) int64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
