//go:build unix

package serve

import (
	"errors"
	"os"
	"syscall"
)

// ours says whether a file belongs to the user of this process.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// nobody says whether an error of dialling means that a socket is dead.
func nobody(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// passes says whether an error of accepting is about one connection, or about files that others will close.
func passes(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
