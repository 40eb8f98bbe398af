package runtime

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
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

// sight is one look at a path, without following a link at its end. The zero value
// is of nothing.
type sight struct {
	inode            inode
	dir, link, there bool
}

// follow is where a text leads from a directory without links, as the system
// goes: links are followed wherever they lead, also to what is not there, and ..
// goes up from where a link has led. In a loop of links it stays.
func follow(dir, text string) string { return trail(dir, text).end }

// way is where a text leads from a directory, and what was seen on it.
type way struct {
	end    string
	links  []string // that were followed
	seen   []sight  // of the end and directories above it, the end last
	root   string   // of the corpus
	height []sight  // of the root and the directories above it, as the last barrier saw them; empty: none did
}

// usualDepth is how far below its corpus an object seldom lies.
const usualDepth = 4

// trail is follow, and the way.
func trail(dir, text string) way {
	w := way{end: filepath.Clean(dir), seen: make([]sight, 0, usualDepth)}
	tidy := isTidy(text)
	ahead := "" // of a tidy text all that it says, from /: next is cut from it; empty where it is to be put together anew
	for rest := text; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			w.end, w.seen = up(w.end), w.seen[:max(0, len(w.seen)-1)]
			continue
		}
		under := strings.TrimSuffix(w.end, "/")
		if !tidy {
			ahead = under + "/" + name
		} else if ahead == "" {
			ahead = under + "/" + name + "/" + rest
		}
		next := ahead[:len(under)+1+len(name)]
		at := look(next)
		if at.link && len(w.links) < maxLinks {
			if to, err := os.Readlink(next); err == nil {
				w.links = append(w.links, next)
				if filepath.IsAbs(to) {
					w.end, w.seen = "/", w.seen[:0]
				}
				ahead, rest = "", to+"/"+rest
				tidy = isTidy(rest)
				continue
			}
			at = look(next) // something else has taken its place
		}
		w.end, w.seen = next, append(w.seen, at)
	}
	return w
}

// isTidy says that each name of a text is a step down, and none is hidden.
func isTidy(text string) bool {
	return !strings.HasPrefix(text, ".") && !strings.Contains(text, "/.") && !strings.Contains(text, "//")
}

// sights are what lies at the end of a way and at the directories above it, each
// looked at once, but for those that the last barrier looked at.
func (w way) sights() iter.Seq[sight] {
	return func(yield func(sight) bool) {
		at := w.end
		for _, s := range slices.Backward(w.seen) {
			if !yield(s) {
				return
			}
			at = up(at)
		}
		if at == w.root && len(w.height) > 0 {
			for _, s := range w.height {
				if !yield(s) {
					return
				}
			}
			return
		}
		for p := range above(at) {
			if !yield(look(p)) {
				return
			}
		}
	}
}

// lies is what lies at a path: the end of the way, if that leads there without a
// link.
func (w way) lies(path string) sight {
	if n := len(w.seen); n > 0 && w.end == path {
		return w.seen[n-1]
	}
	return look(path)
}

// above are a path and all directories above it.
func above(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for ; yield(path) && path != "/"; path = up(path) {
		}
	}
}

// up is the directory above a path, / of /.
func up(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// unseen is what a name folds to of which nothing is left.
const unseen = "\u200b"

// fold is a path as those may take it to whom several spellings are one: without
// case, width, composition, characters that do not show, and dots and spaces at
// the end of a name. Two paths that any file system takes for one fold alike, and
// what is a name stays one.
func fold(path string) string {
	if folded(path) {
		return path
	}
	if ascii(path) {
		path = strings.ToLower(path)
	} else {
		rooted := strings.HasPrefix(path, "/")
		path = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(path)))
		path = filled(strings.Map(shown, path), rooted)
	}
	if folded(path) {
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

// filled has a name where folding has left none: of a name in which nothing shows, or
// beside a character that stands for a slash.
func filled(path string, rooted bool) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		if name == "" && (i > 0 || !rooted) {
			names[i] = unseen
		}
	}
	return strings.Join(names, "/")
}

// folded says that a path is what it folds to, as most are: small letters of ASCII,
// and no name that ends in a dot or a space.
func folded(path string) bool {
	for i := range len(path) {
		switch c := path[i]; {
		case c >= utf8.RuneSelf, 'A' <= c && c <= 'Z':
			return false
		case c == '.' || c == ' ':
			if i+1 == len(path) || path[i+1] == '/' {
				return false
			}
		}
	}
	return true
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
