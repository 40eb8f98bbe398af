package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// inside says whether a path is a directory or lies below it.
func inside(dir, path string) bool {
	_, ok := below(dir, path)
	return ok
}

// below is the path of what lies in a directory, "." for the directory itself.
func below(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	if !ok || rest == "" || rest[0] != '/' {
		return path, false
	}
	return rest[1:], true
}

// maxLinks is how many links are followed on one path: as many as systems do.
const maxLinks = 40

// follow is where a text leads from a directory without links, as the system
// goes: links are followed wherever they lead, also to what is not there, and ..
// goes up from where a link has led. In a loop of links it stays.
func follow(dir, text string) string {
	end, _ := trail(dir, text)
	return end
}

// trail is follow, and the links on the way.
func trail(dir, text string) (at string, way []string) {
	at = dir
	links := 0
	for rest := text; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, err := os.Readlink(next) // an error: it is none, or not there
		if err != nil || links >= maxLinks {
			at = next
			continue
		}
		links++
		way = append(way, next)
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = to + "/" + rest
	}
	return at, way
}

// fold is a path as those may take it to whom several spellings are one: without
// case, width, composition, characters that do not show, and dots and spaces at
// the end of a name. Two paths that any file system takes for one fold alike.
func fold(path string) string {
	if ascii(path) {
		path = strings.ToLower(path)
	} else {
		path = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(path)))
		path = strings.Map(shown, path)
	}
	if !strings.Contains(path, ". ") && !strings.Contains(path, "./") && !strings.Contains(path, " /") && strings.TrimRight(path, ". ") == path {
		return path
	}
	names := strings.Split(path, "/")
	for i, name := range names {
		if end := strings.TrimRight(name, ". "); end != "" {
			names[i] = end
		}
	}
	return strings.Join(names, "/")
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// shown leaves out what nobody sees.
func shown(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
		return -1
	}
	return r
}

// plainly is a path as a target can spell it, without what nobody sees.
func plainly(path string) string {
	names := strings.Split(strings.ToValidUTF8(path, ""), "/")
	for i, name := range names {
		name = strings.Map(printed, strings.Map(shown, name))
		if end := strings.TrimRight(name, ". "); end != "" {
			name = end
		}
		names[i] = name
	}
	return filepath.Clean(strings.Join(names, "/"))
}
