package capability

import "strings"

const (
	argvEscapes   = `* \u`
	emptyArgument = `\u{}`
)

// compileArgv gives the arguments with argBreak between them.
func compileArgv(text string) (string, *fault) {
	var args []string
	for at := 0; at <= len(text); {
		raw := firstArgument(text[at:])
		last := at+len(raw) == len(text)
		switch code, f := compileArgument(raw); {
		case f != nil:
			f.offset += at
			return "", f
		case code == anyMore && !last:
			return "", wrong(at, `** stands only as the last argument; write a literal * as \*`)
		case len(args) == 0 && (code == "" || code == anyRun || code == anyMore):
			return "", wrong(at, "the program needs at least one literal byte")
		default:
			args = append(args, code)
		}
		at += len(raw) + 1
	}
	code := strings.Join(args, argBreak)
	if len(code) > MaxArgv {
		return "", wrong(0, "the arguments have %d bytes, at most %d", len(code), MaxArgv)
	}
	return code, nil
}

// firstArgument returns text up to the first space without a backslash.
func firstArgument(text string) string {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ' ':
			return text[:i]
		}
	}
	return text
}

func compileArgument(raw string) (string, *fault) {
	switch raw {
	case "":
		return "", wrong(0, `an empty argument; separate by one space, and write an argument that is empty as \u{}`)
	case "**":
		return anyMore, nil
	}
	return unescape(raw, argvEscapes)
}

func renderArgv(code string) string {
	args := strings.Split(code, argBreak)
	for i, arg := range args {
		args[i] = emptyArgument
		if arg != "" {
			args[i] = escape(arg, argvEscapes)
		}
	}
	return strings.Join(args, " ")
}

func matchArgv(grant, target string) bool {
	for {
		g, grantRest, grantMore := strings.Cut(grant, argBreak)
		t, targetRest, targetMore := strings.Cut(target, argBreak)
		switch {
		case !matchRun(g, t):
			return false
		case grantMore && grantRest == anyMore:
			return true
		case grantMore != targetMore:
			return false
		case !grantMore:
			return true
		}
		grant, target = grantRest, targetRest
	}
}
