package trust

import (
	"fmt"
	"time"

	"github.com/iff-run/iff/label"
)

// Root is a locked trust root: immutable, safe for concurrent use. The zero
// value trusts nobody.
type Root struct {
	doc    Document
	scheme *label.Scheme
	digest string
	byID   map[string]int
	byKey  map[PublicKey]int
	gone   map[string]Revocation
}

func newRoot(doc Document, scheme *label.Scheme, sealed string) *Root {
	r := &Root{
		doc: doc, scheme: scheme, digest: sealed,
		byID: make(map[string]int), byKey: make(map[PublicKey]int), gone: make(map[string]Revocation),
	}
	for i, e := range doc.Signers {
		r.byID[e.ID], r.byKey[e.PublicKey] = i, i
	}
	for _, v := range doc.Revocations {
		r.gone[v.ID] = v
	}
	return r
}

// Version is the chain's last version; 0 for the zero value.
func (r *Root) Version() int64 { return r.doc.Version }

// Digest is the hex SHA-256 of the last document's canonical form.
func (r *Root) Digest() string { return r.digest }

// Key is the root key.
func (r *Root) Key() PublicKey { return r.doc.Root }

// Scheme is the label scheme of everything under this root; nil for the zero
// value.
func (r *Root) Scheme() *label.Scheme { return r.scheme }

// Entries returns a copy of the signers in the order they were entered,
// revoked ones included.
func (r *Root) Entries() []Entry {
	out := make([]Entry, len(r.doc.Signers))
	for i, e := range r.doc.Signers {
		out[i] = e.clone()
	}
	return out
}

// Revoked returns the revocation of a signer, if there is one.
func (r *Root) Revoked(id string) (Revocation, bool) {
	v, ok := r.gone[id]
	return v, ok
}

// ByKey finds the signer of a public key, revoked or not.
func (r *Root) ByKey(k PublicKey) (Entry, bool) {
	i, ok := r.byKey[k]
	if !ok || k.IsZero() {
		return Entry{}, false
	}
	return r.doc.Signers[i].clone(), true
}

// Signer resolves a key identifier at a time. The error is *Error with reason
// signer-unknown, signer-revoked or signer-expired.
func (r *Root) Signer(id string, now time.Time) (Entry, error) {
	i, ok := r.byID[id]
	if !ok {
		return Entry{}, &Error{Reason: SignerUnknown, Detail: fmt.Sprintf("%q is not in trust root %d", id, r.Version())}
	}
	if v, ok := r.gone[id]; ok {
		return Entry{}, &Error{Reason: SignerRevoked, Detail: fmt.Sprintf("%s was revoked at %s", id, v.At)}
	}
	e := r.doc.Signers[i]
	if now.IsZero() || e.expired(now) {
		return Entry{}, &Error{Reason: SignerExpired, Detail: fmt.Sprintf("%s was valid until %s", id, e.NotAfter)}
	}
	return e.clone(), nil
}

// Clearance is the greatest label that an entry of this root may sign; absent
// if the entry is not of this root's scheme.
func (r *Root) Clearance(e Entry) label.Label {
	if r.scheme == nil {
		return label.Label{}
	}
	l, err := r.scheme.FromParts(e.Clearance)
	if err != nil {
		return label.Label{}
	}
	return l
}

// Narrow takes the next signed document of the chain if all that it adds is
// revocations. The receiver does not change. A document that adds a signer is
// refused with [ErrLocked].
func (r *Root) Narrow(data []byte) (*Root, error) {
	next, form, err := parseSigned(data)
	if err != nil {
		return nil, err
	}
	if err := next.extends(r.doc, r.digest); err != nil {
		return nil, err
	}
	if err := next.check(r.scheme); err != nil {
		return nil, err
	}
	if len(next.Signers) > len(r.doc.Signers) {
		return nil, locked("document " + fmt.Sprint(next.Version) + " adds signer " + next.Signers[len(r.doc.Signers)].ID)
	}
	return newRoot(next, r.scheme, digest(form)), nil
}
