// Package witness is a witness of logs: it remembers, for each log it was told of, the newest checkpoint it has seen, and
// cosigns a checkpoint only if the log proves that it extends that one. Whoever sees the cosignature knows that the log was
// neither cut back, nor rewritten, nor shown to others with another content. It speaks the C2SP protocol tlog-witness and
// answers with Ed25519 cosignatures as tlog-cosignature has them, so any log can use it.
//
// # What it answers
//
//	POST /add-checkpoint         a request of tlog-witness: "old <size>", proof lines, an empty line, a checkpoint
//	  200  a line with the cosignature
//	  400  the request is malformed, or its old size is larger than the checkpoint
//	  404  the origin is not of a known log
//	  403  none of the log's keys has signed, or one of its signatures is wrong
//	  409  the old size is not that of the newest cosigned checkpoint; or it is, the checkpoint has the same size, and
//	       another root. The body is the size of the newest, as text/x.tlog.size
//	  422  the proof does not show that the checkpoint extends the newest
//	  413  the body is larger than 64 KiB
//	  500  nothing was cosigned, because it could not be made durable
//	GET /checkpoint/<hex>        the newest cosigned checkpoint of a log, or 404 if there is none; <hex> is the SHA-256 of
//	                             its origin, 64 lower-case digits. This is not in tlog-witness, which leaves open how
//	                             monitors ask
//	GET /                        the witness's verifier key and the logs it knows, as text
//
// All else is 404 or 405. A request is read strictly: one spelling for each number and hash, at most 63 proof lines, every line
// ended by a newline, no empty extension line, sizes up to 2^60 (beyond 2^62 the arithmetic of package tlog does not end).
// Extension lines are covered by the cosignature and mean nothing to a witness. Signatures by keys it does not know are
// ignored and not kept.
//
// # Rules
//
// For each log, in one step that no other request comes between:
//
//	1  the old size is that of the newest cosigned checkpoint, 0 if there is none
//	2  of the same size: the root is the same. Larger: the consistency proof (RFC 6962 section 2.1.2) holds; from size 0 the
//	   proof is empty
//	3  the checkpoint with its cosignature is on the disk
//	4  it is the newest, and the cosignature is sent
//
// The same checkpoint may be sent again and is cosigned again, with the time of that request.
//
// If the disk does not confirm a write (a [durable.SyncError]), nothing is known of the state any more: from then on every
// request to cosign is answered with 500 until the witness is started again and has read what the disk holds.
//
// A signed checkpoint that contradicts what was cosigned is evidence against the log. It is kept, beside the cosigned one that it
// contradicts, up to 16 of each kind for each log; [Event] tells of it.
//
// # Files
//
//	lock              held while the witness runs
//	key               the signer key: PRIVATE+KEY+<name>+<id>+<base64 of 0x04 and the seed>, mode 0600
//	logs/<hex>.note   the newest cosigned checkpoint of a log, <hex> as above
//	origins           the <hex> of every log that has a checkpoint, one a line
//	evidence/         <16 hex of origin>-forked-<16 hex of note>.given and .held; the same with -unproven-
//
// A witness that forgot would cosign a fork. So a state that is damaged or gone is refused at the start, never begun anew:
// every file in logs must bear this witness's own cosignature, every name in origins must have its file, and the key must be
// there if anything else is. Setting the whole directory back to an older copy is not noticed; do not restore it from backups
// while logs still use it.
package witness
