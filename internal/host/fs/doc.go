// Package fs is the host for files: it does the calls of fs.read, fs.write.rev
// and fs.write.irrev, and nothing else touches a corpus.
//
// # Calls
//
// The arguments are one JSON object, strict; what an operation does not take is
// refused.
//
//	fs.read         op read (default), list, stat; read: offset, limit
//	fs.write.rev    op write, append: content or base64, mode for a new file
//	                op mkdir: mode
//	fs.write.irrev  those, and op delete: recursive; rename: to; chmod: mode
//
// Every write takes expect, the state that the object (of a rename the source)
// must have. A mode is four octal digits, 0000 to 0777, and is set exactly:
// 0644 and 0755 unless given. It leaves the owner read, and of a directory
// execute: else nobody could look at the object again. Parents are not made.
//
// # What is told
//
//	read    content, or base64 if it is not UTF-8; size and state of the file
//	list    entries: name and kind, as their directory gives them; of a name that something is mounted over, what is below
//	stat    kind, mode, size, state; kind absent alone
//	write, mkdir, delete    the state that is left
//
// Append, rename, chmod and the undoing of a call tell {}. A session may write to
// what has a label above its mark and must not learn what is there: no reply to
// a write and no refusal tells the size of an object or a state that the call
// alone does not decide, and a listing gives no sizes, as entries may have higher
// labels than their directory. That an expected state is not the present one is
// told.
//
// # What is refused
//
// Symbolic links, special files, files with a second name (hard links), mount
// points: for reading and writing alike, and nothing of the kind is ever
// followed or opened. A directory that is deleted or renamed may hold links:
// they go with it as they are. Volatile objects may be read and listed, not
// written. The root of a corpus is not written. Names that begin with .iff-, in any
// case, width or composition, belong to the host: neither they nor what is below
// them is read, listed or written, for bytes under a label may lie there without
// it. Where a file system takes two spellings for one name
// (case, normalisation), only the one in the listing is accepted (name-twin).
//
// # Plans
//
// A plan has for each object the state found and the state that is left: a file
// that is replaced keeps mode, owner and the attributes that count; a new one
// has the user's, the group of a parent with the setgid bit, and what the
// parent's default ACL gives. Up to 16 MiB of one object are kept, 64 MiB of one
// plan; larger copies are cut. A file that is written holds at most 64 MiB.
// Trees have at most 10,000 objects and are listed parents first, sorted, or
// children first where they are deleted.
//
// # How it is done
//
// A file that is written is made under the staging name in the directory where
// it belongs, verified, synced, and exchanged with what is there in one step.
// Then the directory is synced, for all calls at once that wait for that.
// What was displaced must be what was planned; if it is not, the two are
// exchanged back and the reason is conflict. What is deleted is first moved to
// the staging name, looked at there, and moved back if it is not as planned; so
// is a file that a rename puts in the place of another. A directory is made
// under the staging name too, so that it appears with its mode. A mode is set on
// the open file. Directories are opened anew for each call, below the open root
// (Linux: openat2 with RESOLVE_BENEATH, NO_SYMLINKS, NO_MAGICLINKS, NO_XDEV;
// elsewhere, and where a filter hides it, one component after the other); after
// the exchange the path must still lead to the directory that was changed, else
// it is undone.
//
// A conflict leaves the world as it was found. If somebody edits in the instant
// between an exchange and its undoing, both versions survive: one under the
// staging name, which the error gives.
//
// What this cannot see: somebody who holds the displaced file open and writes
// after it was compared; a write and its undoing between two looks. A file of
// mode 0444 is replaced if its directory can be written, as by rename(2).
//
// # After a crash
//
// At any instant an object is as before or as planned, except trees half
// deleted under the staging name, and a rename onto a file, whose source may be
// there. [Host.Recover] brings this to an end one way or the other.
//
// # Systems
//
// Linux and macOS; elsewhere [New] fails with [errors.ErrUnsupported]. The file
// system must exchange names (renameat2, renameatx_np): where it does not, such
// as NFS, writes are refused with host-failed and nothing happens. On Linux a
// directory that folds case alone (chattr +F) is noticed by its own flag; one
// that folds above one that does not is not.
package fs
