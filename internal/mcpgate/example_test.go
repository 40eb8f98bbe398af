package mcpgate

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/iff-run/iff/internal/serve"
)

// An agent of any version speaks on a connection; here one that says who it is in each request.
func ExampleGateway_ServeConn() {
	g, err := New(context.Background(), Options{Agents: &world{}, Version: "0.5.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	agent, ours := net.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() { g.ServeConn(context.Background(), ours, serve.Peer{UID: 1000}) })
	fmt.Fprintln(agent, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"notes.txt"},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	line, _ := bufio.NewReader(agent).ReadString('\n')
	_, result, _ := strings.Cut(strings.TrimSpace(line), `"content":`)
	fmt.Println(result)
	_ = agent.Close()
	serving.Wait()
	// Output:
	// [{"text":"hello\n","type":"text"}],"structuredContent":{"request":"r1.1","result":{"content":"hello\n","size":6,"state":"5891b5b5"},"status":"done"}}}
}

// TestGuide holds the lines of docs/mcp.md against the transcripts that are played.
func TestGuide(t *testing.T) {
	guide := string(unwrap(os.ReadFile("../../docs/mcp.md"))(t))
	played := string(unwrap(os.ReadFile("testdata/versions.txtar"))(t))
	said := 0
	for line := range strings.Lines(guide) {
		if strings.HasPrefix(line, "> {") || strings.HasPrefix(line, "< {") {
			said++
			if !strings.Contains(played, line) {
				t.Errorf("docs/mcp.md has a line that nobody plays: %s", line)
			}
		}
	}
	if said == 0 {
		t.Error("docs/mcp.md has no transcript")
	}
	for _, name := range (&Gateway{natives: nativeTools(true)}).sorted() {
		if !strings.Contains(guide, "`"+name) {
			t.Errorf("docs/mcp.md does not say what %s does", name)
		}
	}
}
