package mcpgate

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/host/tool"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/label"
)

// asEcho makes the test binary an upstream of one tool.
const asEcho = "IFF_BENCH_ECHO"

func echo() {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in echoInput) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{}) // it ends with its input
}

type echoInput struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// echoTools are a host's tools as the program gives them to the gateway.
type echoTools struct{ *tool.Host }

func (e echoTools) Tools() []Tool {
	var out []Tool
	for _, t := range e.Host.Tools() {
		out = append(out, Tool{Name: t.Name, Definition: t.Definition})
	}
	return out
}

// BenchmarkUpstream is calls of an upstream's tool through everything: the socket, the gate and its records, the upstream's process; and
// in the same run the same calls of the same upstream by itself, and the bare syncs. Where syncs cost nothing (TMPDIR=/dev/shm) it shows
// what iff itself costs.
func BenchmarkUpstream(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(300)) // as iff serve sets it
	w := newEchoWorld(b)
	for _, flying := range []int{1, 16} {
		b.Run(fmt.Sprint(flying), func(b *testing.B) { w.compare(b, flying) })
	}
}

type echoWorld struct {
	file          string // that calls name
	bare, through *mcp.ClientSession
}

func newEchoWorld(b *testing.B) *echoWorld {
	base := b.TempDir()
	dir, work := filepath.Join(base, "home"), filepath.Join(base, "work")
	must(b, os.Mkdir(work, 0o755))
	w := &echoWorld{file: filepath.Join(work, "notes.txt")}
	must(b, os.WriteFile(w.file, []byte("notes\n"), 0o644))
	scheme, _ := label.Builtin("default")
	h := unwrap(home.Init(b.Context(), dir, home.Plan{Operator: "me", Scheme: scheme, Passphrase: []byte("x y z"), Corpora: []home.CorpusPlan{{Name: "work", Root: work}}}, home.Options{}))(b)
	must(b, h.Close())
	self := unwrap(os.Executable())(b)
	config := unwrap(os.OpenFile(filepath.Join(dir, "iff.toml"), os.O_APPEND|os.O_WRONLY, 0))(b)
	fmt.Fprintf(config, "\n[upstream.echo]\ncommand = [%q]\nenv = { %s = \"1\" }\nlabel = \"PUBLIC\"\n[[upstream.echo.tool]]\nname = \"echo\"\ncapability = \"fs.read\"\ntarget = \"{path}\"\ntakes = [\"text\"]\n", self, asEcho)
	must(b, config.Close())
	r := unwrap(unwrap(unwrap(iff.Bootstrap(b.Context(), dir, iff.Options{}))(b).Lock())(b).Start(b.Context()))(b)
	b.Cleanup(func() { must(b, r.Close(context.WithoutCancel(b.Context()))) })
	var at serve.Attachment
	at.Attach(r, time.Now())
	g := unwrap(New(b.Context(), Options{Agents: &at, Tools: echoTools{r.Tools()}}))(b)
	r.Tools().Attach(g.Clients())
	ours, theirs := pair(b)
	var serving sync.WaitGroup
	serving.Go(func() { g.ServeConn(b.Context(), ours, serve.Peer{UID: 1000}) })
	b.Cleanup(func() { _ = theirs.Close(); serving.Wait(); g.Close() })
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	w.through = unwrap(client.Connect(b.Context(), &mcp.IOTransport{Reader: theirs, Writer: theirs}, nil))(b)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asEcho+"=1")
	w.bare = unwrap(client.Connect(b.Context(), &mcp.CommandTransport{Command: cmd}, nil))(b)
	b.Cleanup(func() { _ = w.through.Close(); _ = w.bare.Close() })
	return w
}

// pair is both ends of a socket.
func pair(b *testing.B) (ours, theirs net.Conn) {
	path := filepath.Join(b.TempDir(), "s")
	l := unwrap(net.Listen("unix", path))(b)
	defer l.Close()
	theirs = unwrap(net.Dial("unix", path))(b)
	return unwrap(l.Accept())(b), theirs
}

// compare has calls done both ways, in turns, and says what there is between them: what comes on top of the upstream alone, and of the
// median also what comes on top of the two syncs that a call waits for.
func (w *echoWorld) compare(b *testing.B, flying int) {
	var bare, through timing
	syncs := w.syncs(b)
	for b.Loop() {
		bare.run(b, w.bare, w.file, flying)
		through.run(b, w.through, w.file, flying)
	}
	for _, m := range []struct {
		name  string
		value time.Duration
	}{
		{"bare-p50-us", bare.at(50)}, {"bare-p99-us", bare.at(99)}, {"p50-us", through.at(50)}, {"p99-us", through.at(99)},
		{"over-p50-us", through.at(50) - bare.at(50) - 2*syncs}, {"sync-us", syncs}, {"over-p99-us", through.at(99) - bare.at(99)},
	} {
		b.ReportMetric(float64(m.value.Microseconds()), m.name)
	}
	b.ReportMetric(through.perSecond(), "calls/s")
	b.ReportMetric(bare.perSecond(), "bare/s")
	b.ReportMetric(0, "ns/op")
}

// syncs is how long the median sync of a small append takes where the log is, as the log has it done.
func (w *echoWorld) syncs(b *testing.B) time.Duration {
	f := unwrap(durable.OS().Create(w.file+".sync", 0o600))(b)
	defer func() { must(b, os.Remove(w.file+".sync")) }()
	defer f.Close()
	var all []time.Duration
	for range 50 {
		_ = unwrap(f.Write([]byte("a record of the usual size\n")))(b)
		began := time.Now()
		must(b, f.Sync())
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// timing is how long calls took.
type timing struct {
	all  []time.Duration
	wall time.Duration
}

// run makes a hundred calls for each in flight.
func (m *timing) run(b *testing.B, s *mcp.ClientSession, file string, flying int) {
	took := make([][]time.Duration, flying)
	var work sync.WaitGroup
	began := time.Now()
	for i := range flying {
		work.Go(func() {
			for range 100 {
				at := time.Now()
				r, err := s.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: echoInput{file, "hello"}})
				if err != nil || r.IsError {
					b.Errorf("%v, %+v", err, r)
					return
				}
				took[i] = append(took[i], time.Since(at))
			}
		})
	}
	work.Wait()
	m.wall += time.Since(began)
	m.all = append(m.all, slices.Concat(took...)...)
	slices.Sort(m.all)
}

func (m *timing) at(percent int) time.Duration {
	if len(m.all) == 0 {
		return 0
	}
	return m.all[(len(m.all)-1)*percent/100]
}

func (m *timing) perSecond() float64 { return float64(len(m.all)) / m.wall.Seconds() }
