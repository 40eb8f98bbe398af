package witness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/durable"
)

// Options are what [Open] needs to know beside the directory.
type Options struct {
	// Name is the key name of the witness, such as witness.example/w1. It is needed when the directory is new; later it may be
	// empty, or must be the same.
	Name string
	// Logs are the verifier keys of the logs to cosign, as signed-note spells them, Ed25519 only. The name of a key is the
	// origin of its log; a log may have several keys. Logs that are left out stay remembered and are answered 404.
	Logs []string
	// Event, unless nil, is called after each add-checkpoint request, by several goroutines at once. The request ends when it
	// returns, so it must not wait for a server to close.
	Event func(Event)
}

// Event tells what became of a request; with no Outcome it is something else that a [Server] has to say, in Err.
type Event struct {
	Outcome Outcome
	Origin  string    // of the log; empty if the request was not understood or no log is known by it
	Size    int64     // of the checkpoint that was sent
	Root    tlog.Hash // of the checkpoint that was sent
	Held    int64     // size of the newest cosigned checkpoint before the request
	// Evidence is the file in which a contradicting checkpoint is kept; the one that it contradicts ends in .held. Empty if
	// none was kept.
	Evidence string
	Err      error // what the disk refused, or why evidence was not kept; nil if nothing
}

// Witness cosigns checkpoints. Make one with [Open]. It is an http.Handler.
type Witness struct {
	fsys  durable.FS
	dir   string
	key   *cosigner
	event func(Event)
	lock  io.Closer
	logs  map[string]*logState // by origin; the map itself does not change

	mu      sync.Mutex // guards what follows and what logs point to, the files of logs, origins and evidence included
	stopped error      // why nothing is cosigned any more
	listed  []string   // the names in the file origins, sorted
}

// logState is what is remembered of a log.
type logState struct {
	vkeys    []string
	list     []note.Verifier // of vkeys
	keys     note.Verifiers  // of list
	held     head
	note     []byte          // the cosigned checkpoint of held; nil if there is none
	evidence map[Outcome]int // how many are kept
}

// Open takes the state directory of a witness, making it (mode 0700, its parent must exist) and the key if they are not there.
// Its errors are *[Error]: witness-busy, witness-unreadable, witness-key, witness-log, witness-state. Close gives the directory
// free.
func Open(fsys durable.FS, dir string, opts Options) (*Witness, error) {
	w := &Witness{fsys: fsys, dir: dir, event: opts.Event, logs: map[string]*logState{}}
	if w.event == nil {
		w.event = func(Event) {}
	}
	for _, vkey := range opts.Logs {
		if err := w.addLog(vkey); err != nil {
			return nil, err
		}
	}
	if err := w.makeDirectory(dir); err != nil {
		return nil, err
	}
	var err error
	if w.lock, err = fsys.Lock(w.path("lock")); err != nil {
		return nil, notLocked(w.path("lock"), err)
	}
	if err := w.load(opts.Name); err != nil {
		return nil, errors.Join(err, w.lock.Close())
	}
	return w, nil
}

func notLocked(path string, err error) error {
	var busy *durable.BusyError
	if errors.As(err, &busy) {
		return &Error{Busy, path, "another process is this witness; end it, or name another directory", err}
	}
	return unreadable(path, err)
}

// addLog takes one more key, perhaps of a log that has one already.
func (w *Witness) addLog(vkey string) error {
	v, err := parseLog(vkey)
	if err != nil {
		return &Error{LogInvalid, "", fmt.Sprintf("%.200q: %v; copy the log's verifier key again", vkey, err), err}
	}
	l := w.logs[v.Name()]
	if l == nil {
		l = &logState{held: none(v.Name()), evidence: map[Outcome]int{}}
		w.logs[v.Name()] = l
	}
	if slices.Contains(l.vkeys, vkey) {
		return nil
	}
	if slices.ContainsFunc(l.list, func(known note.Verifier) bool { return known.KeyHash() == v.KeyHash() }) {
		return &Error{LogInvalid, "", fmt.Sprintf("%.200q: another key of this log has the same id; leave one out", vkey), nil}
	}
	l.vkeys, l.list = append(l.vkeys, vkey), append(l.list, v)
	l.keys = note.VerifierList(l.list...)
	return nil
}

// VerifierKey is the witness's own verifier key, as tlog-cosignature has it (type 4).
func (w *Witness) VerifierKey() string { return w.key.vkey }

// Name is the key name.
func (w *Witness) Name() string { return w.key.signer.Name() }

// Newest is the newest cosigned checkpoint of a log with the cosignature, nil if there is none.
func (w *Witness) Newest(origin string) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.logs[origin]; l != nil {
		return bytes.Clone(l.note)
	}
	return nil
}

// Close stops cosigning and gives the directory free. Close a [Server] first. A second Close does nothing.
func (w *Witness) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped == nil {
		w.stopped = &Error{Stopped, "", "the witness is closed; start it again", nil}
	}
	if w.lock == nil {
		return nil
	}
	lock := w.lock
	w.lock = nil
	return lock.Close()
}

// steps are the two halves of cosigning. Tests replace them by wrong ones.
type steps struct {
	judge func(held, given head, old int64, proof tlog.TreeProof) Outcome
	keep  func(w *Witness, origin string, cosigned []byte) error
}

// cosign answers an add-checkpoint request: the lines to send if the outcome is Cosigned, the sentence that says why not if it is
// another.
func (w *Witness) cosign(s steps, body []byte) (answer []byte, e Event) {
	e.Outcome = Malformed
	r, err := parseRequest(body)
	if err != nil {
		return sentence("the request is malformed: %v", err), e
	}
	given, err := parseNote(r.note)
	if err != nil {
		return sentence("the request is malformed: %v", err), e
	}
	l := w.logs[given.origin]
	if l == nil {
		e.Outcome = Unknown
		return sentence("no log of this origin is known here; give the witness its verifier key"), e
	}
	e.Origin, e.Size, e.Root, e.Outcome = given.origin, given.size, given.root, Unsigned
	signed, err := note.Open(r.note, l.keys)
	if err != nil {
		return sentence("the checkpoint is not signed by a key of its log that is known here: %v", err), e
	}
	signed.UnverifiedSigs = nil
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.decide(s, l, given, r, signed, e)
}

// decide is the step that no other request comes between.
func (w *Witness) decide(s steps, l *logState, given head, r request, signed *note.Note, e Event) ([]byte, Event) {
	if w.stopped != nil {
		e.Outcome, e.Err = NotStored, w.stopped
		return notStored(), e
	}
	e.Held = l.held.size
	e.Outcome = s.judge(l.held, given, r.old, r.proof)
	if e.Outcome != Cosigned {
		if contradicts(e.Outcome, l.held, given) {
			e.Evidence, e.Err = w.keepEvidence(l, e.Outcome, signed)
		}
		return w.refusal(l, e.Outcome), e
	}
	cosigned, err := note.Sign(signed, w.key.signer)
	if err == nil {
		err = w.watch(s.keep(w, given.origin, cosigned))
	}
	if err != nil {
		e.Outcome, e.Err = NotStored, err
		return notStored(), e
	}
	l.held, l.note = given, cosigned
	return cosigned[bytes.LastIndexByte(cosigned[:len(cosigned)-1], '\n')+1:], e
}

// watch stops the witness if the disk did not confirm a write. The lock is held.
func (w *Witness) watch(err error) error {
	var lost *durable.SyncError
	if errors.As(err, &lost) && w.stopped == nil {
		w.stopped = &Error{Stopped, "", lost.Error(), err}
	}
	return err
}

func (w *Witness) refusal(l *logState, o Outcome) []byte {
	switch o {
	case Conflict, Forked:
		return fmt.Appendf(nil, "%d\n", l.held.size)
	case Malformed:
		return sentence("the old size is larger than the checkpoint")
	}
	return sentence("the proof does not show that the checkpoint extends the newest one cosigned here")
}

func notStored() []byte {
	return sentence("nothing was cosigned, because it could not be made durable; ask the operator of the witness")
}

func sentence(format string, args ...any) []byte { return fmt.Appendf(nil, format+"\n", args...) }

func (w *Witness) path(name ...string) string {
	return filepath.Join(append([]string{w.dir}, name...)...)
}

// origins are those of the logs to cosign, sorted.
func (w *Witness) origins() []string { return slices.Sorted(maps.Keys(w.logs)) }
