package e2e

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/internal/durable"
)

// TestNumbers measures what iff adds to calls of an upstream's tool, and what sessions cost. It judges no time: a machine that does
// something else makes none of it wrong.
func TestNumbers(t *testing.T) {
	w := newWorld(t)
	w.put("project/notes.txt", "the notes\n")
	w.init()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.configure(fmt.Sprintf("[upstream.echo]\ncommand = [%q]\nenv = { %s = \"1\" }\nlabel = \"PUBLIC\"\n[[upstream.echo.tool]]\nname = \"echo\"\ncapability = \"fs.read\"\ntarget = \"{path}\"\ntakes = [\"text\"]\n", self, asServer))
	cmd := w.command(t.Context(), self)
	cmd.Env = append(slices.Clone(w.env), asServer+"=1")
	bare, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	through := w.client()
	pid := parse(t, w.iff("status", "--json")).at("runtime", "pid").raw.String()
	t.Logf("the runtime, idle with one session and one upstream: %s", memory(t, pid))
	t.Logf("one fdatasync of a record here: %s", w.syncing())
	for _, flight := range []int{1, 16, 64} {
		t.Logf("%2d in flight: bare %s", flight, w.measure(bare, flight))
		t.Logf("%2d in flight: iff  %s", flight, w.measure(through, flight))
	}
	t.Logf("the runtime after that: %s", memory(t, pid))
	w.thousand(pid)
	if out := w.iff("verdict"); !strings.HasPrefix(out, "PASS") {
		t.Error(out)
	}
}

// measure makes calls, so many at once, and says how long they took.
func (w *world) measure(s *mcp.ClientSession, flight int) string {
	w.t.Helper()
	each := 500
	if flight > 1 {
		each = 2000 / flight
	}
	took := make([][]time.Duration, flight)
	var all sync.WaitGroup
	var once sync.Once
	begin := time.Now()
	for i := range flight {
		all.Go(func() {
			for range each {
				start := time.Now()
				r, err := s.CallTool(w.t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: echoInput{w.project + "/notes.txt", "hello"}})
				if err != nil || r.IsError {
					once.Do(func() { w.t.Errorf("echo: %v, %+v", err, r) })
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	all.Wait()
	return summary(slices.Concat(took...), time.Since(begin))
}

func summary(took []time.Duration, total time.Duration) string {
	if len(took) == 0 {
		return "nothing"
	}
	slices.Sort(took)
	at := func(p int) time.Duration { return took[(len(took)-1)*p/100].Round(time.Microsecond) }
	return fmt.Sprintf("p50 %v, p99 %v, %.0f/s", at(50), at(99), float64(len(took))/total.Seconds())
}

// syncing is how long the disk takes for a record of the log, of which a call waits for two.
func (w *world) syncing() string {
	w.t.Helper()
	f, err := durable.OS().Create(filepath.Join(w.dir, "synced"), 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	var took []time.Duration
	begin := time.Now()
	for range 300 {
		start := time.Now()
		if _, err := f.Write(make([]byte, 600)); err != nil {
			w.t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			w.t.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	return summary(took, time.Since(begin))
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+ kB)`)

func memory(t *testing.T, pid string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		t.Fatal(err)
	}
	return resident.FindString(string(data))
}

// thousand opens 1,000 sessions and has one of them work.
func (w *world) thousand(pid string) {
	w.t.Helper()
	const hello = `{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"many","version":"1"},"protocolVersion":"2025-06-18"}}` + "\n"
	begin := time.Now()
	for i := range 1000 {
		c, err := net.Dial("unix", filepath.Join(w.home, ".iff/run/mcp.sock"))
		if err != nil {
			w.t.Fatalf("session %d: %v", i, err)
		}
		w.t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(20 * time.Second)) // a unix socket has deadlines
		if _, err := c.Write([]byte(hello)); err != nil {
			w.t.Fatalf("session %d: %v", i, err)
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, `"serverInfo"`) {
			w.t.Fatalf("session %d: %v %.300s", i, err, line)
		}
	}
	w.t.Logf("1,000 sessions open after %v: %s", time.Since(begin).Round(time.Millisecond), memory(w.t, pid))
	if text, bad := call(w.t, w.client(), "fs_read", map[string]any{"path": "notes.txt"}); bad {
		w.t.Errorf("beside 1,000 sessions: %s", text)
	}
}
