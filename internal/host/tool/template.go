package tool

import (
	"fmt"
	"strings"
)

// template is text with arguments in it. The zero value is empty text.
type template struct {
	literals []string // one more than words
	words    []string
}

const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// parseTemplate reads text in which {word} stands for an argument; braces stand
// for nothing else.
func parseTemplate(source string) (template, error) {
	var t template
	for rest := source; ; {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			t.literals = append(t.literals, rest)
			return t, nil
		}
		word, after, ok := strings.Cut(rest[at+1:], "}")
		if rest[at] == '}' || !ok || word == "" || strings.Trim(word, wordBytes) != "" {
			return template{}, fmt.Errorf("%q: write {word} for the argument that is called word, of letters, digits, _ and -; braces are for nothing else", source)
		}
		t.literals, t.words = append(t.literals, rest[:at]), append(t.words, word)
		rest = after
	}
}

// String is the text that parseTemplate reads back.
func (t template) String() string {
	var b strings.Builder
	for i, l := range t.literals {
		b.WriteString(l)
		if i < len(t.words) {
			b.WriteString("{" + t.words[i] + "}")
		}
	}
	return b.String()
}

// alone is the word that the template is nothing else than.
func (t template) alone() (word string, ok bool) {
	if len(t.words) != 1 || t.literals[0] != "" || t.literals[1] != "" {
		return "", false
	}
	return t.words[0], true
}

// expand puts the arguments in, each as edit makes it; nil leaves it as it is.
func (t template) expand(args []member, edit func(value string) (string, error)) (string, error) {
	if len(t.words) == 0 {
		return strings.Join(t.literals, ""), nil
	}
	var b strings.Builder
	for i, l := range t.literals {
		b.WriteString(l)
		if i == len(t.words) {
			break
		}
		value, err := argument(args, t.words[i])
		if err == nil && edit != nil {
			value, err = edit(value)
		}
		if err != nil {
			return "", err
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// argument is one that has to be a string.
func argument(args []member, name string) (string, error) {
	value, ok := text(find(args, name))
	if !ok {
		return "", bad("argument %s is missing or not a string; the mapping of this tool needs it", name)
	}
	return value, nil
}

// maxEach bounds how many paths one argument may hold.
const maxEach = 64

// arguments are one that may be a string or an array of strings.
func arguments(args []member, name string) ([]string, error) {
	value := find(args, name)
	if !strings.HasPrefix(value, "[") {
		one, err := argument(args, name)
		return []string{one}, err
	}
	var out []string
	for _, e := range elements(value) {
		s, ok := text(e)
		if !ok {
			return nil, bad("argument %s holds something that is not a string; the mapping of this tool needs strings", name)
		}
		out = append(out, s)
	}
	if len(out) == 0 || len(out) > maxEach {
		return nil, bad("argument %s holds %d strings; give 1 to %d", name, len(out), maxEach)
	}
	return out, nil
}
