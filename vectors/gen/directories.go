package main

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/skill"
)

// directory is the content of the skill that directoryVectors sign.
func directory() []file {
	return []file{
		plain("SKILL.md", "---\nname: invoice-reports\ndescription: Lists invoices.\n---\n\nRun scripts/list.sh.\n"),
		executable("scripts/list.sh", "#!/bin/sh\nls reports\n"),
	}
}

// bundle is a skill as it is found: the files, and the two texts that iff
// keeps about them, empty where there is no such file.
type bundle struct {
	Files     []file `json:"files"`
	Manifest  string `json:"manifest,omitzero"`
	PublicKey string `json:"publicKey"`
	Signature string `json:"signature,omitzero"`
}

// sealed is a package that verifies.
func sealed(files []file) bundle {
	s := good()
	s.Content = rootOf(listOf(files))
	s = s.signed("iff/skill/v1\n", ops())
	hash := sha256.Sum256([]byte(s.Manifest.String()))
	return bundle{
		Files: files, Manifest: manifestText, PublicKey: s.PublicKey,
		Signature: string(pretty(struct {
			Content   []skill.File `json:"content"`
			Manifest  string       `json:"manifest"`
			Schema    string       `json:"schema"`
			Signature string       `json:"signature"`
		}{listOf(files), hex.EncodeToString(hash[:]), "iff/signature/v1", s.Signature})),
	}
}

// directoryVectors: a directory with its manifest and signature file, under a
// root in which the key may declare everything.
func directoryVectors() []vector {
	sum := sha256.Sum256(good().form())
	out := []vector{
		vector{name: "directory-ok", expect: "ok", comment: "what is there is what was signed", payload: pretty(sealed(directory()))}.
			with("kind", "directory").with("root", rootOf(listOf(directory()))).with("subject", hex.EncodeToString(sum[:])),
	}
	for _, r := range []struct {
		expect, name, comment string
		edit                  func(*bundle)
	}{
		{"manifest-missing", "none", "nobody has written a manifest", func(p *bundle) { p.Manifest, p.Signature = "", "" }},
		{"signature-missing", "none", "nobody has signed it", func(p *bundle) { p.Signature = "" }},
		{"content-changed", "byte", "one byte more in a file", func(p *bundle) { p.Files[1] = executable("scripts/list.sh", "#!/bin/sh\nls reports\n\n") }},
		{"content-changed", "executable", "a file became executable", func(p *bundle) { p.Files[0].Executable = true }},
		{"content-changed", "added", "a file was added", func(p *bundle) { p.Files = append(p.Files, plain(".hidden", "")) }},
		{"content-changed", "renamed", "a file was renamed", func(p *bundle) { p.Files[1].Path = "scripts/list" }},
		{"manifest-changed", "caps", "one grant more in the manifest", func(p *bundle) {
			p.Manifest = strings.Replace(p.Manifest, `"net.egress"`, `"net.egress", "publish"`, 1)
		}},
		{"signature-invalid", "directory-bit", "one bit of the signature is another", func(p *bundle) {
			p.Signature = strings.Replace(p.Signature, good().Signature, good().with(flip(3)).Signature, 1)
		}},
		{"signature-invalid", "directory-list", "file and list were both changed: the list is not what was signed", func(p *bundle) {
			p.Files[1] = executable("scripts/list.sh", "#!/bin/sh\nrm -r reports\n")
			p.Signature = strings.Replace(p.Signature, hashOf(directory()[1]), hashOf(p.Files[1]), 1)
			p.Signature = strings.Replace(p.Signature, `"size": 21`, `"size": 24`, 1)
		}},
		{"signature-malformed", "hash", "the hash of the manifest is not that of the manifest that was signed", func(p *bundle) {
			sum := sha256.Sum256([]byte(must(canonical.NewRaw([]byte(p.Manifest), canonical.Limits{})).String()))
			p.Signature = strings.Replace(p.Signature, hex.EncodeToString(sum[:]), strings.Repeat("0", 64), 1)
		}},
		{"signature-malformed", "hash-case", "a hash in upper case", func(p *bundle) {
			p.Signature = strings.Replace(p.Signature, hashOf(p.Files[0]), strings.ToUpper(hashOf(p.Files[0])), 1)
		}},
		{"signature-malformed", "field", "a field that signature files do not have", func(p *bundle) {
			p.Signature = strings.Replace(p.Signature, `"schema"`, `"also": true, "schema"`, 1)
		}},
		{"signature-malformed", "unsorted", "the list is out of order", func(p *bundle) {
			p.Signature = strings.NewReplacer("SKILL.md", "scripts/list.sh", "scripts/list.sh", "SKILL.md").Replace(p.Signature)
		}},
	} {
		p := sealed(directory())
		p.Files = slices.Clone(p.Files)
		r.edit(&p)
		out = append(out, vector{name: r.expect + "-" + r.name, expect: r.expect, comment: r.comment, payload: pretty(p)}.with("kind", "directory"))
	}
	none := sealed([]file{plain("README.md", "a")})
	return append(out, vector{name: "skillmd-missing-readme", expect: "skillmd-missing", comment: "signed, and there is nothing to serve", payload: pretty(none)}.with("kind", "directory"))
}

func hashOf(f file) string {
	sum := sha256.Sum256(f.bytes())
	return hex.EncodeToString(sum[:])
}
