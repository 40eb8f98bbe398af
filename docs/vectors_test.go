package docs_test

import (
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/iff-run/iff/vectors"
)

// otherwise is what verify.py says about a vector where it is not what the
// vector expects.
var otherwise = map[string]string{
	"line-invalid-kind":       "ok", // kinds and bodies
	"line-invalid-field":      "ok",
	"line-invalid-optional":   "ok",
	"key-other-pin":           "ok", // signatures
	"key-rotation-one":        "ok",
	"note-signature-stranger": "ok",
	"checkpoint-off-state":    "ok", // folded state
	"note-invalid-state":      "checkpoint-off",
	"line-unended-cut":        lineInvalid,
}

// vectorOf reads a vector of a log as segments; nil if it is of a receipt.
func vectorOf(t *testing.T, data []byte) (header map[string]string, s segments) {
	t.Helper()
	head, payload, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), "\n\n")
	header = map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		header[key] = value
	}
	if header["encoding"] == "hex" {
		raw, err := hex.DecodeString(payload)
		must(t, err)
		payload = string(raw)
	}
	switch header["kind"] {
	case "log":
		return header, segments{name(0): []byte(strings.TrimPrefix(payload+"\n", "\n"))}
	case "bytes":
		return header, segments{name(0): []byte(payload)}
	case "segments":
		var list []struct {
			Name  string
			Lines []string
		}
		must(t, json.Unmarshal([]byte(payload), &list))
		s = segments{}
		for _, p := range list {
			s[p.Name] = []byte(strings.Join(append(p.Lines, ""), "\n"))
		}
		return header, s
	}
	return header, nil
}

// verify.py runs the vectors too, but for what it does not see.
func TestVectors(t *testing.T) {
	files, err := fs.Glob(vectors.Files(), "logs/*.txt")
	must(t, err)
	py, ran := start(t, verifier), 0
	for _, path := range files {
		data, err := fs.ReadFile(vectors.Files(), path)
		must(t, err)
		header, s := vectorOf(t, data)
		if s == nil || header["anchor"] != "" && header["expect"] != "ok" { // verify.py takes whole checkpoints as anchors
			continue
		}
		x := put(t, s)
		args := []string{x.dir}
		if header["origin"] != "" {
			args = append(args, "--origin", header["origin"])
		}
		code, out := py.run(t, args...)
		got := reasonOf(out)
		if code == 0 {
			got = "ok"
		}
		which := strings.TrimSuffix(strings.TrimPrefix(path, "logs/"), ".txt")
		want, isOther := otherwise[which]
		if !isOther {
			want = header["expect"]
		}
		if got != want {
			t.Errorf("%s: verify.py says %d %s, want %s", which, code, out, want)
		}
		if root := header["root"]; code == 0 && root != "" && !strings.Contains(out, "ok, "+header["records"]+" records, root "+root+", last checkpoint "+header["signed"]+",") {
			t.Errorf("%s: verify.py says %s", which, out)
		}
		ran++
	}
	if ran < 15 {
		t.Errorf("only %d vectors ran", ran)
	}
}
