package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CorpusRoot is the root of a corpus, locked against every other runtime on this
// machine until the home is closed.
type CorpusRoot struct {
	CorpusConfig
	place *place
	above []*os.File // with shared locks
}

// Path is the root's path without links.
func (r *CorpusRoot) Path() string { return r.place.path }

// Dir is the open root. It belongs to the home, which closes it.
func (r *CorpusRoot) Dir() *os.File { return r.place.dir }

// Held is nil if the configured path still names the directory that is locked.
// Otherwise it is an *Error with reason corpus-missing.
func (r *CorpusRoot) Held() error {
	info, err := os.Stat(r.Root)
	if err == nil && !os.SameFile(info, r.place.above[0]) {
		err = errors.New("another directory is there than the one that was locked")
	}
	if err != nil {
		return corpusError(CorpusMissing, r.CorpusConfig, err.Error()+"; put it back, or start again", err)
	}
	return nil
}

func (r *CorpusRoot) close() error {
	err := r.place.Close()
	for _, dir := range r.above {
		err = errors.Join(err, dir.Close())
	}
	return err
}

// CheckCorpora says whether each corpus is there and shares no directory with
// another one, with the home, the configuration, the sockets and what else
// belongs to the home, nor holds what an anchor remembers. Directories are
// compared, not paths: links and bind mounts do not hide anything. Errors are
// *Error with reason corpus-missing, corpus-unreadable or corpus-overlap.
func (h *Home) CheckCorpora() error {
	roots, err := openRoots(h.config.Corpora)
	if err == nil {
		err = h.checkOverlap(roots)
	}
	return errors.Join(err, closeRoots(roots))
}

// LockCorpora does what CheckCorpora does and locks each root and what is in it
// for this runtime alone, across homes and users; another runtime has the reason
// corpus-busy. The locks end with Close, or with the process. Calling it again
// gives the same roots.
func (h *Home) LockCorpora() ([]*CorpusRoot, error) {
	if h.log == nil {
		return nil, errReading
	}
	if h.config.Profile == Strict && h.mode != Run {
		return nil, errNotRun
	}
	if h.roots != nil {
		return h.roots, nil
	}
	roots, err := openRoots(h.config.Corpora)
	if err == nil {
		err = h.checkOverlap(roots)
	}
	for _, r := range roots {
		if err == nil {
			err = r.lock()
		}
	}
	if err != nil {
		return nil, errors.Join(err, closeRoots(roots))
	}
	h.roots = roots
	return roots, nil
}

// MountsIn lists what is mounted inside a corpus, where no call may go; known on
// Linux alone.
func (h *Home) MountsIn(c CorpusConfig) []string {
	real, err := filepath.EvalSymlinks(c.Root)
	if err != nil {
		return nil
	}
	return mountsBelow(real)
}

// openRoots returns also on an error what it has opened.
func openRoots(corpora []CorpusConfig) ([]*CorpusRoot, error) {
	roots := []*CorpusRoot{}
	for _, c := range corpora {
		p, err := openPlace("corpus "+c.Name, c.Root)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return roots, corpusError(CorpusMissing, c, "there is nothing; make the directory, or correct root in iff.toml", err)
		case err != nil && !isDirectory(c.Root):
			return roots, corpusError(CorpusMissing, c, "it is not a directory; correct root in iff.toml", err)
		case err != nil:
			return roots, corpusError(CorpusUnreadable, c, err.Error(), err)
		}
		roots = append(roots, &CorpusRoot{CorpusConfig: c, place: p})
	}
	return roots, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func closeRoots(roots []*CorpusRoot) (err error) {
	for _, r := range roots {
		err = errors.Join(err, r.close())
	}
	return err
}

// lock takes the root for this process alone, and shares the directories of the
// same user above it, so that none of them can be the root of another runtime's
// corpus. Directories of others are left alone: whoever may read one could keep
// everybody else out.
func (r *CorpusRoot) lock() error {
	if err := r.take(r.place.dir, r.place.above[0], true); err != nil {
		return err
	}
	at := r.place.path
	for _, info := range r.place.above[1:] {
		at = filepath.Dir(at)
		if at == filepath.Dir(at) || !ours(info) || info.Mode()&fs.ModeSticky != 0 {
			continue
		}
		dir, err := os.Open(at)
		if errors.Is(err, fs.ErrPermission) {
			continue // then it is no corpus of ours either
		}
		if err != nil {
			return corpusError(CorpusUnreadable, r.CorpusConfig, err.Error(), err)
		}
		r.above = append(r.above, dir)
		if err := r.take(dir, info, false); err != nil {
			return err
		}
	}
	return nil
}

func (r *CorpusRoot) take(dir *os.File, info fs.FileInfo, exclusive bool) error {
	busy, err := flock(dir, exclusive)
	if !busy && err == nil {
		return nil
	}
	if !busy {
		return corpusError(CorpusUnreadable, r.CorpusConfig, fmt.Sprintf("it cannot be locked: %v; put it on a local file system", err), err)
	}
	what := "it"
	if !exclusive {
		what = quoted(dir.Name()) + ", in which it lies,"
	}
	holder := lockHolder(info)
	if holder == "" {
		holder = "another process"
	}
	return corpusError(CorpusBusy, r.CorpusConfig, fmt.Sprintf("%s is locked by %s; wait for it to end, or end it", what, holder), err)
}

// checkOverlap compares every corpus with the others and with what is the home's.
func (h *Home) checkOverlap(roots []*CorpusRoot) error {
	if len(roots) == 0 {
		return nil
	}
	others, err := h.places()
	if err == nil {
		err = apart(roots, others)
	}
	for _, p := range others {
		err = errors.Join(err, p.Close())
	}
	return err
}

// apart refuses corpora that share a directory with one another or with other
// places.
func apart(roots []*CorpusRoot, others []*place) error {
	for i, r := range roots {
		for _, other := range roots[:i] {
			others = append(others, other.place)
		}
		for _, p := range others {
			if shared := overlap(r.place, p); shared != "" {
				return corpusError(CorpusOverlap, r.CorpusConfig, shared+"; give the corpus a directory of its own", nil)
			}
		}
		others = others[:len(others)-i]
	}
	return nil
}

// places opens what of the home no agent may reach: the home and its parts,
// which may be links to elsewhere, the configuration, and the files of anchors.
func (h *Home) places() ([]*place, error) {
	var out []*place
	add := func(what, path string, root bool) error {
		p, err := openPlace(what, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // what is not there is in no corpus
		}
		if err != nil {
			return &Error{Reason: Unreadable, Path: path, Detail: err.Error(), Err: err}
		}
		p.root = root
		out = append(out, p)
		return nil
	}
	err := add("the home", h.dir, true)
	for _, part := range []string{trustDir, keysDir, baseDir, skillsDir, logDir, anchorsDir, runDir} {
		err = errors.Join(err, add("the home's "+part, filepath.Join(h.dir, part), true))
	}
	if file, evalErr := filepath.EvalSymlinks(filepath.Join(h.dir, configFile)); evalErr == nil {
		err = errors.Join(err, add("the directory of iff.toml", filepath.Dir(file), false))
	}
	if dir := h.config.Serve.AgentDir; dir != "" {
		err = errors.Join(err, add("serve.agent_dir", dir, true))
	}
	for _, a := range h.config.Log.Anchors {
		if filepath.IsAbs(a.Place) {
			err = errors.Join(err, add("the directory of an anchor", filepath.Dir(a.Place), false))
		}
	}
	return out, err
}

func corpusError(reason Reason, c CorpusConfig, detail string, err error) error {
	return &Error{Reason: reason, Path: c.Root, Detail: "corpus " + c.Name + ": " + detail, Err: err}
}
