package shellread

import (
	"strings"
	"unicode"
)

// placeholding reports whether an argument of an instruction is, or holds,
// something for the reader to fill in: <id>, [options], {id}, ..., YOUR_TOKEN.
func placeholding(f field) bool {
	for _, p := range f.pieces {
		if strings.Contains(p.text, "<...>") || p.kind == within && len(p.text) > len("[a]") {
			return true
		}
	}
	text, _ := f.literal()
	return strings.Contains(text, "...") || strings.Contains(text, "…") || braces(text) || yours(text)
}

// braces reports whether text holds {name}.
func braces(text string) bool {
	_, rest, found := strings.Cut(text, "{")
	name, _, closed := strings.Cut(rest, "}")
	return found && closed && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '{' && r != ' '
	}) < 0
}

func yours(text string) bool {
	lower := strings.ToLower(text)
	return strings.HasPrefix(lower, "your-") || strings.HasPrefix(lower, "your_") || strings.Contains(lower, "path/to/")
}

// vague reports whether the name of a command in an instruction is no name of
// a program: a placeholder, a word for one, a mark of punctuation.
func vague(name field) bool {
	text, ok := name.literal()
	if placeholding(name) || ok && text == "" {
		return true
	}
	if !ok {
		return false
	}
	letters := strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	strange := strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+/@~ ", r)
	})
	const single = 1
	shouted := len(text) > single && strings.ToUpper(text) == text && strings.ToLower(text) != text
	return !letters || strange || shouted
}
