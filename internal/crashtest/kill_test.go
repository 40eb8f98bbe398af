package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/durable"
)

var (
	kills = flag.Int("kills", 25, "how many processes TestKills kills")
	child = flag.String("be", "", "be a process that is killed: append to the log in this directory")
	buggy = flag.String("be-buggy", "", "the same, with files that keep what is written to themselves for a while")
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case *child != "":
		fail(pour(context.Background(), durable.OS(), *child, os.Stdin, os.Stdout))
		return
	case *buggy != "":
		fail(pour(context.Background(), lazy{durable.OS()}, *buggy, os.Stdin, os.Stdout))
		return
	}
	os.Exit(m.Run())
}

func starting(t *testing.T, how string) *run {
	t.Helper()
	return &run{dir: t.TempDir(), command: []string{os.Args[0], how}, rand: rand.New(rand.NewPCG(rand.Uint64(), 0))}
}

func TestKills(t *testing.T) {
	r := starting(t, "-be")
	began := time.Now()
	if err := r.kills(t.Context(), *kills, func() {}); err != nil {
		t.Error(err)
	}
	t.Log(r.summary(time.Since(began)))
	if r.acked == 0 {
		t.Error("nothing was acknowledged: this shows nothing")
	}
}

// A store that acknowledges what it still has in memory is found out.
func TestKillsCatch(t *testing.T) {
	r := starting(t, "-be-buggy")
	err := r.kills(t.Context(), 200, func() {})
	if err == nil {
		t.Error("not caught")
	}
	t.Logf("after %d kills: %v", r.killed, err)
}

// lazy is a file system with a bug: what is written at offsets goes to the kernel with the next write or sync but one.
type lazy struct{ durable.FS }

func (l lazy) OpenAt(path string) (durable.FileAt, error) {
	f, err := l.FS.OpenAt(path)
	if err != nil || !strings.HasSuffix(path, ".jsonl") {
		return f, err
	}
	return &lazyFile{FileAt: f}, nil
}

type lazyFile struct {
	durable.FileAt
	mu      sync.Mutex
	waiting func() error
}

func (f *lazyFile) flush() error {
	if f.waiting == nil {
		return nil
	}
	err := f.waiting()
	f.waiting = nil
	return err
}

func (f *lazyFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.flush(); err != nil {
		return 0, err
	}
	data := append([]byte(nil), p...)
	f.waiting = func() error {
		n, err := f.FileAt.WriteAt(data, off)
		if err == nil && n < len(data) {
			err = fmt.Errorf("%d of %d bytes", n, len(data))
		}
		return err
	}
	return len(p), nil
}

func (f *lazyFile) Sync() error { return nil }

func (f *lazyFile) Size() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.flush(); err != nil {
		return 0, err
	}
	return f.FileAt.Size()
}

func (f *lazyFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.flush(); err != nil {
		return err
	}
	return f.FileAt.Truncate(size)
}

func (f *lazyFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.flush(); err != nil {
		return err
	}
	return f.FileAt.Close()
}
