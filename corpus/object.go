package corpus

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object names one object, <corpus>/<path>. The zero value names none.
type Object string

// Name names the object at a path below the root of a corpus; "." is the root.
// The path is as the file system has it: slashes between names, any bytes in
// them. Different paths have different names.
func Name(corpus, path string) Object {
	if !plainPath(path) {
		path = escapePath(path)
	}
	return Object(corpus + "/" + path)
}

// plainPath says whether a path is its own spelling.
func plainPath(p string) bool {
	bits := byte(0)
	for i := range len(p) {
		if p[i] < ' ' || p[i] == 0x7f || p[i] == '\\' {
			return false
		}
		bits |= p[i]
	}
	return bits < utf8.RuneSelf || utf8.ValidString(p)
}

func escapePath(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRuneInString(p[i:])
		switch {
		case p[i] == '\\':
			b.WriteString(`\\`)
		case r == utf8.RuneError && n == 1, p[i] < ' ', p[i] == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, p[i])
		default:
			b.WriteString(p[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Corpus is the name of the corpus, empty for the zero value.
func (o Object) Corpus() string {
	corpus, _, _ := strings.Cut(string(o), "/")
	return corpus
}

// Valid says whether o is spelled as [Name] spells it and leads to one place
// below a root: a corpus, then names without ".", ".." or an empty one among
// them, or the root itself. Only of a valid object is the path the only one's.
func (o Object) Valid() bool {
	corpus, p, ok := strings.Cut(string(o), "/")
	if !ok || !validCorpus(corpus) || !plainPath(p) && Name(corpus, o.Path()) != o {
		return false
	}
	return fs.ValidPath(p) // the spelling is UTF-8 and keeps slashes and dots
}

// validCorpus is the rule of package capability.
func validCorpus(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 32
}

// Path is the path below the root as the file system has it, "." for the root.
func (o Object) Path() string {
	_, p, _ := strings.Cut(string(o), "/")
	if !strings.Contains(p, `\`) {
		return p
	}
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] != '\\' || i+1 == len(p):
			b.WriteByte(p[i])
		case p[i+1] == 'x' && i+3 < len(p):
			n, err := strconv.ParseUint(p[i+2:i+4], 16, 8)
			if err != nil {
				b.WriteByte(p[i])
				continue
			}
			b.WriteByte(byte(n))
			i += 3
		default:
			i++
			b.WriteByte(p[i])
		}
	}
	return b.String()
}

// IsRoot says whether o is the root of its corpus.
func (o Object) IsRoot() bool {
	_, p, ok := strings.Cut(string(o), "/")
	return ok && p == "."
}

// Parent is the directory that holds o; false for a root and the zero value.
func (o Object) Parent() (Object, bool) {
	corpus, p, ok := strings.Cut(string(o), "/")
	if !ok || p == "." {
		return "", false
	}
	return Object(corpus + "/" + path.Dir(p)), true
}

// Below says whether o lies in the tree under dir, dir itself not included.
func (o Object) Below(dir Object) bool {
	if dir.IsRoot() {
		return o != dir && strings.HasPrefix(string(o), string(dir[:len(dir)-1]))
	}
	return dir != "" && len(o) > len(dir) && strings.HasPrefix(string(o), string(dir)) && o[len(dir)] == '/'
}
