// Package corpus is the words for a designated set of mutable objects (paper,
// section "Biconditional correctness", Setup): what an object is called, what
// its state is, what a call plans to do to it, what an observer saw.
//
// # Objects
//
// A corpus is a directory tree under a name, such as work. An object is one
// thing in it and is named <corpus>/<path>; the root is <corpus>/. with a dot.
// In the path a byte that is not part of well-formed UTF-8, a byte below 0x20 and
// 0x7f are written \xNN, NN lower-case hex, and a backslash \\, so that every
// file a system can hold has one name that can be written down in one line.
//
// # States
//
// A [State] is "absent", or the SHA-256 in hex of
//
//	iff/object/v1 <kind> <mode> <uid> <gid> <xattrs> <content>
//
// followed by a newline. kind is file, directory, link or special. mode is the
// twelve permission bits in octal, four digits; uid and gid are decimal. xattrs
// is "-" for none, else the SHA-256 in hex over the extended attributes, sorted
// by name, each as name, NUL, length of the value in decimal, NUL, value.
// content is the SHA-256 in hex of a file's bytes or of a link's text; of a
// special file (device, FIFO, socket), which is never opened, of "<type> <rdev>",
// type one of block, char, fifo, socket, rdev decimal, 0 for the last two.
// Of a directory only kind and mode count: uid and gid are 0, xattrs and content
// "-", so creating a child changes one object. Of a link only kind and content
// count: mode 0000. Times are in no state.
//
// Which attributes count: those in the namespace user, the access and default
// ACLs (system.posix_acl_access, system.posix_acl_default) and
// security.capability. Others belong to the system (labels of security modules,
// integrity measurements) and follow rules of their own.
//
// "any" stands for the state before an append in what is asked for and
// approved: whatever is there. "unreadable" is what an observer says of an
// object that it could not read: it may be there or not, and so may everything
// below it. Neither equals any state, itself included.
//
// # Plans and readings
//
// A [Change] is one object with two states. In a plan they are what a call finds
// and what it leaves; in readings what an observer saw before and after. A
// change with equal states changes nothing.
//
// # Snapshots
//
// A [Snapshot] is the states of all objects of a corpus at an instant at which
// nobody holds a lease. Its text has a line for each object, sorted bytewise by
// name, "<state> <name>\n"; its root is the SHA-256 of the text.
//
// # Volatile objects
//
// [Patterns] name what locked configuration takes out of a corpus, such as
// .git/** and editor files. They are spelled as the paths of grants are (package
// capability). A pattern that covers a directory covers what is below it. What is
// volatile is in no snapshot, no call may write to it, and every verdict names
// the patterns.
package corpus
