// Package anchor keeps checkpoints of a log in places outside it, so that a log that is cut back, rewritten or replaced is found
// out by whoever compares. A place is a file elsewhere, on another disk or machine, or a witness that speaks C2SP tlog-witness.
//
// # What an anchor takes
//
// A checkpoint is a C2SP signed note: origin, size, root, perhaps extension lines, signed by a key of the log. Every checkpoint,
// be it handed in or read back, is believed only if it is of the log's origin and signed by one of its keys. An anchor takes one if
// it extends what the anchor holds, and says otherwise why not:
//
//	anchor-rollback   the anchor holds a larger checkpoint: the log was cut back
//	anchor-fork       it holds another root at the same size, or a smaller one that is not a prefix: the log was rewritten
//	anchor-gone       it held one and holds none any more, or a smaller one: the anchor was cut back, or is not mounted
//	anchor-origin     it holds one of another log
//
// All of these are found here, before anything is replaced or sent, as far as this home remembers what the anchor held; the
// consistency proof (RFC 6962 section 2.1.2) that a witness is sent is also checked here first.
//
// # A file
//
// The file holds the newest checkpoint and nothing else. It is read, compared, and replaced as a whole (durable.WriteFile, mode
// 0644, for others may look). Its directory must exist, so that a disk that is not mounted is noticed. If the disk does not
// confirm a write, the anchor takes nothing more until it is opened again.
//
// # A witness
//
//	1 POST <prefix>/add-checkpoint with the size that the witness stood at when this home last heard of it, 0 if never
//	2 409 with another size: once more, with that size. Larger than ours: anchor-rollback. Smaller than what it has
//	  cosigned for us: anchor-gone. The same, and the sizes are equal: anchor-fork
//	3 422: anchor-fork. What 2 and 3 claim is compared with the newest checkpoint that the witness gives, if it does
//	4 200: one of the lines is a cosignature by the pinned key over exactly this checkpoint, and its time is at most ten
//	  minutes from the clock here; the checkpoint with both signatures is kept
//
// The connection is https with the roots of the system, or http to this machine. Proxies from the environment, redirects,
// compressed answers and answers over 64 KiB are refused; a call takes at most 15 seconds.
//
// # Copies
//
// What an anchor has taken is kept in a directory of the home as well, one file each. So Newest can answer when the anchor is
// out of reach, saying so in [Vouched.Offline], and an anchor that forgot is noticed. A copy is signed like the rest, so damage
// is noticed; to remove it is how to accept that an anchor was lost.
//
// When Put finds that the log was cut back or rewritten, and the anchor's own signed checkpoint proves it ([Error.Held]), that one
// becomes the copy, unless the copy is as large: so Newest gives it from then on, offline too, and whoever opens the home can
// refuse a log that does not hold against it. What a witness merely claims by a status changes no copy.
//
// # Publishing
//
// A [Set] hands checkpoints to several anchors in the background: to each the newest only, one at a time, again after 1, 2, 4
// seconds and so on up to 5 minutes when it fails. The anchors do not wait for one another, and nobody waits for them.
package anchor
