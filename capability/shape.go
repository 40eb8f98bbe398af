package capability

// Bounds. A grant is at most MaxGrant bytes of text and a manifest has at most
// MaxGrants of them; a path at most MaxPath bytes and MaxSegments segments; a
// name at most MaxName bytes; an argument list at most MaxArgv bytes.
const (
	MaxGrant    = 1024
	MaxGrants   = 256
	MaxPath     = 4096
	MaxSegments = 128
	MaxName     = 512
	MaxArgv     = 128 << 10
)

// form is what a shape does. compile reads text leniently into a code, render
// gives the one spelling of a code: text is canonical if it survives both.
type form struct {
	compile func(text string) (code string, f *fault)
	render  func(code string) string
	match   func(grant, target string) bool
}

// form returns what s does; a shape that is none compiles and matches nothing.
func (s Shape) form() form {
	switch s {
	case PathShape:
		return form{compilePath, renderPath, matchPath}
	case HostShape:
		return form{compileHost, renderHost, matchHost}
	case NameShape:
		return form{compileName, renderName, matchRun}
	case ArgvShape:
		return form{compileArgv, renderArgv, matchArgv}
	case AmountShape:
		return form{compileAmount, renderAmount, matchAmount}
	}
	return form{
		func(string) (string, *fault) { return "", wrong(0, "no such capability") },
		func(code string) string { return code },
		func(string, string) bool { return false },
	}
}
