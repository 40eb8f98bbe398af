package rehash

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/beneath"
)

// The bounds that zero Options mean.
const (
	DefaultObjects = 100_000
	DefaultDepth   = 128  // names below the root, as long as the paths of grants
	DefaultName    = 4096 // bytes of an object's name
)

// Options are the bounds and means of an Observer. The zero value has the defaults.
type Options struct {
	Objects int              // most objects in a snapshot
	Depth   int              // most names between the root and an object
	Name    int              // most bytes in the name of an object
	Workers int              // most goroutines of a snapshot; 0 is one for each processor
	Now     func() time.Time // the clock beside which change times are fresh or not; nil is time.Now
}

func (o Options) withDefaults() (Options, error) {
	if o.Objects < 0 || o.Depth < 0 || o.Name < 0 || o.Workers < 0 {
		return Options{}, &Error{Reason: BadOptions, Detail: "a bound is negative"}
	}
	for at, value := range map[*int]int{
		&o.Objects: DefaultObjects, &o.Depth: DefaultDepth, &o.Name: DefaultName, &o.Workers: runtime.GOMAXPROCS(0),
	} {
		if *at == 0 {
			*at = value
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

// Observer reads one corpus. It implements [corpus.Observer] and is safe for concurrent use. The zero value refuses.
type Observer struct {
	corpus   string
	volatile corpus.Patterns
	options  Options
	buffers  sync.Pool
	known    atomic.Pointer[prints] // of the last snapshot; never changed once it is here

	inUse sync.RWMutex // read-locked while root is used
	root  *beneath.Dir // nil when closed
}

var _ corpus.Observer = (*Observer)(nil)

// New opens the corpus whose root is the directory at path. What is under that path later does not matter: the
// directory opened here stays the root. The caller closes the Observer. Errors: *[Error] with root-unreadable, wrapping
// *beneath.Error, and bad-options.
func New(path, corpusName string, volatile corpus.Patterns, options Options) (*Observer, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	if root := corpus.Name(corpusName, "."); !root.Valid() {
		return nil, &Error{Reason: BadOptions, Object: root, Detail: "the corpus has no name, or not one in one word"}
	}
	root, err := beneath.Open(path)
	if err != nil {
		return nil, &Error{Reason: RootUnreadable, Object: corpus.Name(corpusName, "."), Detail: err.Error(), Err: err}
	}
	o := &Observer{corpus: corpusName, volatile: volatile, options: options, root: root}
	o.buffers.New = func() any { return new(buffer) }
	return o, nil
}

// Close waits for the readings under way and releases the root. A second Close does nothing.
func (o *Observer) Close() error {
	o.inUse.Lock()
	defer o.inUse.Unlock()
	if o.root == nil {
		return nil
	}
	err := o.root.Close()
	o.root = nil
	return err
}

// Name is rehash.
func (o *Observer) Name() string { return "rehash" }

// Blind lists what readings cannot show, the volatile patterns by name.
func (o *Observer) Blind() []string {
	blind := []string{
		"change-and-restore between readings",
		"objects outside the corpus " + o.corpus,
		"reads",
		"who made a change",
		"times of objects, the owner and attributes of directories and links, and extended attributes that are no part of a state",
		"stores through a shared memory mapping that the system has not noticed yet, except in a full reading",
		"changes whose times a superuser or a remote file system has put back, except in a full reading",
	}
	for _, pattern := range o.volatile.Strings() {
		blind = append(blind, "volatile objects "+pattern)
	}
	return blind
}

// Read is the states of objects now, every byte of them read. An object below something that is no directory, a link
// included, is absent. Errors: *[Error] with object-invalid or root-unreadable; that of the context.
func (o *Observer) Read(ctx context.Context, objects []corpus.Object) ([]corpus.State, error) {
	for _, object := range objects {
		if object.Corpus() != o.corpus || !object.Valid() {
			return nil, &Error{Reason: ObjectInvalid, Object: object, Detail: fmt.Sprintf("not an object of the corpus %s", o.corpus)}
		}
	}
	o.inUse.RLock()
	defer o.inUse.RUnlock()
	if o.root == nil {
		return nil, o.closed()
	}
	states := make([]corpus.State, len(objects))
	for i, object := range objects {
		var err error
		if states[i], err = o.readOne(ctx, object.Path()); err != nil {
			return nil, err
		}
	}
	return states, nil
}

func (o *Observer) closed() error {
	return &Error{Reason: RootUnreadable, Object: corpus.Name(o.corpus, "."), Detail: "the observer is closed"}
}

func (o *Observer) readOne(ctx context.Context, at string) (corpus.State, error) {
	if at == "." {
		return stateOfRoot(o.root), ctx.Err()
	}
	dir := o.root
	if parent, name := path.Split(at); parent != "" {
		var err error
		if dir, err = o.root.Walk(parent[:len(parent)-1]); err != nil {
			return stateBelow(err), ctx.Err()
		}
		defer dir.Close()
		at = name
	}
	got, err := o.observe(ctx, dir, at, seen{})
	return got.state, err
}

// stateBelow is the state of what lies below something that was not opened as a directory.
func stateBelow(err error) corpus.State {
	switch reasonOf(err) {
	case beneath.NotFound, beneath.NotADirectory, beneath.FileLink, beneath.FileSpecial:
		return corpus.Absent
	}
	return corpus.Unreadable
}

func stateOfRoot(root *beneath.Dir) corpus.State {
	f, err := root.Facts()
	if err != nil {
		return corpus.Unreadable
	}
	return stateOfDirectory(f)
}

// Snapshot reads the whole corpus, of what is unchanged since the last snapshot only the fingerprint. Errors: *[Error] for
// a bound and root-unreadable; that of the context.
func (o *Observer) Snapshot(ctx context.Context) (*corpus.Snapshot, error) {
	return o.snapshot(ctx, false)
}

// Full reads the whole corpus and every byte of it, whatever the fingerprints say. Errors as of Snapshot.
func (o *Observer) Full(ctx context.Context) (*corpus.Snapshot, error) {
	return o.snapshot(ctx, true)
}

func (o *Observer) snapshot(ctx context.Context, full bool) (*corpus.Snapshot, error) {
	o.inUse.RLock()
	defer o.inUse.RUnlock()
	if o.root == nil {
		return nil, o.closed()
	}
	root, err := o.root.Again() // for a listing of its own
	if err != nil {
		return nil, &Error{Reason: RootUnreadable, Object: corpus.Name(o.corpus, "."), Detail: err.Error(), Err: err}
	}
	defer root.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &walk{Observer: o, full: full, stop: cancel}
	if last := o.known.Load(); last != nil {
		w.known = *last
	}
	if !w.known.few() {
		w.slots = make(chan struct{}, o.options.Workers-1)
	}
	if err := w.directory(ctx, root, place{corpus.Name(o.corpus, "."), o.corpus, 0}); err != nil {
		return nil, err
	}
	entries, found := w.result()
	o.known.Store(&found)
	return corpus.NewSnapshot(entries), nil
}
