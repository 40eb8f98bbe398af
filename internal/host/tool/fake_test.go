package tool

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/iff-run/iff/internal/canonical"
)

// TestMain is the tests, or the upstream that they start.
func TestMain(m *testing.M) {
	switch os.Getenv("IFF_FAKE") {
	case "":
		goleak.VerifyTestMain(m)
	case "sdk":
		serveSDK()
	case "never":
		time.Sleep(time.Hour)
	default:
		(&fake{mode: os.Getenv("IFF_FAKE"), out: os.Stdout}).serve(os.Stdin)
	}
}

// serveSDK is a well-behaved upstream.
func serveSDK() {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		Say string `json:"say"`
	}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Say}}}, nil, nil
	})
	s.AddResource(&mcp.Resource{URI: "memo://one", Name: "one"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "memo://one", Text: "the first"}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hello"}}}}, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// fake is an upstream that does, by the name of the tool that is called, what no
// upstream should.
type fake struct {
	mode    string
	mu      sync.Mutex
	out     io.Writer
	changed bool
	said    []string // what the client answered
	waits   string   // id of the call that waits for an answer
	token   string   // of progress, that the last call came with
	calls   int
}

var fakeTools = []string{
	"echo", "die", "die_after", "stall", "garbage", "half", "long", "deep", "batch", "inexact", "duplicate", "other_id", "ask", "change",
	"flood", "flood_requests", "big", "fail", "refuse", "input", "write", "rename", "count", "env", "shout", "not_a_result", "child",
	"report", "question",
}

func (f *fake) serve(in io.Reader) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxFrame)
	for lines.Scan() {
		raw, err := canonical.Transform(lines.Bytes(), limits)
		if err != nil {
			fmt.Fprintln(os.Stderr, "fake:", err)
			continue
		}
		f.message(members(string(raw)))
	}
}

func (f *fake) send(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(f.out, format+"\n", args...)
}

func (f *fake) reply(id, result string) { f.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result) }

func (f *fake) say(id, said string) {
	q, _ := quote(said)
	f.reply(id, `{"content":[{"type":"text","text":`+q+`}]}`)
}

func (f *fake) message(m []member) {
	id := find(m, "id")
	switch method, _ := text(find(m, "method")); method {
	case "":
		said := find(m, "error") + find(m, "result")
		if f.said = append(f.said, said); f.waits != "" {
			f.say(f.waits, said)
			f.waits = ""
		}
	case "initialize":
		version := find(members(find(m, "params")), "protocolVersion")
		f.said = append(f.said, find(members(find(m, "params")), "capabilities"))
		f.reply(id, `{"protocolVersion":`+version+`,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`)
	case "ping":
		f.reply(id, "{}")
	case "tools/list":
		f.reply(id, `{"tools":[`+strings.Join(f.tools(), ",")+`]}`)
	case "tools/call":
		params := members(find(m, "params"))
		name, _ := text(find(params, "name"))
		f.calls++
		f.token = find(members(find(params, "_meta")), "progressToken")
		f.call(id, name, members(find(params, "arguments")))
	}
}

func (f *fake) tools() []string {
	var out []string
	extra := ""
	if f.changed || f.mode == "changed" {
		extra = `,"more":{"type":"string"}`
	}
	for _, name := range fakeTools {
		out = append(out, `{"name":"`+name+`","description":"does `+name+`\u0007","inputSchema":{"type":"object","properties":{"say":{"type":"string"}`+extra+`}}}`)
	}
	switch f.mode {
	case "twins":
		out = append(out, `{"name":"echo","inputSchema":{"type":"object"}}`)
	case "names":
		out = append(out, `{"name":"../etc","inputSchema":{}}`, `{"name":"","inputSchema":{}}`, `{"name":"bare"}`, `{"name":"vast","inputSchema":{"d":"`+strings.Repeat("x", maxSchema)+`"}}`)
	case "many":
		for i := range maxTools + 10 {
			out = append(out, `{"name":"t`+strconv.Itoa(i)+`","inputSchema":{"type":"object"}}`)
		}
	}
	return out
}

func (f *fake) call(id, name string, args []member) {
	word := func(name string) string { s, _ := text(find(args, name)); return s }
	switch name {
	case "echo":
		f.say(id, word("say"))
	case "count":
		f.say(id, strconv.Itoa(f.calls))
	case "die":
		os.Exit(3)
	case "die_after":
		f.say(id, "bye")
		os.Exit(0)
	case "stall":
	case "garbage":
		f.send("this is not JSON")
	case "half":
		f.mu.Lock()
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":%s,"resu`, id)
		os.Exit(0)
	case "long":
		f.mu.Lock()
		for range 1 << 30 / (1 << 20) {
			if _, err := f.out.Write([]byte(strings.Repeat("x", 1<<20))); err != nil {
				os.Exit(1)
			}
		}
	case "deep":
		f.reply(id, strings.Repeat(`{"a":`, 100_000)+"1"+strings.Repeat("}", 100_000))
	case "batch":
		f.send(`[{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}]`, id)
	case "inexact":
		f.reply(id, `{"content":[],"structuredContent":{"n":9007199254740993}}`)
	case "duplicate":
		f.reply(id, `{"content":[],"content":[{"type":"text","text":"other"}]}`)
	case "other_id":
		f.say(`99999`, "nobody asked")
		f.say(`"x"`, "nobody asked")
		f.say(id, "mine")
	case "ask":
		for i, method := range []string{"roots/list", "sampling/createMessage", "elicitation/create", "ping"} {
			f.send(`{"jsonrpc":"2.0","id":"q%d","method":"%s","params":{"messages":[],"maxTokens":1,"message":"?","requestedSchema":{"type":"object","properties":{}}}}`, i, method)
		}
	case "shout":
		f.say(id, strings.Join(f.said, "\n"))
	case "change":
		f.changed = true
		f.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		f.say(id, "changed")
	default:
		f.more(id, name, word)
	}
}

func (f *fake) more(id, name string, word func(string) string) {
	switch name {
	case "flood":
		for range 20_000 {
			f.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
		}
		f.say(id, "after the flood")
	case "flood_requests":
		for i := range 1000 {
			f.send(`{"jsonrpc":"2.0","id":"f%d","method":"ping"}`, i)
		}
	case "big":
		f.reply(id, `{"content":[{"type":"text","text":"small"},{"type":"text","text":"`+strings.Repeat("x", MaxResult)+`"}],"structuredContent":{"a":1}}`)
	case "fail":
		f.reply(id, `{"content":[{"type":"text","text":"no such thing"}],"isError":true}`)
	case "refuse":
		f.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad parameters"}}`, id)
	case "input":
		f.reply(id, `{"resultType":"input_required","inputRequests":{}}`)
	case "not_a_result":
		f.reply(id, `{"content":"text"}`)
	case "write":
		if err := os.WriteFile(word("path"), []byte(word("content")), 0o600); err != nil {
			f.reply(id, `{"content":[],"isError":true}`)
			return
		}
		f.say(id, "written")
	case "rename":
		if err := os.Rename(word("from"), word("into")); err != nil {
			f.reply(id, `{"content":[{"type":"text","text":"cannot"}],"isError":true}`)
			return
		}
		f.say(id, "renamed")
	case "report":
		for i := range 3 {
			if f.token != "" {
				f.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":2,"message":"at \u001b[31m%d"}}`, f.token, i, i)
			}
			f.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":{"n":%d,"t\u0007":"a\u202eb"}}}`, i)
		}
		f.say(id, "reported")
	case "question":
		f.waits = id
		f.send(`{"jsonrpc":"2.0","id":"q","method":"%s","params":%s}`, word("method"), word("params"))
	case "env":
		f.say(id, strings.Join(os.Environ(), "\n"))
	case "child":
		cmd := exec.Command("/bin/sleep", "3600")
		if err := cmd.Start(); err != nil {
			f.say(id, err.Error())
			return
		}
		fmt.Fprintln(os.Stderr, "a child \x1b[31mis there")
		f.say(id, strconv.Itoa(cmd.Process.Pid))
	}
}
