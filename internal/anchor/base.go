package anchor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/durable"
)

// base is what all anchors have: their log and the copy of what they hold.
type base struct {
	name string
	log  Log
	fsys durable.FS
	copy string // path of the copy

	putting sync.Mutex // held by Put
	broken  error      // why nothing is taken any more; guarded by putting
}

// Name is the anchor's.
func (b *base) Name() string { return b.name }

func (b *base) fail(r Reason, cause error, format string, args ...any) *Error {
	return &Error{Reason: r, Anchor: b.name, Detail: fmt.Sprintf(format, args...), Err: cause}
}

// copyName is the file of the copy: another place or key is another anchor.
func copyName(s Spec) string {
	sum := sha256.Sum256([]byte(s.Place + "\n" + s.Key))
	return hex.EncodeToString(sum[:16]) + ".checkpoint"
}

// kept is the copy; false if there is none.
func (b *base) kept(cosigner note.Verifier) (head, bool, error) {
	what := fmt.Sprintf("the copy %q", b.copy)
	data, err := readAll(b.fsys, b.copy)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, false, nil
	}
	if err != nil {
		return head{}, false, b.fail(Invalid, err, "%s cannot be read: %v; restore it, or remove it if nothing was lost", what, err)
	}
	h, err := b.opened(what, data, cosigner)
	return h, err == nil, err
}

// keep replaces the copy, making its directory the first time.
func (b *base) keep(data []byte) error {
	err := b.write(b.copy, data, 0o600)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := durable.Mkdir(b.fsys, filepath.Dir(b.copy), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return b.unwritable(err)
	}
	return b.write(b.copy, data, 0o600)
}

// write replaces a file durably.
func (b *base) write(path string, data []byte, perm fs.FileMode) error {
	if err := durable.WriteFile(b.fsys, path, data, perm); err != nil {
		return b.unwritable(err)
	}
	return nil
}

// unwritable is the error of a disk. One that does not confirm what was written ends the use of the anchor.
func (b *base) unwritable(err error) error {
	failed := b.fail(Unwritable, err, "%v", err)
	var lost *durable.SyncError
	if errors.As(err, &lost) {
		b.broken = failed
	}
	return failed
}

// follow says whether a checkpoint may take the place of one that the anchor holds or held, none if that is the zero head. It
// gives the proof that it asked for.
func (b *base) follow(ctx context.Context, held, given head, extend Extend) ([]tlog.Hash, error) {
	if held.size > given.size {
		return nil, b.contradiction(Rollback, held.note, "it holds size %d and the log offers size %d: the log was cut back; compare it with a copy", held.size, given.size)
	}
	if held.note != nil && held.size == given.size && held.root != given.root {
		return nil, b.contradiction(Forked, held.note, "at size %d it holds another root: the log was rewritten; compare it with a copy", held.size)
	}
	if held.size == 0 || held.size == given.size {
		return nil, nil
	}
	proof, err := b.prove(ctx, extend, held.size)
	if err != nil {
		return nil, err
	}
	if tlog.CheckTree(proof, given.size, given.root, held.size, held.root) != nil {
		return nil, b.contradiction(Forked, held.note, "the log of size %d does not extend the one of size %d that it holds: it was rewritten; compare it with a copy", given.size, held.size)
	}
	return proof, nil
}

func (b *base) contradiction(r Reason, held []byte, format string, args ...any) error {
	e := b.fail(r, nil, format, args...)
	e.Held = held
	return e
}

// remember has an error of Put, and keeps as the copy the signed checkpoint by which it proves that the log was changed: it must not be
// forgotten when the anchor is out of reach. A copy that is as large stays, for it proves as much.
func (b *base) remember(put error, cosigner note.Verifier) error {
	var e *Error
	if !errors.As(put, &e) || e.Held == nil || e.Reason != Rollback && e.Reason != Forked {
		return put
	}
	proven, err := b.opened("what contradicts the log", e.Held, cosigner)
	if err != nil {
		return put
	}
	copied, had, err := b.kept(cosigner)
	if err == nil && (!had || copied.size < proven.size) {
		err = b.keep(proven.note)
	}
	if err != nil {
		e.Err = err
		e.Detail += fmt.Sprintf("; the proof is in this error alone, for it could not be kept: %v", err)
	}
	return put
}

func (b *base) prove(ctx context.Context, extend Extend, old int64) ([]tlog.Hash, error) {
	if extend == nil {
		return nil, b.fail(Unproven, nil, "no proof from size %d was offered", old)
	}
	proof, err := extend(ctx, old)
	if err != nil {
		return nil, b.fail(Unproven, err, "there is no proof from size %d: %v", old, err)
	}
	return proof, nil
}

// newest asks the anchor and compares what it says with the copy, which is read first: a Put that runs beside it writes it last.
func (b *base) newest(cosigner note.Verifier, ask func() (head, bool, error)) (Vouched, bool, error) {
	copied, had, err := b.kept(cosigner)
	if err != nil {
		return Vouched{}, false, err
	}
	asked, ok, failed := ask()
	var e *Error
	switch {
	case had && errors.As(failed, &e) && (e.Reason == Unreachable || e.Reason == Refused):
		return b.vouched(copied, failed), true, nil
	case failed != nil:
		return Vouched{}, false, failed
	case had && (!ok || asked.size < copied.size):
		return b.vouched(copied, b.gone(asked, ok, copied)), true, nil
	case had && asked.size == copied.size && asked.root != copied.root:
		return Vouched{}, false, b.contradiction(Forked, asked.note, "at size %d it holds another root than before; keep both, the copy is %q", asked.size, b.copy)
	case !ok:
		return Vouched{}, false, nil
	}
	return b.vouched(asked, nil), true, nil
}

// gone is the error of an anchor that forgot.
func (b *base) gone(now head, ok bool, before head) error {
	holds := "nothing"
	if ok {
		holds = fmt.Sprintf("size %d", now.size)
	}
	return b.fail(Gone, nil, "it holds %s and held size %d; mount or restore it, or remove %q if the loss is known", holds, before.size, b.copy)
}

func (b *base) vouched(h head, offline error) Vouched {
	return Vouched{By: b.name, Note: bytes.Clone(h.note), Origin: b.log.Origin, Size: h.size, Root: h.root, Time: h.time, Offline: offline}
}

// readAll reads a file of at most maxNote bytes.
func readAll(fsys durable.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxNote+1))
	if err == nil && len(data) > maxNote {
		err = fmt.Errorf("more than %d bytes: %w", maxNote, durable.ErrTooLarge)
	}
	return data, err
}
