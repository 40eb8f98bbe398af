package witness

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// TestKilled runs a witness in a process that is killed again and again while clients of a log and of a fork press on: what was
// cosigned lies in one history, and the witness stands at or behind the last of it.
func TestKilled(t *testing.T) {
	const rounds = 12
	l := witnesstest.New(origin)
	l.Grow(4000, "leaf")
	fork := l.Fork(1)
	fork.Grow(4000, "other")
	histories := []*witnesstest.Log{l, fork}
	state := filepath.Join(t.TempDir(), "w")
	var points []point
	for round := range rounds {
		url, kill := startChild(t, state, l.VerifierKey())
		var wg sync.WaitGroup
		var mu sync.Mutex
		first, gone := make(chan struct{}), make(chan struct{})
		began := sync.OnceFunc(func() { close(first) })
		for _, h := range histories {
			wg.Go(func() {
				press(url, h, func(p point) { mu.Lock(); defer mu.Unlock(); points = append(points, p); began() })
			})
		}
		go func() { wg.Wait(); close(gone) }()
		if round%2 == 1 { // also on a busy machine something is cosigned
			select {
			case <-first:
			case <-gone:
			}
		}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		kill()
		<-gone
		w, err := Open(durable.OS(), state, Options{Logs: []string{l.VerifierKey()}})
		if err != nil {
			t.Fatal(err)
		}
		held := w.logs[origin].held
		w.Close()
		for _, p := range points {
			if p.size > held.size {
				t.Fatalf("%d was cosigned, and it stands at %d", p.size, held.size)
			}
		}
		if err := oneHistory(histories, append(points, point{held.size, held.root})); err != nil {
			t.Fatal(err)
		}
	}
	if len(points) < rounds/2 {
		t.Errorf("only %d were cosigned; the test shows nothing", len(points))
	}
	t.Logf("%d cosigned, %d kills", len(points), rounds)
}

// startChild starts a witness in a process of its own.
func startChild(t *testing.T, state string, logs ...string) (url string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+state, childLogs+"="+strings.Join(logs, " "))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://") {
		t.Fatalf("%q %v", line, err)
	}
	return strings.TrimSpace(line), func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// press asks for one size after the other until the witness is gone or knows another history.
func press(url string, l *witnesstest.Log, cosigned func(point)) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	old := int64(0)
	for size := int64(1); size <= l.Size(); size = max(size, old) + 1 {
		r, err := client.Post(url+"/add-checkpoint", "text/plain", bytes.NewReader(l.Request(min(old, size), size)))
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		switch {
		case err != nil:
			return
		case r.StatusCode == http.StatusOK:
			cosigned(point{size, l.Root(size)})
			old = size
		case r.StatusCode == http.StatusConflict:
			fmt.Sscan(string(body), &old)
		default:
			return
		}
	}
}
