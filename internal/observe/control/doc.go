// Package control is the observer of the files by which agents are controlled and
// that lie in no corpus: their settings, hooks, plugins and tool servers below
// a home directory. It changes nothing, keeps nothing open, and shares nothing with
// a host.
//
// # Files
//
// A [File] is a name, a path and perhaps keys. Its object is iff-control/<name>, and
// where the path is a directory, so is everything below it. Where one file lies
// below another, the nearer one says how it is read. Links at or below a file are
// not followed: their text is their state. Links above it are, as the agent goes.
// What is not there is absent.
//
// # Members
//
// Agents rewrite some of their files all the time. Of such a file keys name the
// members that count: each a name, or a JSON pointer (RFC 6901) where it begins with
// a slash. Its state is that of a file with mode 0000 and no owner whose bytes are
//
//	iff/control/v1
//	<key> <value>
//
// a line for each key that is there, sorted, the value in the form of RFC 8785 of the
// JSON document, or of the JSON document that a .toml file means, with dates as text.
// Without any such member, and where it has nothing but space, it is absent. A file
// that is not of that form, or that says a thing twice, is read as one without keys.
//
// # Bounds
//
// A file of more than 4 MiB, a directory with more than 2,000 entries below it or
// deeper than 32, what does not come to rest, and what the system does not show are
// Unreadable; a directory is so as a whole. There are at most 256 files.
//
// What has the same fingerprint as before (device, inode, kind, mode, owner, size and
// times, more than 20 ms old) is not read again, except by [Observer.Full].
package control
