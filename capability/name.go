package capability

import "strings"

func compileName(text string) (string, *fault) {
	code, f := unescape(text, pathEscapes)
	if f != nil {
		return "", f
	}
	if i := strings.Index(code, anyRun); i >= 0 && i != len(code)-1 {
		return "", wrong(len(escape(code[:i], pathEscapes)), `a * stands only at the end of a name; write a literal one as \*`)
	}
	switch {
	case code == "":
		return "", wrong(0, "the name is empty")
	case len(code) > MaxName:
		return "", wrong(0, "the name has %d bytes, at most %d", len(code), MaxName)
	case code[0] == ' ' || code[len(code)-1] == ' ':
		return "", wrong(0, "the name begins or ends with a space; write it without")
	}
	return code, nil
}

func renderName(code string) string { return escape(code, pathEscapes) }
