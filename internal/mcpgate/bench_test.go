package mcpgate

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bare is the SDK's own server with one tool, on a socket.
func bare(b *testing.B) func() *mcp.ClientSession {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "ping", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "pong"}}}, nil
	})
	path := filepath.Join(b.TempDir(), "s")
	l := unwrap(net.Listen("unix", path))(b)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { _ = server.Run(context.Background(), &mcp.IOTransport{Reader: c, Writer: c}) })
		}
	})
	b.Cleanup(func() { _ = l.Close(); serving.Wait() })
	return func() *mcp.ClientSession {
		c := unwrap(net.Dial("unix", path))(b)
		s, err := mcp.NewClient(&mcp.Implementation{Name: "b", Version: "1"}, nil).Connect(b.Context(), &mcp.IOTransport{Reader: c, Writer: c}, nil)
		must(b, err)
		b.Cleanup(func() { _ = s.Close() })
		return s
	}
}

// BenchmarkCalls is the gateway over a gate that does nothing, beside the SDK's server alone: what the gateway itself adds.
func BenchmarkCalls(b *testing.B) {
	for name, connect := range map[string]func(b *testing.B) *mcp.ClientSession{
		"bare":    func(b *testing.B) *mcp.ClientSession { return bare(b)() },
		"gateway": func(b *testing.B) *mcp.ClientSession { return newRig(b, nil).client(b, nil) },
	} {
		b.Run(name+"/one", func(b *testing.B) { measure(b, connect(b), 1) })
		b.Run(name+"/16", func(b *testing.B) { measure(b, connect(b), 16) })
	}
}

func measure(b *testing.B, s *mcp.ClientSession, flying int) {
	var mu sync.Mutex
	var all []time.Duration
	var left atomic.Int64
	left.Store(int64(b.N))
	var work sync.WaitGroup
	began := time.Now()
	for range flying {
		work.Go(func() {
			var own []time.Duration
			for left.Add(-1) >= 0 {
				at := time.Now()
				if _, err := s.CallTool(b.Context(), &mcp.CallToolParams{Name: "ping", Arguments: map[string]any{"n": 1}}); err != nil {
					b.Error(err)
					return
				}
				own = append(own, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	work.Wait()
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/time.Since(began).Seconds(), "calls/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkSessions opens a thousand sessions and says what one holds.
func BenchmarkSessions(b *testing.B) {
	r := newRig(b, nil)
	for b.Loop() {
		const many = 1000
		before := heap()
		all := make([]*raw, many)
		for i := range all {
			all[i] = &raw{t: b, conn: r.dial(b)}
			if _, err := fmt.Fprintf(all[i].conn, "%s\n", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`); err != nil {
				b.Fatal(err)
			}
		}
		buffer := make([]byte, 16<<10)
		for _, c := range all {
			if _, err := c.conn.Read(buffer); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/many, "bytes/session")
		for _, c := range all {
			_ = c.conn.Close()
		}
		eventually(b, func() bool {
			r.w.mu.Lock()
			defer r.w.mu.Unlock()
			for _, p := range r.w.sessions {
				if !see(p, func() bool { return p.closed }) {
					return false
				}
			}
			return true
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
