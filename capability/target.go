package capability

import (
	"strconv"
	"strings"
)

// Target is the one thing that a call acts on, with the class of acting. It
// does not change; two targets are equal (==) exactly if class and text are.
// The zero Target is none, and nothing covers it.
type Target struct {
	capability Capability
	text       string
	code       string
}

// maxTarget bounds the text before it is read: every byte of an argument list
// may be an escaped one.
const maxTarget = len(`\u{ff}`) * MaxArgv

// ParseTarget reads the one accepted spelling of a target of class c: the
// argument of a grant without wildcards. The error is *Error.
func ParseTarget(c Capability, text string) (Target, error) {
	if c.Shape() == 0 {
		return Target{}, refuse(CapabilityUnknown, -1, "a target needs a capability of the vocabulary")
	}
	if len(text) > maxTarget {
		return Target{}, refuse(TargetTooLong, -1, "the target has %d bytes, at most %d", len(text), maxTarget)
	}
	f := checkText(text)
	if f != nil {
		return Target{}, refuse(TargetInvalid, f.offset, "%s", f.detail)
	}
	form := c.Shape().form()
	code, f := form.compile(text)
	if f != nil {
		return Target{}, refuse(TargetInvalid, f.offset, "%s", f.detail)
	}
	if isPattern(code) {
		return Target{}, refuse(TargetInvalid, strings.IndexByte(text, '*'), `a target names one thing, without wildcards; write a literal * as \*`)
	}
	if spelling := form.render(code); spelling != text {
		e := refuse(TargetNotCanonical, differ(text, spelling), "write %s", quote(spelling))
		e.Canonical = spelling
		return Target{}, e
	}
	return Target{c, text, code}, nil
}

// Path returns the target of a file capability: the file at path, unescaped
// and relative to the root of corpus; "." is that root. The error is *Error;
// its Offset counts in the target's text.
func Path(c Capability, corpus, path string) (Target, error) {
	if c.Shape() != PathShape {
		return Target{}, mismatch(c, "path")
	}
	if !isCorpus(corpus) {
		return Target{}, refuse(TargetInvalid, 0, "%s is not a corpus name ([a-z0-9-], 1 to 32)", quote(corpus))
	}
	return ParseTarget(c, pathText(corpus, escapeLiteral(path, pathEscapes)))
}

// Host returns the target of NetEgress: a lower-case A-label name, an IPv4
// address, or an IPv6 address without brackets, and the port. The error is
// *Error; its Offset counts in the target's text.
func Host(host string, port uint16) (Target, error) {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return ParseTarget(NetEgress, strings.TrimSuffix(host+":"+strconv.Itoa(int(port)), ":"+defaultPort))
}

// Name returns the target of ToolInvoke, Publish or MutateSchema, from its
// unescaped name. The error is *Error; its Offset counts in the target's text.
func Name(c Capability, name string) (Target, error) {
	if c.Shape() != NameShape {
		return Target{}, mismatch(c, "name")
	}
	return ParseTarget(c, escapeLiteral(name, pathEscapes))
}

// Argv returns the target of SpawnProc, from the program and its arguments,
// unescaped. The error is *Error; its Offset counts in the target's text.
func Argv(args ...string) (Target, error) {
	if len(args) == 0 {
		return Target{}, refuse(TargetInvalid, 0, "no arguments; the first is the program")
	}
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = emptyArgument
		if arg != "" {
			texts[i] = escapeLiteral(arg, argvEscapes)
		}
	}
	return ParseTarget(SpawnProc, strings.Join(texts, " "))
}

// Amount returns the target of Pay: so much of one unit. The error is *Error;
// its Offset counts in the target's text.
func Amount(unit, amount string) (Target, error) {
	return ParseTarget(Pay, unit+","+amount)
}

func mismatch(c Capability, what string) *Error {
	return refuse(TargetInvalid, -1, "a target of %s is not a %s", quote(c.String()), what)
}

// IsZero reports whether t is no target.
func (t Target) IsZero() bool { return t.capability == 0 || t.code == "" }

// Capability returns the class, zero for the zero Target.
func (t Target) Capability() Capability { return t.capability }

// String returns the text, which ParseTarget reads back; empty for the zero
// Target.
func (t Target) String() string { return t.text }

// Path returns corpus and unescaped path of a file target.
func (t Target) Path() (corpus, path string, ok bool) {
	if t.capability.Shape() != PathShape {
		return "", "", false
	}
	return strings.Cut(t.code, ":")
}

// Host returns host, an IPv6 address without brackets, and port of a NetEgress
// target.
func (t Target) Host() (host string, port uint16, ok bool) {
	if t.capability.Shape() != HostShape {
		return "", 0, false
	}
	i := strings.LastIndexByte(t.code, ':')
	n, err := strconv.ParseUint(t.code[i+1:], 10, 16)
	return strings.Trim(t.code[:max(i, 0)], "[]"), uint16(n), err == nil
}

// Name returns the unescaped name of a tool, channel or schema target.
func (t Target) Name() (name string, ok bool) {
	return t.code, t.capability.Shape() == NameShape && t.code != ""
}

// Argv returns program and arguments of a SpawnProc target, unescaped, as a
// new slice.
func (t Target) Argv() (args []string, ok bool) {
	if t.capability.Shape() != ArgvShape {
		return nil, false
	}
	return strings.Split(t.code, argBreak), true
}

// Amount returns unit and decimal of a Pay target.
func (t Target) Amount() (unit, amount string, ok bool) {
	if t.capability.Shape() != AmountShape {
		return "", "", false
	}
	return strings.Cut(t.code, ",")
}
