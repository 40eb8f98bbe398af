package fs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// Bounds.
const (
	MaxRead    = 1 << 20  // bytes that one read tells
	MaxList    = 10_000   // entries that one list tells
	MaxTree    = 10_000   // objects that one call deletes or renames
	MaxWritten = 64 << 20 // bytes of a file that is written
	MaxCopy    = 16 << 20 // bytes of one object that a plan keeps
	MaxCopies  = 64 << 20 // bytes that one plan keeps, before and after each
)

// Root is where a corpus lies.
type Root struct {
	Corpus   string          // as in targets: a-z, 0-9, hyphen, up to 32
	Dir      string          // links in it are followed once, by New
	Volatile corpus.Patterns // what no call writes to
}

// Host does the file calls of some corpora. It is safe for concurrent use. The
// zero value and a closed host refuse everything.
type Host struct {
	sys      sys
	uid, gid uint32
	syncs    syncs
	calls    calls
	blocks   sync.Pool // of *block

	closing sync.RWMutex // held for writing by Close, for reading by who uses a root
	roots   map[string]*root
}

var _ gate.Host = (*Host)(nil)

// root is one corpus.
type root struct {
	Root
	fd    int
	folds bool // takes two spellings for one name, or may
}

// New opens the roots. It fails for a name that is none, for two of one name,
// and where a root lies in another; the caller closes what it returns.
func New(roots []Root) (*Host, error) {
	s, err := system()
	if err != nil {
		return nil, fmt.Errorf("files on this system: %w", err)
	}
	return newHost(s, roots)
}

func newHost(s sys, roots []Root) (*Host, error) {
	h := &Host{sys: s, uid: uint32(os.Geteuid()), gid: uint32(os.Getegid()), roots: map[string]*root{}}
	var dirs []string
	for _, r := range roots {
		dir, err := h.add(r)
		for _, other := range dirs {
			if err == nil && (within(dir, other) || within(other, dir)) {
				err = fmt.Errorf("corpus %s: %s and %s lie in one another; give each corpus a directory of its own", r.Corpus, dir, other)
			}
		}
		if err != nil {
			h.Close()
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	return h, nil
}

func (h *Host) add(r Root) (string, error) {
	if _, err := capability.Path(capability.FSRead, r.Corpus, "."); err != nil {
		return "", fmt.Errorf("corpus %q: %w", r.Corpus, err)
	}
	if h.roots[r.Corpus] != nil {
		return "", fmt.Errorf("corpus %s is there twice; give each its own name", r.Corpus)
	}
	dir, err := filepath.Abs(r.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("corpus %s: %w", r.Corpus, err)
	}
	fd, err := h.sys.root(dir)
	if err != nil {
		return "", fmt.Errorf("corpus %s: %s: %w", r.Corpus, dir, err)
	}
	h.roots[r.Corpus] = &root{Root: r, fd: fd, folds: h.probe(fd)}
	return dir, nil
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// Close waits for calls under way and closes the roots.
func (h *Host) Close() {
	h.closing.Lock()
	defer h.closing.Unlock()
	for _, r := range h.roots {
		h.sys.close(r.fd)
	}
	h.roots = nil
}

// use finds the corpus of an object and keeps it open until done is called.
func (h *Host) use(o corpus.Object) (*root, error) {
	h.closing.RLock()
	r := h.roots[o.Corpus()]
	if r != nil {
		return r, nil
	}
	defer h.done()
	if h.roots == nil {
		return nil, errClosed
	}
	return nil, wrong(gate.NoCorpus, "corpus %q is none of this runtime's", o.Corpus())
}

func (h *Host) done() { h.closing.RUnlock() }

// Touches implements [gate.Host]. Reads of a listing are the directory alone.
func (h *Host) Touches(env capability.Envelope) (gate.Touches, error) {
	c, err := h.calls.of(env)
	if err != nil {
		return gate.Touches{}, refusal(c.object, err)
	}
	_, err = h.use(c.object)
	if err != nil {
		return gate.Touches{}, refusal(c.object, err)
	}
	defer h.done()
	t := gate.Touches{Op: c.op, Reversible: c.reversible()}
	switch {
	case c.reads():
		t.Reads, t.Outline = []corpus.Object{c.object}, c.op != opRead
	case c.op == opRename:
		t.Changes = []corpus.Object{c.object, c.to}
	default:
		t.Changes = []corpus.Object{c.object}
	}
	return t, nil
}

// Do implements [gate.Host]: it takes the permit and does its order.
func (h *Host) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	order, err := p.Take()
	if err != nil {
		return gate.Result{}, err
	}
	return h.do(ctx, order)
}

func (h *Host) do(ctx context.Context, o gate.Order) (gate.Result, error) {
	c, err := h.calls.of(o.Envelope)
	if err != nil {
		return gate.Result{}, refusal("", err)
	}
	r, err := h.use(c.object)
	if err != nil {
		return gate.Result{}, refusal(c.object, err)
	}
	defer h.done()
	if c.reads() != (o.Phase == gate.Read) {
		return gate.Result{}, refusal(c.object, wrong(gate.HostFailed, "op %s has no phase %q", c.op, o.Phase))
	}
	if c.reads() {
		return h.read(ctx, r, c, o.Staged)
	}
	return h.perform(ctx, r, c, o)
}
