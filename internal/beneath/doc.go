// Package beneath opens and reads files below a directory handle, so that a path checked is the path read.
//
// A path is walked one component at a time: [Open] names a directory once, [Dir.Dir] steps into a child,
// [Dir.ReadFile] reads a child file whole. Nothing is looked up twice by a longer name, so whoever swaps a
// directory for a link while a walk is under way cannot lead it elsewhere. Who observes more than files asks
// [Dir.Lstat], [Dir.Readlink] and [Dir.Xattrs] about a name of any kind, which opens nothing, takes several components at
// once by [Dir.Walk], and reads files of any size by [Dir.Stream].
//
// # What is refused
//
// Every refusal is an [*Error] with one closed [Reason]:
//
//	file-link          the name is a symbolic link (also one that points to something beneath)
//	file-special       a device, FIFO or socket; it is never opened for reading and never read
//	file-mount         another file system or a bind mount starts there
//	file-changing      the file changed between the first and the last look at it
//	file-too-large     more bytes than the caller allows; nothing was read
//	file-name          a name that is no single plain component
//	too-many-entries   a directory with more entries than the caller allows
//	not-a-directory    a file where a directory was asked for
//	not-a-file         a directory where a file was asked for
//	not-found          no such name
//	no-access          the operating system denies it
//	read-failed        any other error of the operating system, and use after Close
//
// The path given to [Open] is the caller's own choice and is resolved as usual, links included; it is below it that
// nothing is followed. Hard links are not refused, for a reader cannot be harmed by the second name of what it hashes
// and then serves from memory; [File.Links] says how many there are, and who writes has to look.
//
// # How a file is read
//
// fstatat without following; refuse by type and size; open without following links, without blocking, without
// becoming a terminal's owner; fstat; read exactly the size; fstat again. The three looks must agree in device, inode,
// type, mode, link count, size, modification and change time, or the reason is file-changing; there is no retry inside,
// for only the caller knows whether one makes sense. A file that changed less than 20 ms before is read twice and must
// be equal, for on older kernels the clock behind those times ticks only every 4 to 10 ms, and one long write moves it
// only once, at its start.
//
// What this cannot see: stores through a shared memory mapping, for which the kernel moves the times late or never; a
// writer that stopped in the middle of its own work; a superuser who sets the clock back. A file is then read as it stood.
// A device put in the place of a regular file between the first look and the open is opened, not read, and refused; for
// [Dir.StreamListed] the first look is the listing's word that it is a regular file.
//
// # How it is done
//
// On Linux openat2(2) with RESOLVE_BENEATH, NO_SYMLINKS, NO_MAGICLINKS and NO_XDEV. Where the kernel has no openat2, or
// a seccomp filter hides it (ENOSYS, EPERM), and on macOS and the BSDs, openat(2) with O_NOFOLLOW on single components;
// mounts are then told by mount id (Linux 5.8 and later) or by device number, and the latter does not see a bind
// mount of the same file system. Elsewhere [os.Root], compared by [os.SameFile]; it sees neither, and no change times.
// The choice is made once by [Open] and inherited below it; which of them runs changes no reason. On Unix [os.Root] is not
// used: it follows links that stay beneath, crosses mounts, and waits for ever on a FIFO that took a directory's place.
package beneath
