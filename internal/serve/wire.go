package serve

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
)

const (
	maxFrame  = 2 << 20 // of a request, without its newline
	maxResult = 8 << 20 // of a result; the frame around it is a little longer
	maxReply  = maxResult + 4096
	maxID     = 128 // of an id as JSON
	nullID    = "null"
)

// request is one line of a client.
type request struct {
	id     string // as canonical JSON; null if it has none that can be used
	method string
	params string // as canonical JSON
}

type requestForm struct {
	Version string        `json:"jsonrpc,omitempty"`
	ID      canonical.Raw `json:"id,omitzero"`
	Method  string        `json:"method,omitempty"`
	Params  canonical.Raw `json:"params,omitzero"`
}

// parseRequest reads a line without its newline.
func parseRequest(line []byte) (request, *Fault) {
	none := request{id: nullID}
	if text := strings.TrimLeft(string(line[:min(len(line), 64)]), " \t\r"); strings.HasPrefix(text, "[") {
		return none, bad(BatchRefused, "a batch of requests", "send each request on a line of its own; they are answered as they finish")
	}
	var form requestForm
	if err := canonical.Parse(line, &form, canonical.Limits{Bytes: maxFrame}); err != nil {
		return none, unread(err, CodeRequest)
	}
	switch id := form.ID.String(); {
	case id == "":
		return none, bad(NotificationGiven, "a request without an id", "give each request an id; there are no notifications")
	case !usable(id):
		return none, bad(IDInvalid, "the id cannot be used", fmt.Sprintf("give a whole number, or a string of at most %d bytes as JSON", maxID))
	}
	out := request{form.ID.String(), form.Method, form.Params.String()}
	if form.Version != "2.0" {
		return out, bad(VersionInvalid, `the member jsonrpc is not "2.0"`, "speak JSON-RPC 2.0")
	}
	if out.method == "" {
		return out, bad(MethodUnknown, "a request without a method", "name one")
	}
	if out.params == "" {
		out.params = "{}"
	}
	return out, nil
}

func bad(r Reason, message, remedy string) *Fault {
	return &Fault{Code: CodeRequest, Reason: string(r), Message: message, Remedy: remedy}
}

func usable(id string) bool {
	if len(id) > maxID {
		return false
	}
	_, err := strconv.ParseInt(id, 10, 64)
	return err == nil || id[0] == '"'
}

type faultForm struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    faultData `json:"data"`
}

type faultData struct {
	Reason string `json:"reason"`
	Remedy string `json:"remedy,omitempty"`
}

// reply is an answer as a line. Its members are in canonical order, so the line is canonical JSON.
func reply(id string, result any) ([]byte, error) {
	data, err := canonical.Marshal(result)
	if err != nil {
		return nil, err
	}
	if len(data) > maxResult {
		return nil, refused(ResultTooLarge, fmt.Sprintf("the result has %d bytes; at most %d are sent", len(data), maxResult), "ask for less")
	}
	return fmt.Appendf(nil, `{"id":%s,"jsonrpc":"2.0","result":%s}`+"\n", id, data), nil
}

// replyFault is a fault as a line. Its texts may hold what is not UTF-8; then they say less.
func replyFault(id string, f *Fault) []byte {
	data, err := canonical.Marshal(faultForm{f.Code, f.Message, faultData{f.Reason, f.Remedy}})
	if err != nil || len(data) > maxFrame {
		data = fmt.Appendf(nil, `{"code":%d,"data":{"reason":"internal"},"message":"the fault cannot be told"}`, CodeInternal)
	}
	return fmt.Appendf(nil, `{"error":%s,"id":%s,"jsonrpc":"2.0"}`+"\n", data, id)
}

// answer is one line of a server.
type answer struct {
	id     int64 // zero if it is about the connection
	result string
	fault  *Fault
}

type answerForm struct {
	Version string        `json:"jsonrpc"`
	ID      int64         `json:"id,omitzero"`
	Result  canonical.Raw `json:"result,omitzero"`
	Error   faultForm     `json:"error,omitzero"`
}

// parseAnswer reads a line without its newline.
func parseAnswer(line []byte) (answer, error) {
	text := string(line)
	// Parse takes null nowhere, and our own server writes canonical JSON.
	if head, ok := strings.CutSuffix(text, `,"id":null,"jsonrpc":"2.0"}`); ok {
		text = head + `,"jsonrpc":"2.0"}`
	}
	var form answerForm
	if err := canonical.Parse([]byte(text), &form, canonical.Limits{Bytes: maxReply}); err != nil {
		return answer{}, err
	}
	out := answer{id: form.ID, result: form.Result.String()}
	if e := form.Error; e != (faultForm{}) {
		out.fault = &Fault{Code: e.Code, Reason: e.Data.Reason, Message: e.Message, Remedy: e.Data.Remedy}
	}
	if (out.fault == nil) == (out.result == "") {
		return answer{}, fmt.Errorf("an answer has either a result or an error; the server speaks another protocol")
	}
	return out, nil
}
