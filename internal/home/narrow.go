package home

import (
	"fmt"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/trust"
)

// Narrow takes the next document of the trust chain, if all that it adds is
// revocations, stores it and has the home go by it from then on. Repeating one
// whose storing was interrupted is allowed. To record it, and to take away what
// the revoked have signed, is the caller's. It may run beside Root and Terms.
// Errors are those of package trust, *Error if the chain in the home is not the
// one in force, or those of the file system; then nothing is in force that was
// not before.
func (h *Home) Narrow(doc []byte) (*trust.Root, error) {
	if h.log == nil {
		return nil, errReading
	}
	h.narrowing.Lock()
	defer h.narrowing.Unlock()
	now := h.Root()
	next, err := now.Narrow(doc)
	if err != nil {
		return nil, err
	}
	stored, err := h.storedRoot()
	if err != nil {
		return nil, err
	}
	switch {
	case isSame(stored, now):
		err = durable.WriteNew(h.fsys, h.trustPath(next.Version()), doc, 0o600)
	case isSame(stored, next): // it was stored, perhaps not for good
		err = h.fsys.SyncDir(h.trustDir())
	default:
		err = &Error{Reason: RolledBack, Path: trustDir, Detail: fmt.Sprintf("document %d there is not the one in force; restore it", stored.Version())}
	}
	if err != nil {
		return nil, err
	}
	if stored, err = h.storedRoot(); err != nil {
		return nil, err
	}
	if !isSame(stored, next) {
		return nil, &Error{Reason: RolledBack, Path: trustDir, Detail: fmt.Sprintf("document %d is not the one that was stored; restore it", next.Version())}
	}
	h.root.Store(next)
	return next, nil
}

// storedRoot reads the chain again, from its first document.
func (h *Home) storedRoot() (*trust.Root, error) {
	draft, err := h.openTrust()
	if err != nil {
		return nil, err
	}
	return draft.Lock()
}

func isSame(a, b *trust.Root) bool {
	return a.Version() == b.Version() && a.Digest() == b.Digest() && a.Key() == b.Key()
}
