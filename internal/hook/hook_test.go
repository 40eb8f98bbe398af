package hook_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/hook"
)

// forms are a question of each agent, with the places for a tool and its input.
var forms = map[hook.Client]string{
	hook.ClaudeCode: `{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/p","prompt_id":"p","permission_mode":"default","effort":{"level":"high"},` +
		`"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":"toolu_1"}`,
	hook.Codex: `{"session_id":"s","turn_id":"1","transcript_path":null,"cwd":"/p","model":"m","permission_mode":"bypassPermissions",` +
		`"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":"c1"}`,
	hook.Qwen: `{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"PreToolUse","timestamp":"2026-11-20T12:00:00.000Z",` +
		`"permission_mode":"yolo","prompt_id":"p","tool_name":%q,"tool_input":%s,"tool_use_id":"t"}`,
	hook.Gemini: `{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"BeforeTool","timestamp":"2026-11-20T12:00:00.000Z",` +
		`"tool_name":%q,"tool_input":%s}`,
}

func ask(client hook.Client, tool, input string) []byte {
	return fmt.Appendf(nil, forms[client], tool, input)
}

// with adds a member to a question.
func with(question []byte, member string) []byte {
	return []byte(strings.TrimSuffix(string(question), "}") + "," + member + "}")
}

const served = `"mcp_context":{"server_name":"iff","tool_name":"fs_write","command":"iff","args":["mcp"]}`

func TestTools(t *testing.T) {
	for client := range forms {
		for tool, want := range map[string]bool{
			"mcp__iff__fs_write": client != hook.Gemini, "mcp__iff__use_skill": client != hook.Gemini, "mcp__iff__read-text": client != hook.Gemini,
			"Bash": false, "Write": false, "run_shell_command": false, "exec_command": false, "apply_patch": false, "Task": false, "": false,
			"mcp__iff__": false, "mcp__iff": false, "mcp_iff_": false, "iff": false, "fs_write": false, "MCP__IFF__fs_write": false,
			" mcp__iff__fs_write": false, "xmcp__iff__fs_write": false, "mcp__iff2__x": false, "mcp__iffy__x": false, "mcp__other__iff": false,
			"mcp__iff__other__x": false, "mcp__iff___x": false, "mcp_iff_fs_write": false, "mcp__iff_x__y": false, "tool_call": false,
			"tool_search": client == hook.Qwen,
		} {
			r := hook.Decide(ask(client, tool, `{"path":"a","n":null}`), "")
			if r.Allow != want || r.Client != client || r.Tool != tool || want != (r.Reason == "") || !want && r.Reason != hook.NotOurs {
				t.Errorf("%s %q: %+v", client, tool, r)
			}
			if r.Input != sha256.Sum256([]byte(`{"n":null,"path":"a"}`)) {
				t.Errorf("%s %q: input %x", client, tool, r.Input)
			}
			if !want && (!strings.Contains(r.Words, "fs_write") || strings.Contains(r.Words, "\n")) {
				t.Errorf("%s %q: %q", client, tool, r.Words)
			}
		}
	}
}

// Where the agent says whose tool it is, that counts, whatever the name.
func TestServers(t *testing.T) {
	for _, c := range []struct {
		client       hook.Client
		tool, member string
		want         bool
	}{
		{hook.ClaudeCode, "mcp__iff__fs_write", `"mcp_server":{"name":"iff","source":"project"}`, true},
		{hook.ClaudeCode, "mcp__iff__a__b", `"mcp_server":{"name":"iff","source":"project"}`, true},
		{hook.ClaudeCode, "mcp__iff__a__b", `"mcp_server":{"name":"iff__a","source":"project"}`, false},
		{hook.ClaudeCode, "mcp__iff__fs_write", `"mcp_server":{"name":"other","source":"project"}`, false},
		{hook.ClaudeCode, "mcp__iff__fs_write", `"mcp_server":"iff"`, false},
		{hook.ClaudeCode, "Bash", `"mcp_server":{"name":"iff","source":"project"}`, false},
		{hook.Gemini, "mcp_iff_fs_write", served, true},
		{hook.Gemini, "mcp_iff_x_fs_write", `"mcp_context":{"server_name":"iff_x"}`, false},
		{hook.Gemini, "mcp_iff_fs_write", `"mcp_context":{}`, false},
		{hook.Gemini, "mcp_iff_fs_write", `"mcp_context":[]`, false},
		{hook.Gemini, "run_shell_command", served, false},
		{hook.Gemini, "mcp__iff__fs_write", served, false},
	} {
		if r := hook.Decide(with(ask(c.client, c.tool, `{}`), c.member), ""); r.Allow != c.want {
			t.Errorf("%s %s %s: %+v", c.client, c.tool, c.member, r)
		}
	}
	// What qwen calls through its bridge is named as what it is.
	if r := hook.Decide(ask(hook.Qwen, "tool_call", `{"name":"mcp__iff__fs_write"}`), ""); r.Allow {
		t.Error("the bridge itself is let through")
	}
}

func TestDoubts(t *testing.T) {
	good := ask(hook.ClaudeCode, "mcp__iff__fs_write", `{}`)
	if !hook.Decide(good, "").Allow {
		t.Fatal("the good one is denied")
	}
	for what, c := range map[string]struct {
		data   string
		client hook.Client
		want   hook.Reason
	}{
		"empty":            {"", "", hook.InputInvalid},
		"garbage":          {"allow", "", hook.InputInvalid},
		"an array":         {"[" + string(good) + "]", "", hook.InputInvalid},
		"two":              {string(good) + string(good), "", hook.InputInvalid},
		"cut off":          {string(good[:len(good)-1]), "", hook.InputInvalid},
		"a name twice":     {string(with(good, `"tool_name":"Bash"`)), "", hook.InputInvalid},
		"a name in case":   {string(with(good, `"Tool_name":"Bash"`)), "", hook.InputInvalid},
		"deep":             {string(ask(hook.ClaudeCode, "mcp__iff__x", strings.Repeat("[", 200)+strings.Repeat("]", 200))), "", hook.InputInvalid},
		"name of a number": {strings.Replace(string(good), `"mcp__iff__fs_write"`, "1", 1), "", hook.InputInvalid},
		"null":             {strings.Replace(string(good), `"mcp__iff__fs_write"`, "null", 1), "", hook.InputInvalid},
		"no event":         {strings.Replace(string(good), "PreToolUse", "", 1), "", hook.ClientUnknown},
		"another event":    {strings.Replace(string(good), "PreToolUse", "PostToolUse", 1), "", hook.ClientUnknown},
		"nobody's":         {`{"hook_event_name":"PreToolUse","tool_name":"mcp__iff__x"}`, "", hook.ClientUnknown},
		"said, no event":   {`{"tool_name":"mcp__iff__x"}`, hook.ClaudeCode, hook.ClientUnknown},
		"said to be other": {string(good), hook.Gemini, hook.ClientUnknown},
		"not a number":     {string(ask(hook.ClaudeCode, "mcp__iff__x", `{"n":1e999}`)), "", hook.InputInvalid},
	} {
		if r := hook.Decide([]byte(c.data), c.client); r.Allow || r.Reason != c.want || r.Words == "" {
			t.Errorf("%s: %+v, want %s", what, r, c.want)
		}
	}
	for _, client := range []hook.Client{hook.Codex, hook.Qwen} { // their names are the same
		if r := hook.Decide(good, client); !r.Allow || r.Client != client {
			t.Errorf("%+v", r)
		}
	}
	if (hook.Ruling{}).Allow {
		t.Error("the zero value allows")
	}
	r := hook.Decide(ask(hook.Codex, "a\x1b[2Jb\u202e"+strings.Repeat("x", 1000), `{}`), "")
	if strings.ContainsAny(r.Tool+r.Words, "\x1b\u202e") || len(r.Words) > 1000 {
		t.Errorf("%q", r.Words)
	}
}

func FuzzDecide(f *testing.F) {
	for client := range forms {
		f.Add(ask(client, "mcp__iff__fs_write", `{"a":null}`), string(client))
		f.Add(with(ask(client, "mcp_iff_fs_write", `{}`), served), "")
	}
	f.Fuzz(func(t *testing.T, data []byte, client string) {
		r := hook.Decide(data, hook.Client(client))
		if r.Allow != (r.Reason == "") || strings.ContainsFunc(r.Words+r.Tool, func(c rune) bool { return c < ' ' }) {
			t.Errorf("%+v", r)
		}
		if !r.Allow {
			return
		}
		// Another reader of the same bytes sees one of iff's tools too.
		if err := canonical.Check(data, canonical.Limits{Bytes: hook.MaxInput, Depth: 100}); err != nil {
			t.Errorf("%v: %q", err, data)
		}
		if !strings.HasPrefix(r.Tool, "mcp__iff__") && !strings.HasPrefix(r.Tool, "mcp_iff_") && (r.Client != hook.Qwen || r.Tool != "tool_search") {
			t.Errorf("%q is let through", r.Tool)
		}
	})
}

func TestAsk(t *testing.T) {
	good := ask(hook.Codex, "mcp__iff__fs_write", `{}`)
	if r := hook.Ask(t.Context(), strings.NewReader(string(good)), ""); !r.Allow {
		t.Errorf("%+v", r)
	}
	broken := io.MultiReader(strings.NewReader(string(good)), errorReader{})
	if r := hook.Ask(t.Context(), broken, ""); r.Reason != hook.InputInvalid {
		t.Errorf("%+v", r)
	}
	long := io.MultiReader(strings.NewReader(string(good)), zeros{})
	if r := hook.Ask(t.Context(), long, ""); r.Reason != hook.InputInvalid {
		t.Errorf("%+v", r)
	}
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		defer out.Close()
		ctx, cancel := context.WithTimeout(t.Context(), hook.Patience)
		defer cancel()
		if r := hook.Ask(ctx, in, ""); r.Reason != hook.InputLate || r.Allow {
			t.Errorf("%+v", r)
		}
	})
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// runtime answers one request at a socket with a line.
func runtime(t *testing.T, answer func(request string) string) (socket string, got <-chan string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "agent.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		line, _ := in.ReadString('\n')
		lines <- line
		if a := answer(line); a != "" {
			fmt.Fprintln(conn, a)
		}
		_, _ = in.ReadString('\n') // until the other end closes
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return socket, lines
}

func TestReport(t *testing.T) {
	r := hook.Decide(ask(hook.Codex, "exec_command", `{"cmd":"ls"}`), "")
	socket, got := runtime(t, func(string) string { return `{"id":1,"jsonrpc":"2.0","result":{}}` })
	if err := hook.Report(t.Context(), socket, r); err != nil {
		t.Error(err)
	}
	want := `{"id":1,"jsonrpc":"2.0","method":"hook.report","params":{"choice":"deny","client":"codex","input":"` + hex.EncodeToString(r.Input[:]) +
		`","reason":"hook-not-iff","tool":"exec_command"}}` + "\n"
	if line := <-got; line != want {
		t.Errorf("%s\nwant %s", line, want)
	}
	socket, _ = runtime(t, func(string) string { return "" }) // says nothing
	begun := time.Now()
	if err := hook.Report(t.Context(), socket, r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after %s: %v", time.Since(begun), err)
	}
	socket, _ = runtime(t, func(string) string {
		return `{"error":{"code":-32601,"data":{"reason":"method-unknown","remedy":""},"message":"no"},"id":1,"jsonrpc":"2.0"}`
	})
	if err := hook.Report(t.Context(), socket, r); err == nil {
		t.Error("a runtime that refuses is said to have been told")
	}
	if err := hook.Report(t.Context(), filepath.Join(t.TempDir(), "none"), r); err != nil {
		t.Errorf("no runtime: %v", err)
	}
	if err := hook.Report(t.Context(), socket, hook.Ruling{Allow: true}); err != nil {
		t.Error(err)
	}
}
