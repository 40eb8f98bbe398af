package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
)

// Schema names the document format.
const Schema = "iff/trust/v1"

// MaxDocument bounds a stored document, in bytes.
const MaxDocument = 4 << 20

// MaxChain bounds the number of documents.
const MaxChain = 4096

// Document is the content of one version. It is data: only [Open] and
// [Draft.Sign] decide what it is worth.
type Document struct {
	Schema      string           `json:"schema"`
	Version     int64            `json:"version"`
	Previous    string           `json:"previous,omitzero"`
	Root        PublicKey        `json:"root"`
	Scheme      label.SchemeData `json:"scheme"`
	Signers     []Entry          `json:"signers"`
	Revocations []Revocation     `json:"revocations"`
}

// signed is the stored form of a document.
type signed struct {
	Document  Document  `json:"document"`
	Signature Signature `json:"signature"`
}

// parseSigned reads one stored document and checks its signature against the
// root key that it names; whether that is the right root is Open's business.
func parseSigned(data []byte) (Document, []byte, error) {
	var s signed
	if err := canonical.Parse(data, &s, canonical.Limits{Bytes: MaxDocument}); err != nil {
		return Document{}, nil, malformed(err)
	}
	if s.Document.Schema != Schema {
		return Document{}, nil, &Error{Reason: SchemaUnknown, Field: "/document/schema", Detail: fmt.Sprintf("%q; this program reads %q", s.Document.Schema, Schema)}
	}
	form, err := canonical.Marshal(s.Document)
	if err != nil {
		return Document{}, nil, malformed(err)
	}
	whole, err := canonical.Marshal(s)
	if err != nil {
		return Document{}, nil, malformed(err)
	}
	// What is signed is what the file says, not what reading it left over.
	if said, err := canonical.Transform(data, canonical.Limits{Bytes: MaxDocument}); err != nil || !bytes.Equal(said, whole) {
		return Document{}, nil, &Error{Reason: Malformed, Field: "/document/previous", Detail: "an optional field is there but empty; leave it out"}
	}
	if !Verify(s.Document.Root, DomainTrust, form, s.Signature) {
		return Document{}, nil, &Error{Reason: BadSignature, Detail: fmt.Sprintf("version %d is not signed by the root key it names; restore the file", s.Document.Version)}
	}
	return s.Document, form, nil
}

// malformed keeps the most telling token: a key's, a label's or the parser's.
func malformed(err error) error {
	var own *Error
	if errors.As(err, &own) {
		return fmt.Errorf("trust document: %w", err)
	}
	return &Error{Reason: Malformed, Detail: err.Error(), Err: err}
}

func digest(form []byte) string {
	sum := sha256.Sum256(form)
	return hex.EncodeToString(sum[:])
}

// check validates a document by itself.
func (d Document) check(scheme *label.Scheme) error {
	if len(d.Signers) > maxSigners || len(d.Revocations) > maxSigners {
		return &Error{Reason: TooMany, Detail: fmt.Sprintf("%d signers and %d revocations, at most %d each", len(d.Signers), len(d.Revocations), maxSigners)}
	}
	ids := make(map[string]bool, len(d.Signers))
	keys := map[PublicKey]string{d.Root: "the root key"}
	for i, e := range d.Signers {
		if err := e.check(scheme); err != nil {
			return fmt.Errorf("/signers/%d: %w", i, err)
		}
		if ids[e.ID] {
			return &Error{Reason: IDDuplicate, Field: fmt.Sprintf("/signers/%d/id", i), Detail: e.ID + " is in the root already, revoked or not; choose another id"}
		}
		if other, ok := keys[e.PublicKey]; ok {
			return &Error{Reason: KeyDuplicate, Field: fmt.Sprintf("/signers/%d/publicKey", i), Detail: "the key of " + e.ID + " is " + other + " already; generate another"}
		}
		ids[e.ID], keys[e.PublicKey] = true, "signer "+e.ID
	}
	gone := make(map[string]bool, len(d.Revocations))
	for i, r := range d.Revocations {
		if err := r.check(); err != nil {
			return fmt.Errorf("/revocations/%d: %w", i, err)
		}
		if !ids[r.ID] {
			return &Error{Reason: SignerUnknown, Field: fmt.Sprintf("/revocations/%d/id", i), Detail: fmt.Sprintf("%q is not a signer of this root", r.ID)}
		}
		if gone[r.ID] {
			return &Error{Reason: SignerRevoked, Field: fmt.Sprintf("/revocations/%d/id", i), Detail: r.ID + " is revoked already"}
		}
		gone[r.ID] = true
	}
	return nil
}

// extends checks that d is the append-only successor of prev.
func (d Document) extends(prev Document, prevDigest string) error {
	switch {
	case d.Version != prev.Version+1:
		return &Error{Reason: VersionGap, Field: "/version", Detail: fmt.Sprintf("%d follows %d; restore the documents between", d.Version, prev.Version)}
	case d.Root != prev.Root:
		return &Error{Reason: RootChanged, Field: "/root", Detail: "version " + fmt.Sprint(d.Version) + " names another root key"}
	case d.Previous != prevDigest:
		return &Error{Reason: BadPrevious, Field: "/previous", Detail: fmt.Sprintf("version %d does not follow from version %d as it stands", d.Version, prev.Version)}
	case !equalScheme(d.Scheme, prev.Scheme):
		return &Error{Reason: SchemeChanged, Field: "/scheme", Detail: "labels keep their meaning for the life of a root"}
	}
	for i, old := range prev.Signers {
		if i >= len(d.Signers) {
			return dropped(d.Signers, old)
		}
		if !d.Signers[i].equal(old) {
			return changed(d.Signers, i, old)
		}
	}
	for i, old := range prev.Revocations {
		if i >= len(d.Revocations) || d.Revocations[i] != old {
			return &Error{Reason: EntryDropped, Field: fmt.Sprintf("/revocations/%d", i), Detail: "the revocation of " + old.ID + " is gone; what is revoked stays revoked"}
		}
	}
	if len(d.Signers) == len(prev.Signers) && len(d.Revocations) == len(prev.Revocations) {
		return &Error{Reason: NothingNew, Detail: fmt.Sprintf("version %d adds neither a signer nor a revocation", d.Version)}
	}
	return nil
}

func changed(now []Entry, i int, old Entry) error {
	if now[i].ID != old.ID {
		return dropped(now, old)
	}
	return &Error{Reason: EntryChanged, Field: fmt.Sprintf("/signers/%d", i), Detail: "signer " + old.ID + " is not as it was entered; revoke it and enter a new id"}
}

func dropped(now []Entry, old Entry) error {
	for i, e := range now {
		if e.ID == old.ID {
			return &Error{Reason: EntryChanged, Field: fmt.Sprintf("/signers/%d", i), Detail: "signer " + old.ID + " has moved; the list only grows at its end"}
		}
	}
	return &Error{Reason: EntryDropped, Field: "/signers", Detail: "signer " + old.ID + " is gone; the list only grows, revoke instead"}
}

func equalScheme(a, b label.SchemeData) bool {
	x, errX := canonical.Marshal(a)
	y, errY := canonical.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
