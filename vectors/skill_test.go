package vectors_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"time"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// file is one file of a directory, as payloads have it.
type file struct {
	Content    string `json:"content"`
	Executable bool   `json:"executable"`
	Path       string `json:"path"`
}

// read writes the files below scratch and reads them as a skill. A file system
// that takes two names for one has answered itself: they are twins.
func read(files []file, scratch string) (*skill.Package, error) {
	root, err := os.OpenRoot(scratch)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, f := range files {
		if err := write(root, f); errors.Is(err, fs.ErrExist) {
			return nil, &skill.ReadError{Reason: skill.NameTwin, File: f.Path}
		} else if err != nil {
			return nil, err
		}
	}
	return skill.Read(scratch, skill.Limits{})
}

func write(root *os.Root, f file) error {
	data, err := base64.StdEncoding.DecodeString(f.Content)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if f.Executable {
		mode = 0o755
	}
	out, err := root.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Chmod(mode), out.Close())
}

func runContent(v vector, scratch string) (result, error) {
	var files []file
	if err := canonical.Parse(v.payload, &files, canonical.Limits{}); err != nil {
		return result{}, err
	}
	p, err := read(files, scratch)
	if err != nil {
		return refusal(err)
	}
	c, err := p.Content()
	if err != nil {
		return refusal(err)
	}
	list, err := canonical.Marshal(c.Files())
	if err != nil {
		return result{}, err
	}
	return answer("ok", "root", c.Root().String(), "list", string(list))
}

func runKey(v vector, _ string) (result, error) {
	var k trust.PublicKey
	if err := k.UnmarshalText(v.payload); err != nil {
		return refusal(err)
	}
	return answer("ok", "fingerprint", k.Fingerprint())
}

func runSignature(v vector, _ string) (result, error) {
	var p struct {
		Content   string        `json:"content"`
		Manifest  canonical.Raw `json:"manifest"`
		PublicKey string        `json:"publicKey"`
		Signature string        `json:"signature"`
	}
	if err := canonical.Parse(v.payload, &p, canonical.Limits{}); err != nil {
		return result{}, err
	}
	var k trust.PublicKey
	var s trust.Signature
	if err := errors.Join(k.UnmarshalText([]byte(p.PublicKey)), s.UnmarshalText([]byte(p.Signature))); err != nil {
		return refusal(err)
	}
	form := fmt.Appendf(nil, `{"content":"%s","manifest":%s}`, p.Content, p.Manifest)
	if !trust.Verify(k, trust.DomainSkill, form, s) {
		return answer(string(trust.SignatureInvalid))
	}
	return answer("ok", "subject", hexSum(form))
}

func runDirectory(v vector, scratch string) (result, error) {
	var p struct {
		Files     []file          `json:"files"`
		Manifest  string          `json:"manifest,omitzero"`
		PublicKey trust.PublicKey `json:"publicKey"`
		Signature string          `json:"signature,omitzero"`
	}
	if err := canonical.Parse(v.payload, &p, canonical.Limits{}); err != nil {
		return result{}, err
	}
	dir, err := read(p.Files, scratch)
	if err != nil {
		return result{}, err
	}
	var beside skill.Sidecar
	if p.Manifest != "" {
		beside.Manifest = []byte(p.Manifest)
	}
	if p.Signature != "" {
		beside.Signature = []byte(p.Signature)
	}
	root, err := rootWith(p.PublicKey)
	if err != nil {
		return result{}, err
	}
	report := skill.Verify(dir.WithSidecar(beside), skill.Terms{
		Root: root, Clearance: root.Scheme().Top(), State: new(record.State), Now: trusttest.Now,
	})
	if report.Err != nil {
		return refusal(report.Err)
	}
	return subjectOf(dir, beside, report)
}

// subjectOf also makes the signature again: it is deterministic.
func subjectOf(dir *skill.Package, beside skill.Sidecar, report skill.Report) (result, error) {
	m, errManifest := manifest.Parse(beside.Manifest, trusttest.Scheme("default"))
	c, errContent := dir.Content()
	if err := errors.Join(errManifest, errContent); err != nil {
		return result{}, err
	}
	again, err := skill.Sign(c, m, trusttest.NewKey(trusttest.OpsKey))
	if err != nil {
		return result{}, err
	}
	was, errWas := canonical.Transform(beside.Signature, canonical.Limits{})
	is, errIs := canonical.Transform(again.Signature, canonical.Limits{})
	if err := errors.Join(errWas, errIs); err != nil || !bytes.Equal(was, is) {
		return result{}, fmt.Errorf("signed again it is %s (%w)", is, err)
	}
	return answer("ok", "root", report.Skill.Content, "subject", report.Skill.Subject)
}

// rootWith is a locked root in which the key, as ops, may declare everything.
func rootWith(key trust.PublicKey) (*trust.Root, error) {
	d, err := trust.NewDraft(trusttest.NewKey(trusttest.RootKey).Public(), trusttest.Scheme("default"))
	if err != nil {
		return nil, err
	}
	if err := d.Add(trust.Entry{ID: "ops", PublicKey: key, Clearance: d.Scheme().Top().Parts(), Level: level.Declared, NotAfter: trust.Never}); err != nil {
		return nil, err
	}
	if _, err := d.Sign(trusttest.NewKey(trusttest.RootKey)); err != nil {
		return nil, err
	}
	return d.Lock()
}

// documents are the lines of the payload.
func (v vector) documents() [][]byte {
	if len(v.payload) == 0 {
		return nil
	}
	return bytes.Split(v.payload, []byte("\n"))
}

func lock(documents [][]byte, pin trust.PublicKey) (*trust.Root, error) {
	d, err := trust.Open(documents, pin)
	if err != nil {
		return nil, err
	}
	return d.Lock()
}

func rootAnswer(r *trust.Root, err error) (result, error) {
	if err != nil {
		return refusal(err)
	}
	return answer("ok", "version", strconv.FormatInt(r.Version(), 10), "digest", r.Digest())
}

func runChain(v vector, _ string) (result, error) {
	var pin trust.PublicKey
	if text := v.get("pin"); text != "" {
		if err := pin.UnmarshalText([]byte(text)); err != nil {
			return result{}, err
		}
	}
	return rootAnswer(lock(v.documents(), pin))
}

func runSigner(v vector, _ string) (result, error) {
	at, err := time.Parse(time.RFC3339, v.get("at"))
	if err != nil {
		return result{}, err
	}
	r, err := lock(v.documents(), trust.PublicKey{})
	if err != nil {
		return result{}, err
	}
	if _, err := r.Signer(v.get("signer"), at); err != nil {
		return refusal(err)
	}
	return answer("ok")
}

func runNarrow(v vector, _ string) (result, error) {
	documents := v.documents()
	last := len(documents) - 1
	r, err := lock(documents[:max(last, 0)], trust.PublicKey{})
	if err != nil {
		return result{}, err
	}
	return rootAnswer(r.Narrow(documents[last]))
}
