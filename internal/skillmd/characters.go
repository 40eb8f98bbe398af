package skillmd

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/visible"
)

// characters finds invisible characters, one finding for each unbroken run of
// one kind.
func (s *sheet) characters() {
	var run span
	for spot := range visible.Spots(s.text) {
		kind := s.kind(spot)
		if kind == run.kind && spot.Offset == run.end {
			run.end, run.count = run.end+spot.Size, run.count+1
			continue
		}
		s.addRun(run)
		run = span{kind, spot.Offset, spot.Offset + spot.Size, 1}
	}
	s.addRun(run)
}

// span is a run of count characters of one kind; the empty kind is no hazard.
type span struct {
	kind       Kind
	start, end int
	count      int
}

// kind says which hazard the spot is, the empty kind if it is none in a text of
// several lines.
func (s *sheet) kind(spot visible.Spot) Kind {
	switch spot.Class {
	case visible.Control:
		after := s.text[spot.Offset+1:]
		if spot.Rune == '\n' || spot.Rune == '\t' || spot.Rune == '\r' && strings.HasPrefix(after, "\n") {
			return ""
		}
		return ControlCharacter
	case visible.Separator:
		return ControlCharacter
	case visible.Space:
		return ""
	case visible.Bidi:
		return BidiControl
	case visible.BidiMark:
		if s.lineAt(spot.Offset).rightToLeft(s.text) {
			return ""
		}
		return BidiControl
	case visible.ZeroWidth:
		if spot.Rune == 0xfeff && spot.Offset == 0 {
			return "" // a byte order mark
		}
		return ZeroWidth
	case visible.Variation:
		return VariationSelector
	case visible.Tag:
		return HiddenTag
	case visible.PrivateUse:
		return PrivateUse
	case visible.Invalid:
		return InvalidByte
	}
	return Unassigned
}

func (s *sheet) addRun(run span) {
	if run.kind == "" {
		return
	}
	class := Hazard
	if run.kind == Unassigned {
		class = Note // or a character newer than our tables
	}
	s.add(run.start, class, run.kind, func() string {
		text := s.text[run.start:run.end]
		switch run.kind {
		case HiddenTag:
			return fmt.Sprintf("%s spelling %s", plural(run.count, "invisible tag character"), quote(tagText(text)))
		case VariationSelector:
			return fmt.Sprintf("%s, as bytes %s", plural(run.count, "invisible variation selector"), quote(variationBytes(text)))
		}
		return fmt.Sprintf("%s in %s", names(text, run.count), s.around(run.start, run.end))
	})
}

// tagText is what tag characters spell, which is ASCII.
func tagText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r > 0xe001f && r < 0xe007f {
			b.WriteByte(byte(r - 0xe0000))
		}
	}
	return b.String()
}

// variationBytes reads the common way to hide bytes: selector n+1 is byte n.
func variationBytes(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 0xfe00 && r <= 0xfe0f:
			b.WriteByte(byte(r - 0xfe00))
		case r >= 0xe0100 && r <= 0xe01ef:
			b.WriteByte(byte(r - 0xe0100 + 16))
		}
	}
	return b.String()
}

// names names the first characters of a run of count.
func names(s string, count int) string {
	const most = 3
	var parts []string
	for i := 0; i < len(s) && len(parts) < most; {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			parts = append(parts, fmt.Sprintf("byte %#02x", s[i]))
		} else {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("U+%04X %s", r, name(r))))
		}
		i += size
	}
	list := strings.Join(parts, ", ")
	if count > len(parts) {
		list += fmt.Sprintf(" and %d more", count-len(parts))
	}
	return list
}

// name is the Unicode name of the characters that are used in attacks, empty
// for the others.
func name(r rune) string {
	switch r {
	case 0x1b:
		return "escape"
	case '\r':
		return "carriage return"
	case 0xad:
		return "soft hyphen"
	case 0x034f:
		return "combining grapheme joiner"
	case 0x061c:
		return "Arabic letter mark"
	case 0x115f, 0x1160, 0x3164, 0xffa0:
		return "Hangul filler"
	case 0x200b:
		return "zero width space"
	case 0x200c:
		return "zero width non-joiner"
	case 0x200d:
		return "zero width joiner"
	case 0x200e:
		return "left-to-right mark"
	case 0x200f:
		return "right-to-left mark"
	case 0x2028:
		return "line separator"
	case 0x2029:
		return "paragraph separator"
	case 0x2060:
		return "word joiner"
	case 0xfeff:
		return "zero width no-break space"
	}
	return bidiName(r)
}

func bidiName(r rune) string {
	switch r {
	case 0x202a:
		return "left-to-right embedding"
	case 0x202b:
		return "right-to-left embedding"
	case 0x202c:
		return "pop directional formatting"
	case 0x202d:
		return "left-to-right override"
	case 0x202e:
		return "right-to-left override"
	case 0x2066:
		return "left-to-right isolate"
	case 0x2067:
		return "right-to-left isolate"
	case 0x2068:
		return "first strong isolate"
	case 0x2069:
		return "pop directional isolate"
	}
	return ""
}
