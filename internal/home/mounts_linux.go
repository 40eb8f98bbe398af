package home

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/internal/durable"
)

// maxProc bounds what is read of a file of /proc; a machine with 10,000
// containers has 2 MB of mounts.
const maxProc = 64 << 20

// mount is one line of mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	id, device string
	root       string // the directory of the file system that is mounted
	point      string // where
}

// locate asks the kernel on which mount an open directory lies, and turns its
// path there into its path in the file system.
func locate(dir *os.File) (fileSystem, error) {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
	if err != nil {
		return fileSystem{}, err
	}
	info, _, err := durable.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", dir.Fd()), maxProc)
	if err != nil {
		return fileSystem{}, err
	}
	mounts, err := readMounts()
	if err != nil {
		return fileSystem{}, err
	}
	id := ""
	for line := range strings.Lines(string(info)) {
		if value, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			id = strings.TrimSpace(value)
		}
	}
	for _, m := range mounts {
		if rest, ok := below(m.point, path); ok && m.id == id {
			return fileSystem{m.device, strings.TrimSuffix(m.root, "/") + rest}, nil
		}
	}
	return fileSystem{}, fmt.Errorf("/proc/self/mountinfo does not say where %s is mounted", path)
}

// below gives what of path follows dir, beginning with a slash unless it is
// empty.
func below(dir, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return rest, ok && (rest == "" || rest[0] == '/')
}

func readMounts() ([]mount, error) {
	data, _, err := durable.ReadFile("/proc/self/mountinfo", maxProc)
	if err != nil {
		return nil, err
	}
	return parseMounts(data), nil
}

func parseMounts(data []byte) []mount {
	var out []mount
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) >= 5 {
			out = append(out, mount{f[0], f[2], unescapeMount(f[3]), unescapeMount(f[4])})
		}
	}
	return out
}

// unescapeMount reads \ooo, which stands for a blank, a newline and the like.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// mountsBelow lists where something is mounted below a directory.
func mountsBelow(dir string) []string {
	mounts, err := readMounts()
	if err != nil {
		return nil
	}
	var out []string
	for _, m := range mounts {
		if rest, ok := below(dir, m.point); ok && rest != "" {
			out = append(out, m.point)
		}
	}
	return out
}

// lockHolder names a process that has a lock on a file, empty if the kernel does
// not say (proc_locks(5)).
func lockHolder(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	data, _, err := durable.ReadFile("/proc/locks", maxProc)
	if err != nil {
		return ""
	}
	want := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != want {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			return "process " + f[4]
		}
	}
	return ""
}
