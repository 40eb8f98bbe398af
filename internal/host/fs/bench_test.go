//go:build linux || darwin

package fs

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/capability"
)

// replaceFile is the bare loop: what an editor does to be sure.
func replaceFile(dir, name string, data []byte) error {
	temp := filepath.Join(dir, "."+name)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, name))
	}
	if err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// BenchmarkWrite replaces files of 4 KiB through a plan and its order, alone and
// 64 in flight, in turns with the bare loop, so that both meet the same disk.
// ratio is the bare loop's time over the host's: 1 is as fast.
func BenchmarkWrite(b *testing.B) {
	for _, flight := range []int{1, 64} {
		b.Run(fmt.Sprint(flight), func(b *testing.B) {
			k := newBench(b)
			var names []string
			for range flight {
				names = append(names, rand.Text())
				k.file(names[len(names)-1], "")
			}
			var bare, host time.Duration
			for n := 0; b.Loop(); n++ {
				content := fmt.Sprintf("%04096d", n)
				bare += k.round(names, func(name string) error { return replaceFile(k.dir, name, []byte(content)) })
				var envs = map[string]capability.Envelope{}
				for _, name := range names {
					envs[name] = envelope(b, capability.FSWriteRev, name, `{"op":"write","content":"`+content+`x"}`)
				}
				host += k.round(names, func(name string) error {
					o, err := k.order(envs[name])
					if err != nil {
						return err
					}
					o.Staging = Reserved + name
					_, err = k.h.do(b.Context(), o)
					return err
				})
			}
			n := float64(b.N * flight)
			b.ReportMetric(float64(bare)/n, "ns/bare")
			b.ReportMetric(float64(host)/n, "ns/host")
			b.ReportMetric(float64(bare)/float64(host), "ratio")
		})
	}
}

// round does one thing for all names at once and takes the time.
func (b *bench) round(names []string, one func(name string) error) time.Duration {
	start := time.Now()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			if err := one(name); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	return time.Since(start)
}
