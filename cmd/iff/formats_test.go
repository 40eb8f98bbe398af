package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// formats is docs/formats.md, whose examples are made again here.
type formats struct {
	*testing.T
	text string
}

func readFormats(t *testing.T) formats {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	return formats{t, string(data)}
}

// block is the fenced block with that info string.
func (f formats) block(info string) string {
	f.Helper()
	_, rest, found := strings.Cut(f.text, "\n```"+info+"\n")
	text, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		f.Fatalf("docs/formats.md has no block %q", info)
	}
	return text
}

// line is the first indented line that begins so.
func (f formats) line(prefix string) string {
	f.Helper()
	_, rest, found := strings.Cut(f.text, "\n    "+prefix)
	if !found {
		f.Fatalf("docs/formats.md has no line %q", prefix)
	}
	text, _, _ := strings.Cut(rest, "\n")
	return prefix + text
}

// says fails unless the document has the text somewhere.
func (f formats) says(what, text string) {
	f.Helper()
	if !strings.Contains(f.text, text) {
		f.Errorf("docs/formats.md does not have the %s %s", what, text)
	}
}

func (f formats) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f formats) same(what, got, want string) {
	f.Helper()
	if got != want {
		f.Errorf("%s: docs/formats.md has\n%s\nand it is\n%s", what, want, got)
	}
}

func sum(text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:])
}

func TestFormatsSkill(t *testing.T) {
	f := readFormats(t)
	dir := filepath.Join(t.TempDir(), "hello")
	f.must(os.MkdirAll(filepath.Join(dir, "scripts"), 0o755))
	f.must(os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(f.block("text SKILL.md")+"\n"), 0o644))
	f.must(os.WriteFile(filepath.Join(dir, "scripts/hello.sh"), []byte(f.block("text scripts/hello.sh")+"\n"), 0o755))
	p, err := skill.Read(dir, skill.Limits{})
	f.must(err)
	content, err := p.Content()
	f.must(err)
	list, err := canonical.Marshal(content.Files())
	f.must(err)
	f.same("content list", string(list), f.block("text list"))
	m, err := manifest.Parse([]byte(f.block("text manifest")), trusttest.Scheme("default"))
	f.must(err)
	f.same("manifest", string(m.Canonical()), f.block("text manifest"))
	form := f.block("text form")
	f.same("form", `{"content":"`+content.Root().String()+`","manifest":`+string(m.Canonical())+"}", form)
	f.same("subject", skill.Subject(content, m).String(), sum(form))
	for _, text := range []string{string(list), string(m.Canonical()), form, string(trust.Message(trust.DomainSkill, []byte(form)))} {
		f.says("hash", sum(text))
		f.says("length", fmt.Sprintf("%d bytes", len(text)))
	}
	key := trusttest.NewKey(trusttest.OpsKey)
	for _, text := range []string{
		hex.EncodeToString(key.Public().Bytes()), key.Public().String(), key.Public().Fingerprint(), keyfile.FormatPublic(key.Public(), "ops"),
	} {
		f.says("public key", text)
	}
	s, err := skill.Sign(content, m, key)
	f.must(err)
	f.same("signature file", string(s.Signature), f.block("json skill.iff.sig")+"\n")
}

func TestFormatsTrust(t *testing.T) {
	f := readFormats(t)
	root, document := trusttest.NewKey(trusttest.RootKey), f.block("text trust")
	f.says("root key", root.Public().String())
	f.says("digest", sum(document))
	f.says("length", fmt.Sprintf("%d bytes", len(document)))
	sig, err := trust.Sign(root, trust.DomainTrust, []byte(document))
	f.must(err)
	text, err := sig.MarshalText()
	f.must(err)
	f.says("signature", string(text))
	d, err := trust.Open([][]byte{[]byte(`{"document":` + document + `,"signature":"` + string(text) + `"}`)}, root.Public())
	f.must(err)
	r, err := d.Lock()
	f.must(err)
	f.same("digest", r.Digest(), sum(document))
}

func TestFormatsLines(t *testing.T) {
	f := readFormats(t)
	form, err := canonical.Transform([]byte(f.line(`{ "b"`)), canonical.Limits{})
	f.must(err)
	f.same("canonical form", string(form), f.line(`{"a":[100`))
	f.says("hash", sum(string(form)))
	for _, name := range label.BuiltinNames() {
		s := trusttest.Scheme(name)
		digest := s.Digest()
		f.says("digest of scheme "+name, "| `"+name+"` | `"+hex.EncodeToString(digest[:])+"` |")
	}
	for _, text := range []string{"SECRET//SI,TK//REL GBR,USA", "CUI//REL NOBODY", "UNCLASSIFIED"} {
		l, err := trusttest.Scheme("us-government").Parse(text)
		f.must(err)
		parts, err := canonical.Marshal(l.Parts())
		f.must(err)
		f.same("label", text+" "+string(parts), strings.Join(strings.Fields(f.line(text+" ")), " "))
	}
	call := f.line(`{"arguments"`)
	e, err := capability.ParseEnvelope([]byte(call))
	f.must(err)
	hash := e.Hash()
	f.says("hash of the envelope", hex.EncodeToString(hash[:]))
	f.says("length", fmt.Sprintf("%d bytes", len(call)))
}
