// Package durable changes files so that a crash at any instant leaves the old content or the new, never a mixture, and
// so that what was reported as done is still there after a power cut. It is the one layer through which such files are
// written, and all of it goes through [FS], whose faults tests inject (package durabletest).
//
// # WriteFile and WriteNew
//
// In this order, each step only after the one before succeeded:
//
//	1 create   a new file beside the target, .iff-tmp-<random>, exclusively, with the exact permissions (not cut by umask)
//	2 write    all bytes into it
//	3 fsync    the file: its content is on the disk under the temporary name
//	4 close    it
//	5 rename   it over the target; WriteNew links it to the target, which fails if the target exists, and removes the
//	           temporary name
//	6 fsync    the directory: the new name is on the disk
//
// What a crash leaves, by the last step that was done:
//
//	before 1   the old file
//	1 to 4     the old file, and perhaps a temporary file, whole or in part
//	5          the old file or the new one, each whole; after WriteNew perhaps also the temporary name of the new one
//	6          the new file
//
// An error before step 5 leaves the old file, and the temporary file is removed. An error from step 5 on, that is of the rename or a
// [*SyncError] of the directory, leaves the old or the new one, each whole. A symbolic link at the target is replaced, not
// followed; the old file's permissions and other names are not carried over.
//
// A temporary file that a crash left behind may be removed by whoever knows that nobody is writing in that directory; it
// is never read. Its name starts with [TempPrefix].
//
// # Append
//
//	1 open     for appending, or create exclusively
//	2 fsync    the directory, if the file is empty: its name is on the disk before its first byte
//	3 write    the bytes at the end; if that does not succeed, cut the file back to where it ended before
//	4 fsync    the file
//
// Step 2 looks at the size and not at who created the file, for whoever did may have been killed before its own step 2;
// so no file that Append has ever written to can lose its name. After a crash the file begins with every byte that a successful
// Append wrote, in order. Behind them there may be as many bytes as the Appends that did not succeed wrote: a part of
// their data, or zeros where a page was lost. Who reads the file has to tell them from a record, by framing or hash.
//
// # OpenAt
//
// [FS.OpenAt] is for a store that overwrites: that prepares room in a file and then fills it, or corrects its end. There is no
// procedure here, only what the store can rely on.
//
//	1 WriteAt    readers see the bytes at once; the disk may have them or not
//	2 Sync       the file: every WriteAt and Truncate that returned before is on the disk
//
// Until 2 has succeeded a crash leaves, in each sector of 512 bytes that was written, the old bytes or the new, in any
// combination: of two writes the later may be there and the earlier not, and a Truncate may be undone. So whatever tells a whole
// record from a torn one has to cover all of its bytes. An overwrite must not go over what was acknowledged before.
// The file's name is not covered; who created it calls SyncDir before acknowledging anything in it.
//
// One descriptor writes and syncs: if the kernel could not write a page after another descriptor wrote it, a Sync through this
// one may never hear of that.
//
// # What Sync covers
//
// The content of the file and its size, and all that is needed to read them back. On Linux it is fdatasync(2), which
// leaves the times out; that saves a write to the file system's journal each time the size has not changed, which is what prepared
// room is for. The permissions of a new file are on the disk with it, except that bits which Create had to restore
// because the umask took them away may be missing again after a crash. Elsewhere it is fsync(2), on macOS F_FULLFSYNC. A call
// that a signal interrupted is made again; nothing else is.
//
// # Lock
//
// A store has one owner at a time, kept by [FS.Lock] on a file of its own that is never removed, renamed or swept: a lock on a
// removed file keeps nobody out. Should somebody remove it all the same, or put another directory in the place of its own, a second
// process can take the lock that is there then. So whoever holds it asks Lock.Held before it writes, and stops when the file that
// it locked is no longer the one at the path. What happens between the question and the write is not noticed until the next
// question; a removal ahead of time is. On Unix it is flock(2), exclusive, on the open file: it ends with Close, or with the
// process however that ends, kill -9 included; there is no stale lock, and nothing to clean up. It binds only those who ask for
// it. It excludes a second taker in the same process too. It is not given on to child processes.
//
// The first line of the file is the owner's process number in decimal, for the message of a [*BusyError] and for nothing
// else: it is written after the lock is taken and emptied before it is given up, so for an instant, or on a full disk, it is
// missing or names the owner before. Anything but digits there counts as unknown.
//
// Lock does not wait; who wants to tries again. Where a system has no such lock it refuses with errors.ErrUnsupported.
//
// # When fsync fails
//
// A [*SyncError] is fatal. Kernels drop the pages they could not write and mark them clean: a second fsync succeeds, and the
// data are gone (PostgreSQL learned this in 2018). So nothing here ever repeats one. Whoever gets a SyncError stops
// acknowledging anything, exits, and on the next start reads what the disk really holds.
//
// # Limits
//
// One writer at a time per path for Append and OpenAt; the caller holds a lock. WriteFile and WriteNew may run beside each
// other. Durable means what fsync means on the system: on macOS it includes the drive's cache; on Windows directories
// cannot be synced, so there a power cut may undo the last rename. A file system that cannot sync directories is refused by
// its error.
package durable
