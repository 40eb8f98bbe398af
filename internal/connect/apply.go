package connect

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/iff-run/iff/internal/durable"
)

// Apply writes what a plan changes, or nothing: backups first, then the record of
// what is about to be added, then the files, each atomically; if one cannot be
// written those before it are put back. A crash between leaves a record by which
// the next Apply or Undo brings things in order. What was written is read again
// and held against what was meant.
func (s *Store) Apply(p *Plan) (err error) {
	lock, err := s.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	for _, c := range p.Changes {
		s.sweep(c.Real)
	}
	before, err := s.Find(p.Agent.Name, p.Place)
	if err != nil {
		return err
	}
	after, err := s.merge(before, p)
	if err != nil {
		return err
	}
	if err := s.save(after); err != nil {
		return err
	}
	var done []*Change
	for _, c := range p.Changed() {
		if err = s.write(c); err != nil {
			break
		}
		done = append(done, c)
	}
	if err == nil {
		err = p.check()
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, s.rollBack(done, before, after))
}

// sweep removes what a killed connect left beside a file. Nothing else makes files
// of that name there, and the store's lock is held.
func (s *Store) sweep(path string) { _ = durable.Sweep(s.fsys, filepath.Dir(path)) }

// rollBack puts files back as they were, and the record. Where even that does not
// succeed the record stays, for Undo.
func (s *Store) rollBack(done []*Change, before, after *Record) error {
	for _, c := range slices.Backward(done) {
		if !c.Existed {
			if err := s.fsys.Remove(c.Real); err != nil {
				return err
			}
			continue
		}
		if err := s.put(c.Real, c.Before, c.Mode, c.owner); err != nil {
			return err
		}
	}
	for _, f := range after.Files {
		removeEmpty(s.fsys, f.Made)
	}
	if before == nil {
		return s.remove(after)
	}
	return s.save(before)
}

// write writes one file that is still as it was when the plan was made.
func (s *Store) write(c *Change) error {
	now, err := readFile(c.Real)
	if errors.Is(err, fs.ErrNotExist) && !c.Existed {
		err = nil
	} else if err == nil && (!c.Existed || !bytes.Equal(now, c.Before)) {
		err = errors.New("somebody else changed it just now; run iff connect again")
	}
	if err != nil {
		return &Error{Reason: FileChanging, Path: c.Path, Detail: err.Error(), Err: err}
	}
	for _, dir := range slices.Backward(missingDirs(c.Real)) {
		if err := s.fsys.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return s.put(c.Real, c.After, c.Mode, c.owner)
}

func (s *Store) put(path string, data []byte, mode fs.FileMode, o owner) error {
	if err := durable.WriteFile(s.fsys, path, data, mode); err != nil {
		return err
	}
	return o.keep(path)
}

// missingDirs are the directories above a path that are not there, innermost first.
func missingDirs(path string) []string {
	out := []string{}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		out = append(out, dir)
	}
	return out
}

func removeEmpty(fsys durable.FS, dirs []string) {
	for _, dir := range dirs { // one that holds something stays
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was never made
		}
		if err != nil || len(entries) > 0 || fsys.Remove(dir) != nil {
			return
		}
	}
}

// check reads again what was written: preparing anew must find nothing to change.
func (p *Plan) check() error {
	for _, c := range p.Changes {
		now, err := readFile(c.Real)
		if err != nil || !bytes.Equal(now, c.After) {
			return &Error{Reason: NotClosed, Path: c.Path, Detail: "it does not hold what was written", Err: err}
		}
	}
	again, err := Prepare(p.Agent, p.Place, p.Levels)
	if err != nil {
		return err
	}
	for _, c := range again.Changed() {
		return &Error{Reason: NotClosed, Path: c.Path, Detail: "read again, it does not say what it has to; run iff connect again, or look at it"}
	}
	return nil
}

// merge is the record with a plan's changes in it.
func (s *Store) merge(before *Record, p *Plan) (*Record, error) {
	out := &Record{
		Schema: recordSchema, Agent: p.Agent.Name, Home: p.Place.Home, Dir: p.Place.Dir, Iff: p.Place.Iff, Under: p.Place.IffHome, Etc: p.Place.Etc,
		Levels: p.Levels, Needs: []string{}, Guard: append([]string{}, p.Guard...), Files: []File{},
	}
	if before != nil {
		out.Files = slices.Clone(before.Files)
		for _, l := range before.Levels {
			if !slices.Contains(out.Levels, l) {
				out.Levels = append(slices.Clone(out.Levels), l)
			}
		}
		out.Needs = append(out.Needs, before.Needs...)
		out.Guard = append(out.Guard, before.Guard...)
	}
	for _, c := range p.Changes {
		out.Needs = append(out.Needs, c.Path)
		if !c.Changed() {
			continue
		}
		f, err := s.fileOf(c)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out.Files, func(o File) bool { return o.Path == f.Path })
		if i < 0 {
			out.Files = append(out.Files, f)
			continue
		}
		out.Files[i] = out.Files[i].then(f, digest(c.Before))
	}
	slices.Sort(out.Needs)
	out.Needs = slices.Compact(out.Needs)
	slices.Sort(out.Guard)
	out.Guard = slices.Compact(out.Guard)
	return out, nil
}

func (s *Store) fileOf(c *Change) (File, error) {
	f := File{Path: c.Path, Real: c.Real, Format: "whole", Mode: int(c.Mode), Was: c.Existed, After: digest(c.After), Edits: append([]edit{}, c.edits...), Made: missingDirs(c.Real)}
	switch c.format.(type) {
	case jsonFormat:
		f.Format = "json"
	case tomlFormat:
		f.Format = "toml"
	}
	var err error
	if c.Existed {
		f.Before, err = s.backup(c.Before)
	}
	return f, err
}

// then is what a file's record says after a second change of it; was is the digest
// of what it held before that. Only if that is what the first change left, or was
// about to begin with, are the bytes before both known.
func (f File) then(next File, was string) File {
	out := next
	out.Was, out.Made = f.Was, inward(append(slices.Clone(f.Made), next.Made...))
	out.Before = f.Before
	whole := was == f.After || next.Was && was == f.Before || !next.Was && !f.Was
	if !whole {
		out.Before = ""
		out.Was = f.Was || next.Was
	}
	if was != f.After && whole { // the first change never happened
		return out
	}
	out.Edits = slices.Clone(f.Edits)
	for _, e := range next.Edits {
		i := slices.IndexFunc(out.Edits, func(o edit) bool { return slices.Equal(o.Path, e.Path) && len(o.Added) == 0 && len(e.Added) == 0 })
		if i < 0 {
			out.Edits = append(out.Edits, e)
			continue
		}
		out.Edits[i].New = e.New
	}
	return out
}

// inward orders directories, the innermost first, each once.
func inward(dirs []string) []string {
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	return slices.Compact(dirs)
}
