package connect

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Undone is what undoing did to one file.
type Undone struct {
	Path   string
	Before []byte
	After  []byte
	Gone   bool     // it was made by connecting, and is removed
	Kept   []string // what somebody changed since, and was left alone
	Shared bool     // another connection needs it; it was left as it is
}

// Undo takes back exactly what connecting added, shows it first if show is not nil
// and ends there if that is an error. What was changed since is left alone and
// named. Without a record there is nothing to undo, and no error.
func (s *Store) Undo(agent string, p Place, show func([]Undone) error) (out []Undone, err error) {
	r, err := s.Find(agent, p)
	if err != nil || r == nil {
		return nil, err
	}
	others, err := s.others(r)
	if err != nil {
		return nil, err
	}
	for _, f := range slices.Backward(r.Files) {
		u, err := s.reverse(f, others)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	if show != nil {
		if err := show(out); err != nil {
			return out, err
		}
	}
	lock, err := s.lock()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := s.handOver(r, others); err != nil {
		return out, err
	}
	for i, f := range slices.Backward(r.Files) {
		if err := s.undo(f, out[len(r.Files)-1-i]); err != nil {
			return out, err
		}
	}
	return out, s.remove(r)
}

// reverse works out what undoing does to a file.
func (s *Store) reverse(f File, others []Record) (Undone, error) {
	u := Undone{Path: f.Path}
	now, err := readFile(f.Real)
	if errors.Is(err, fs.ErrNotExist) {
		u.Gone = true
		return u, nil
	}
	if err != nil {
		return u, err
	}
	u.Before, u.After = now, now
	if f = f.without(others); f.Format == "" {
		u.Shared = true
		return u, nil
	}
	switch {
	case digest(now) == f.After && !f.Was:
		u.Gone, u.After = true, nil
		return u, nil
	case digest(now) == f.After && f.Before != "":
		u.After, err = s.restore(f.Before)
		return u, err
	case f.Was && digest(now) == f.Before:
		return u, nil
	}
	if f.format() == nil {
		u.Kept = append(u.Kept, "the file itself")
		return u, nil
	}
	u.byEdits(f)
	return u, nil
}

// byEdits takes the edits back one by one, in a file that was changed since.
func (u *Undone) byEdits(f File) {
	text, mark := cutMark(string(u.Before))
	for _, e := range slices.Backward(f.Edits) {
		out, kept, err := takeBack(f.format(), text, e)
		if kept || err != nil {
			u.Kept = append(u.Kept, byHandName(e.Path))
			continue
		}
		text = out
	}
	u.After = []byte(mark + text)
	t, err := f.format().parse(text)
	if err == nil && !f.Was && len(t) == 0 && !bytes.Contains(u.After, []byte("#")) && !bytes.Contains(u.After, []byte("/")) {
		u.Gone, u.After = true, nil
	}
}

// without is a file's record without what other connections need; with an empty
// format if they need all of it.
func (f File) without(others []Record) File {
	guard := []string{}
	for _, o := range others {
		if slices.Contains(o.Needs, f.Path) && !f.isGuard() {
			return File{}
		}
		guard = append(guard, o.Guard...)
	}
	if !f.isGuard() || len(guard) == 0 {
		return f
	}
	edits := []edit{}
	for _, e := range f.Edits {
		e.Added = slices.DeleteFunc(slices.Clone(e.Added), func(item string) bool { return slices.Contains(guard, item) })
		if len(e.Added) > 0 {
			edits = append(edits, e)
		}
	}
	if len(edits) == 0 {
		return File{}
	}
	f.Edits, f.After, f.Before = edits, "", ""
	return f
}

// handOver gives what other connections need to the first of them, which undoes it
// one day.
func (s *Store) handOver(r *Record, others []Record) error {
	for _, f := range r.Files {
		for i := range others {
			o := &others[i]
			if !slices.Contains(o.Needs, f.Path) {
				continue
			}
			at := slices.IndexFunc(o.Files, func(have File) bool { return have.Path == f.Path })
			if at >= 0 {
				have := &o.Files[at]
				have.Edits, have.Before, have.After = append(slices.Clone(f.Edits), have.Edits...), "", ""
				have.Was = have.Was && f.Was
				have.Made = inward(append(slices.Clone(have.Made), f.Made...))
			} else {
				o.Files = append(o.Files, f)
			}
			if err := s.save(o); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

func (s *Store) undo(f File, u Undone) error {
	s.sweep(f.Real)
	switch {
	case u.Shared:
		return nil
	case u.Gone && u.Before != nil:
		if err := s.fsys.Remove(f.Real); err != nil {
			return err
		}
	case !bytes.Equal(u.Before, u.After):
		now, err := readFile(f.Real)
		if err != nil || !bytes.Equal(now, u.Before) {
			return &Error{Reason: FileChanging, Path: f.Path, Detail: "somebody else changed it just now; run it again", Err: err}
		}
		info, err := os.Lstat(f.Real)
		if err != nil {
			return err
		}
		if err := s.put(f.Real, u.After, info.Mode().Perm(), ownerOf(info)); err != nil {
			return err
		}
	}
	removeEmpty(s.fsys, f.Made)
	return nil
}

// Gone says of each file that was undone whether nothing of iff is left in it.
func Gone(undone []Undone) []Finding {
	var out []Finding
	for _, u := range undone {
		now, err := readFile(u.Path)
		gone := errors.Is(err, fs.ErrNotExist)
		switch {
		case u.Shared:
			out = append(out, Finding{"open", u.Path + ": stays as it is, for another connection", ""})
		case u.Gone && gone:
			out = append(out, Finding{"ok", u.Path + ": removed, as it was before", ""})
		case !u.Gone && err == nil && bytes.Equal(now, u.After) && len(u.Kept) == 0:
			out = append(out, Finding{"ok", u.Path + ": nothing of iff's is left", ""})
		case len(u.Kept) > 0:
			out = append(out, Finding{"open", u.Path + ": what was changed since is left: " + strings.Join(u.Kept, ", "), "look at it"})
		default:
			out = append(out, Finding{"no", u.Path + ": it is not as it has to be; somebody else changed it just now", "look at it"})
		}
	}
	return out
}
