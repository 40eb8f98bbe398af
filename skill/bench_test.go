package skill_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/skill"
)

// BenchmarkLoad reads a signed skill from disk and takes it through the seven
// steps. The ratio is to reading the same files with the standard library,
// hashing their bytes and checking one Ed25519 signature, in the same run.
func BenchmarkLoad(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program does
	for _, size := range []struct {
		name         string
		files, bytes int
	}{{"5KB", 3, 5 << 10}, {"1MB", 20, 1 << 20}, {"5MB-190-files", 190, 5 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			dir := benchSkill(b, size.files, size.bytes)
			under := terms()
			bare := bareLoop(b, dir)
			b.SetBytes(int64(size.bytes))
			b.ReportAllocs()
			start := time.Now()
			for b.Loop() {
				p, err := skill.Read(dir, skill.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				if r := skill.Verify(p, under); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
			ours := time.Since(start)
			start = time.Now()
			for range b.N {
				bare()
			}
			theirs := time.Since(start)
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "us/load")
			b.ReportMetric(float64(theirs.Microseconds())/float64(b.N), "us/bare")
			b.ReportMetric(float64(ours)/float64(theirs), "ratio")
		})
	}
}

func benchSkill(b *testing.B, files, size int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "bench")
	must(b, os.MkdirAll(filepath.Join(dir, "data"), 0o755))
	head := []byte("---\nname: bench\ndescription: d\n---\n")
	for i := range files {
		name, data := filepath.Join(dir, "data", fmt.Sprintf("%03d", i)), make([]byte, size/files)
		if i == 0 {
			name = filepath.Join(dir, "SKILL.md")
			copy(data, head)
		}
		must(b, os.WriteFile(name, data, 0o644))
	}
	sign(b, dir, fields(), trusttest.OpsKey)
	return dir
}

// bareLoop is the least that any loader has to do.
func bareLoop(b *testing.B, dir string) func() {
	b.Helper()
	c, err := read(b, dir).Content()
	must(b, err)
	key := trusttest.NewKey(trusttest.OpsKey)
	message := make([]byte, 600)
	sig, err := key.SignMessage(message)
	must(b, err)
	public := ed25519.PublicKey(key.Public().Bytes())
	paths := make([]string, 0, len(c.Files()))
	for _, f := range c.Files() {
		paths = append(paths, filepath.Join(dir, f.Path))
	}
	return func() {
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				b.Fatal(err)
			}
			sha256.Sum256(data)
		}
		if !ed25519.Verify(public, message, sig[:]) {
			b.Fatal("the bare signature does not verify")
		}
	}
}
