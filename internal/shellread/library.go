package shellread

import (
	"path"
	"strings"
)

// Sources returns the content of a file of the skill by its path there, and
// false if there is no such file. A nil Sources has none.
type Sources func(path string) ([]byte, bool)

// library remembers the files that a script sources.
type library struct {
	script string // the path of the script that is read
	read   Sources
	known  map[string]*facts
}

// find returns path and content of the file of the skill that a script means
// with source file: beside the script, or from the top of the skill.
func (l *library) find(file field) (string, []byte, bool) {
	var candidates []string
	if at, ok := file.inSkill(); ok {
		candidates = []string{at}
	} else if text, ok := file.literal(); ok && text != "" && text[0] != '/' {
		candidates = []string{path.Join(path.Dir(l.script), text), path.Clean(text)}
	}
	for _, at := range candidates {
		if l.read == nil || at == ".." || strings.HasPrefix(at, "../") {
			continue
		}
		if src, ok := l.read(at); ok && Kind(at, src[:min(len(src), KindBytes)], false) == "shell" {
			return at, src, true
		}
	}
	return "", nil, false
}

// facts returns those of a file that is sourced, nil if it cannot be read. A
// file that sources itself has none the second time.
func (l *library) facts(from *facts, file field) *facts {
	at, src, ok := l.find(file)
	if !ok || from.depth >= maxNested {
		return nil
	}
	if inner, seen := l.known[at]; seen {
		return inner
	}
	l.known[at] = nil
	parsed, _, fault := parse(string(src), dialects(at, src))
	if fault != nil {
		return nil
	}
	l.known[at] = newFacts(parsed, words{src: string(src), script: at}, l, from.depth+1)
	return l.known[at]
}
