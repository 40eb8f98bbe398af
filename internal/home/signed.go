package home

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/trust"
)

const (
	signatureFile = "iff.toml.sig"
	configSchema  = "iff/config/v1"

	maxSignature  = 16 << 10
	maxPolicyFile = 1 << 20
)

// PolicyFile is one of the files of policy.files, as it was read when the home
// was opened.
type PolicyFile struct {
	Name string // as iff.toml has it
	Text []byte
}

// attested is what the root key signs, under trust.DomainConfig: the configuration
// of this log and no other.
type attested struct {
	Schema   string            `json:"schema"`
	Config   string            `json:"config"` // hex SHA-256 of iff.toml
	Origin   string            `json:"origin"`
	Policies map[string]string `json:"policies"` // hex SHA-256 of each file, by name
}

// signedConfig is iff.toml.sig.
type signedConfig struct {
	Attested  attested        `json:"attested"`
	Signature trust.Signature `json:"signature"`
}

// PolicyFiles are the files that iff.toml names, in its order. What decides is
// what was read here: its digest is in ConfigDigest.
func (h *Home) PolicyFiles() []PolicyFile { return h.policies }

func (h *Home) readPolicies() error {
	for _, name := range h.config.Policy.Files {
		text, _, err := durable.ReadFile(filepath.Join(h.dir, name), maxPolicyFile)
		if err != nil {
			return configError(fmt.Sprintf("policy.files: %s: %s; put the file into the home, or take it out of the list", quoted(name), err))
		}
		digest := sha256.Sum256(text)
		h.attested.Policies[name] = hex.EncodeToString(digest[:])
		h.policies = append(h.policies, PolicyFile{name, text})
	}
	return nil
}

// Signed says whether the root key has signed iff.toml and the policy files as
// they were read. Without a signature it is false, and no error; a signature that
// is not theirs is an *Error with reason config-unsigned.
func (h *Home) Signed() (bool, error) {
	data, _, err := durable.ReadFile(h.SignaturePath(), maxSignature)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &Error{Reason: Unreadable, Path: signatureFile, Detail: err.Error(), Err: err}
	}
	var s signedConfig
	if err := canonical.Parse(data, &s, canonical.Limits{Bytes: maxSignature}); err != nil {
		return false, unsigned("it is no signature: "+err.Error(), err)
	}
	if what := h.attested.differs(s.Attested); what != "" {
		return false, unsigned(what+" since the root key signed", nil)
	}
	form, err := canonical.Marshal(s.Attested)
	if err != nil {
		return false, err
	}
	if !trust.Verify(h.Root().Key(), trust.DomainConfig, form, s.Signature) {
		return false, unsigned("the signature is not that of the root key "+h.Root().Key().Fingerprint(), nil)
	}
	return true, nil
}

// differs says what is other than it was signed.
func (a attested) differs(signed attested) string {
	switch {
	case a.Schema != signed.Schema:
		return "the form of the signature has changed"
	case a.Origin != signed.Origin:
		return "log.origin has changed"
	case a.Config != signed.Config:
		return "iff.toml was changed"
	case len(a.Policies) != len(signed.Policies):
		return "other policy files are named"
	}
	for name, digest := range a.Policies {
		if signed.Policies[name] != digest {
			return "the policy file " + quoted(name) + " was changed"
		}
	}
	return ""
}

func unsigned(detail string, err error) error {
	return &Error{Reason: Unsigned, Path: signatureFile, Detail: detail + "; read what was changed, then iff config sign; in profile dev the file may be removed", Err: err}
}

// SignConfig signs iff.toml and the policy files, as they were read, with the root
// key. The home need not be open for writing: one whose signature has ended is not.
func (h *Home) SignConfig(pass keyfile.Passphrase) error {
	if err := h.mustBeProtected(RootKey); err != nil {
		return err
	}
	key, err := h.OpenKey(RootKey, pass)
	if err != nil {
		return err
	}
	if key.Public() != h.Root().Key() {
		return &Error{Reason: NotSigner, Path: RootKey, Detail: "it is not the key that signed the trust chain; name that one's place by a link, keys/root.key"}
	}
	form, err := canonical.Marshal(h.attested)
	if err != nil {
		return err
	}
	s := signedConfig{Attested: h.attested}
	if s.Signature, err = trust.Sign(key, trust.DomainConfig, form); err != nil {
		return err
	}
	text, err := canonical.Pretty(s)
	if err != nil {
		return err
	}
	return durable.WriteFile(h.fsys, h.SignaturePath(), text, 0o600)
}

// SignaturePath is where the signature of iff.toml lies, if there is one.
func (h *Home) SignaturePath() string { return filepath.Join(h.dir, signatureFile) }
