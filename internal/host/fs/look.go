package fs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"unsafe"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// found is an object as it was found. The zero value is one that is absent.
type found struct {
	corpus.Copy
	stat   stat
	xattrs []corpus.Xattr // of a file, also if the copy is cut
	sum    hash.Hash      // of a cut file, to go on with
}

func (f found) absent() bool { return f.Facts == corpus.Facts{} }

// keeping says what of a file's bytes is wanted.
type keeping struct {
	whole int64 // keep files up to this size
	most  int64 // refuse files larger than this; 0 for no bound
	// window gets the bytes of those that are not kept as they pass, with their
	// offset; may be nil.
	window func(off int64, p []byte)
}

var plain = keeping{whole: MaxCopy}

// look reads the object called name. Links are read as links, special files by
// their type. A file with a second name, and a mount point, are faults.
func (h *Host) look(ctx context.Context, at int, name string, k keeping) (found, error) {
	st, err := h.sys.lstat(at, name)
	if errors.Is(err, fs.ErrNotExist) {
		return found{}, nil
	}
	if err != nil {
		return found{}, err
	}
	switch st.kind {
	case corpus.File:
		return h.lookFile(ctx, at, name, st, k)
	case corpus.Directory:
		return h.lookDir(at, name, st)
	case corpus.Link:
		text, err := h.sys.readlink(at, name)
		return found{Copy: corpus.NewCopy(st.facts(), text, nil), stat: st}, err
	}
	facts := st.facts()
	facts.Content = sha256.Sum256(fmt.Appendf(nil, "%s %d", st.special, st.rdev))
	return found{Copy: corpus.Copy{Facts: facts}, stat: st}, nil
}

// changing is what somebody else does to what is read.
func changing(err error) error {
	return wrong(gate.Changing, "it changed while it was read; try again").because(err)
}

func (h *Host) lookDir(at int, name string, st stat) (found, error) {
	fd, err := h.sys.dir(at, name)
	if err != nil {
		return found{}, gone(err)
	}
	defer h.sys.close(fd)
	if now, err := h.sys.stat(fd); err != nil || !now.same(st) {
		return found{}, changing(err)
	}
	return found{Copy: corpus.NewCopy(st.facts(), "", nil), stat: st}, nil
}

// gone turns the absence of what was there a moment ago into a change.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return changing(err)
	}
	return err
}

func (h *Host) lookFile(ctx context.Context, at int, name string, st stat, k keeping) (found, error) {
	if err := ordinaryFile(st, k); err != nil {
		return found{}, err
	}
	fd, err := h.sys.open(at, name)
	if err != nil {
		return found{}, gone(err)
	}
	defer h.sys.close(fd)
	f, err := h.readFile(ctx, fd, k)
	if err == nil && !f.stat.same(st) {
		err = changing(nil)
	}
	return f, err
}

func ordinaryFile(st stat, k keeping) error {
	switch {
	case st.kind != corpus.File:
		return changing(nil)
	case st.links > 1:
		return wrong(gate.HardLinked, "the file has %d names (hard links), and another may lie elsewhere; put a copy in its place", st.links)
	case k.most > 0 && st.size > k.most:
		return wrong(gate.TooLarge, "it holds more than %d bytes; make it smaller", k.most)
	}
	return nil
}

// readFile reads an open file between two equal looks.
func (h *Host) readFile(ctx context.Context, fd int, k keeping) (found, error) {
	st, err := h.sys.stat(fd)
	if err == nil {
		err = ordinaryFile(st, k)
	}
	if err != nil {
		return found{}, err
	}
	f := found{stat: st}
	if f.xattrs, err = h.sys.xattrs(fd); err != nil {
		return found{}, err
	}
	if err := h.readBytes(ctx, fd, &f, k); err != nil {
		return found{}, err
	}
	if now, err := h.sys.stat(fd); err != nil || now != st {
		return found{}, changing(err)
	}
	return f, nil
}

func (h *Host) readBytes(ctx context.Context, fd int, f *found, k keeping) error {
	f.Facts = f.stat.facts()
	f.Facts.Xattrs = corpus.XattrDigest(f.xattrs)
	if f.stat.size <= k.whole {
		data := make([]byte, f.stat.size)
		if err := h.stream(ctx, fd, f.stat.size, data, nil); err != nil {
			return err
		}
		f.Copy = corpus.NewCopy(f.Facts, textOf(data), f.xattrs) // nobody writes to data from here on
		return nil
	}
	f.Cut, f.sum = true, sha256.New()
	b := h.block()
	defer h.blocks.Put(b)
	err := h.stream(ctx, fd, f.stat.size, b[:], func(off int64, p []byte) {
		f.sum.Write(p)
		if k.window != nil {
			k.window(off, p)
		}
	})
	f.Facts.Content = corpus.Digest(f.sum.Sum(nil))
	return err
}

// block is what files are read into piece by piece, one after the other.
type block [32 << 10]byte

func (h *Host) block() *block {
	if b, ok := h.blocks.Get().(*block); ok {
		return b
	}
	return new(block)
}

// Contents pass as bytes to and from the system and are kept as strings. Where
// nobody writes to the bytes any more the two may share memory: a copy of a file
// costs as much as its digest.

func textOf(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// stream reads exactly size bytes through buffer and expects the end behind
// them. With each nil it fills the buffer, which is of that size, once.
func (h *Host) stream(ctx context.Context, fd int, size int64, buffer []byte, each func(off int64, p []byte)) error {
	for off := int64(0); off < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := buffer
		if each == nil {
			p = buffer[off:]
		}
		p = p[:min(int64(len(p)), size-off)]
		n, err := h.sys.readAt(fd, p, off)
		switch {
		case err != nil:
			return err
		case n == 0:
			return changing(nil)
		case each != nil:
			each(off, p[:n])
		}
		off += int64(n)
	}
	return nil
}

// facts are those of an open file whose bytes have this digest, or of an open
// directory.
func (h *Host) facts(fd int, content corpus.Digest) (corpus.Facts, stat, error) {
	st, err := h.sys.stat(fd)
	if err != nil {
		return corpus.Facts{}, stat{}, err
	}
	f := st.facts()
	if st.kind == corpus.Directory {
		return f, st, nil
	}
	attrs, err := h.sys.xattrs(fd)
	f.Xattrs, f.Content = corpus.XattrDigest(attrs), content
	return f, st, err
}

// tree visits what is below an open directory, parents first, sorted, each with
// its path below prefix. visit says what is wanted of the files after it. A
// directory with more than MaxTree entries is errTooMany; the sum visit bounds.
func (h *Host) tree(ctx context.Context, at int, prefix string, visit func(path string, f found) (keeping, error), k keeping) error {
	entries, err := h.sorted(at, MaxTree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.name
		f, err := h.look(ctx, at, name, k)
		if err == nil && f.absent() {
			err = changing(nil)
		}
		path := prefix + "/" + name
		if err == nil {
			k, err = visit(path, f)
		}
		if err == nil && f.Facts.Kind == corpus.Directory {
			err = h.within(at, name, f.stat, func(fd int) error { return h.tree(ctx, fd, path, visit, k) })
		}
		if err != nil {
			return below(path, err)
		}
	}
	return nil
}

// within opens a directory that was looked at.
func (h *Host) within(at int, name string, was stat, do func(fd int) error) error {
	fd, err := h.sys.dir(at, name)
	if err != nil {
		return gone(err)
	}
	defer h.sys.close(fd)
	if now, err := h.sys.stat(fd); err != nil || !now.same(was) {
		return changing(err)
	}
	return do(fd)
}

// pathError is an error with the object below a tree that it is about.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return printable(e.path) + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

func below(path string, err error) error {
	var p *pathError
	if errors.As(err, &p) {
		return err
	}
	return &pathError{path, err}
}

// small is the size up to which a file is best read, and kept, at one go.
const small = int64(len(block{}))

// anySize is for looks at files of any size whose bytes are not wanted.
var anySize = keeping{whole: small, most: math.MaxInt64}
