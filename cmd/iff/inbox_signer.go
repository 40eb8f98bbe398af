package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// approverFlags is whose key signs approvals.
type approverFlags struct {
	Key string `help:"Approver's key: a name in the home, or a private key file with its .pub beside it." default:"approver" placeholder:"KEY"`
	passphraseFlags
}

// unattended says whether the passphrase comes without a terminal.
func (f approverFlags) unattended() bool { return f.PassphraseFile != "" || f.PassphraseFd != nil }

// approver is who signs answers. By the public half it is known from the start
// whether it may; the private one is in memory from the first approval on.
type approver struct {
	id     string // in the trust root
	name   string // of the key
	public trust.PublicKey
	open   func(keyfile.Passphrase) (*keyfile.Key, error)
	key    trust.Signer // nil until it is unlocked
}

// findApprover looks up a key that may approve calls.
func findApprover(h *home.Home, name string, now time.Time) (*approver, error) {
	public, err := publicHalf(h, name)
	if err != nil {
		return nil, err
	}
	e, ok := h.Root().ByKey(public)
	if !ok {
		return nil, &approval.Error{Reason: approval.SignerUnknown, Detail: fmt.Sprintf("key %s is not in the trust root, so it approves nothing; name an approver's with --key", name)}
	}
	if _, err := h.Root().Signer(e.ID, now); err != nil {
		return nil, err
	}
	if !e.Approver {
		return nil, &approval.Error{Reason: approval.NotApprover, Detail: fmt.Sprintf("key %s is %s's, who may not approve calls; name an approver's with --key", name, e.ID)}
	}
	return &approver{id: e.ID, name: name, public: public, open: func(p keyfile.Passphrase) (*keyfile.Key, error) { return h.OpenKey(name, p) }}, nil
}

// publicHalf is that of a key by its name in the home, or by its path.
func publicHalf(h *home.Home, name string) (trust.PublicKey, error) {
	keys, err := h.Keys()
	if err != nil {
		return trust.PublicKey{}, err
	}
	for _, k := range keys {
		if k.Name == name {
			return k.Public, nil
		}
	}
	if !strings.ContainsRune(name, '/') {
		return trust.PublicKey{}, &keyfile.Error{Reason: keyfile.Missing, Path: name, Detail: "there is no key of this name in the home; see iff key list"}
	}
	public, _, err := keyfile.ReadPublic(name + ".pub")
	return public, err
}

// unlock opens the private half, once.
func (p *approver) unlock(pass keyfile.Passphrase) error {
	if p.key != nil {
		return nil
	}
	key, err := p.open(pass)
	if err != nil {
		return err
	}
	if key.Public() != p.public {
		return &keyfile.Error{Reason: keyfile.Malformed, Path: p.name, Detail: "the private key does not belong to the public one beside it; put the right .pub there"}
	}
	p.key = key
	return nil
}

// sign answers all questions with one signature.
func (p *approver) sign(qs []approval.Question, choice record.Choice, now time.Time) ([]approval.Answer, error) {
	if p.key == nil {
		return nil, errors.New("the approver's key is not open")
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // it does not return if it fails
	return approval.Sign(qs, choice, p.id, p.key, approval.Nonce(random), now.Add(approval.Validity))
}

// passphraseIs supplies what was typed.
func passphraseIs(secret []byte) keyfile.Passphrase {
	return func(string) ([]byte, error) { return bytes.Clone(secret), nil }
}

// wordFor is what a person types before a question of great consequence is
// approved, the last part of its target, and why. It is empty for others.
func wordFor(q approval.Question) (word, why string) {
	switch {
	case q.Guarded != "":
		why = "it reaches for a guarded object"
	case q.Effect == capability.Irreversible && takesTree(q):
		why = "it takes a tree away for good"
	case strings.Contains(q.Render(), "NOT ALL IS SHOWN"):
		why = "not all of it is shown"
	default:
		return "", ""
	}
	return lastPart(q.Envelope.Target()), why
}

// takesTree says whether a directory, or more than one object, is gone
// afterwards.
func takesTree(q approval.Question) bool {
	gone := 0
	for i, c := range q.Plan {
		if c.After != corpus.Absent {
			continue
		}
		if gone++; gone > 1 || i < len(q.Before) && q.Before[i].Facts.Kind == corpus.Directory {
			return true
		}
	}
	return false
}

func lastPart(t capability.Target) string {
	if in, p, ok := t.Path(); ok {
		if p == "." {
			return in
		}
		return path.Base(p)
	}
	text := t.String()
	return text[strings.LastIndexByte(text, '/')+1:]
}
