// Package file keeps a log in the files of a directory: it is the [audit.Store] that programs use. All of it goes through
// [durable.FS].
//
// # Layout
//
// The directory, mode 0700, has files of mode 0600:
//
//	00000000000000000000.jsonl   a segment, named by the number of its first line in 20 digits; the next ones follow in order
//	lock                         whoever holds it is the one writer; it names the process
//	<name>                       what is kept by Save and Extend under a name of a-z, 0-9 and -
//	.iff-tmp-<random>            on the way to one of the others; after a crash, refuse, which Open sweeps away
//
// Other names are ignored. A segment is whole lines. Only the last one may have something behind them: room, which is
// newlines, prepared for lines to come. A JSON Lines reader skips it. Only the last one may have no lines. A name like a
// segment's on what is not a regular file, or with a number that does not fit, is an error.
//
// # Append
//
// Each step only after the one before succeeded:
//
//	1 segment  if there is none yet, or the last one has reached its size, a new one is begun, see below
//	2 room     the last segment is lengthened by newlines until the batch and its reserve fit, unless they fit already; in
//	           larger steps once much was appended
//	3 write    the lines, over newlines
//	4 sync     fdatasync: the lines are on the disk, and the room behind them
//
// To begin a segment:
//
//	1a create  a temporary file of newlines, enough for the batch and its reserve
//	1b sync    it
//	1c seal    cut the room off the old segment and sync it: it ends with its last line for good
//	1d rename  the temporary file to the segment's name
//	1e sync    the directory: the name is on the disk before the first line is in the file; for the first segment also the
//	           directory that this one lies in
//
// If the disk (or the quota) is full at 1a or 1d the old segment goes on. If it is full at step 2 the file is cut back to
// what it was and the answer is audit.ErrFull; the next Append may succeed. Room that was prepared is the promise behind
// Reserve: lines that replace newlines need no space, so a batch that fits into the reserve of an earlier one, and asks for none
// itself, is taken on a full disk. For a reserve of more than 1 GiB there is no room. The old segment's room is given back
// only when the new one has as much.
//
// A context that is done before the start and a batch that is none are refused and change nothing. Any other error is
// final. The store is poisoned: every later Append and Cut gives the same error, which wraps the cause, a
// [*durable.SyncError] if a sync failed. No sync is ever repeated, for the second one would lie. Save, Extend, Load and
// Blocks go on; Blocks ends with the last good batch.
//
// # Whose the log is
//
// Before each of steps 1, 1c and 3, before Cut removes or cuts anything, and in Save, Extend and Close, the store asks whether the
// lock is still its own. If the lock file or the whole directory was removed, moved or replaced, another process may be the
// writer: the store then writes nothing, and the error, a [*durable.LostError], is final for Save and Extend too. A removal in
// the instant between the question and the write is noticed by the next question.
//
// # What a crash leaves
//
//	before 1d      the old store; perhaps its last segment without room; perhaps a temporary file
//	1d to 3        also the new segment, of newlines alone
//	3 to 4         in the last segment, behind every line that was acknowledged: any part of the batch, in pieces that need not
//	               be its beginning, with newlines between them, or zeros where the room was lost too; then room, some of
//	               which may be zeros
//	4 and later    the batch, then room
//
// So the bytes of acknowledged lines are the beginning of what Blocks gives, exactly and in order, and what is foreign lies
// behind them and is no longer than the batch. Which is which the bytes do not tell: the reader has to know, by hash, number and
// batch. Room is the newlines and zeros behind the last byte that is neither, and the newline of its line; Blocks leaves out
// nothing else. (So a batch that ends in a zero before its newline is refused.) The next Append cuts off room that has zeros.
//
// Open makes durable what it finds, the last segment and the directory, because a killed process may have left what was
// written and not yet synced: nothing is read that a power cut could take back. The one case that this does not mend is a
// sync that failed before on the same running system. The end of the lines is found by going back over the room at the
// end. Room that a killed process left is used up by the next one, and given back by Close of a Store that appended. If the
// last segment does not end in a newline nothing can be appended before Cut.
//
// Cut removes later segments, the newest first and each durably, and then cuts the segment and syncs it. A crash in between
// leaves the old store with less behind the place to cut; the same Cut completes it.
//
// Save is durable.WriteFile: the old content or the new. Extend syncs nothing, and after a crash its file holds anything.
//
// # Readers
//
// A reading of the writer's own Store gives what was durable when it began. A reading by another process ([OpenRead]) goes as
// far as bytes could be seen when it came to the last segment. Every batch but the last in it is whole; the last may be
// caught half written, with newlines in place of what is missing, as a crash would leave it. Reading again shows it whole.
//
// # Limits
//
// Where the file system writes a changed block to a new place (btrfs, ZFS), or a snapshot holds the old one, replacing
// newlines may need space: Reserve then is a good guess, and an error of the write is final. That a directory must grow for
// the name at 1d and cannot is answered by going on in the old segment, whose room was given back by then. Permissions are
// set when something is made, and not checked later.
package file
