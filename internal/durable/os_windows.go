package durable

// noFollow: Windows has neither flag; making a link there needs a right of its own.
const noFollow = 0

// syncDirectory does nothing: Windows cannot flush a directory, and NTFS keeps its own journal of names.
func syncDirectory(string) error { return nil }
