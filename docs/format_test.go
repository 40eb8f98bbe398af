package docs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

var update = flag.Bool("update", false, "write the example of log-format.md anew")

const formatPage = "log-format.md"

// The keys of the worked example.
const (
	firstKey  = 8
	secondKey = 9
)

// example is what section 14 shows.
type example struct {
	dir     string
	blocks  []block
	receipt []byte
}

// block is a fenced block, by what stands behind its fence.
type block struct{ info, text string }

// makeExample has iff write the log of the example.
func makeExample(t *testing.T) example {
	t.Helper()
	e := example{dir: filepath.Join(t.TempDir(), "log")}
	now := trusttest.Now
	clock := func() time.Time { now = now.Add(1500 * time.Millisecond); return now }
	store, err := file.Create(durable.OS(), e.dir, nil)
	must(t, err)
	init := record.Init{
		Origin: origin, Operator: "me", Profile: "dev", Scheme: "generic", Root: trusttest.NewKey(trusttest.RootKey).Public().Fingerprint(),
		TrustDigest: "37af506aaec5dd987a46b466077265e8881a37c8a69f10e674c958bd20d34c73",
	}
	l, err := audit.Create(t.Context(), store, init, trusttest.NewKey(firstKey), audit.Options{Now: clock})
	must(t, err)
	hello := record.Skill{
		Name: "hello", Version: 1, Signer: "ops", Level: "declared", Content: "df36845e79969aa929e0efb7dfccebaef0c3a23c686c50c05b78fa02e3bbae3e",
		Subject: "f076136a0f925938e677cff689beb4b5f9646594b761909d42d24fb9cee16ba4",
	}
	appended(t, l, record.Of(record.SkillLoaded{Directory: "/home/me/skills/hello", Skill: hello}),
		record.Entry{Session: "7K2M", Body: record.Session{Agent: "opencode", Transition: record.SessionOpened}})
	appended(t, l, record.Entry{Session: "7K2M", Request: "01J9ZK3V7M8Q4R5T6W7X8Y9Z0A", Body: record.Request{
		Agent: "opencode", Capability: "fs.read", Effect: "none", Envelope: record.Hash{0xe1}, Level: "declared", Mark: "PUBLIC",
		Plan: []record.Change{}, Target: "a\u202eb",
	}})
	state := l.State().Canonical()
	note, err := l.Checkpoint(t.Context())
	must(t, err)
	must(t, l.Rotate(t.Context(), trusttest.NewKey(secondKey)))
	r, err := l.View().Receipt(t.Context(), 2)
	must(t, err)
	must(t, l.Close())
	e.receipt = r.Marshal()
	e.show(t, state, note)
	return e
}

// show makes the blocks. What can be computed without package audit is.
func (e *example) show(t *testing.T, state, note []byte) {
	t.Helper()
	s := readSegments(t, e.dir)
	lines := s.lines()
	if len(s) != 1 || len(lines) != 7 {
		t.Fatalf("the example has %d lines in %d segments", len(lines), len(s))
	}
	leaves := leavesOf(lines)
	var hashes, roots []string
	for i := range leaves {
		root := rootOf(leaves[:i+1])
		hashes, roots = append(hashes, leaves[i].String()), append(roots, base64Of(root[:]))
	}
	if want := noteText(origin, leaves[:4], hashOf(state)); string(note) != want+"\n"+sign(want, trusttest.NewKey(firstKey)) {
		t.Errorf("the note is\n%s, by section 7 it is\n%s", note, want)
	}
	var keys []string
	for _, k := range []byte{firstKey, secondKey} {
		text, err := audit.VerifierKey(origin, trusttest.NewKey(k).Public())
		must(t, err)
		keys = append(keys, text)
	}
	path := filepath.Join(t.TempDir(), "receipt")
	must(t, os.WriteFile(path, e.receipt, 0o600))
	code, out := run(t, e.dir, "--prove", path)
	if code != 0 {
		t.Error(out)
	}
	text := func(b []byte) string { return strings.TrimSuffix(string(b), "\n") }
	e.blocks = []block{
		{"text key", strings.Join(keys, "\n")}, {"jsonl 00000000000000000000.jsonl", strings.Join(lines, "\n")},
		{"text leaves", strings.Join(hashes, "\n")}, {"text roots", strings.Join(roots, "\n")}, {"text note", text(note)},
		{"json state", string(state)}, {"text rotation", text(rotation(t, lines[5]))}, {"text receipt", text(e.receipt)},
		{"text verified", text([]byte(out))},
	}
}

func hashOf(b []byte) record.Hash { return sha256.Sum256(b) }

// rotation is the message of section 9, which both signatures have to be over.
func rotation(t *testing.T, line string) []byte {
	t.Helper()
	r, err := record.ParseLine(line)
	must(t, err)
	b := r.Body.(record.KeyRotated)
	message := fmt.Sprintf("%s\n%d\n%s\n%s\n%s\n", origin, b.Epoch, b.Old, b.New, r.Prev)
	for key, signature := range map[string]string{b.Old: b.OldSignature, b.New: b.NewSignature} {
		var k trust.PublicKey
		must(t, k.UnmarshalText([]byte(key)))
		raw, err := base64.StdEncoding.DecodeString(signature)
		must(t, err)
		if !trust.Verify(k, "iff/log-key/v1\n", []byte(message), trust.Signature(raw)) {
			t.Errorf("%s did not sign what section 9 says", key)
		}
	}
	return []byte("iff/log-key/v1\n" + message)
}

// in is the text of a fenced block, and what is before and behind it.
func (b block) in(t *testing.T, page string) (before, text, behind string) {
	t.Helper()
	fence := "\n```" + b.info + "\n"
	before, rest, found := strings.Cut(page, fence)
	if strings.HasPrefix(rest, "```\n") { // it is empty
		return before + fence, "", rest
	}
	text, behind, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatalf("log-format.md has no block %q", b.info)
	}
	return before + fence, text, "\n```\n" + behind
}

// Section 14 is what iff writes.
func TestExample(t *testing.T) {
	page := readFile(t, formatPage)
	for _, b := range makeExample(t).blocks {
		before, text, behind := b.in(t, page)
		if *update {
			page = before + b.text + "\n" + strings.TrimPrefix(behind, "\n")
		} else if text != b.text {
			t.Errorf("%s: log-format.md has\n%s\nand it is\n%s\nto write it anew: go test ./docs -update", b.info, text, b.text)
		}
	}
	if *update {
		must(t, os.WriteFile(formatPage, []byte(page), 0o644))
	}
}

// The check in section 15 has 20 lines, takes what iff wrote, and refuses what
// breaks the chain or a checkpoint.
func TestCheckByHand(t *testing.T) {
	_, script, _ := block{info: "python check.py"}.in(t, readFile(t, formatPage))
	if n := strings.Count(script, "\n") + 1; n > 20 {
		t.Errorf("the check has %d lines, not 20", n)
	}
	check := func(s segments) error {
		dir := t.TempDir()
		s.write(t, dir)
		out, err := exec.Command(python(t), "-c", script, dir).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		if want := fmt.Sprintf("%d records; the chain ends in ", len(s.lines())); !bytes.HasPrefix(out, []byte(want)) {
			return fmt.Errorf("it says %s, want %s", out, want)
		}
		return nil
	}
	s := write(t, origin, logKey, someCalls)
	if err := check(s.segments); err != nil {
		t.Error(err)
	}
	for _, x := range tampers() {
		switch x.name {
		case "edit", "delete", "swap", "splice a line", "delete a segment", "hash anew from a point on", "checkpoint of another root":
			if check(x.edit(t, s.segments.clone())) == nil {
				t.Errorf("%s: the check takes it", x.name)
			}
		}
	}
}

// What verify.py does not see is said in the document and in the script.
func TestUnseenIsDocumented(t *testing.T) {
	page, script := readFile(t, formatPage), readFile(t, verifier)
	for _, x := range tampers() {
		if x.unseen != "" && (!strings.Contains(page, "\n| "+x.unseen+" |") || !strings.Contains(script, x.unseen)) {
			t.Errorf("%s: not everybody is told that verify.py does not see: %s", x.name, x.unseen)
		}
	}
}
