package fs

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/beneath"
	"github.com/iff-run/iff/internal/canonical"
)

// The operations.
const (
	opRead   = "read"
	opList   = "list"
	opStat   = "stat"
	opWrite  = "write"
	opAppend = "append"
	opMkdir  = "mkdir"
	opDelete = "delete"
	opRename = "rename"
	opChmod  = "chmod"
)

// Reserved begins the names that belong to the host: no call reads or writes
// one, however it is spelled, nor what is below it, and none is listed. Bytes of
// one object lie there under a name that says nothing of its label.
const Reserved = ".iff-"

const (
	fileMode = 0o644
	dirMode  = 0o755

	// What an owner must keep: who runs this could not look at the object again.
	leastFile = 0o400
	leastDir  = 0o500
)

// call is what an envelope asks for.
type call struct {
	class     capability.Capability
	op        string
	object    corpus.Object
	to        corpus.Object // of a rename
	data      string        // of write and append
	mode      uint32
	offset    int64
	limit     int64
	recursive bool
	expect    corpus.State // empty if none is
}

func (c call) reads() bool      { return c.op == opRead || c.op == opList || c.op == opStat }
func (c call) reversible() bool { return c.op == opWrite || c.op == opAppend || c.op == opMkdir }

// members are the arguments as they are written.
type members struct {
	Op        string  `json:"op,omitempty"`
	Offset    *int64  `json:"offset,omitempty"`
	Limit     *int64  `json:"limit,omitempty"`
	Content   *string `json:"content,omitempty"`
	Base64    *string `json:"base64,omitempty"`
	Mode      *string `json:"mode,omitempty"`
	Recursive *bool   `json:"recursive,omitempty"`
	To        *string `json:"to,omitempty"`
	Expect    *string `json:"expect,omitempty"`
}

// takes lists what each operation takes.
var takes = map[string]string{
	opRead: "offset limit", opList: "", opStat: "",
	opWrite: "content base64 mode expect", opAppend: "content base64 mode expect", opMkdir: "mode expect",
	opDelete: "recursive expect", opRename: "to expect", opChmod: "mode expect",
}

// parse reads an envelope. Its errors are faults, but for that of a capability
// that is none of this host's.
func parse(env capability.Envelope) (call, error) {
	target := env.Target()
	name, path, ok := target.Path()
	if !ok {
		return call{}, wrong(gate.NoHost, "not a call of a file")
	}
	var m members
	if err := canonical.Parse(bytesOf(env.Arguments()), &m, canonical.Limits{}); err != nil {
		return call{}, wrong(gate.ArgumentsBad, "arguments: %v", err).because(err)
	}
	c := call{class: target.Capability(), op: m.Op, object: corpus.Name(name, path)}
	if c.op == "" && c.class == capability.FSRead {
		c.op = opRead
	}
	members, known := takes[c.op]
	if !known || c.reads() != (c.class == capability.FSRead) {
		return call{}, wrong(gate.ArgumentsBad, "op %s is none of %s; see the operations of this capability", strconv.Quote(c.op), c.class)
	}
	if extra := m.beside(members); extra != "" {
		return call{}, wrong(gate.ArgumentsBad, "op %s takes no %s; leave it out", c.op, extra)
	}
	if err := c.fill(m); err != nil {
		return call{}, err
	}
	if err := unreserved(c.object); err != nil {
		return call{}, err
	}
	if c.reads() {
		return c, nil
	}
	if err := writable(c.object); err != nil {
		return call{}, err
	}
	if err := c.destination(m); err != nil {
		return call{}, err
	}
	return c, nil
}

// beside names the first member that is given and not among those taken.
func (m members) beside(taken string) string {
	for _, given := range []struct {
		name string
		is   bool
	}{
		{"offset", m.Offset != nil}, {"limit", m.Limit != nil}, {"content", m.Content != nil}, {"base64", m.Base64 != nil},
		{"mode", m.Mode != nil}, {"recursive", m.Recursive != nil}, {"to", m.To != nil}, {"expect", m.Expect != nil},
	} {
		if given.is && !strings.Contains(" "+taken+" ", " "+given.name+" ") {
			return given.name
		}
	}
	return ""
}

func (c *call) fill(m members) error {
	c.limit = MaxRead
	if m.Limit != nil {
		c.limit = *m.Limit
	}
	if m.Offset != nil {
		c.offset = *m.Offset
	}
	if c.offset < 0 || c.limit < 0 || c.limit > MaxRead {
		return wrong(gate.ArgumentsBad, "offset is 0 or more, limit 0 to %d", MaxRead)
	}
	c.recursive = m.Recursive != nil && *m.Recursive
	if m.Expect != nil {
		if c.expect = corpus.State(*m.Expect); !c.expect.Known() {
			return wrong(gate.ArgumentsBad, "expect is absent or the digest of a state")
		}
	}
	if err := c.fillMode(m.Mode); err != nil {
		return err
	}
	if c.op != opWrite && c.op != opAppend {
		return nil
	}
	switch {
	case (m.Content == nil) == (m.Base64 == nil):
		return wrong(gate.ArgumentsBad, "op %s takes exactly one of content and base64", c.op)
	case m.Content != nil:
		c.data = *m.Content
		return nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(*m.Base64)
	if err != nil || strings.ContainsAny(*m.Base64, "\r\n") {
		return wrong(gate.ArgumentsBad, "base64 is not in the standard form of RFC 4648, padded, without line breaks").because(err)
	}
	c.data = string(data)
	return nil
}

func (c *call) fillMode(text *string) error {
	switch {
	case text != nil:
		n, err := strconv.ParseUint(*text, 8, 32)
		if err != nil || len(*text) != 4 || n > 0o777 {
			return wrong(gate.ArgumentsBad, "mode is four octal digits, 0000 to 0777")
		}
		c.mode = uint32(n)
	case c.op == opChmod:
		return wrong(gate.ArgumentsBad, "op chmod takes a mode")
	case c.op == opMkdir:
		c.mode = dirMode
	default:
		c.mode = fileMode
	}
	if c.op == opMkdir {
		return readable(c.mode, leastDir)
	}
	return readable(c.mode, leastFile)
}

// readable refuses a mode that takes its own object from the owner.
func readable(mode, least uint32) error {
	switch {
	case mode&least == least:
		return nil
	case least == leastDir:
		return wrong(gate.ArgumentsBad, "mode %04o takes a directory from its owner; give the owner read and execute, as 0500 does", mode)
	}
	return wrong(gate.ArgumentsBad, "mode %04o takes a file from its owner; give the owner read, as 0400 does", mode)
}

// destination reads where a rename leads.
func (c *call) destination(m members) error {
	if c.op != opRename {
		return nil
	}
	if m.To == nil {
		return wrong(gate.ArgumentsBad, "op rename takes to, the path it gets")
	}
	target, err := capability.ParseTarget(capability.FSWriteIrrev, *m.To)
	if err != nil {
		f := wrong(gate.ArgumentsBad, "to: %v", err).because(err)
		f.named = *m.To
		return f
	}
	name, path, _ := target.Path()
	c.to = corpus.Name(name, path)
	switch {
	case name != c.object.Corpus():
		return wrong(gate.ArgumentsBad, "to lies in another corpus; write the file there and delete this one")
	case c.to == c.object:
		return wrong(gate.ArgumentsBad, "to is the same path")
	case c.to.Below(c.object), c.object.Below(c.to):
		return wrong(gate.ArgumentsBad, "one of the two paths lies below the other")
	}
	if err := unreserved(c.to); err != nil {
		return err
	}
	return writable(c.to)
}

// writable refuses paths that no call writes to.
func writable(o corpus.Object) error {
	if o.IsRoot() {
		return wrong(gate.ArgumentsBad, "the root of a corpus is not written")
	}
	for name := range strings.SplitSeq(o.Path(), "/") {
		if err := beneath.CheckName(name); err != nil {
			return wrong(gate.ArgumentsBad, "%v", err).because(err)
		}
	}
	return nil
}

// unreserved refuses paths at and below names of the host.
func unreserved(o corpus.Object) error {
	for name := range strings.SplitSeq(o.Path(), "/") {
		if reserved(name) {
			return wrong(gate.ArgumentsBad, "names that begin with %s belong to the host; use another", Reserved)
		}
	}
	return nil
}

// reserved says whether a file system could take a name for one of the host's:
// without regard to case, width, composition and characters that do not show.
func reserved(name string) bool {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			name = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(strings.Map(shown, name))))
			return strings.HasPrefix(strings.ToLower(name), Reserved)
		}
	}
	return len(name) >= len(Reserved) && strings.EqualFold(name[:len(Reserved)], Reserved)
}

func shown(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
		return -1
	}
	return r
}
