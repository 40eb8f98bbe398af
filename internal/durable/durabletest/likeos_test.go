package durabletest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"pgregory.net/rapid"
)

// Without faults the disk answers every call as the operating system does.
func TestDiskIsLikeOS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		real, err := os.MkdirTemp("", "durabletest")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(real)
		pair := &pair{disk: durabletest.New(), os: durable.OS(), real: real}
		defer pair.closeAll()
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			pair.step(t)
		}
		pair.compare(t, "/")
	})
}

// pair makes each call on both.
type pair struct {
	disk *durabletest.Disk
	os   durable.FS
	real string
	open []handle
}

// handle is what one call opened on the disk and on the system.
type handle struct {
	call string
	both [2]io.Closer
}

var (
	someNames = []string{"/a", "/b", "/d", "/d/a", "/d/b", "/d/e", "/a/x", "/"}
	// The holder's number stands in these, so they are no other files too.
	lockNames = []string{"/lock", "/d/lock", "/a/lock", "/"}
	opening   = []string{"create", "append", "openat", "open", "lock"}
	naming    = []string{"rename", "link", "remove", "mkdir", "syncdir", "list"}
)

func (p *pair) at(name string) string { return filepath.Join(p.real, name) }

func (p *pair) step(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "step") {
	case 0:
		p.stepOpen(t)
	case 1:
		p.stepName(t)
	default:
		p.use(t)
	}
}

func (p *pair) stepOpen(t *rapid.T) {
	call := rapid.SampledFrom(opening).Draw(t, "call")
	names := someNames
	if call == "lock" {
		names = lockNames
	}
	name := rapid.SampledFrom(names).Draw(t, "name")
	one, err1 := opened(p.disk, call, name)
	two, err2 := opened(p.os, call, p.at(name))
	if class(err1) != class(err2) {
		t.Fatalf("%s %s: %v and %v", call, name, err1, err2)
	}
	if err1 == nil {
		p.open = append(p.open, handle{call, [2]io.Closer{one, two}})
	}
}

func opened(fsys durable.FS, call, path string) (io.Closer, error) {
	switch call {
	case "create":
		return fsys.Create(path, 0o640)
	case "append":
		return fsys.OpenAppend(path)
	case "openat":
		return fsys.OpenAt(path)
	case "open":
		return fsys.Open(path)
	}
	return fsys.Lock(path)
}

func (p *pair) stepName(t *rapid.T) {
	call := rapid.SampledFrom(naming).Draw(t, "call")
	name := rapid.SampledFrom(someNames).Draw(t, "name")
	to := rapid.SampledFrom(someNames).Draw(t, "to")
	var one, two error
	switch call {
	case "rename":
		if p.isDirectory(name) || p.isDirectory(to) {
			return // not modelled
		}
		one, two = p.disk.Rename(name, to), p.os.Rename(p.at(name), p.at(to))
	case "link":
		if p.isDirectory(name) {
			return
		}
		one, two = p.disk.Link(name, to), p.os.Link(p.at(name), p.at(to))
	case "remove":
		if name == "/" {
			return
		}
		if rapid.Bool().Draw(t, "a lock") {
			name = rapid.SampledFrom(lockNames[:3]).Draw(t, "lock")
		}
		one, two = p.disk.Remove(name), p.os.Remove(p.at(name))
	case "mkdir":
		one, two = p.disk.Mkdir(name, 0o700), p.os.Mkdir(p.at(name), 0o700)
	case "syncdir":
		if !p.isDirectory(name) {
			return // the system can sync a file by its name too
		}
		one, two = p.disk.SyncDir(name), p.os.SyncDir(p.at(name))
	case "list":
		var got, want []string
		got, one = p.disk.List(name)
		want, two = p.os.List(p.at(name))
		if !slices.Equal(got, want) {
			t.Fatalf("list %s: %q and %q", name, got, want)
		}
	}
	if class(one) != class(two) {
		t.Fatalf("%s %s %s: %v and %v", call, name, to, one, two)
	}
}

func (p *pair) isDirectory(name string) bool {
	mode, err := p.disk.Mode(name)
	return err == nil && mode.IsDir()
}

var uses = map[string][]string{
	"create": {"write", "truncate", "size", "sync", "close"},
	"append": {"write", "truncate", "size", "sync", "close"},
	"openat": {"writeat", "writeat", "truncate", "size", "sync", "close"},
	"open":   {"readat", "readat", "size", "close"},
	"lock":   {"held", "held", "close"},
}

func (p *pair) use(t *rapid.T) {
	if len(p.open) == 0 {
		return
	}
	h := p.open[rapid.IntRange(0, len(p.open)-1).Draw(t, "open")]
	call := rapid.SampledFrom(uses[h.call]).Draw(t, "use")
	data := rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "data")
	off := rapid.Int64Range(-1, 30).Draw(t, "off")
	one, two := used(h.both[0], call, data, off), used(h.both[1], call, data, off)
	if one != two {
		t.Fatalf("%s of %s: %s and %s", call, h.call, one, two)
	}
}

// used is what the call answered.
func used(f io.Closer, call string, data []byte, off int64) string {
	var n int64
	var err error
	switch call {
	case "write":
		var wrote int
		wrote, err = f.(durable.File).Write(data)
		n = int64(wrote)
	case "writeat":
		var wrote int
		wrote, err = f.(durable.FileAt).WriteAt(data, off)
		n = int64(wrote)
	case "readat":
		var read int
		read, err = f.(durable.Reader).ReadAt(data, off)
		return fmt.Sprintf("%q %s", data[:read], class(err))
	case "truncate":
		err = f.(durable.FileAt).Truncate(off)
	case "size":
		n, err = f.(interface{ Size() (int64, error) }).Size()
	case "sync":
		err = f.(durable.FileAt).Sync()
	case "held":
		err = f.(durable.Lock).Held()
	case "close":
		err = f.Close()
	}
	return fmt.Sprintf("%d %s", n, class(err))
}

func (p *pair) closeAll() {
	for _, h := range p.open {
		h.both[1].Close()
	}
}

// class is what callers tell errors apart by.
func class(err error) string {
	known := []error{
		fs.ErrExist, fs.ErrNotExist, fs.ErrClosed, durable.ErrNotRegular, io.EOF,
		syscall.ENOTDIR, syscall.ENOTEMPTY, syscall.EISDIR,
	}
	for _, one := range known {
		if errors.Is(err, one) {
			return one.Error()
		}
	}
	var busy *durable.BusyError
	if errors.As(err, &busy) {
		return "busy"
	}
	var lost *durable.LostError
	if errors.As(err, &lost) {
		return "lost"
	}
	if err != nil {
		return "other"
	}
	return "none"
}

func (p *pair) compare(t *rapid.T, dir string) {
	names, err := p.disk.List(dir)
	entries, err2 := os.ReadDir(p.at(dir))
	var real []string
	for _, e := range entries {
		real = append(real, e.Name())
	}
	if err != nil || err2 != nil || !slices.Equal(names, real) {
		t.Fatalf("%s: %v (%v) and %v (%v)", dir, names, err, real, err2)
	}
	for i, e := range entries {
		path := filepath.Join(dir, names[i])
		if e.IsDir() {
			p.compare(t, path)
			continue
		}
		one, err := p.disk.ReadFile(path)
		two, err2 := os.ReadFile(p.at(path))
		mode, _ := p.disk.Mode(path)
		info, _ := e.Info()
		same := bytes.Equal(one, two) || slices.Contains(lockNames, path)
		if err != nil || err2 != nil || !same || mode != info.Mode() {
			t.Fatalf("%s: %q %v %v and %q %v %v", path, one, mode, err, two, info.Mode(), err2)
		}
	}
}
