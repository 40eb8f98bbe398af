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
// has its effect and fails, writes half, or the machine stops before it. A sync that fails without effect also drops what it
// was to sync, as Linux does: the data stay readable, are never written, and the next sync succeeds.
//
// # Restarts
//
// [Disk.Restart] gives the disk that the next start finds, by a [Survival] that says which pending changes had reached the
// platter after all: none, all, halves, names without data, data without names, later halves without earlier, or a
// random choice. [Disk.Reopen] is the milder case: the process was killed, the kernel lives on and nothing is lost yet.
//
// [Matrix] tries them all: every fault at every call, every crash after every failure, every survival after each.
// A test that uses it must show that it can fail: run it on planted bugs too.
//
// Not modelled: directories that are renamed, links other than hard ones, permissions that deny, reading back what a bad
// sector returns.
package durabletest
