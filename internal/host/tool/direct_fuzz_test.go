package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/internal/canonical"
)

// The ids under which the same answer is waited for, once by the short way and once
// by the SDK: as long as each other, so that bytes have the same places.
const (
	shortID = ownNumbers + 7
	sdkID   = ownNumbers - 7
)

// landed is what became of a request when a server had sent data, in which ID is
// its id.
func landed(t testing.TB, data string, number int64, frame func(*screen, []byte) (jsonrpc.Message, error)) string {
	t.Helper()
	digits := fmt.Sprint(number)
	id, err := jsonrpc.MakeID(float64(number))
	if err != nil {
		t.Fatal(err)
	}
	s, f := &screen{}, &flight{}
	if number > ownNumbers {
		f.landed = make(chan struct{})
	}
	s.enter(id, f)
	msg, err := frame(s, []byte(strings.ReplaceAll(data, "ID", digits)))
	out := fmt.Sprintf("ends %v, refused %v, said %v, waits %t", err, f.refused, f.said, s.flights[id] != nil)
	if _, ok := msg.(*jsonrpc.Request); ok {
		out += ", asks"
	}
	if f.raw != nil {
		raw, err := canonical.NewRaw(f.raw, limits)
		out += fmt.Sprintf(", result %s %v", raw.String(), err)
	}
	return strings.ReplaceAll(out, digits, "ID")
}

func taken(s *screen, data []byte) (jsonrpc.Message, error) { return s.frame(data) }

// credulous is the planted bug: a short way that takes what a lenient reader reads.
func credulous(s *screen, data []byte) (jsonrpc.Message, error) {
	var form struct {
		ID     int64           `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(data, &form) != nil || form.Result == nil || form.ID <= ownNumbers {
		return s.frame(data)
	}
	if id, err := jsonrpc.MakeID(float64(form.ID)); err == nil {
		if f := s.land(id); f != nil {
			f.raw = form.Result
		}
	}
	return nil, nil
}

var landSeeds = []string{
	`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a"}]}}`,
	` {"result":{},"id":ID.0,"jsonrpc":"2.0"} `,
	`{"jsonrpc":"2.0","id":ID,"result":{"n":9007199254740993}}`,
	`{"jsonrpc":"2.0","id":ID,"result":{"a":1,"a":2}}`,
	`{"jsonrpc":"2.0","id":ID,"result":{"a":1},"result":{"a":2}}`,
	`{"jsonrpc":"2.0","id":ID,"result":{"a":1},"Result":{"a":2}}`,
	`{"jsonrpc":"2.0","id":ID,"result":null}`,
	`{"jsonrpc":"2.0","id":ID,"result":[]}`,
	`{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"b"}}`,
	`{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"\"result\""}}`,
	`{"jsonrpc":"1.0","id":ID,"result":{}}`,
	`{"id":ID,"result":{}}`,
	`{"jsonrpc":"2.0","id":"ID","result":{}}`,
	`{"jsonrpc":"2.0","id":ID0,"result":{}}`,
	`{"jsonrpc":"2.0","id":ID,"method":"result","params":{"result":1}}`,
	`{"jsonrpc":"2.0","method":"notifications/x","params":{"result":ID}}`,
	`[{"jsonrpc":"2.0","id":ID,"result":{}}]`,
	`{"jsonrpc":"2.0","id":ID,"result":{}`,
	`{"jsonrpc":"2.0","id":ID,"result":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`,
}

// FuzzLands: an answer that goes the short way is what it is through the SDK, and
// what is no answer there is none here.
func FuzzLands(f *testing.F) {
	for _, seed := range landSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if strings.Contains(data, fmt.Sprint(shortID)) || strings.Contains(data, fmt.Sprint(sdkID)) {
			return
		}
		if got, want := landed(t, data, shortID, taken), landed(t, data, sdkID, taken); got != want {
			t.Fatalf("%s: %s\nthrough the SDK: %s", data, got, want)
		}
	})
}

// TestLandSeeds: seeds go both ways, and show a short way that is not strict.
func TestLandSeeds(t *testing.T) {
	lands, noticed := 0, 0
	for _, seed := range landSeeds {
		want := landed(t, seed, sdkID, taken)
		if landed(t, seed, shortID, credulous) != want {
			noticed++
		}
		id, err := jsonrpc.MakeID(float64(shortID))
		if err != nil {
			t.Fatal(err)
		}
		s := &screen{}
		s.enter(id, &flight{landed: make(chan struct{})})
		if s.lands([]byte(strings.TrimSpace(strings.ReplaceAll(seed, "ID", fmt.Sprint(shortID))))) {
			lands++
		}
	}
	if lands < 2 || lands == len(landSeeds) || noticed < 3 {
		t.Errorf("%d of %d seeds go the short way, %d show the planted bug", lands, len(landSeeds), noticed)
	}
}

// mirror is a server that the SDK speaks to, and keeps the calls that it is sent.
type mirror struct {
	in    chan jsonrpc.Message
	calls chan []byte
}

func (m *mirror) Connect(context.Context) (mcp.Connection, error) { return m, nil }
func (m *mirror) SessionID() string                               { return "" }

func (m *mirror) Close() error {
	close(m.in)
	return nil
}

func (m *mirror) Read(context.Context) (jsonrpc.Message, error) {
	if msg, ok := <-m.in; ok {
		return msg, nil
	}
	return nil, io.EOF
}

func (m *mirror) Write(_ context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return nil
	}
	result := blank
	switch req.Method {
	case "initialize":
		result = fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"mirror","version":"1"}}`, versions[0])
	case callTool:
		data, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return err
		}
		m.calls <- data
	}
	m.in <- &jsonrpc.Response{ID: req.ID, Result: result}
	return nil
}

// mirrored is a session of the SDK with a mirror.
func mirrored(t testing.TB) (*mirror, *mcp.ClientSession) {
	t.Helper()
	m := &mirror{in: make(chan jsonrpc.Message, 8), calls: make(chan []byte, 8)}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "iff", Version: "1"}, nil).Connect(t.Context(), m, &mcp.ClientSessionOptions{ProtocolVersion: versions[0]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return m, s
}

// The number of a call, and so its token of progress.
const callNumber = 7

// sentBySDK is the line of a call through the SDK; made as [upstream.call] does.
func sentBySDK(t testing.TB, m *mirror, s *mcp.ClientSession, name, arguments string, follows bool) string {
	t.Helper()
	params := &mcp.CallToolParams{Name: name, Arguments: rawJSON(arguments)}
	if follows {
		params.Meta = mcp.Meta{"progressToken": callNumber}
	}
	if _, err := s.CallTool(t.Context(), params); err != nil {
		t.Fatalf("%q %s: %v", name, arguments, err)
	}
	return withoutID(t, <-m.calls)
}

// sentDirectly is the line of a call by the short way.
func sentDirectly(t testing.TB, name, arguments string, follows bool) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	l := &link{dead: make(chan struct{})}
	l.pipe = &pipe{screen: &l.screen, failed: func(error) {}, in: w, turn: make(chan struct{}, 1)}
	f := &flight{number: callNumber, talk: &talk{follows: follows}}
	done := make(chan error, 1)
	go func() { done <- l.callTool(t.Context(), nil, f, name, arguments) }()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if err != nil {
		t.Fatal(errors.Join(err, w.Close()))
	}
	if _, err := l.screen.frame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, ownNumbers+callNumber)); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil || string(f.raw) != "{}" {
		t.Errorf("%q %s: answered %s, %v", name, arguments, f.raw, err)
	}
	return withoutID(t, line)
}

// misquoted is the planted bug: a name that is quoted like a word of Go.
func misquoted(t testing.TB, name, arguments string, follows bool) string {
	meta := ""
	if follows {
		meta = fmt.Sprintf(`"_meta":{"progressToken":%d},`, callNumber)
	}
	return withoutID(t, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s"name":%q,"arguments":%s}}`, callTool, meta, name, arguments))
}

// withoutID is a request in canonical form but for its id, or what it is instead.
func withoutID(t testing.TB, line []byte) string {
	t.Helper()
	raw, err := canonical.NewRaw(line, limits)
	if err != nil {
		return err.Error()
	}
	var rest []member
	for _, m := range members(raw.String()) {
		if m.name != "id" {
			rest = append(rest, m)
		}
	}
	text, err := join(rest)
	if err != nil || len(rest) != 3 {
		t.Fatalf("%s is no request: %v", line, err)
	}
	return text
}

var sentSeeds = []struct{ name, arguments string }{
	{"echo", `{}`}, {"echo", `{"say":"a\nb","n":[1,2.5,null,{"x":"\u2028<&>"}]}`}, {"a\"b\\c", `{"id":1,"jsonrpc":"1.0"}`}, {"a\a\x00\u2028\U000e0041\ufeff", `{}`}, {"", `{"":""}`},
}

// FuzzSent: a call that goes the short way is the request that the SDK would send.
func FuzzSent(f *testing.F) {
	for _, seed := range sentSeeds {
		f.Add(seed.name, seed.arguments, false)
		f.Add(seed.name, seed.arguments, true)
	}
	m, s := mirrored(f)
	f.Fuzz(func(t *testing.T, name, arguments string, follows bool) {
		raw, err := canonical.NewRaw([]byte(arguments), canonical.Limits{})
		if _, utf8 := quote(name); err != nil || !utf8 || !strings.HasPrefix(raw.String(), "{") {
			return
		}
		if got, want := sentDirectly(t, name, raw.String(), follows), sentBySDK(t, m, s, name, raw.String(), follows); got != want {
			t.Fatalf("%s\nthrough the SDK: %s", got, want)
		}
	})
}

// TestSentSeeds: a short way that writes names otherwise shows.
func TestSentSeeds(t *testing.T) {
	m, s := mirrored(t)
	noticed := 0
	for _, seed := range sentSeeds {
		want := sentBySDK(t, m, s, seed.name, seed.arguments, true)
		if got := sentDirectly(t, seed.name, seed.arguments, true); got != want {
			t.Errorf("%s\nthrough the SDK: %s", got, want)
		}
		if misquoted(t, seed.name, seed.arguments, true) != want {
			noticed++
		}
	}
	if noticed == 0 || noticed == len(sentSeeds) {
		t.Errorf("%d of %d seeds show the planted bug", noticed, len(sentSeeds))
	}
}
