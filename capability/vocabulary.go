package capability

import (
	"slices"
	"strings"
)

// ManifestSchema names the manifest format whose capabilities are the
// vocabulary of this package. A new token means a new name here: a reader of
// the old schema refuses the token, so the vocabulary only grows.
const ManifestSchema = "iff/skill/v1"

// Capability is one token of the vocabulary. Zero is none: it has no token, no
// grant and no target.
type Capability uint8

// The vocabulary, in the paper's order.
const (
	NetEgress Capability = iota + 1
	FSRead
	FSWriteRev
	FSWriteIrrev
	ToolInvoke
	SpawnProc
	Publish
	Pay
	MutateSchema
)

// Effect says whether the runtime can take a call of a class back. Zero is
// Irreversible, so what is not classified is treated as the worst.
type Effect uint8

// The effect classes (paper, section "Reversible vs. irreversible").
const (
	Irreversible Effect = iota
	Reversible
	None
)

// String returns irreversible, reversible or none.
func (e Effect) String() string {
	switch e {
	case None:
		return "none"
	case Reversible:
		return "reversible"
	}
	return "irreversible"
}

// Shape is the grammar of a capability's argument and target. Zero is no
// shape: nothing parses and nothing matches.
type Shape uint8

// The shapes; the package documentation specifies them.
const (
	PathShape Shape = iota + 1
	HostShape
	NameShape
	ArgvShape
	AmountShape
)

// String returns path, host, name, argv or amount, empty for no shape.
func (s Shape) String() string {
	switch s {
	case PathShape:
		return "path"
	case HostShape:
		return "host"
	case NameShape:
		return "name"
	case ArgvShape:
		return "argv"
	case AmountShape:
		return "amount"
	}
	return ""
}

// Row is one line of the vocabulary.
type Row struct {
	Capability Capability
	Token      string
	Argument   string // what the argument is called in the notation token(argument)
	SideEffect string // the side-effect class, in the paper's words
	Effect     Effect
	Shape      Shape
	Example    string // a grant of this token
}

var vocabulary = [...]Row{
	{NetEgress, "net.egress", "host[:port]", "DNS-resolved network reach to host", Irreversible, HostShape, "net.egress(*.example.com:8443)"},
	{FSRead, "fs.read", "path", "filesystem read under path", None, PathShape, "fs.read(reports/**)"},
	{FSWriteRev, "fs.write.rev", "path", "write that can be rolled back", Reversible, PathShape, "fs.write.rev(reports/*.md)"},
	{FSWriteIrrev, "fs.write.irrev", "path", "delete, overwrite, truncate", Irreversible, PathShape, "fs.write.irrev(tmp/**)"},
	{ToolInvoke, "tool.invoke", "name", "invoke a named tool registered with the harness", Irreversible, NameShape, "tool.invoke(github/*)"},
	{SpawnProc, "spawn.proc", "argv", "external process spawn", Irreversible, ArgvShape, "spawn.proc(git log **)"},
	{Publish, "publish", "channel", "post to an external channel", Irreversible, NameShape, "publish(slack:#releases)"},
	{Pay, "pay", "token,maximum", "transfer of fungible value", Irreversible, AmountShape, "pay(usd,100.5)"},
	{MutateSchema, "mutate.schema", "target", "migrate a database / configuration schema", Irreversible, NameShape, "mutate.schema(orders.public.*)"},
}

// Vocabulary returns a copy of the table, in the paper's order.
func Vocabulary() []Row { return slices.Clone(vocabulary[:]) }

// known reports whether c is in the vocabulary, so that vocabulary[c-1] is it.
func (c Capability) known() bool { return c != 0 && int(c) <= len(vocabulary) }

// Parse returns the capability of an exact token. The error is *Error with
// CapabilityUnknown.
func Parse(token string) (Capability, error) {
	for _, r := range vocabulary {
		if r.Token == token {
			return r.Capability, nil
		}
	}
	known := make([]string, len(vocabulary))
	for i, r := range vocabulary {
		known[i] = r.Token
	}
	return 0, refuse(CapabilityUnknown, 0, "%s is not in the vocabulary; use one of %s", quote(token), strings.Join(known, ", "))
}

// String returns the token, empty for a capability that is none.
func (c Capability) String() string {
	if !c.known() {
		return ""
	}
	return vocabulary[c-1].Token
}

// Effect returns the effect class, Irreversible for a capability that is none.
func (c Capability) Effect() Effect {
	if !c.known() {
		return Irreversible
	}
	return vocabulary[c-1].Effect
}

// Shape returns the shape of the argument and target, zero for a capability
// that is none.
func (c Capability) Shape() Shape {
	if !c.known() {
		return 0
	}
	return vocabulary[c-1].Shape
}
