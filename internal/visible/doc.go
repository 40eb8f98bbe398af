// Package visible shows text that somebody else wrote so that a reader sees
// what is there, and says which of its characters a reader would not see.
//
// # What Escape writes out
//
// A character stays if a reader can see it: letters and marks of any script,
// digits, punctuation, symbols, emoji, U+0020 SPACE and the visibly wide
// U+3000. Everything else is a [Spot] and is written as an escape:
//
//	\u{202e}   a character, by its code point in lower-case hexadecimal
//	\x{ff}     a byte that is not part of well-formed UTF-8
//
// Spots are controls (line feed and tab too), line and paragraph separators,
// spaces that look like U+0020 or like nothing, bidirectional controls, zero-
// width and other default-ignorable characters, tag characters, variation
// selectors, private use, unassigned code points and non-characters.
//
// Some of these belong where they stand, and then they stay: the joiners
// inside an emoji, between letters of scripts that need them (Arabic, Persian,
// the Indic scripts) and the zero-width space of scripts that write no spaces
// (Thai, Khmer); one variation selector after a symbol or an ideograph; the tag
// characters of the flags of England, Scotland and Wales. A second one in a row
// never belongs. Reserved code points of the emoji blocks stay as well: the
// emoji of the year after next are not an attack.
//
// Look-alikes are letters and stay; finding them is not this package's work.
//
// # Going back
//
// The output is one line of valid UTF-8 and can be turned back into the input:
// a backslash is doubled where, and only where, it would otherwise be read as
// part of an escape, that is in a run of backslashes in front of `u{`, `x{` or
// a character that is written out. So `C:\users` stays as it is, and the eight
// characters `\u{202e}` in the input become `\\u{202e}`.
//
// Everything here is pure and takes time linear in the input. The character
// data is that of the Go release that built the program.
package visible
