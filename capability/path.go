package capability

import "strings"

// DefaultCorpus is the corpus of a path without a prefix.
const DefaultCorpus = "work"

const pathEscapes = `*\`

// compilePath gives corpus ":" segments, with the corpus always written.
func compilePath(text string) (string, *fault) {
	corpus, path, f := cutCorpus(text)
	start := len(text) - len(path)
	switch {
	case f != nil:
		return "", f
	case path == "":
		return "", wrong(start, "the path is empty; the root of a corpus is written .")
	case path[0] == '/':
		return "", wrong(start, "the path is absolute; write it relative to the root of its corpus")
	case path == ".":
		return corpus + ":.", nil
	}
	var segments []string
	plain := !strings.ContainsAny(path, pathEscapes) // then the text is the code
	n := 0
	for at, more := start, true; more; n++ {
		var segment, code string
		segment, _, more = strings.Cut(text[at:], "/")
		if code, f = compileSegment(segment); f != nil {
			f.offset += at
			return "", f
		}
		if !plain {
			segments = append(segments, code)
		}
		at += len(segment) + 1
	}
	if n > MaxSegments {
		return "", wrong(start, "the path has %d segments, at most %d", n, MaxSegments)
	}
	if !plain {
		path = strings.Join(tidy(segments), "/")
	}
	if len(path) > MaxPath {
		return "", wrong(start, "the path has %d bytes, at most %d", len(path), MaxPath)
	}
	return corpus + ":" + path, nil
}

// cutCorpus splits a prefix off. A colon in the first segment always means a
// prefix, so that no file name can be taken for another corpus.
func cutCorpus(text string) (corpus, path string, f *fault) {
	first, _, _ := strings.Cut(text, "/")
	corpus, _, found := strings.Cut(first, ":")
	switch {
	case !found:
		return DefaultCorpus, text, nil
	case !isCorpus(corpus):
		return "", "", wrong(0, "%s is not a corpus name ([a-z0-9-], 1 to 32); a file name with a colon is written %s:name", quote(corpus), DefaultCorpus)
	}
	return corpus, text[len(corpus)+1:], nil
}

func isCorpus(name string) bool {
	const most = 32
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= most
}

func compileSegment(segment string) (string, *fault) {
	switch segment {
	case "":
		return "", wrong(0, "an empty segment; write single slashes, and none at the end")
	case ".", "..":
		return "", wrong(0, "the segment %s; write the path without it", segment)
	case "**":
		return anyMore, nil
	}
	code, f := unescape(segment, pathEscapes)
	if f == nil && (strings.HasSuffix(code, ".") || strings.HasSuffix(code, " ")) {
		return "", wrong(len(segment)-1, "the segment %s ends in a dot or a space, which some systems drop", quote(segment))
	}
	return code, f
}

// tidy gives each run of wildcard segments that holds a ** its one spelling:
// every * first, then the one **. At the end of the path ** stands for one
// segment or more, so there it takes the place of one *.
func tidy(segments []string) []string {
	out := make([]string, 0, len(segments))
	for i := 0; i < len(segments); {
		end, singles := i, 0
		for end < len(segments) && (segments[end] == anyRun || segments[end] == anyMore) {
			if segments[end] == anyRun {
				singles++
			}
			end++
		}
		if singles == end-i { // no ** here
			end = max(end, i+1)
			out = append(out, segments[i:end]...)
			i = end
			continue
		}
		if end == len(segments) && segments[end-1] == anyRun {
			singles--
		}
		for range singles {
			out = append(out, anyRun)
		}
		out = append(out, anyMore)
		i = end
	}
	return out
}

func renderPath(code string) string {
	corpus, path, _ := strings.Cut(code, ":")
	return pathText(corpus, escape(path, pathEscapes))
}

// pathText puts the prefix before a path where it is needed.
func pathText(corpus, path string) string {
	first, _, _ := strings.Cut(path, "/")
	if corpus == DefaultCorpus && !strings.Contains(first, ":") {
		return path
	}
	return corpus + ":" + path
}

// matchPath goes through the segments once and returns to the last ** where a
// later segment does not match: an earlier ** need never take more, for what
// stands between the two has matched as early as it can.
func matchPath(grant, target string) bool {
	prefix := strings.IndexByte(grant, ':') + 1
	if !strings.HasPrefix(target, grant[:prefix]) {
		return false
	}
	pattern, path := grant[prefix:], target[prefix:]
	if path == "." {
		return pattern == "."
	}
	var afterMore, resume string
	for path != "" {
		if pattern != "" && pattern[0] == anyMore[0] {
			if pattern == anyMore {
				return true
			}
			pattern = pattern[len(anyMore+"/"):]
			afterMore, resume = pattern, path
		}
		if patternRest, rest, ok := matchSegment(pattern, path); ok {
			pattern, path = patternRest, rest
			continue
		}
		if afterMore == "" {
			return false
		}
		for resume = afterSegment(resume); resume != "" && !mayMatch(afterMore, resume); {
			resume = afterSegment(resume)
		}
		pattern, path = afterMore, resume
	}
	return pattern == ""
}

// mayMatch looks at one byte, which rules most places out.
func mayMatch(pattern, path string) bool {
	return pattern[0] == path[0] || pattern[0] == anyRun[0]
}

// matchSegment matches the first segment of path against that of pattern, which
// is no **, and returns what follows. Most segments differ early, so it looks
// for the ends of the two only when it meets a wildcard.
func matchSegment(pattern, path string) (patternRest, rest string, ok bool) {
	i := 0
	for i < len(pattern) && i < len(path) && pattern[i] == path[i] && path[i] != '/' {
		i++
	}
	pattern, path = pattern[i:], path[i:]
	if pattern != "" && pattern[0] == anyRun[0] {
		p, patternRest, _ := strings.Cut(pattern, "/")
		segment, rest, _ := strings.Cut(path, "/")
		return patternRest, rest, matchRun(p, segment)
	}
	if (pattern == "" || pattern[0] == '/') && (path == "" || path[0] == '/') {
		return afterSegment(pattern), afterSegment(path), true
	}
	return "", "", false
}

// afterSegment returns what follows the first slash, nothing if there is none.
func afterSegment(path string) string {
	i := strings.IndexByte(path, '/')
	if i < 0 {
		return ""
	}
	return path[i+1:]
}
