// Package trust holds the trust root: who may sign skills, up to which label
// and which level (paper, section "The trust root").
//
// # Documents
//
// The root is a chain of documents, version 1, 2, 3, ..., each signed by the
// root key. A document is append-only over the one before: version n+1
// contains every signer and every revocation of version n, unchanged and in
// the same order, and then more. It is canonical JSON (RFC 8785) with
//
//	schema       "iff/trust/v1"
//	version      1, 2, 3, ... without gaps
//	previous     hex SHA-256 of the canonical document before; absent in version 1
//	root         the root key, the same in the whole chain
//	scheme       the label scheme, the same in the whole chain
//	signers      id, publicKey, clearance, level, notAfter, approver, adopter
//	revocations  id, at, why
//
// and is stored as {"document": ..., "signature": ...}. The signature is
// Ed25519 over the domain string "iff/trust/v1\n" followed by the document's
// canonical form. A revoked signer stays revoked: neither its id nor its key
// can be entered again.
//
// # Draft, then lock
//
// [Open] reads a chain into a [Draft]. A draft can be extended and signed by
// whoever holds the root key. [Draft.Lock] turns it into a [Root], a type with
// no method that adds or widens; the draft it came from answers [ErrLocked]
// from then on. What a locked root still accepts is narrowing: [Root.Narrow]
// takes the next signed document if all it adds is revocations, and returns a
// new Root.
//
// # The adopter
//
// A signer marked adopter may attest nothing above unverified. A document
// that says otherwise is refused here, and the loader refuses such a skill
// again.
//
// # Keys
//
// Ed25519 (RFC 8032). [NewPublicKey] refuses encodings that are not canonical,
// keys of small order (the identity point verifies one signature for every
// message) and keys outside the prime-order subgroup.
package trust
