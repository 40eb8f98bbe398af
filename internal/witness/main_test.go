package witness

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

const (
	childVariable = "WITNESS_TEST_CHILD" // the state directory of a witness to run until it is killed
	childLogs     = "WITNESS_TEST_LOGS"
	origin        = "iff/log/0123456789abcdef"
	name          = "witness.example/w1"
	dir           = "/w"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		fmt.Println(serveUntilKilled(dir, strings.Fields(os.Getenv(childLogs))))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// serveUntilKilled prints where it listens. It returns only why it cannot.
func serveUntilKilled(dir string, logs []string) error {
	w, err := Open(durable.OS(), dir, Options{Name: name, Logs: logs})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := Serve(w, l)
	fmt.Println("http://" + l.Addr().String())
	<-s.Done()
	return s.err
}

// opened is a witness in memory.
func opened(t *testing.T, d *durabletest.Disk, logs ...string) *Witness {
	t.Helper()
	return openedWith(t, d, Options{Name: name, Logs: logs})
}

func openedWith(t *testing.T, fsys durable.FS, opts Options) *Witness {
	t.Helper()
	w, err := Open(fsys, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// ask sends a request past HTTP.
func ask(w *Witness, body []byte) (Outcome, []byte) {
	out, e := w.cosign(right(), body)
	return e.Outcome, out
}

func right() steps { return steps{judge, (*Witness).keep} }

// grown is a log of a size.
func grown(size int64) *witnesstest.Log {
	l := witnesstest.New(origin)
	l.Grow(size, "leaf")
	return l
}

// mustCosign has a witness cosign a log's checkpoint.
func mustCosign(t *testing.T, w *Witness, l *witnesstest.Log, old, size int64) {
	t.Helper()
	if o, out := ask(w, l.Request(old, size)); o != Cosigned {
		t.Fatalf("%d to %d: %s: %s", old, size, o, out)
	}
}
