package visible

import (
	"unicode"
	"unicode/utf8"
)

// Class says what a character that a reader cannot see is. The zero value is
// Plain: a reader sees it.
type Class uint8

// The classes of a [Spot].
const (
	Plain      Class = iota
	Control          // C0, C1 and DEL, line feed and tab among them
	Separator        // U+2028 and U+2029
	Space            // a space other than U+0020 and U+3000
	Bidi             // embeddings, overrides, isolates
	BidiMark         // U+200E, U+200F, U+061C: ordinary in right-to-left text
	ZeroWidth        // joiners, zero-width space, U+FEFF, soft hyphen, other ignorables
	Variation        // variation selectors
	Tag              // U+E0000 to U+E007F
	PrivateUse       // no meaning that two readers share
	Unassigned       // no character, or none yet
	Invalid          // a byte that is not part of well-formed UTF-8
)

// classify tells the class of r by itself; what stands around it is looked at
// by [Spots].
func classify(r rune) Class {
	switch {
	case r < 0x7f:
		if r < ' ' {
			return Control
		}
		return Plain
	case r < 0xa0:
		return Control
	case commonLetter(r):
		return Plain
	case r >= 0xe0000 && r <= 0xe007f:
		return Tag
	case r == 0x2028 || r == 0x2029:
		return Separator
	case r == 0x200e || r == 0x200f || r == 0x061c:
		return BidiMark
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return Bidi
	case unicode.Is(unicode.Variation_Selector, r):
		return Variation
	case r == 0x3000:
		return Plain
	case unicode.Is(unicode.Zs, r):
		return Space
	}
	return classifyRare(r)
}

// classifyRare is the part of classify that needs the larger tables.
func classifyRare(r rune) Class {
	switch {
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return ZeroWidth
	case unicode.Is(unicode.Cf, r):
		if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
			return Plain // signs that enclose digits, drawn although Cf
		}
		return ZeroWidth
	case unicode.IsPrint(r), reservedEmoji(r):
		return Plain
	case unicode.Is(unicode.Co, r):
		return PrivateUse
	}
	return Unassigned
}

// commonLetter is a shortcut past the tables for the blocks that most text is
// written in and in which every code point is a printable character.
func commonLetter(r rune) bool {
	switch {
	case r >= 0xc0 && r <= 0x2af, // Latin
		r >= 0x400 && r <= 0x482,   // Cyrillic
		r >= 0x620 && r <= 0x669,   // Arabic
		r >= 0x904 && r <= 0x94d,   // Devanagari
		r >= 0x3041 && r <= 0x3096, // Hiragana
		r >= 0x30a0 && r <= 0x30ff, // Katakana
		r >= 0x4e00 && r <= 0x9fff, // Han
		r >= 0xac00 && r <= 0xd7a3: // Hangul
		return true
	}
	return false
}

// reservedEmoji reports whether r lies where Unicode puts new emoji: the
// reserved part of these blocks has the property Extended_Pictographic.
func reservedEmoji(r rune) bool { return r >= 0x1f000 && r <= 0x1faff }

// symbol reports whether r can be part of an emoji sequence.
func symbol(r rune) bool {
	switch r {
	case 0x203c, 0x2049, 0x2139, 0x3030: // emoji that are punctuation or letters
		return true
	}
	return r > 0x7f && r != utf8.RuneError && (reservedEmoji(r) || unicode.Is(unicode.S, r))
}

// joining reports whether r is of a script in which joiners change how the
// letters around them are drawn.
func joining(r rune) bool {
	return r == 0x640 || r > 0x5ff && classify(r) == Plain && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
		unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Balinese, unicode.Javanese)
}

// unspaced reports whether r is of a script that writes words without spaces
// and marks their ends with U+200B.
func unspaced(r rune) bool {
	return r > 0x5ff && classify(r) == Plain && unicode.In(r,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
		unicode.Balinese, unicode.Javanese, unicode.Tai_Tham, unicode.New_Tai_Lue)
}

// RightToLeft reports whether r is a letter of a script that runs from right to
// left, in whose text bidirectional marks are ordinary.
func RightToLeft(r rune) bool {
	return r >= 0x590 && unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac,
		unicode.Thaana, unicode.Nko, unicode.Mandaic, unicode.Samaritan, unicode.Adlam)
}
