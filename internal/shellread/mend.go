package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// mend takes the backslash away from the end of comments, which in a shell end
// with their line whatever it ends in. The parser (mvdan.cc/sh v3.14.1) joins
// the next line to the command before such a comment, and so it would take the
// second line of
//
//	echo hello # \
//	rm -rf x
//
// for arguments of echo. Nothing changes its place. ok is false if comments
// remain that the parser takes to go on.
func mend(src string, lang syntax.LangVariant) (mended string, ok bool) {
	const passes = 4 // taking one away may show another
	for range passes {
		if !goesOn(src) {
			return src, true
		}
		places := continued(src, lang)
		if len(places) == 0 {
			return src, true
		}
		b := []byte(src)
		for _, i := range places {
			b[i] = ' '
		}
		src = string(b)
	}
	return src, false
}

// goesOn reports whether some line with a # in it ends in a backslash.
func goesOn(src string) bool {
	for line := range strings.SplitSeq(src, "\n") {
		if strings.HasSuffix(strings.TrimSuffix(line, "\r"), `\`) && strings.Contains(line, "#") {
			return true
		}
	}
	return false
}

// continued returns where comments have a backslash at the end of their line.
func continued(src string, lang syntax.LangVariant) []int {
	file, err := parseAs(src, lang, syntax.KeepComments(true))
	if file == nil || err != nil && len(file.Stmts) == 0 {
		return nil
	}
	var places []int
	depth := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return false
		}
		if depth >= maxDepth { // refused later on
			return false
		}
		depth++
		if c, ok := n.(*syntax.Comment); ok {
			start := min(int(c.Hash.Offset()), len(src))
			line, _, more := strings.Cut(src[start:], "\n")
			line = strings.TrimSuffix(line, "\r")
			if more && strings.HasSuffix(line, `\`) {
				places = append(places, start+len(line)-1)
			}
		}
		return true
	})
	return places
}
