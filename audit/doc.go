// Package audit is the log: records in one order, each durable before anybody
// acts on it, in a chain and a tree that anybody can check (paper G5; DESIGN
// sections 5 and 7).
//
// # What a log is
//
// Lines of package record, the n-th with sequence number n. The hash of a line
// is its RFC 6962 leaf hash, SHA-256(0x00 || line): it is the prevHash of the
// next line and the leaf of the tree, so one hash serves chain and tree. Record
// 0 is init, which names the log's origin and its first key; no other is. Every
// line says in which batch it was made durable, by the number of the batch's
// first record: so a line of batch b proves that all lines before b were
// durable before it was written.
//
// A checkpoint is a C2SP signed note (c2sp.org/tlog-checkpoint) over the first
// n records,
//
//	<origin>
//	<n>
//	<root of the tree, base64>
//	chain <leaf hash of record n-1, hex>
//	state <SHA-256 of the canonical folded state, hex>
//
// signed by the log's present key with the origin as key name. It stands in the
// log itself, as record n. The key is changed by a key.rotated record that the
// key before and the new one both sign, over the origin, the number of the new
// key, both keys and the chain up to there; the private half of the key before
// can then be erased.
//
// # Appending
//
// One goroutine, the writer, has the head. Appends are encoded by who appends,
// queue (the queue is bounded: then they wait), and are written as one batch in
// the order of the queue, the records of one Append next to one another. The
// store makes the batch durable; then the waiting Appends return. Who appends
// alone and waits for the disk without a way out takes the writer's turn and
// writes the batch itself. Nothing else is written meanwhile, so only the last
// batch can ever be torn. After at most 32768 records, on request and at the end
// the writer makes a checkpoint.
//
// A write that fails, other than for lack of room, poisons the log: what the
// store holds behind the last good batch is unknown, a further sync would lie,
// so nothing more is written and every Append says so. For lack of room an
// Append is refused and the log goes on: with every intent that is recorded
// room is prepared for the longest outcome, so what was admitted can always be
// closed (the kinds for which [record.Kind.Closes] holds). The room is kept while
// the log is open; what is still open when it is closed, such as a call in doubt,
// has to find room like anything else.
//
// # Opening
//
// [Open] reads from the newest snapshot, which the log keeps beside its lines:
// checkpoint, folded state, the right edge of the tree. What it says is checked
// against the signed note, so that it can make opening fast and nothing else;
// where it is missing or does not hold, the whole log is read. Then every line
// behind it is checked as [Verify] does. Bytes that are no line, with no line
// of a later batch behind them, are the torn end of a batch that nobody was
// told was durable: they are kept, cut off and recorded; what was kept and not
// yet recorded when an opener is killed, the next one records. Whatever
// else does not hold is refused with its place. A log that is shorter than its
// own snapshot was cut back: refused. Calls that were open when the process
// ended are closed by a recovery record where nothing can have happened, and
// given to the caller where it can ([InDoubt]).
//
// [Read] does the same without changing anything, beside a writer too.
//
// # What can be proved, and to whom
//
// Chain, tree and checkpoints show any change between two records to whoever
// has the log. That the end was cut off, or that all was written anew by
// somebody with the log's key, shows only to whoever kept an older checkpoint:
// that is what anchors are for ([VerifyOptions], package internal/anchor), and
// receipts: a [Receipt] proves to its holder, in two kilobytes, that a record is
// in the log. [Verify] says up to which record somebody outside vouches, and
// what it could not check. A torn end is cut whoever tore it: an attacker who
// damages the last batch has it cut, with a recovery record that says so; where
// a checkpoint or an anchor covers it the log is refused instead.
//
// # Beside the lines
//
// A store keeps more under names. Two are made from the lines and made again when
// they are gone: "snapshot", and "index", 48 bytes for each 256
// records (the node of the tree over them, and where they begin), with which
// proofs are found without reading the log. A proof is checked before it is
// given. Payloads too long for a line are kept as "blob-<SHA-256>".
//
// # Errors
//
// [*Error] with a closed [Reason]; [ErrFull] and [ErrUnknown]; what
// [record.Encode] refuses; and errors of the store, wrapped.
package audit
