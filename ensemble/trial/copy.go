package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/internal/beneath"
)

// Copied is what a copy of a corpus has.
type Copied struct {
	Files       int64    `json:"files"`
	Directories int64    `json:"directories"` // without the root
	Links       int64    `json:"links"`
	Bytes       int64    `json:"bytes"`
	Omitted     int64    `json:"omitted"` // what was left out
	Left        []Left   `json:"left"`    // the first of those
	Made        []string `json:"made"`    // directories that are not in the corpus, for scripts
}

// Left is what was left out of a copy, and why.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"` // a reason of package beneath, or link-outside
}

const (
	linkOutside = "link-outside"
	mostLeft    = 100 // that are named
	mostDepth   = 256 // directories in one another
	copyBlock   = 256 << 10
)

// copier copies a directory. The source is reached through its handle alone, the
// copy through its own: neither follows what lies in it.
type copier struct {
	files, bytes int64 // that may still come
	to           *os.Root
	out          Copied
	block        []byte
	names        map[beneath.Facts]string // of files that have several, by what they are
}

// copyTree copies what is in the directory at from into the empty one at to.
func copyTree(ctx context.Context, from, to string, files, bytes int64) (out Copied, err error) {
	source, err := beneath.Open(from)
	if err != nil {
		return out, refuse(CopyFailed, err, "the corpus cannot be read: %v", err)
	}
	defer source.Close()
	root, err := os.OpenRoot(to)
	if err != nil {
		return out, failed(err, "")
	}
	defer root.Close()
	c := &copier{files: files, bytes: bytes, to: root, block: make([]byte, copyBlock), names: make(map[beneath.Facts]string)}
	c.out.Left = []Left{}
	err = c.directory(ctx, source, ".", 0)
	return c.out, err
}

// failed is that the copy cannot be written.
func failed(err error, name string) error {
	where := ""
	if name != "" {
		where = fmt.Sprintf(" of %q", name)
	}
	return refuse(CopyFailed, err, "the copy%s cannot be written: %v; make room there, or name another place with --dir", where, err)
}

// directory copies what is in a directory. Its mode comes last: it may be one in which
// nothing can be made.
func (c *copier) directory(ctx context.Context, from *beneath.Dir, name string, depth int) error {
	facts, err := from.Facts()
	if err != nil {
		c.leave(name, err)
		return nil
	}
	entries, err := from.Entries(int(min(c.files+1, 1<<30)))
	var why *beneath.Error
	if errors.As(err, &why) && why.Reason == beneath.TooManyEntries {
		return c.tooMany()
	}
	if err != nil && name == "." {
		return refuse(CopyFailed, err, "the corpus cannot be listed: %v", err)
	}
	if err != nil {
		c.leave(name, err)
		entries = nil
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.entry(ctx, from, path.Join(name, e.Name), e.Name, depth); err != nil {
			return err
		}
	}
	if err := c.to.Chmod(name, fs.FileMode(facts.Mode&0o777)); err != nil {
		return failed(err, name)
	}
	return nil
}

func (c *copier) entry(ctx context.Context, from *beneath.Dir, at, name string, depth int) error {
	facts, err := from.Lstat(name)
	switch {
	case err != nil:
		c.leave(at, err)
		return nil
	case facts.Mount:
		c.leave(at, &beneath.Error{Reason: beneath.FileMount})
		return nil
	}
	switch facts.Kind {
	case beneath.Directory:
		return c.below(ctx, from, at, name, depth)
	case beneath.Regular:
		return c.file(ctx, from, at, name, facts)
	case beneath.Link:
		return c.link(from, at, name)
	}
	c.leave(at, &beneath.Error{Reason: beneath.FileSpecial})
	return nil
}

func (c *copier) below(ctx context.Context, from *beneath.Dir, at, name string, depth int) error {
	if depth >= mostDepth {
		return refuse(TooLarge, nil, "%q lies %d directories deep, and no more is copied", at, depth)
	}
	dir, err := from.Dir(name)
	if err != nil {
		c.leave(at, err)
		return nil
	}
	defer dir.Close()
	if err := c.one(); err != nil {
		return err
	}
	if err := c.to.Mkdir(at, 0o700); err != nil {
		return failed(err, at)
	}
	c.out.Directories++
	return c.directory(ctx, dir, at, depth+1)
}

// file copies a regular file, if it stays as it is meanwhile.
func (c *copier) file(ctx context.Context, from *beneath.Dir, at, name string, facts beneath.Facts) error {
	if err := c.one(); err != nil {
		return err
	}
	if first, ok := c.names[facts]; ok && facts.Links > 1 {
		c.out.Files++
		if err := c.to.Link(first, at); err != nil {
			return failed(err, at)
		}
		return nil
	}
	if facts.Size > c.bytes {
		return refuse(TooLarge, nil, "there are more bytes in the corpus than are copied; the first that do not fit are in %q; raise the bound with --most-mib, or name another corpus", at)
	}
	s, err := from.Stream(name, facts)
	if err != nil {
		c.files++
		c.leave(at, err)
		return nil
	}
	defer s.Close()
	if changed, err := c.contents(ctx, s, at, facts); err != nil || changed != nil {
		if changed != nil {
			c.files++
			c.leave(at, changed)
			err = c.to.Remove(at)
		}
		return err
	}
	c.out.Files++
	c.out.Bytes += facts.Size
	c.bytes -= facts.Size
	if facts.Links > 1 {
		c.names[facts] = at
	}
	return nil
}

// contents writes a file as it is read. What keeps it from being read whole is
// changed.
func (c *copier) contents(ctx context.Context, s *beneath.Stream, at string, facts beneath.Facts) (changed, err error) {
	f, err := c.to.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, failed(err, at)
	}
	defer func() {
		if e := f.Close(); e != nil && err == nil {
			err = failed(e, at)
		}
	}()
	for off := int64(0); off < facts.Size && changed == nil; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, e := s.ReadSome(c.block[:min(copyBlock, facts.Size-off)], off)
		if _, err := f.Write(c.block[:n]); err != nil {
			return nil, failed(err, at)
		}
		off += int64(n)
		if e != nil && (!errors.Is(e, io.EOF) || off < facts.Size) {
			changed = e
		} else if n == 0 {
			changed = &beneath.Error{Reason: beneath.FileChanging}
		}
	}
	if changed == nil {
		changed = s.Unchanged()
	}
	if err := f.Chmod(fs.FileMode(facts.Mode & 0o777)); err != nil {
		return nil, failed(err, at)
	}
	return changed, nil
}

// link copies a link that stays inside.
func (c *copier) link(from *beneath.Dir, at, name string) error {
	target, err := from.Readlink(name)
	if err != nil {
		c.leave(at, err)
		return nil
	}
	if !inside(at, target) {
		c.omit(at, linkOutside)
		return nil
	}
	if err := c.one(); err != nil {
		return err
	}
	if err := c.to.Symlink(target, at); err != nil {
		return failed(err, at)
	}
	c.out.Links++
	return nil
}

// inside says whether a link at a path stays below the root, whatever other links
// that do so lie on its way: it is relative, and goes up only at its beginning,
// where it goes from the directory that it lies in.
func inside(at, target string) bool {
	if target == "" || filepath.IsAbs(target) || strings.HasPrefix(target, "/") {
		return false
	}
	up, down := 0, false
	for _, part := range strings.Split(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if up++; down {
				return false
			}
		default:
			down = true
		}
	}
	return up <= strings.Count(at, "/")
}

// one counts something that is copied.
func (c *copier) one() error {
	if c.files--; c.files < 0 {
		return c.tooMany()
	}
	return nil
}

func (c *copier) tooMany() error {
	return refuse(TooLarge, nil, "there are more files in the corpus than are copied; raise the bound with --most-files, or name another corpus")
}

func (c *copier) leave(at string, err error) {
	why := string(beneath.ReadFailed)
	var e *beneath.Error
	if errors.As(err, &e) {
		why = string(e.Reason)
	}
	c.omit(at, why)
}

func (c *copier) omit(at, why string) {
	if c.out.Omitted++; len(c.out.Left) < mostLeft {
		c.out.Left = append(c.out.Left, Left{at, why})
	}
}
