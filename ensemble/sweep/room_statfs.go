//go:build linux || darwin

package sweep

import "golang.org/x/sys/unix"

// room is how many runs can be kept where a directory is; 0 if that cannot be told.
func room(dir string) int64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0
	}
	runs := int64(st.Bavail) * int64(st.Bsize) / bytesOfRun
	if st.Files > 0 { // some systems do not count them
		runs = min(runs, int64(st.Ffree)/filesOfRun)
	}
	return runs
}
