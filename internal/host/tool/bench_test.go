package tool

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
)

// BenchmarkCall is one call at a time, BenchmarkCalls 16 at once, both through the
// SDK's server on a pipe: all that this host adds to a call.
func BenchmarkCall(b *testing.B) { benchmark(b, 1) }

func BenchmarkCalls(b *testing.B) { benchmark(b, 16) }

func benchmark(b *testing.B, at int) {
	w := newWorld(b, nil, upstreamOf(b, "sdk", "sdk"))
	env := w.call("echo", `{"say":"hi"}`)
	b.ResetTimer()
	var all sync.WaitGroup
	for i := range at {
		all.Go(func() {
			for range (b.N + i) / at {
				if _, err := w.h.do(b.Context(), gate.Order{Phase: gate.Execute, Envelope: env}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkBare is the same upstream without this host: the SDK's client on its
// own transport.
func BenchmarkBare(b *testing.B) {
	cmd := exec.Command(self(b))
	cmd.Env = append(os.Environ(), "IFF_FAKE=sdk")
	s, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, nil).Connect(b.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ResetTimer()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range (b.N + i) / 16 {
				if _, err := s.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: rawJSON(`{"say":"hi"}`)}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkDerive is what a mapping costs, twice for each call.
func BenchmarkDerive(b *testing.B) {
	w := newWorld(b, nil, upstreamOf(b, "fake", "plain", writer...))
	env := w.call("write", `{"path":"a/b/c","content":"some text that is written"}`)
	for b.Loop() {
		if _, err := w.h.Touches(env); err != nil {
			b.Fatal(err)
		}
	}
}
