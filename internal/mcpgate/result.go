package mcpgate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

// result is a JSON object that is sent as it is, with what the version of the protocol wants in every result.
type result struct {
	mcp.ResultBase
	body   []byte // an object, not empty
	modern bool
}

// MarshalJSON puts the members of every result before those of the body.
func (r *result) MarshalJSON() ([]byte, error) {
	var head []byte
	if r.modern {
		head = append(head, `"resultType":"complete",`...)
	}
	if len(r.Meta) > 0 && !bytes.Contains(r.body, []byte(`"_meta"`)) {
		meta, err := json.Marshal(r.Meta)
		if err != nil {
			return nil, err
		}
		head = append(append(append(head, `"_meta":`...), meta...), ',')
	}
	rest := bytes.TrimSpace(r.body)[1:]
	if bytes.Equal(bytes.TrimSpace(rest), []byte("}")) {
		head = bytes.TrimSuffix(head, []byte(","))
	}
	return append(append([]byte{'{'}, head...), rest...), nil
}

// toolForm is the result of tools/call.
type toolForm struct {
	Content    []textForm    `json:"content"`
	IsError    bool          `json:"isError,omitempty"`
	Structured canonical.Raw `json:"structuredContent,omitzero"`
}

type textForm struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// toolResult is a result with one text, and what it says as an object; nil for none.
func toolResult(text string, structured any, isError bool) ([]byte, error) {
	form := toolForm{Content: []textForm{{"text", strings.ToValidUTF8(text, "\uFFFD")}}, IsError: isError}
	if structured != nil {
		data, err := canonical.Marshal(structured)
		if err != nil {
			return nil, err
		}
		if form.Structured, err = canonical.NewRaw(data, canonical.Limits{Bytes: 2 * mostResult, Depth: 2 * maxDepth}); err != nil {
			return nil, err
		}
	}
	return canonical.Marshal(form)
}

// mostResult is how large a native result may be: it is sent as text and as an object.
const mostResult = 3 << 20

// pendingStatus is the status of a call that waits for a person.
const pendingStatus = "pending"

// replyResult is a reply as an agent and its model read it.
func replyResult(r gate.Reply) ([]byte, error) {
	told := serve.Told(r, mostResult)
	ok := r.Status == gate.Done || r.Status == gate.StagedStatus
	return toolResult(textOf(told), told, !ok)
}

// pendingResult says that a call waits for a person, and how its end is heard.
func pendingResult(request, again string) ([]byte, error) {
	told := serve.Reply{Request: request, Status: pendingStatus, Message: "it waits for a person, and nothing has happened yet; whoever runs iff decides: iff inbox. To hear the answer " + again + "; nothing is done twice"}
	return toolResult(textOf(told), told, false)
}

// textOf is a reply in words. Of what was done it is the content alone.
func textOf(r serve.Reply) string {
	content := contentOf(r.Result)
	if r.Status == string(gate.Done) && r.Message == "" {
		if content == "" {
			return "done"
		}
		if told := r.Result.String(); strings.HasPrefix(told, `{"state":`) {
			return "done\n" + content
		}
		return content
	}
	out := r.Status
	if r.Request != "" {
		out += " (request " + r.Request + ")"
	}
	if r.Reason != "" {
		out += ", " + r.Reason
	}
	if r.Message != "" {
		out += ": " + visible.EscapeMultiline(r.Message)
	}
	if r.Status == string(gate.StagedStatus) {
		out += "\nOnly this session sees it until end_round."
	}
	if len(r.Allowed) > 0 {
		out += "\nallowed: " + visible.Escape(strings.Join(r.Allowed, ", "))
	}
	if content != "" {
		out += "\n" + content
	}
	return out
}

// contentOf is the result of a native call in words: a file's text, a directory's names, otherwise its members.
func contentOf(r canonical.Raw) string {
	if r.IsZero() || r.String() == "{}" {
		return ""
	}
	var members map[string]canonical.Raw
	if canonical.Parse([]byte(r.String()), &members, canonical.Limits{Bytes: mostResult}) != nil {
		return r.String()
	}
	var text string
	if c, ok := members["content"]; ok && canonical.Parse([]byte(c.String()), &text, canonical.Limits{Bytes: mostResult}) == nil {
		return text
	}
	var entries []struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	if e, ok := members["entries"]; ok && canonical.Parse([]byte(e.String()), &entries, canonical.Limits{Bytes: mostResult}) == nil {
		var out strings.Builder
		for _, e := range entries {
			fmt.Fprintf(&out, "%s  %s\n", e.Kind, visible.Escape(e.Name))
		}
		return out.String()
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name].String()
		if canonical.Parse([]byte(value), &text, canonical.Limits{Bytes: mostResult}) == nil {
			value = visible.Escape(text)
		}
		fmt.Fprintf(&out, "%s: %s\n", name, value)
	}
	return out.String()
}

// faultResult is an error that the model can act on.
func faultResult(err error) ([]byte, error) {
	f := serve.FaultOf(err)
	r := gate.Reply{Status: gate.Refused, Reason: gate.Reason(f.Reason), Message: f.Message}
	if f.Remedy != "" {
		r.Message += "; " + f.Remedy
	}
	return replyResult(r)
}
