package skill

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/trust"
)

// SignatureSchema names the format of the signature file.
const SignatureSchema = "iff/signature/v1"

// signatureFile is the detached signature together with the list that it
// covers, so that whoever finds a difference can name the file.
type signatureFile struct {
	Schema string `json:"schema"`
	// Manifest is the hash of the manifest's canonical form. It explains a
	// failure; the signature decides.
	Manifest  Hash            `json:"manifest"`
	Content   []File          `json:"content"`
	Signature trust.Signature `json:"signature"`
}

// signedBytes is the canonical form of {content root, manifest}. Both parts
// are canonical already, and "content" sorts before "manifest".
func signedBytes(root Hash, m manifest.Manifest) []byte {
	var b bytes.Buffer
	b.WriteString(`{"content":"`)
	b.WriteString(root.String())
	b.WriteString(`","manifest":`)
	b.Write(m.Canonical())
	b.WriteByte('}')
	return b.Bytes()
}

// Subject identifies one signed skill: the hash of content root and manifest.
func Subject(c *Content, m manifest.Manifest) Hash {
	return sha256.Sum256(signedBytes(c.root, m))
}

// SubjectIs reports whether a manifest, together with the content that the
// package's signature file lists or else with the content that is there, is
// the subject. It does not check the signature: it compares with a subject
// that the caller has from records.
func SubjectIs(p *Package, m manifest.Manifest, subject string) bool {
	if f, err := parseSignature(p.sidecar.Signature); err == nil {
		if root, err := rootOf(f.Content); err == nil && hashOf(signedBytes(root, m)).String() == subject {
			return true
		}
	}
	return p.content != nil && Subject(p.content, m).String() == subject
}

// Sign makes the sidecar of a content and a manifest. Whether the key may sign
// this is for the loader to say, and for callers to ask it.
func Sign(c *Content, m manifest.Manifest, key trust.Signer) (Sidecar, error) {
	sig, err := trust.Sign(key, trust.DomainSkill, signedBytes(c.root, m))
	if err != nil {
		return Sidecar{}, err
	}
	text, err := m.Pretty()
	if err != nil {
		return Sidecar{}, err
	}
	file, err := formatSignature(signatureFile{
		Schema: SignatureSchema, Manifest: sha256.Sum256(m.Canonical()), Content: c.files, Signature: sig,
	})
	if err != nil {
		return Sidecar{}, err
	}
	return Sidecar{Manifest: text, Signature: file}, nil
}

// formatSignature writes one file a line, so that a review shows what changed.
func formatSignature(f signatureFile) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\n  \"content\": [")
	for i, c := range f.Content {
		line, err := canonical.Marshal(c)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(line)
	}
	if len(f.Content) > 0 {
		b.WriteString("\n  ")
	}
	sig, err := f.Signature.MarshalText()
	if err != nil {
		return nil, err
	}
	b.WriteString("],\n  \"manifest\": \"" + f.Manifest.String() + "\",\n  \"schema\": \"" + f.Schema + "\",\n  \"signature\": \"" + string(sig) + "\"\n}\n")
	return b.Bytes(), nil
}

func parseSignature(data []byte) (signatureFile, error) {
	var f signatureFile
	if err := canonical.Parse(data, &f, canonical.Limits{Bytes: sidecarLimit}); err != nil {
		return signatureFile{}, &FormatError{Reason: SignatureMalformed, Detail: err.Error(), Err: err}
	}
	if f.Schema != SignatureSchema {
		return signatureFile{}, &FormatError{Reason: SignatureMalformed, Detail: "/schema is not " + SignatureSchema}
	}
	if !slices.IsSortedFunc(f.Content, func(a, b File) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return -1 // two of one path are out of order
	}) {
		return signatureFile{}, &FormatError{Reason: SignatureMalformed, Detail: "/content is not sorted by path, or names a path twice"}
	}
	return f, nil
}
