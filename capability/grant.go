package capability

import "strings"

// Grant is one declared capability: a token, and which targets it covers. It
// does not change; two grants are equal (==) exactly if their texts are. The
// zero Grant declares nothing and covers nothing.
type Grant struct {
	capability Capability
	text       string
	code       string // empty for a bare token
}

// ParseGrant reads the one accepted spelling of a grant. The error is *Error.
func ParseGrant(text string) (Grant, error) {
	if len(text) > MaxGrant {
		return Grant{}, refuse(PatternTooLong, -1, "the grant has %d bytes, at most %d", len(text), MaxGrant)
	}
	if f := checkText(text); f != nil {
		return Grant{}, refuse(PatternInvalid, f.offset, "%s", f.detail)
	}
	token, argument, found := strings.Cut(text, "(")
	c, err := Parse(token)
	if err != nil {
		return Grant{}, err
	}
	if !found {
		return Grant{capability: c, text: text}, nil
	}
	argument, closed := strings.CutSuffix(argument, ")")
	switch {
	case !closed:
		return Grant{}, refuse(PatternInvalid, len(text), "the grant does not end with a closing parenthesis")
	case argument == "":
		return Grant{}, refuse(PatternInvalid, len(text)-1, "an empty argument; write %s alone to declare the class and have every call ask", token)
	}
	return newGrant(c, text, argument)
}

// newGrant compiles an argument, and refuses every spelling but one.
func newGrant(c Capability, text, argument string) (Grant, error) {
	form := c.Shape().form()
	code, f := form.compile(argument)
	if f != nil {
		return Grant{}, refuse(PatternInvalid, len(c.String())+1+f.offset, "%s", f.detail)
	}
	spelling := grantText(c, form.render(code))
	if spelling == text {
		return Grant{capability: c, text: text, code: code}, nil
	}
	if len(spelling) > MaxGrant {
		return Grant{}, refuse(PatternTooLong, -1, "the grant has %d bytes in its accepted spelling, at most %d", len(spelling), MaxGrant)
	}
	e := refuse(GrantNotCanonical, differ(text, spelling), "write %s", quote(spelling))
	e.Canonical = spelling
	return Grant{}, e
}

func grantText(c Capability, argument string) string { return c.String() + "(" + argument + ")" }

// differ returns the first byte at which a is not b.
func differ(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// Literal returns the narrowest grant that covers t: exactly t, or for an
// amount everything up to it. The error is *Error: the zero Target has none,
// nor has one whose text is too long for a grant.
func Literal(t Target) (Grant, error) {
	if t.IsZero() {
		return Grant{}, refuse(TargetInvalid, -1, "no target")
	}
	return ParseGrant(grantText(t.capability, t.text))
}

// String returns the text, empty for the zero Grant.
func (g Grant) String() string { return g.text }

// Capability returns the declared class, zero for the zero Grant.
func (g Grant) Capability() Capability { return g.capability }

// Bare reports whether g only declares its class and covers nothing. The zero
// Grant is bare.
func (g Grant) Bare() bool { return g.code == "" }

// Covers reports whether t is of g's class and one of g's targets. It does not
// allocate. It is false for bare and zero grants and for the zero Target.
func (g Grant) Covers(t Target) bool {
	return g.sameClass(&t) && g.capability.Shape().form().match(g.code, t.code)
}

// sameClass reports whether there is something to match.
func (g *Grant) sameClass(t *Target) bool {
	return g.capability == t.capability && g.code != "" && t.code != ""
}
