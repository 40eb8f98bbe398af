package connect

import (
	"regexp"
	"strings"
)

const mask = `***`

// What looks like a secret: the value of a key with such a name, in JSON, TOML or a
// query, what follows an option of such a name, and the tokens of known services. A
// name with a slash is a path.
const (
	secretWord = `(?:token|secret|passw(?:or)?d|passphrase|credential|authorization|cookie)`
	secretName = `(?:"[^"/]*` + secretWord + `[^"/]*"|"[^"/]*keys?"|'[^'/]*` + secretWord + `[^'/]*'|'[^'/]*keys?'|[\w.-]*` + secretWord + `[\w.-]*|[\w.-]*keys?)`
	secretText = `(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,}\]"'\[{]+)`
)

var (
	secretPair   = regexp.MustCompile(`(?i)(` + secretName + `\s*[:=]\s*)` + secretText)
	secretOption = regexp.MustCompile(`(?i)("--?[\w-]*(?:` + secretWord + `|key)[\w-]*"\s*,\s*)` + secretText)
	secretShape  = regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]+|\b(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|eyJ)[\w.-]{8,}`)
	secretOpens  = regexp.MustCompile(`(?i)` + secretName + `\s*[:=]\s*("""|'''|\[|\{)`)
)

// masked are lines with *** in the place of values that look like secrets, of those
// too that go over several lines.
func masked(in []string) []string {
	out := make([]string, len(in))
	var w within
	for i, line := range in {
		out[i] = w.line(line)
	}
	return out
}

// within is a value that looks like a secret and has not ended yet.
type within struct {
	depth int    // of its brackets
	mark  string // that ends a text of several lines
}

func (w *within) line(text string) string {
	out := ""
	if w.inside() {
		out = text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	}
	for {
		if w.inside() {
			text = w.rest(text)
			if out += mask; w.inside() {
				return out
			}
		}
		at := secretOpens.FindStringSubmatchIndex(text)
		if at == nil {
			return out + maskPairs(text)
		}
		if mark := text[at[2]:at[3]]; len(mark) == 1 {
			w.depth = 1
		} else {
			w.mark = mark
		}
		out, text = out+maskPairs(text[:at[2]]), text[at[3]:]
	}
}

func (w *within) inside() bool { return w.depth > 0 || w.mark != "" }

// rest is what a line has behind the end of the value.
func (w *within) rest(line string) string {
	if w.mark != "" {
		_, rest, ended := strings.Cut(line, w.mark)
		if ended {
			w.mark = ""
		}
		return rest
	}
	for at := 0; at < len(line); at++ {
		switch line[at] {
		case '"', '\'':
			at = max(at, tomlStringEnd(line, at)-1)
		case '[', '{':
			w.depth++
		case ']', '}':
			if w.depth--; w.depth == 0 {
				return line[at+1:]
			}
		}
	}
	return ""
}

func maskPairs(line string) string {
	line = secretPair.ReplaceAllString(line, `${1}`+mask)
	line = secretOption.ReplaceAllString(line, `${1}`+mask)
	return secretShape.ReplaceAllString(line, `${1}`+mask)
}
