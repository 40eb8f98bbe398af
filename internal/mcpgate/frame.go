package mcpgate

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
)

const (
	maxFrame = 2 << 20 // bytes of a message from a client
	maxDepth = 32      // of its arrays and objects
	maxID    = 128     // bytes of an id as JSON
	nullID   = "null"
)

const remedy = "send what docs/mcp.md says"

// frame is one message of a client, each part as canonical JSON: whoever reads it after us reads what we read.
type frame struct {
	id     string // empty for a notification
	method string // empty for an answer
	params string // an object, {} where there were none; empty for an answer
	result string // of an answer, unless it has an error
	err    string // of an answer
}

type frameForm struct {
	Version string        `json:"jsonrpc,omitempty"`
	ID      canonical.Raw `json:"id,omitzero"`
	Method  string        `json:"method,omitempty"`
	Params  canonical.Raw `json:"params,omitzero"`
	Result  canonical.Raw `json:"result,omitzero"`
	Error   canonical.Raw `json:"error,omitzero"`
}

// parse reads one message strictly. The frame of a fault has the id to answer under, if there is one that can be used.
func parse(data []byte) (frame, *serve.Fault) {
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("[")) {
		return frame{}, bad(serve.BatchRefused, "a batch of messages", "send each message by itself; they are answered as they finish")
	}
	var form frameForm
	if err := canonical.Parse(data, &form, canonical.Limits{Bytes: maxFrame, Depth: maxDepth}); err != nil {
		return frame{id: whose(data)}, unread(err)
	}
	id := form.ID.String()
	if id != "" && !usable(id) {
		return frame{}, bad(serve.IDInvalid, "the id cannot be used", fmt.Sprintf("give a whole number, or a string of at most %d bytes as JSON", maxID))
	}
	out := frame{id, form.Method, form.Params.String(), form.Result.String(), form.Error.String()}
	answers := !form.Result.IsZero() || !form.Error.IsZero()
	switch {
	case form.Version != "2.0":
		return out, bad(serve.VersionInvalid, `the member jsonrpc is not "2.0"`, "speak JSON-RPC 2.0")
	case answers && (form.Method != "" || out.params != "" || !form.Result.IsZero() && !form.Error.IsZero()):
		return out, bad(serve.Reason(canonical.UnknownField), "a message that is an answer and something else", remedy)
	case form.Method == "" && !answers:
		return out, bad(serve.MethodUnknown, "a request without a method", "name one")
	case out.params != "" && out.params[0] != '{':
		return out, bad(serve.Reason(canonical.WrongType), "the params are not an object", remedy)
	case out.params == "" && !answers:
		out.params = "{}" // the SDK takes none for a pointer that it then follows
	}
	return out, nil
}

// usable says whether an id tells requests apart for every reader.
func usable(id string) bool {
	if len(id) > maxID {
		return false
	}
	_, err := strconv.ParseInt(id, 10, 64)
	return err == nil || id[0] == '"'
}

// message is the frame as the SDK has it.
func (f frame) message() (jsonrpc.Message, error) {
	id, err := f.sdkID()
	switch {
	case err != nil:
		return nil, err
	case f.method != "":
		return &jsonrpc.Request{ID: id, Method: f.method, Params: []byte(f.params)}, nil
	case f.err == "":
		return &jsonrpc.Response{ID: id, Result: []byte(f.result)}, nil
	}
	var said errorForm
	if canonical.Parse([]byte(f.err), &said, canonical.Limits{Bytes: maxFrame}) != nil {
		said = errorForm{Code: serve.CodeInternal, Message: "the client answers with an error"}
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: int64(said.Code), Message: said.Message}}, nil
}

// sdkID is the id as the SDK has it.
func (f frame) sdkID() (jsonrpc.ID, error) {
	var id any
	switch {
	case f.id == "":
		return jsonrpc.ID{}, nil
	case f.id[0] == '"':
		var text string
		if err := canonical.Parse([]byte(f.id), &text, canonical.Limits{}); err != nil {
			return jsonrpc.ID{}, err
		}
		id = text
	default:
		n, err := strconv.ParseInt(f.id, 10, 64)
		if err != nil {
			return jsonrpc.ID{}, err
		}
		id = float64(n) // exact: package canonical took it
	}
	return jsonrpc.MakeID(id)
}

// quoteJSON is a string as canonical JSON.
func quoteJSON(text string) []byte {
	data, err := canonical.Marshal(text)
	if err != nil {
		return []byte(`""`) // it was read as JSON, so it is UTF-8
	}
	return data
}

// keyOf is the id of an answer as canonical JSON.
func keyOf(id jsonrpc.ID) string {
	switch v := id.Raw().(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return string(quoteJSON(v))
	}
	return ""
}

// unread is the fault of bytes that package canonical refused.
func unread(err error) *serve.Fault {
	f := serve.Unread(err)
	f.Remedy = remedy
	return f
}

type faultForm struct {
	Code    int       `json:"code"`
	Data    faultData `json:"data"`
	Message string    `json:"message"`
}

// errorForm is an error that a client answers with.
type errorForm struct {
	Code    int           `json:"code"`
	Data    canonical.Raw `json:"data,omitzero"`
	Message string        `json:"message"`
}

type faultData struct {
	Reason  string `json:"reason"`
	Remedy  string `json:"remedy,omitempty"`
	Request string `json:"request,omitempty"` // of the call that it tells of
}

// faultJSON is a fault as the error of an answer to the id.
func faultJSON(id string, f *serve.Fault) []byte {
	if id == "" {
		id = nullID
	}
	data, err := canonical.Marshal(faultForm{codeOf(f), faultData{Reason: f.Reason, Remedy: f.Remedy}, f.Message})
	if err != nil || len(data) > maxFrame {
		data = fmt.Appendf(nil, `{"code":%d,"data":{"reason":"internal"},"message":"the fault cannot be told"}`, serve.CodeInternal)
	}
	return fmt.Appendf(nil, `{"error":%s,"id":%s,"jsonrpc":"2.0"}`, data, id)
}

func codeOf(f *serve.Fault) int {
	if f.Code == 0 {
		return serve.CodeRefused
	}
	return f.Code
}

// wireError is a fault as the SDK sends it.
func wireError(err error) error {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e
	}
	f := serve.FaultOf(err)
	out := &jsonrpc.Error{Code: int64(codeOf(f)), Message: f.Message}
	if f.Remedy != "" {
		out.Message += "; " + f.Remedy
	}
	said := faultData{Reason: f.Reason, Remedy: f.Remedy}
	var of *aboutCall
	if errors.As(err, &of) {
		said.Request = of.request
	}
	if data, err := canonical.Marshal(said); err == nil {
		out.Data = data
	}
	return out
}
