// Package rehash is the observer of a directory tree that reads it again: the leased re-hash with a fingerprint of each file.
// It imports no host, shares no state with one, and reads through a directory handle of its own ([beneath.Dir]).
//
// # What an object's state is
//
// That of package corpus, from what was found without following a link anywhere below the root and without opening
// anything that a look, or the listing in a walk, does not call a regular file or directory. Hard links are names like
// others. A file is looked at, read and looked at again; if the looks differ it is read again, up to six times in about
// 30 ms. What changed so shortly before that the clock of the file system may not have ticked since is read twice.
//
// Unreadable is
//
//   - what does not come to rest,
//   - what the system refuses to show, such as a file without read permission,
//   - a directory that cannot be listed, and with it everything below,
//   - a name at which another file system or a bind mount starts, and everything below: it is one object of the corpus, and is
//     neither opened nor walked. An operator makes it volatile or unmounts it,
//   - what is of no kind that package corpus has.
//
// What lies below a link or a file is absent, for nothing is followed.
//
// # Readings and snapshots
//
// [Observer.Read] is for the few objects of a lease and reads every byte of them. [Observer.Snapshot] walks the tree on all
// processors (one that was small the last time on one) and reads only what its fingerprint (device, inode, kind, mode, owner, link count, size, modification and
// change time) does not show to be unchanged since the last snapshot, so that a tree at rest costs one look an object.
// What changed less than 20 ms before the look, or in the future, has no fingerprint. [Observer.Full] trusts none and reads
// everything: it is for the end of a run.
//
// Each state in a snapshot was true at some instant while it was taken; all of them at one instant if nobody wrote meanwhile,
// to which the caller sees by leases. A directory whose listing changes while its files are read is read again, and is
// Unreadable if that goes on.
//
// Volatile objects are not looked at and not walked into by snapshots; Read reads what it is asked for.
//
// # Bounds
//
// [Options] bound the number of objects, the depth and the length of names. A tree beyond them has no snapshot: the error
// names the bound and the place, so that somebody can make it volatile.
package rehash
