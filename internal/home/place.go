package home

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/iff-run/iff/internal/visible"
)

// place is a directory and where it lies, however its path is spelled: by the
// inodes of the directories above it, and by its path in its file system, which
// a bind mount shows under other directories.
type place struct {
	what  string // for people
	path  string // without links
	dir   *os.File
	above []fs.FileInfo // of the directory itself, then of each one above it
	in    fileSystem
	root  bool // everything below counts too; else only what is above
}

// fileSystem says where a directory lies in its file system. The zero value
// knows nothing.
type fileSystem struct {
	device string // as the kernel names it
	path   string
}

// openPlace opens a directory and looks at every directory above it. Close it.
func openPlace(what, path string) (*place, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	// Not to wait for the other end of a FIFO.
	dir, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	p := &place{what: what, path: real, dir: dir, root: true}
	if err := p.look(); err != nil {
		_ = dir.Close()
		return nil, err
	}
	return p, nil
}

func (p *place) look() error {
	opened, err := p.dir.Stat()
	if err != nil {
		return err
	}
	if !opened.IsDir() {
		return &fs.PathError{Op: "open", Path: p.path, Err: syscall.ENOTDIR}
	}
	for at := p.path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		p.above = append(p.above, info)
		if at == filepath.Dir(at) {
			break
		}
	}
	if !os.SameFile(opened, p.above[0]) {
		return fmt.Errorf("%s was replaced while it was looked at", p.path)
	}
	p.in, err = locate(p.dir)
	return err
}

func (p *place) Close() error { return p.dir.Close() }

// within says whether p is q or lies below it.
func (p *place) within(q *place) bool {
	for _, dir := range p.above {
		if os.SameFile(dir, q.above[0]) {
			return true
		}
	}
	return p.in.within(q.in)
}

func (a fileSystem) within(b fileSystem) bool {
	return a.device != "" && a.device == b.device && (a.path == b.path || strings.HasPrefix(a.path, strings.TrimSuffix(b.path, "/")+"/"))
}

func (p *place) String() string { return p.what + " (" + visible.Escape(p.path) + ")" }

// overlap says how a corpus and another place share directories; empty if they
// do not.
func overlap(c, other *place) string {
	switch {
	case other.within(c):
		return fmt.Sprintf("%s lies in %s", other, c)
	case other.root && c.within(other):
		return fmt.Sprintf("%s lies in %s", c, other)
	}
	return ""
}
