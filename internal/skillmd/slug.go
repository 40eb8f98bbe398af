package skillmd

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Slug turns a name into the identity that a manifest may carry: the NFKC form
// in lower case, at most MaxName characters, letters of any script with the
// marks upon them and decimal digits, and one hyphen for each run of anything
// else between them. It reports false, with "", if nothing remains. Slug of a
// slug is that slug.
//
// Two names that differ may have one slug, and two slugs may look alike; the
// first is the caller's to refuse, the second [Hazards] finds.
func Slug(name string) (string, bool) {
	const most = 4 * MaxName // characters looked at; the rest would be cut
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most])
	}
	// The lower case of an NFKC form need not be in that form, nor the form of a
	// lower-case text in lower case, so go round until nothing changes.
	slug := fold(name)
	for range 4 {
		again := fold(slug)
		if again == slug {
			return slug, slug != ""
		}
		slug = again
	}
	return "", false
}

// ValidName reports whether name is its own slug.
func ValidName(name string) bool {
	slug, ok := Slug(name)
	return ok && slug == name
}

func fold(name string) string {
	name = norm.NFKC.String(strings.Map(unicode.ToLower, norm.NFKC.String(name)))
	var b strings.Builder
	n, gap, letter := 0, false, false
	for _, r := range name {
		switch {
		case unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Nd):
			letter = true
		case unicode.In(r, unicode.Mn, unicode.Mc):
		default:
			letter = false
		}
		if !letter || ignorable(r) {
			gap, letter = true, false
			continue
		}
		if gap && n > 0 {
			if n+1 >= MaxName {
				break
			}
			b.WriteByte('-')
			n++
		}
		if n == MaxName {
			break
		}
		gap = false
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// ignorable reports whether r is a letter or mark that is not drawn.
func ignorable(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
