package fs

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// view is a corpus with what a session has staged laid over it.
type view struct {
	h      *Host
	root   *root
	staged gate.Staged // may be nil
}

func (v view) overlaid(o corpus.Object) (found, bool) {
	if v.staged == nil {
		return found{}, false
	}
	c, ok := v.staged.Copy(o)
	return found{Copy: c, xattrs: c.Xattrs, stat: stat{size: int64(len(c.Data))}}, ok
}

// look is an object as the session sees it; absent only where its directory is
// there.
func (v view) look(ctx context.Context, o corpus.Object, k keeping) (found, error) {
	if f, ok := v.overlaid(o); ok {
		if f.Cut {
			return found{}, wrong(gate.TooLarge, "what the session staged is too large to keep; commit it first")
		}
		return f, nil
	}
	if v.staged == nil {
		return v.world(ctx, o, k)
	}
	if parent, ok := o.Parent(); ok {
		if dir, ok := v.overlaid(parent); ok {
			switch {
			case dir.absent():
				return found{}, missing(parent, fs.ErrNotExist)
			case dir.Facts.Kind != corpus.Directory:
				return found{}, wrong(gate.NotADirectory, "a file is where a directory should be; name a directory")
			}
			// It may be in the world as well, made by somebody meanwhile.
			f, err := v.world(ctx, o, k)
			if reasonOf(err) == gate.NotFound {
				return found{}, nil
			}
			return f, err
		}
	}
	return v.world(ctx, o, k)
}

func (v view) world(ctx context.Context, o corpus.Object, k keeping) (found, error) {
	if o.IsRoot() {
		return v.top()
	}
	at, name, err := v.h.parent(v.root, o)
	if err != nil {
		return found{}, err
	}
	defer v.h.sys.close(at)
	return v.h.look(ctx, at, name, k)
}

func (v view) top() (found, error) {
	st, err := v.h.sys.stat(v.root.fd)
	return found{Copy: corpus.NewCopy(st.facts(), "", nil), stat: st}, err
}

// birth is what a new object of the draft's call gets: facts but for the
// digests, and attributes.
func (d *draft) birth(kind corpus.Kind, mode uint32) (corpus.Facts, []corpus.Xattr, error) {
	facts := corpus.Facts{Kind: kind, Mode: mode, UID: d.h.uid, GID: d.h.gid}
	parent, _ := d.call.object.Parent()
	dir, attrs, err := d.directory(parent)
	if err != nil {
		return facts, nil, err
	}
	if dir.Mode&0o2000 != 0 || newFilesTakeGroup {
		facts.GID = dir.GID
	}
	if kind == corpus.Directory {
		if !newFilesTakeGroup {
			facts.Mode |= dir.Mode & 0o2000
		}
		return facts, nil, nil
	}
	return facts, inherited(attrs, mode), nil
}

// directory is a directory as the session sees it, with the attributes of the
// nearest one that is there already: from it the default ACL comes down.
func (d *draft) directory(o corpus.Object) (corpus.Facts, []corpus.Xattr, error) {
	if f, ok := d.overlaid(o); ok {
		parent, _ := o.Parent()
		_, attrs, err := d.directory(parent)
		return f.Facts, attrs, err
	}
	fd, err := d.h.dir(d.root, o.Path())
	if err != nil {
		return corpus.Facts{}, nil, err
	}
	defer d.h.sys.close(fd)
	st, err := d.h.sys.stat(fd)
	if err != nil {
		return corpus.Facts{}, nil, err
	}
	attrs, err := d.h.sys.xattrs(fd)
	return st.facts(), attrs, err
}

// member is one object of a tree.
type member struct {
	object corpus.Object
	found
}

// subtree lists what is below a directory, parents first.
func (d *draft) subtree(dir corpus.Object) ([]member, error) {
	if d.staged != nil {
		for _, o := range d.staged.Objects() {
			if o == dir || o.Below(dir) {
				return nil, &gate.Refusal{Reason: gate.Busy, Object: o, Detail: "the session has staged this and not committed it; commit it first"}
			}
		}
	}
	fd, err := d.h.dir(d.root, dir.Path())
	if err != nil {
		return nil, err
	}
	defer d.h.sys.close(fd)
	var out []member
	kept := int64(0)
	err = d.h.tree(d.ctx, fd, dir.Path(), func(path string, f found) (keeping, error) {
		if len(out)+1 >= MaxTree {
			return keeping{}, errTooMany
		}
		if f.Facts.Kind == corpus.Special {
			return keeping{}, ordinary(f)
		}
		if d.root.Volatile.Match(path) {
			return keeping{}, wrong(gate.IsVolatile, "it is volatile, so not observed; take it away first")
		}
		kept += f.Size()
		out = append(out, member{corpus.Name(d.root.Corpus, path), f})
		return keeping{whole: min(MaxCopy, MaxCopies-kept)}, nil
	}, plain)
	return out, err
}

// sorted lists a directory in order.
func (h *Host) sorted(at int, most int) ([]dirent, error) {
	entries, err := h.sys.list(at, most)
	slices.SortFunc(entries, func(a, b dirent) int { return strings.Compare(a.name, b.name) })
	return entries, err
}

// listed is what is in a directory as the session sees it; at is that directory,
// or -1 where it is staged alone. What is staged has its kind.
func (v view) listed(at int, dir corpus.Object) (entries []dirent, err error) {
	if at >= 0 {
		if entries, err = v.h.sorted(at, MaxList); err != nil {
			return nil, err
		}
	}
	if v.staged == nil {
		return entries, nil
	}
	for _, o := range v.staged.Objects() {
		parent, ok := o.Parent()
		c, staged := v.staged.Copy(o)
		if !ok || parent != dir || !staged {
			continue
		}
		name := o.Path()[strings.LastIndexByte(o.Path(), '/')+1:]
		at, there := slices.BinarySearchFunc(entries, name, func(e dirent, name string) int { return strings.Compare(e.name, name) })
		switch absent := c.State() == corpus.Absent; {
		case there && absent:
			entries = slices.Delete(entries, at, at+1)
		case there:
			entries[at].kind = c.Facts.Kind
		case !absent:
			entries = slices.Insert(entries, at, dirent{name, c.Facts.Kind})
		}
	}
	if len(entries) > MaxList {
		return nil, errTooMany
	}
	return entries, nil
}
