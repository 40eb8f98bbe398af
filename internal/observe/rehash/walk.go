package rehash

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/beneath"
)

// batch is how many entries of one directory a goroutine takes at once.
const batch = 256

// walk is one snapshot under way.
type walk struct {
	*Observer
	known prints // what is here is not volatile
	full  bool   // fingerprints do not count
	stop  context.CancelCauseFunc
	slots chan struct{} // one for each goroutine beside the caller's; nil has none

	mu    sync.Mutex // guards found and count
	found [][]object
	count int
}

type object struct {
	name corpus.Object
	seen
}

// place is where a directory is: its object, what stands before the slash in the names of its children, and how many names
// below the root it lies.
type place struct {
	object corpus.Object
	prefix string
	depth  int
}

// each runs f for 0 to n-1, as many at once as there are slots, the rest itself. It returns when all have; the first error
// ends the walk.
func (w *walk) each(ctx context.Context, n int, f func(i int) error) error {
	var others sync.WaitGroup
	run := func(i int) {
		if ctx.Err() != nil {
			return
		}
		if err := f(i); err != nil {
			w.stop(err)
		}
	}
	for i := range n - 1 {
		select {
		case w.slots <- struct{}{}:
			others.Go(func() {
				defer func() { <-w.slots }()
				run(i)
			})
		default:
			run(i)
		}
	}
	if n > 0 {
		run(n - 1) // beside which there is nothing left to do
	}
	others.Wait()
	return context.Cause(ctx)
}

// directory records the directory and everything below it.
func (w *walk) directory(ctx context.Context, dir *beneath.Dir, at place) error {
	state, files, below, err := w.children(ctx, dir, at)
	if err != nil {
		return err
	}
	files = append(files, object{at.object, seen{state: state}})
	if err := w.record(files); err != nil {
		return err
	}
	if len(below) == 0 { // as in most
		return context.Cause(ctx)
	}
	return w.each(ctx, len(below), func(i int) error { return w.enter(ctx, dir, below[i], at.depth+1) })
}

// children lists a directory and observes what is in it until the listing is the same before and after: the directory's
// own state, what is no directory, and the directories.
func (w *walk) children(ctx context.Context, dir *beneath.Dir, at place) (state corpus.State, files []object, below []corpus.Object, err error) {
	for attempt := range attempts {
		if err := rest(ctx, attempt); err != nil {
			return "", nil, nil, err
		}
		before, err := dir.Facts()
		if err != nil {
			return corpus.Unreadable, nil, nil, nil
		}
		entries, err := dir.Entries(w.options.Objects)
		switch reasonOf(err) {
		case "":
		case beneath.TooManyEntries:
			return "", nil, nil, w.beyond(TooManyObjects, at.object, w.options.Objects, "objects")
		case beneath.FileChanging:
			continue
		default:
			return corpus.Unreadable, nil, nil, nil
		}
		if files, below, err = w.look(ctx, dir, at, entries); err != nil {
			return "", nil, nil, err
		}
		if w.rested(dir, before, entries) {
			return stateOfDirectory(before), files, below, nil
		}
	}
	return corpus.Unreadable, files, below, nil
}

// rested says whether the listing held from before to now.
func (w *walk) rested(dir *beneath.Dir, before beneath.Facts, entries []beneath.Entry) bool {
	now := w.options.Now()
	after, err := dir.Facts()
	if err != nil || before != after {
		return false
	}
	if settled(before, now) {
		return true
	}
	again, err := dir.Entries(w.options.Objects)
	return err == nil && slices.Equal(entries, again)
}

// look observes the entries of a directory: what is no directory, and the directories.
func (w *walk) look(ctx context.Context, dir *beneath.Dir, at place, entries []beneath.Entry) ([]object, []corpus.Object, error) {
	if len(entries) <= batch { // as in most directories
		return w.lookAt(ctx, dir, at, entries)
	}
	parts := slices.Collect(slices.Chunk(entries, batch))
	files, below := make([][]object, len(parts)), make([][]corpus.Object, len(parts))
	err := w.each(ctx, len(parts), func(i int) (err error) {
		files[i], below[i], err = w.lookAt(ctx, dir, at, parts[i])
		return err
	})
	return slices.Concat(files...), slices.Concat(below...), err
}

// lookAt is look, one entry after the other.
func (w *walk) lookAt(ctx context.Context, dir *beneath.Dir, at place, entries []beneath.Entry) (files []object, below []corpus.Object, err error) {
	files = make([]object, 0, len(entries)+1) // room for the directory itself
	for _, e := range entries {
		name, last := w.child(at, e.Name)
		was := seen{}
		if last != nil && !w.full {
			was = last.seen
		}
		if last == nil && w.volatile.Names(name.Path()) { // what stands above it is not, or it would not be walked
			continue
		}
		switch {
		case at.depth == w.options.Depth:
			return nil, nil, w.beyond(TooDeep, name, w.options.Depth, "names deep")
		case len(name) > w.options.Name:
			return nil, nil, w.beyond(NameTooLong, name, w.options.Name, "bytes long")
		}
		if e.Kind == beneath.Directory { // or not: to open it will show
			below = append(below, name)
			continue
		}
		now, done := seen{}, false
		if e.Kind == beneath.Regular && !was.settled { // which must be read in any case
			now, done = w.listed(ctx, dir, e.Name)
		}
		if !done {
			if now, err = w.observe(ctx, dir, e.Name, was); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case now.facts.Kind == beneath.Directory && now.state != corpus.Unreadable:
			below = append(below, name)
		case now.state != corpus.Absent:
			files = append(files, object{name, now})
		}
	}
	return files, below, nil
}

// child names what a directory holds, and says what the last walk found under that name; nil if there was nothing. A name that
// was found before is not made again. One with a backslash is spelled in another way, and as it is may be another's spelling.
func (w *walk) child(at place, name string) (corpus.Object, *object) {
	if strings.IndexByte(name, '\\') < 0 {
		var room [128]byte
		text := append(append(append(room[:0], at.prefix...), '/'), name...)
		if last := w.known[corpus.Object(text)]; last != nil {
			return last.name, last
		}
	}
	object := corpus.Name(at.prefix, name)
	return object, w.known[object]
}

// enter walks into a directory, or records what has taken its place.
func (w *walk) enter(ctx context.Context, dir *beneath.Dir, name corpus.Object, depth int) error {
	last := path.Base(name.Path())
	now := seen{state: corpus.Unreadable}
	for attempt := range attempts {
		if err := rest(ctx, attempt); err != nil {
			return err
		}
		sub, err := dir.Dir(last)
		if err == nil {
			defer sub.Close()
			return w.directory(ctx, sub, place{name, string(name), depth})
		}
		if stateBelow(err) == corpus.Unreadable && reasonOf(err) != beneath.FileChanging {
			break
		}
		other, err := w.observe(ctx, dir, last, seen{})
		if err != nil {
			return err
		}
		if other.facts.Kind != beneath.Directory {
			now = other
			break
		}
	}
	if now.state == corpus.Absent {
		return nil
	}
	return w.record([]object{{name, now}})
}

// record keeps what was found, within the bound.
func (w *walk) record(found []object) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count += len(found)
	if w.count > w.options.Objects {
		return w.beyond(TooManyObjects, found[0].name, w.options.Objects, "objects")
	}
	w.found = append(w.found, found)
	return nil
}

func (w *walk) beyond(reason Reason, at corpus.Object, bound int, what string) error {
	return &Error{Reason: reason, Object: at, Detail: fmt.Sprintf("more than %d %s", bound, what)}
}

// result is all that was found, in no order for the snapshot, and for the next walk.
func (w *walk) result() ([]corpus.Entry, prints) {
	entries, all := make([]corpus.Entry, 0, w.count), make(prints, w.count)
	for _, part := range w.found {
		for i := range part {
			o := &part[i]
			entries = append(entries, corpus.Entry{Object: o.name, State: o.seen.state})
			all[o.name] = o
		}
	}
	return entries, all
}
