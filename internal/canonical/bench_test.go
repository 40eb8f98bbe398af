package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gowebpki/jcs"
)

// benchManifest has the shape of a skill's manifest.
type benchManifest struct {
	Schema  string `json:"schema"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Label   struct {
		Rank         string   `json:"rank"`
		Compartments []string `json:"compartments"`
		Releasable   []string `json:"releasable"`
	} `json:"label"`
	Caps         []string `json:"caps"`
	Signer       string   `json:"signer"`
	Verification string   `json:"verification,omitempty"`
	Summary      string   `json:"summary,omitempty"`
}

// benchContent has the shape of a content list.
type benchContent struct {
	Files []benchFile `json:"files"`
}

type benchFile struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	Executable bool   `json:"executable"`
	Digest     string `json:"sha256"`
}

// manifestDocument is 600 bytes of JSON as an editor would leave it.
func manifestDocument(tb testing.TB) []byte {
	var m benchManifest
	m.Schema, m.Name, m.Version = "iff/skill/v1", "quarterly-report", 7
	m.Label.Rank = "internal"
	m.Label.Compartments, m.Label.Releasable = []string{"finance", "audit"}, []string{"alice", "bob", "carol"}
	m.Caps = []string{
		"fs.read(reports/**)", "fs.write.rev(reports/out/*.md)",
		"net.egress(*.example.com:443)", "spawn.proc(git status)",
	}
	m.Signer, m.Verification = "SHA256:Qm9iJ3Mga2V5IGZpbmdlcnByaW50IGhlcmUuLi4", "declared"
	m.Summary = "Writes the quarterly report from the ledgers in reports."
	data, err := Pretty(m)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// contentDocument is a list of 190 files, 30 KB.
func contentDocument(tb testing.TB) []byte {
	var c benchContent
	for i := range 190 {
		c.Files = append(c.Files, benchFile{
			Path: fmt.Sprintf("assets/fonts/family-%03d/regular.woff2", i), Size: int64(i) * 1234,
			Executable: i%7 == 0, Digest: fmt.Sprintf("%064x", i*7919),
		})
	}
	data, err := Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func BenchmarkParse(b *testing.B) {
	b.Run("manifest", func(b *testing.B) { benchParse(b, manifestDocument(b), new(benchManifest)) })
	b.Run("content", func(b *testing.B) { benchParse(b, contentDocument(b), new(benchContent)) })
}

func benchParse(b *testing.B, data []byte, into any) {
	b.Run("Parse", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if err := Parse(data, into, Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	// The ratio to the lenient decoder of the standard library.
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.DisallowUnknownFields()
			if err := dec.Decode(into); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) { benchBytes(b, contentDocument(b), Check) }

func BenchmarkTransform(b *testing.B) {
	data := contentDocument(b)
	b.Run("Transform", func(b *testing.B) {
		benchBytes(b, data, func(data []byte, lim Limits) error { _, err := Transform(data, lim); return err })
	})
	b.Run("jcs", func(b *testing.B) {
		benchBytes(b, data, func(data []byte, _ Limits) error { _, err := jcs.Transform(data); return err })
	})
}

func benchBytes(b *testing.B, data []byte, f func([]byte, Limits) error) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := f(data, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarshal(b *testing.B) {
	var m benchManifest
	var c benchContent
	for _, doc := range []struct {
		data []byte
		into any
	}{{manifestDocument(b), &m}, {contentDocument(b), &c}} {
		if err := Parse(doc.data, doc.into, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("manifest", func(b *testing.B) { benchMarshal(b, &m) })
	b.Run("content", func(b *testing.B) { benchMarshal(b, &c) })
	b.Run("content-jcs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			data, err := json.Marshal(&c)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := jcs.Transform(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchMarshal(b *testing.B, v any) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Marshal(v); err != nil {
			b.Fatal(err)
		}
	}
}
