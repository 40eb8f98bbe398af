package rehash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/beneath"
)

const (
	attempts  = 6
	firstRest = time.Millisecond // before the second attempt; twice as long before each further one

	// settle is how old a change must be for the next one to carry another time: two ticks of the slowest usual clock.
	settle = 20 * time.Millisecond

	maxXattrs = 1 << 20 // bytes of names and values of one object
)

// buffer is what files are read into, piece by piece.
type buffer [32 << 10]byte

// seen is one object as it was found. Fresh facts are no fingerprint.
type seen struct {
	facts   beneath.Facts
	state   corpus.State
	settled bool // facts tell this state from every later one
}

// prints is what a snapshot found, by name. It holds every object, those without fingerprint too.
type prints map[corpus.Object]*object

// few says that what was found is too little to share it among goroutines.
func (p prints) few() bool {
	size := int64(0)
	for _, o := range p {
		if size += o.facts.Size; size > fewBytes {
			return false
		}
	}
	return len(p) > 0 && len(p) < batch
}

// fewBytes is the most of that; to read as much takes about as long as to look at a batch of objects.
const fewBytes = 1 << 20

// observe is the child name of dir, or was if that is its fingerprint. The error is the context's.
func (o *Observer) observe(ctx context.Context, dir *beneath.Dir, name string, was seen) (seen, error) {
	for attempt := range attempts {
		if err := rest(ctx, attempt); err != nil {
			return seen{}, err
		}
		at := o.options.Now()
		facts, err := dir.Lstat(name)
		if err != nil {
			return seen{state: stateBelow(err)}, nil
		}
		if was.settled && was.facts == facts {
			return was, nil
		}
		state, err := o.state(ctx, dir, name, facts)
		if err == nil {
			return seen{facts, state, settled(facts, at)}, nil
		}
		if ctx.Err() != nil {
			return seen{}, context.Cause(ctx)
		}
		if again, lerr := dir.Lstat(name); lerr == nil && again == facts && reasonOf(err) != beneath.FileChanging {
			return seen{facts: facts, state: corpus.Unreadable}, nil // it is at rest, and still
		}
	}
	return seen{state: corpus.Unreadable}, nil
}

// settled says whether a change after the moment of the look must show in the times.
func settled(f beneath.Facts, look time.Time) bool { return look.Sub(f.Stamp.Changed()) > settle }

// rest waits before every attempt but the first.
func rest(ctx context.Context, attempt int) error {
	if attempt > 0 {
		timer := time.NewTimer(firstRest << (attempt - 1))
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func reasonOf(err error) beneath.Reason {
	if e, ok := errors.AsType[*beneath.Error](err); ok {
		return e.Reason
	}
	return ""
}

var (
	errMount   = errors.New("a mount starts there")
	errKind    = errors.New("no kind that a state has")
	errChanged = &beneath.Error{Reason: beneath.FileChanging, Detail: "it changed while it was read"}
)

// state is that of the child name, which is what facts say before and after, or an error.
func (o *Observer) state(ctx context.Context, dir *beneath.Dir, name string, facts beneath.Facts) (corpus.State, error) {
	if facts.Mount {
		return "", errMount
	}
	switch facts.Kind {
	case beneath.Directory:
		return stateOfDirectory(facts), nil
	case beneath.Regular:
		return o.stateOfFile(ctx, dir, name, facts)
	}
	state, err := stateUnopened(dir, name, facts)
	if err != nil {
		return "", err
	}
	if after, err := dir.Lstat(name); err != nil || after != facts {
		return "", errChanged
	}
	return state, nil
}

func stateOfDirectory(facts beneath.Facts) corpus.State {
	return corpus.Facts{Kind: corpus.Directory, Mode: facts.Mode}.State()
}

// stateUnopened is that of a link or special file.
func stateUnopened(dir *beneath.Dir, name string, facts beneath.Facts) (corpus.State, error) {
	var kind string
	switch {
	case facts.Kind == beneath.Link:
		text, err := dir.Readlink(name)
		return corpus.Facts{Kind: corpus.Link, Content: sha256.Sum256([]byte(text))}.State(), err
	case facts.Kind == beneath.FIFO:
		kind = "fifo"
	case facts.Kind == beneath.Socket:
		kind = "socket"
	case facts.Kind == beneath.Device && facts.Block:
		kind = "block"
	case facts.Kind == beneath.Device:
		kind = "char"
	default:
		return "", errKind
	}
	var rdev uint64
	if facts.Kind == beneath.Device {
		rdev = facts.Rdev
	}
	attrs, err := dir.Xattrs(name, corpus.Counts, maxXattrs)
	return corpus.Facts{
		Kind: corpus.Special, Mode: facts.Mode, UID: facts.UID, GID: facts.GID,
		Xattrs: digestOf(attrs), Content: corpus.SpecialContent(kind, rdev),
	}.State(), err
}

func digestOf(attrs []beneath.Xattr) corpus.Digest {
	if len(attrs) == 0 {
		return corpus.Digest{}
	}
	counted := make([]corpus.Xattr, len(attrs))
	for i, a := range attrs {
		counted[i] = corpus.Xattr(a)
	}
	return corpus.XattrDigest(counted)
}

func (o *Observer) stateOfFile(ctx context.Context, dir *beneath.Dir, name string, facts beneath.Facts) (corpus.State, error) {
	f, err := dir.Stream(name, facts)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return o.stateOfStream(ctx, f, facts)
}

// listed is observe for what a listing says is a file, with one look less: the opened file is what is looked at before and
// after. It is false for what is something else by now, or not at rest: then observe finds out what it is.
func (o *Observer) listed(ctx context.Context, dir *beneath.Dir, name string) (seen, bool) {
	at := o.options.Now()
	f, facts, err := dir.StreamListed(name)
	if err != nil {
		return seen{}, false
	}
	defer f.Close()
	state, err := o.stateOfStream(ctx, &f, facts)
	return seen{facts, state, settled(facts, at)}, err == nil
}

// stateOfStream reads an open file, which is what facts say before and after.
func (o *Observer) stateOfStream(ctx context.Context, f *beneath.Stream, facts beneath.Facts) (corpus.State, error) {
	content, err := o.content(ctx, f, facts.Size)
	if err != nil {
		return "", err
	}
	attrs, err := f.Xattrs(corpus.Counts, maxXattrs)
	if err != nil {
		return "", err
	}
	if err := f.Unchanged(); err != nil {
		return "", err
	}
	return corpus.Facts{
		Kind: corpus.File, Mode: facts.Mode, UID: facts.UID, GID: facts.GID,
		Xattrs: digestOf(attrs), Content: content,
	}.State(), nil
}

// content digests exactly size bytes, and where the times alone would not show a further change sees to it that another reading
// finds the same. That the file ends behind them another look must show, unless it was longer already.
func (o *Observer) content(ctx context.Context, f *beneath.Stream, size int64) (corpus.Digest, error) {
	b := o.buffers.Get().(*buffer)
	defer o.buffers.Put(b)
	if half := len(b) / 2; whole(f, b[:half], size) { // as most are
		if again := b[half:]; f.Recent() && (!whole(f, again, size) || !bytes.Equal(b[:size], again[:size])) {
			return corpus.Digest{}, errChanged
		}
		return sha256.Sum256(b[:size]), nil
	}
	first, err := hash(ctx, f, b, size)
	if err == nil && f.Recent() {
		if again, err := hash(ctx, f, b, size); err != nil || again != first {
			return corpus.Digest{}, errChanged
		}
	}
	return first, err
}

// whole reads a file of this size into b at one go, and says whether that was possible.
func whole(f *beneath.Stream, b []byte, size int64) bool {
	if size >= int64(len(b)) {
		return false
	}
	n, err := f.ReadSome(b[:size+1], 0)
	return int64(n) == size && (err == nil || err == io.EOF)
}

// hash reads piece by piece.
func hash(ctx context.Context, f *beneath.Stream, b *buffer, size int64) (corpus.Digest, error) {
	h := sha256.New()
	for off := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return corpus.Digest{}, err
		}
		n, err := f.ReadSome(b[:], off)
		h.Write(b[:n])
		off += int64(n)
		switch {
		case off > size || err == io.EOF && off < size:
			return corpus.Digest{}, errChanged
		case err == io.EOF:
			return corpus.Digest(h.Sum(nil)), nil
		case err != nil:
			return corpus.Digest{}, err
		}
	}
}
