// Package durabletest is a disk that fails and loses power on command: a durable.FS in memory, for tests of whatever writes
// through one.
//
// # What the disk remembers
//
// Every change lives first in the cache of the running kernel, where the process sees it, and reaches the platter when it
// is synced: a file's content by File.Sync, a directory's names by SyncDir, one never with the other. Changes that are
// not on the platter are pending, in the order they were made. POSIX promises no more, and file systems do make use of it:
// a name may reach the disk before its content, a later page before an earlier one.
//
// # Faults
//
// Calls are numbered from 0 after [Disk.Arm]. At a numbered call a [Fault] strikes in one [Mode]: the call fails without effect,
// has its effect and fails, writes half, the machine stops before it, or it hangs. A sync that fails without effect also drops
// what it was to sync, as Linux does: the data stay readable, are never written, and the next sync succeeds.
//
// Open, List, the methods of a durable.Reader and Held of a durable.Lock are reads. They change nothing and are numbered by themselves, so that what
// a body reads neither moves the numbers of its calls nor makes a matrix over them larger; a Fault with Read set strikes one.
//
// A call that hangs holds up nobody else. [Disk.Hung] says that it has begun to, and [Disk.Release] or [Disk.Stop] how it ends;
// its effect, if it has any, comes then. A sync that hung covers what was changed before it began, and nothing later.
//
// # Restarts
//
// [Disk.Restart] gives the disk that the next start finds, by a [Survival] that says which parts of the pending changes had
// reached the platter after all: none, all, halves, names without data, data without names, later halves without earlier, the
// even sectors of the file, the odd ones, the last one of each write, or a random choice. So an overwrite that was not synced may
// leave the old bytes, the new, or in each sector one or the other; and of two, the later may be there and the earlier not.
// [Disk.Reopen] is the milder case: the process was killed, the kernel lives on and nothing is lost yet. Either way nobody holds
// a lock any more, for who held it is dead; while the process runs on its locks are held, and a check that wants to open
// again what the body has locked does so on Reopen.
//
// [Matrix] tries them all: every fault at every call, every crash after every failure, every survival after each.
// [MatrixReads] fails each read alone. A test that uses them must show that it can fail: run it on planted bugs too.
//
// Not modelled: directories that are renamed, links other than hard ones, permissions that deny, bad sectors that answer
// with other bytes and not with an error.
package durabletest
