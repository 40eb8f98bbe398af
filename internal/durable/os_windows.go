package durable

// Windows has neither flag; making a link there needs a right of its own.
const noWait, noFollow = 0, 0

// syncDirectory does nothing: Windows cannot flush a directory, and NTFS keeps its own journal of names.
func syncDirectory(string) error { return nil }
