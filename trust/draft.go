package trust

import (
	"fmt"
	"slices"
	"time"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
)

// Draft is a trust root that can still be extended. It is for bootstrap and
// for the operator's trust commands; nothing that decides about a skill or a
// call accepts one. A Draft is not safe for concurrent use. The zero value is
// locked.
type Draft struct {
	doc    Document
	scheme *label.Scheme
	// sealed is the digest of the last signed version, empty before the first.
	sealed string
	// pending counts entries and revocations since the last signed version.
	pending int
	open    bool
}

// NewDraft begins a chain: no signers, version 1 once signed.
func NewDraft(root PublicKey, scheme *label.Scheme) (*Draft, error) {
	if root.IsZero() {
		return nil, &Error{Reason: KeySize, Field: "/root", Detail: "a trust root needs a root key"}
	}
	return &Draft{
		doc:    Document{Schema: Schema, Version: 1, Root: root, Scheme: scheme.Data(), Signers: []Entry{}, Revocations: []Revocation{}},
		scheme: scheme, open: true,
	}, nil
}

// Open reads a whole chain, oldest first, and checks every document, every
// signature and every step. pin is the root key that is expected; the zero
// key accepts the one that version 1 names, which is only right where the
// caller has another reason to believe the file.
func Open(chain [][]byte, pin PublicKey) (*Draft, error) {
	if len(chain) == 0 {
		return nil, &Error{Reason: Empty, Detail: "no document; run iff init, or restore the trust directory"}
	}
	if len(chain) > MaxChain {
		return nil, &Error{Reason: TooMany, Detail: fmt.Sprintf("%d documents, at most %d", len(chain), MaxChain)}
	}
	var d *Draft
	for i, data := range chain {
		next, form, err := parseSigned(data)
		if err != nil {
			return nil, fmt.Errorf("trust document %d: %w", i+1, err)
		}
		if i == 0 {
			d, err = first(next, pin)
		} else {
			err = d.follow(next)
		}
		if err != nil {
			return nil, fmt.Errorf("trust document %d: %w", i+1, err)
		}
		d.sealed = digest(form)
	}
	return d, nil
}

func first(doc Document, pin PublicKey) (*Draft, error) {
	if doc.Version != 1 {
		return nil, &Error{Reason: VersionGap, Field: "/version", Detail: fmt.Sprintf("the chain begins at %d, not at 1", doc.Version)}
	}
	if doc.Previous != "" {
		return nil, &Error{Reason: BadPrevious, Field: "/previous", Detail: "version 1 follows nothing"}
	}
	if !pin.IsZero() && doc.Root != pin {
		return nil, &Error{Reason: RootChanged, Field: "/root", Detail: "the chain is signed by " + doc.Root.Fingerprint() + ", expected is " + pin.Fingerprint()}
	}
	scheme, err := label.NewScheme(doc.Scheme)
	if err != nil {
		return nil, fmt.Errorf("/scheme: %w", err)
	}
	if err := doc.check(scheme); err != nil {
		return nil, err
	}
	return &Draft{doc: doc, scheme: scheme, open: true}, nil
}

func (d *Draft) follow(next Document) error {
	if err := next.extends(d.doc, d.sealed); err != nil {
		return err
	}
	if err := next.check(d.scheme); err != nil {
		return err
	}
	d.doc = next
	return nil
}

// Add enters a signer.
func (d *Draft) Add(e Entry) error {
	return d.extend(func(doc *Document) { doc.Signers = append(doc.Signers, e.clone()) })
}

// Revoke ends a signer's authority.
func (d *Draft) Revoke(id string, at time.Time, why string) error {
	return d.extend(func(doc *Document) {
		doc.Revocations = append(doc.Revocations, Revocation{ID: id, At: FormatTime(at), Why: why})
	})
}

// extend applies a change to a copy, checks it, and keeps it only if it holds.
func (d *Draft) extend(change func(*Document)) error {
	if !d.open {
		return locked("nothing can be added")
	}
	next := d.doc
	next.Signers, next.Revocations = slices.Clone(d.doc.Signers), slices.Clone(d.doc.Revocations)
	change(&next)
	if err := next.check(d.scheme); err != nil {
		return err
	}
	d.doc = next
	d.pending++
	return nil
}

// Sign seals what was added as the next version and returns it in its stored
// form. The signer must hold the root key.
func (d *Draft) Sign(root Signer) ([]byte, error) {
	switch {
	case !d.open:
		return nil, locked("nothing can be signed")
	case root.Public() != d.doc.Root:
		return nil, &Error{Reason: RootChanged, Detail: root.Public().Fingerprint() + " is not the root key " + d.doc.Root.Fingerprint()}
	case d.sealed != "" && d.pending == 0:
		return nil, &Error{Reason: NothingNew, Detail: "nothing was added since version " + fmt.Sprint(d.doc.Version)}
	}
	next := d.doc
	if d.sealed != "" {
		next.Version++
		next.Previous = d.sealed
	}
	form, err := canonical.Marshal(next)
	if err != nil {
		return nil, malformed(err)
	}
	sig, err := Sign(root, DomainTrust, form)
	if err != nil {
		return nil, err
	}
	out, err := canonical.Pretty(signed{Document: next, Signature: sig})
	if err != nil {
		return nil, malformed(err)
	}
	d.doc, d.sealed, d.pending = next, digest(form), 0
	return out, nil
}

// Scheme is the chain's label scheme.
func (d *Draft) Scheme() *label.Scheme { return d.scheme }

// Lock ends the draft: it answers ErrLocked from now on, whatever the outcome
// of this call. Changes that were not signed are refused, reason
// trust-unsigned.
func (d *Draft) Lock() (*Root, error) {
	if !d.open {
		return nil, locked("it is locked once")
	}
	d.open = false
	if d.sealed == "" || d.pending > 0 {
		return nil, &Error{Reason: Unsigned, Detail: "the draft has changes that the root key has not signed"}
	}
	return newRoot(d.doc, d.scheme, d.sealed), nil
}

func locked(what string) error {
	return &Error{Reason: Locked, Detail: what + "; start again to change who is trusted", Err: ErrLocked}
}
