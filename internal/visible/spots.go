package visible

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// Spot is a character that a reader of the text would not see where it stands.
type Spot struct {
	Offset int   // byte offset
	Size   int   // in bytes
	Rune   rune  // utf8.RuneError for class Invalid
	Class  Class // never Plain
}

// Spots yields, in order, the characters of s that [Escape] writes out.
func Spots(s string) iter.Seq[Spot] {
	return func(yield func(Spot) bool) {
		c := context{text: s}
		for i := 0; i < len(s); {
			if n := ascii(s[i:]); n > 0 {
				i += n
				c.base, c.joiner = rune(s[i-1]), false
				continue
			}
			if n := flag(s[i:]); n > 0 {
				c.base, c.joiner = 0x1f3f4, false
				i += n
				continue
			}
			r, n := utf8.DecodeRuneInString(s[i:])
			class := c.class(r, i, n)
			if class != Plain && !yield(Spot{i, n, r, class}) {
				return
			}
			i += n
		}
	}
}

// context is what decides whether an invisible character belongs: the last
// character that is drawn by itself, and whether something invisible came since.
type context struct {
	text   string
	base   rune
	joiner bool
}

// ascii returns how many printable ASCII characters s starts with.
func ascii(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return i
		}
	}
	return len(s)
}

// class returns the class of the character r of n bytes at offset i, Plain if
// it belongs there, and takes it into the context.
func (c *context) class(r rune, i, n int) Class {
	class := classify(r)
	if r == utf8.RuneError && n == 1 {
		class = Invalid
	}
	if class == ZeroWidth || class == Variation {
		next, _ := utf8.DecodeRuneInString(c.text[i+n:])
		if class == Variation && c.varies(r, next) {
			return Plain // the joiner of an emoji may follow
		}
		if class == ZeroWidth && c.joins(r, next) {
			c.joiner = true
			return Plain
		}
	}
	c.joiner = class == ZeroWidth || class == Variation
	if class != Plain {
		c.base = 0 // it is written out, so nothing can lean on what was before it
	} else if !unicode.Is(unicode.M, r) {
		c.base = r
	}
	return class
}

// joins reports whether the zero-width r belongs between c.base and next.
func (c *context) joins(r, next rune) bool {
	if c.joiner {
		return false
	}
	switch r {
	case 0x200c:
		return joining(c.base) || joining(next)
	case 0x200d:
		return joining(c.base) || joining(next) || symbol(c.base) && symbol(next)
	case 0x200b:
		return unspaced(c.base) && unspaced(next)
	}
	return false
}

// varies reports whether the variation selector r belongs after c.base.
func (c *context) varies(r, next rune) bool {
	if c.joiner || classify(next) == Variation {
		return false
	}
	switch {
	case r == 0xfe0e || r == 0xfe0f:
		return symbol(c.base) || next == 0x20e3 && keycap(c.base)
	case r <= 0x180f:
		return unicode.Is(unicode.Mongolian, c.base)
	case r <= 0xfe02:
		return symbol(c.base) || unicode.Is(unicode.Han, c.base)
	case r >= 0xe0100 && r <= 0xe010f: // more would carry a byte an ideograph
		return unicode.Is(unicode.Han, c.base)
	}
	return false
}

func keycap(r rune) bool { return r == '#' || r == '*' || r >= '0' && r <= '9' }

// flag returns the length of the emoji flag sequence at the start of s: a black
// flag, tag letters that name a region, the cancel tag. Only sequences that
// fonts draw count; any other is drawn as a plain black flag, so that its
// letters are hidden.
func flag(s string) int {
	const black, cancel = "\U0001f3f4", "\U000e007f"
	if len(s) < len(black) || s[0] != black[0] || s[:len(black)] != black {
		return 0
	}
	var region []byte
	for i := len(black); i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if string(r) == cancel {
			if drawnFlag(string(region)) {
				return i
			}
			return 0
		}
		if r <= 0xe0020 || r >= 0xe007f || len(region) == 5 {
			return 0
		}
		region = append(region, byte(r-0xe0000))
	}
	return 0
}

// drawnFlag knows the three flags recommended for interchange and the form of
// the states and provinces that single vendors draw.
func drawnFlag(region string) bool {
	switch region {
	case "gbeng", "gbsct", "gbwls":
		return true
	}
	if len(region) != 4 || region[:2] != "us" && region[:2] != "ca" {
		return false
	}
	return lower(region[2]) && lower(region[3])
}

func lower(b byte) bool { return b >= 'a' && b <= 'z' }
