// Package webhook is the broker that asks a program elsewhere: it posts the
// questions, signed, and takes answers that are signed by somebody who may
// approve. Everything else is a denial.
//
// # The request
//
// One POST for what is asked together, at most 50 questions and 16 MiB; more are
// asked one batch after the other. The body is the canonical JSON (RFC 8785) of
//
//	{"fence", "log", "nonce", "questions", "schema", "sent"}
//
// schema is "iff/ask/v1". log and fence name the log and the runtime that asks,
// nonce is 32 hex digits drawn for this request, sent the time in UTC with nine
// digits of a second. questions are in the wire form of package approval. The
// header
//
//	Iff-Signature: ed25519 KEY:SIGNATURE
//
// has the fingerprint of the asking key, as ssh-keygen -l prints it but without
// "SHA256:", and in padded base64 its Ed25519 signature (RFC 8032) over
// "iff/webhook/v1\n" and the body. [Open] checks all of this for a receiver, but
// for the time and whether the nonce came before.
//
// # The answer
//
//	204   no opinion on any question; who is next is asked
//	200   Content-Type application/json: {"answers": [...]}, one for each question,
//	      in order, in the wire form of package approval, at most 1 MiB
//
// An answer is that of approval.Sign with cause "webhook"; denials are signed too.
// One that is empty is no opinion on its question. Who decided and by which rule
// is the runtime's word, so broker, rule and sameUid of an answer do not count.
//
// # What is denied
//
// Any other status, redirects among them, another content type, more bytes, other
// JSON, another number of answers, an answer that does not hold for its question
// as [Options].Check says, no answer in time. The denial has cause broker, and as
// its rule the [Reason].
//
// # The connection
//
// https to a server whose public key is [Options].Pin, or whose certificate leads
// to [Options].CA, or both; http to this machine only. TLS 1.2 or newer, no proxy,
// nothing from the environment, no redirects, no second try. At most [MaxPosts]
// requests are under way; others wait.
package webhook
