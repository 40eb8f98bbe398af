package control

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/beneath"
)

// Corpus is the name under which control files are objects. No real corpus may
// have it.
const Corpus = "iff-control"

// The bounds.
const (
	MaxFiles   = 256
	maxBytes   = 4 << 20
	maxEntries = 2000
	maxDepth   = 32
)

// File is one file or directory of agents.
type File struct {
	Object string   // its path below the corpus, such as ~/.claude.json
	Path   string   // absolute and clean
	Keys   []string // members that count; none: all of it
}

// Observer reads control files. It implements [corpus.Observer] and is safe for
// concurrent use. The zero value sees nothing.
type Observer struct {
	files []File          // none below a later one
	own   map[string]bool // paths of files
	list  string

	mu    sync.Mutex // guards known
	known map[string]seen
}

var _ corpus.Observer = (*Observer)(nil)

// seen is one object as it was found.
type seen struct {
	facts   beneath.Facts
	state   corpus.State
	settled bool // facts tell this state from every later one
}

// ErrFiles says that files to be watched are named in a way that cannot be
// observed.
var ErrFiles = errors.New("control-invalid")

// New makes an observer of files, which need not be there. The errors wrap
// [ErrFiles].
func New(files []File) (*Observer, error) {
	if len(files) > MaxFiles {
		return nil, fmt.Errorf("%w: %d files, at most %d", ErrFiles, len(files), MaxFiles)
	}
	o := &Observer{files: slices.Clone(files), own: make(map[string]bool), known: make(map[string]seen)}
	names := make(map[string]bool)
	for _, f := range files {
		switch {
		case !corpus.Name(Corpus, f.Object).Valid() || f.Object == "." || names[f.Object]:
			return nil, fmt.Errorf("%w: %q is no name of an object, or that of two", ErrFiles, f.Object)
		case !filepath.IsAbs(f.Path) || filepath.Clean(f.Path) != f.Path || f.Path == "/" || o.own[f.Path]:
			return nil, fmt.Errorf("%w: %q is no path from the root, or stands there twice", ErrFiles, f.Path)
		}
		names[f.Object], o.own[f.Path] = true, true
	}
	o.list = listOf(files)
	return o, nil
}

// listOf is a digest of what is observed.
func listOf(files []File) string {
	var lines []string
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%q %q %q\n", f.Object, f.Path, slices.Sorted(slices.Values(f.Keys))))
	}
	slices.Sort(lines)
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(lines, ""))))
}

// List says which files are observed and by which keys, as sha256: and a digest.
func (o *Observer) List() string { return o.list }

// Name is control.
func (o *Observer) Name() string { return "control" }

// Blind lists what readings cannot show.
func (o *Observer) Blind() []string {
	blind := []string{
		"control files that guard.home does not name",
		"change-and-restore of a control file between readings",
		"what a link among control files leads to",
		"who changed a control file, and its times and extended attributes",
	}
	for _, f := range o.files {
		if len(f.Keys) > 0 {
			blind = append(blind, fmt.Sprintf("all of %s but %s", f.Object, strings.Join(f.Keys, ", ")))
		}
	}
	return blind
}

// Snapshot reads every file, of what is unchanged since it was read last only the
// fingerprint. The error is that of the context.
func (o *Observer) Snapshot(ctx context.Context) (*corpus.Snapshot, error) {
	return o.snapshot(ctx, false)
}

// Full reads every file whole, whatever the fingerprints say. The error is that of
// the context.
func (o *Observer) Full(ctx context.Context) (*corpus.Snapshot, error) { return o.snapshot(ctx, true) }

func (o *Observer) snapshot(ctx context.Context, full bool) (*corpus.Snapshot, error) {
	l := &look{ctx: ctx, own: o.own, found: make(map[string]seen)}
	if !full {
		o.mu.Lock()
		l.known = o.known
		o.mu.Unlock()
	}
	var entries []corpus.Entry
	for _, f := range o.files {
		found, err := l.file(f)
		if err != nil {
			return nil, err
		}
		entries = append(entries, found...)
	}
	o.mu.Lock()
	o.known = l.found // never changed from here on
	o.mu.Unlock()
	return corpus.NewSnapshot(entries), nil
}

// Read is the states of objects now. One below no file is Unreadable. The error is
// that of the context.
func (o *Observer) Read(ctx context.Context, objects []corpus.Object) ([]corpus.State, error) {
	out := make([]corpus.State, len(objects))
	for i, object := range objects {
		var err error
		if out[i], err = o.read(ctx, object); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// read reads the file of the object whole: one may lie in another's way.
func (o *Observer) read(ctx context.Context, object corpus.Object) (corpus.State, error) {
	f, ok := o.fileOf(object)
	if !ok {
		return corpus.Unreadable, ctx.Err()
	}
	l := &look{ctx: ctx, own: o.own, found: make(map[string]seen)}
	entries, err := l.file(f)
	if err != nil {
		return corpus.Unreadable, err
	}
	for _, e := range entries {
		if e.Object == object || e.State == corpus.Unreadable && object.Below(e.Object) {
			return e.State, nil
		}
	}
	return corpus.Absent, nil
}

// fileOf is the nearest file at or above an object.
func (o *Observer) fileOf(object corpus.Object) (File, bool) {
	if object.Corpus() != Corpus || !object.Valid() {
		return File{}, false
	}
	for at := object.Path(); at != "."; at = path.Dir(at) {
		if i := slices.IndexFunc(o.files, func(f File) bool { return f.Object == at }); i >= 0 {
			return o.files[i], true
		}
	}
	return File{}, false
}

// settle is how old a change must be for the next one to carry another time: two
// ticks of the slowest usual clock.
const settle = 20 * time.Millisecond
