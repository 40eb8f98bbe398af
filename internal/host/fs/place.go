package fs

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// place is an object's name in its open directory.
type place struct {
	h      *Host
	root   *root
	object corpus.Object
	at     int    // the directory, owned
	name   string // "." for the root itself
	id     stat   // of the directory
}

func (p *place) close() { p.h.sys.close(p.at) }

// place is parent, and what tells the directory from others.
func (h *Host) place(r *root, o corpus.Object) (*place, error) {
	at, name, err := h.parent(r, o)
	if err != nil {
		return nil, err
	}
	p := &place{h: h, root: r, object: o, at: at, name: name}
	if p.id, err = h.sys.stat(at); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// parent opens the directory that an object is in. One that is not there is
// not-found with the directory named.
func (h *Host) parent(r *root, o corpus.Object) (at int, name string, err error) {
	dir, name := path.Split(o.Path())
	if dir = strings.TrimSuffix(dir, "/"); dir == "" {
		dir = "."
	}
	at, folds, err := h.reach(r, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, "", missing(corpus.Name(r.Corpus, dir), err)
	}
	if err == nil && folds {
		if err = h.spelled(at, name); err != nil {
			h.sys.close(at)
		}
	}
	if err != nil {
		return -1, "", err
	}
	return at, name, nil
}

// missing is a refusal that names the directory that is not there.
func missing(dir corpus.Object, err error) error {
	return &gate.Refusal{Reason: gate.NotFound, Object: dir, Detail: "the directory is not there; make it first with op mkdir", Err: err}
}

// still says whether the path still leads to the directory that p has open.
func (p *place) still() bool {
	dir := path.Dir(p.object.Path())
	fd, err := p.h.sys.dir(p.root.fd, dir)
	if err != nil {
		return false
	}
	defer p.h.sys.close(fd)
	now, err := p.h.sys.stat(fd)
	return err == nil && now.same(p.id)
}

// dir opens a directory below a root.
func (h *Host) dir(r *root, dir string) (int, error) {
	fd, _, err := h.reach(r, dir)
	return fd, err
}

// reach is dir, and says whether two spellings may mean one name there. Where they
// may it goes step by step and accepts only the one that is listed.
func (h *Host) reach(r *root, dir string) (fd int, folds bool, err error) {
	fd, err = h.sys.dir(r.fd, dir)
	if errors.Is(err, syscall.ENOTDIR) {
		// Said of a link too. The second look is for the reason alone.
		if st, again := h.sys.lstat(r.fd, dir); again == nil && st.kind == corpus.Link {
			err = syscall.ELOOP
		}
	}
	if err != nil {
		return -1, false, err
	}
	if folds = r.folds || h.sys.folds(fd); dir == "." || !folds {
		return fd, folds, nil
	}
	h.sys.close(fd)
	at := r.fd
	for name := range strings.SplitSeq(dir, "/") {
		err := h.spelled(at, name)
		next := -1
		if err == nil {
			next, err = h.sys.dir(at, name)
		}
		if at != r.fd {
			h.sys.close(at)
		}
		if err != nil {
			return -1, false, err
		}
		at = next
	}
	return at, r.folds || h.sys.folds(at), nil
}

// spelled refuses a name that is there under another spelling only.
func (h *Host) spelled(at int, name string) error {
	if name == "." || name == "" {
		return nil
	}
	if _, err := h.sys.lstat(at, name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	entries, err := h.sys.list(at, 1<<20)
	if err != nil || among(entries, name) {
		return err
	}
	return wrong(gate.NameTwin, "it is there under another spelling, which this file system takes for the same; use that of the listing")
}

func among(entries []dirent, name string) bool {
	return slices.ContainsFunc(entries, func(e dirent) bool { return e.name == name })
}

// probe asks of a root whether it takes two spellings for one name: it looks for
// entries under another one.
func (h *Host) probe(at int) bool {
	if h.sys.folds(at) {
		return true
	}
	entries, err := h.sys.list(at, 1<<20)
	if err != nil {
		return true
	}
	asked := false
	for _, e := range entries[:min(len(entries), 64)] {
		for _, other := range spellings(e.name) {
			if among(entries, other) {
				continue
			}
			asked = true
			b, err := h.sys.lstat(at, other)
			if err != nil {
				continue
			}
			if a, err := h.sys.lstat(at, e.name); err == nil && a.same(b) {
				return true
			}
		}
	}
	return !asked && unknownFolds
}

// spellings are other ways to write a name that some file systems take for it.
func spellings(name string) []string {
	swapped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	var out []string
	for _, s := range []string{swapped, norm.NFC.String(name), norm.NFD.String(name)} {
		if s != name && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
