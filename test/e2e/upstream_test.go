package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is a session of the official Go SDK's client with iff mcp.
func (w *world) client() *mcp.ClientSession {
	w.t.Helper()
	cmd := w.command(w.t.Context(), built.iff, "mcp")
	cmd.Stderr = os.Stderr
	c := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	s, err := c.Connect(w.t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		w.t.Fatalf("iff mcp: %v", err)
	}
	w.t.Cleanup(func() { _ = s.Close() }) // the runtime ends what is open
	return s
}

// call is the result of a tool: its text, and whether it is an error.
func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (text string, isError bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	for _, c := range r.Content {
		if part, ok := c.(*mcp.TextContent); ok {
			text += part.Text
		}
	}
	return text, r.IsError
}

// offers waits until all these tools are listed: a server that is slow to start is not waited for by a listing.
func (w *world) offers(s *mcp.ClientSession, wanted ...string) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		tools, err := s.ListTools(w.t.Context(), nil)
		if err != nil {
			w.t.Fatal(err)
		}
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
		}
		missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return slices.Contains(names, name) })
		if len(missing) == 0 {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("%v are not among the tools: %v", missing, names)
		}
	}
}

// TestUpstreams has the reference servers behind iff.
func TestUpstreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("project/notes.txt", "the notes\n")
	w.put("elsewhere/secret.txt", "SECRET\n")
	w.init()
	w.configure(fmt.Sprintf(`[upstream.files]
command = [%q, %q, %q]
mapping = "server-filesystem"
label = "PUBLIC"
[upstream.memory]
command = [%q, %q]
env = { MEMORY_FILE_PATH = %q }
mapping = "memory"
label = "PUBLIC"
[upstream.everything]
command = [%q, %q]
label = "PUBLIC"
`, w.program("node"), w.script("filesystem"), w.dir, w.program("node"), w.script("memory"), w.dir+"/memory.json", w.program("node"), w.script("everything")))
	s := w.client()
	a := w.answering(func(q question) bool { return !strings.Contains(q.target, "denied") })

	w.offers(s, "fs_read", "read_text_file", "write_file", "create_entities", "read_graph", "echo")
	for _, step := range []struct {
		tool  string
		args  map[string]any
		bad   bool
		holds string
	}{
		{"read_text_file", map[string]any{"path": w.project + "/notes.txt"}, false, "the notes"},
		{"write_file", map[string]any{"path": w.project + "/up.txt", "content": "up"}, false, ""},
		{"write_file", map[string]any{"path": w.project + "/denied.txt", "content": "no"}, true, "denied"},
		{"move_file", map[string]any{"source": w.project + "/up.txt", "destination": w.project + "/down.txt"}, false, ""},
		{"read_text_file", map[string]any{"path": w.dir + "/elsewhere/secret.txt"}, true, ""},
		{"search_files", map[string]any{"path": w.project, "pattern": "**/*.txt"}, false, "down.txt"},
		{"create_entities", map[string]any{"entities": []map[string]any{{"name": "iff", "entityType": "gate", "observations": []string{"stands between"}}}}, false, "stands between"},
		{"read_graph", map[string]any{}, false, "stands between"},
		{"echo", map[string]any{"message": "hello there"}, false, "hello there"},
	} {
		text, bad := call(t, s, step.tool, step.args)
		if bad != step.bad || !strings.Contains(text, step.holds) || strings.Contains(text, "SECRET") {
			t.Errorf("%s %v: error %v: %s", step.tool, step.args, bad, text)
		}
	}
	w.killed(s)
	asked := a.close()
	for _, want := range []question{
		{"fs.write.irrev", "up.txt"}, {"fs.write.irrev", "denied.txt"}, {"tool.invoke", "files/search_files"},
		{"tool.invoke", "memory/create_entities"}, {"tool.invoke", "everything/echo"},
	} {
		if !slices.Contains(asked, want) {
			t.Errorf("%v was not asked; asked were %v", want, asked)
		}
	}
	if got, _ := w.get("project/down.txt"); got != "up" {
		t.Errorf("down.txt holds %q", got)
	}
	if _, there := w.get("project/denied.txt"); there {
		t.Error("denied.txt was written")
	}
	if out := w.iff("verdict"); !strings.HasPrefix(out, "PASS") {
		t.Error(out)
	}
}

// killed ends the server everything in the middle of a call: what becomes of the call nobody knows, which is recorded, and later the
// server is there again.
func (w *world) killed(s *mcp.ClientSession) {
	w.t.Helper()
	pid := w.process(w.script("everything"))
	if pid == 0 {
		w.t.Fatal("there is no process of server-everything")
	}
	var during sync.WaitGroup
	during.Go(func() {
		text, bad := call(w.t, s, "trigger-long-running-operation", map[string]any{"duration": 30, "steps": 5})
		if !bad || !strings.Contains(text, "upstream-died") {
			w.t.Errorf("the call in the middle of which the server was killed gives %q", text)
		}
	})
	w.until("the long call is under way", func() bool {
		return strings.Contains(w.iff("audit", "show"), "everything/trigger-long-running-operation")
	})
	time.Sleep(time.Second) // it is sent now
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	during.Wait()
	if shown := w.iff("audit", "show"); !strings.Contains(shown, "upstream-died") {
		w.t.Errorf("the death is not in the log:\n%s", ran{out: shown}.tail())
	}
	var text string
	w.until("the server is there again", func() bool {
		var bad bool
		text, bad = call(w.t, s, "echo", map[string]any{"message": "again"})
		return !bad && strings.Contains(text, "again")
	})
}

// until waits for what comes.
func (w *world) until(what string, there func() bool) {
	w.t.Helper()
	for range 60 {
		if there() {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	w.t.Fatalf("waited in vain until %s", what)
}

// process is the id of the process of a program of this world's runtime, 0 if there is none.
func (w *world) process(script string) int {
	runtime := parse(w.t, w.iff("status", "--json")).at("runtime", "pid").raw.String()
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	for _, dir := range dirs {
		words, _ := os.ReadFile(dir + "/cmdline") // it may be gone
		stat, _ := os.ReadFile(dir + "/status")
		if strings.Contains(string(words), script) && strings.Contains(string(stat), "PPid:\t"+runtime+"\n") {
			var pid int
			if _, err := fmt.Sscanf(filepath.Base(dir), "%d", &pid); err == nil {
				return pid
			}
		}
	}
	return 0
}

// script is the program of a reference server.
func (w *world) script(name string) string {
	return filepath.Join(*installed, "node_modules/@modelcontextprotocol/server-"+name, "dist/index.js")
}
