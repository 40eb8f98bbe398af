// Package scratch makes directories for work that leaves nothing behind, and
// removes those that killed processes left.
//
// A directory is made below one that the caller names, locked (flock(2)), and then
// marked with a file that says what it is. Whoever makes the next one of the same
// [Kind] in the same place removes first what is left there: only directories of
// that name, of the same user, that nobody else can write to, with the marker, whose
// lock nobody holds. What is in doubt stays. Where the system has no lock that
// ends with a process nothing is marked, and so nothing is removed.
//
// All is done through handles: of the directory above, and of what was made. [Dir.Close]
// refuses to remove another directory that stands there by then. Directories in it
// that their owner cannot write to are loosened first.
package scratch
