package tool

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// MaxResult bounds what is told of one call, in bytes.
const MaxResult = 8 << 20

// result makes of an answer what the agent is told.
func (c call) result(raw []byte) (gate.Result, error) {
	canon, err := canonical.NewRaw(raw, limits)
	list := members(canon.String())
	switch {
	case err != nil:
		return gate.Result{}, c.lost(UpstreamGarbage, "its answer: "+short(err.Error()))
	case find(list, "resultType") == `"input_required"`:
		return gate.Result{}, c.lost(UpstreamRefused, "it asks for input, which iff does not give")
	}
	content, failed := find(list, "content"), find(list, "isError")
	if content != "" && !strings.HasPrefix(content, "[") || failed != "" && failed != "true" && failed != "false" {
		return gate.Result{}, c.lost(UpstreamGarbage, "its answer is no result of a tool")
	}
	if failed == "true" && c.mapping.reach == gate.Exact && c.mapping.class.Effect() != capability.None {
		return gate.Result{}, c.lost(UpstreamRefused, "the tool failed: "+short(firstText(content)))
	}
	r := gate.Result{Data: assemble(list)}
	if failed == "true" {
		r.Detail = "the tool says that it failed"
	}
	return r, nil
}

func (c call) lost(reason gate.Reason, detail string) error {
	return &Error{Reason: reason, Server: c.up.Name, Sent: true, Detail: detail}
}

// assemble writes what is told of a result, in canonical form.
func assemble(list []member) []byte {
	content, failed := find(list, "content"), find(list, "isError")
	if content == "" {
		content = "[]"
	}
	if failed == "" {
		failed = "false"
	}
	var b strings.Builder
	b.WriteByte('{')
	size := len(content)
	for _, name := range []string{"_meta", "structuredContent"} {
		size += len(find(list, name))
	}
	whole := size <= MaxResult-64
	if meta := find(list, "_meta"); whole && strings.HasPrefix(meta, "{") {
		b.WriteString(`"_meta":` + meta + ",")
	}
	if !whole {
		content = cut(content, size)
	}
	b.WriteString(`"content":` + content + `,"isError":` + failed)
	if structured := find(list, "structuredContent"); whole && structured != "" {
		b.WriteString(`,"structuredContent":` + structured)
	}
	b.WriteByte('}')
	return []byte(b.String())
}

// cut keeps the first items of content that there is room for, and says so.
func cut(content string, size int) string {
	var kept []string
	room := MaxResult - 1024
	all := elements(content)
	for _, item := range all {
		if room -= len(item) + 1; room < 0 {
			break
		}
		kept = append(kept, item)
	}
	note, _ := quote(fmt.Sprintf("[iff: the answer has %d bytes, more than are told; %d of %d items are here. Ask for less of it.]", size, len(kept), len(all)))
	return "[" + strings.Join(append(kept, `{"text":`+note+`,"type":"text"}`), ",") + "]"
}

// firstText is the first text in content; empty if there is none.
func firstText(content string) string {
	for _, item := range elements(content) {
		if s, ok := text(find(members(item), "text")); ok {
			return s
		}
	}
	return ""
}
