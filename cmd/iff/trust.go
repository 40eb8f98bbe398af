package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/trust"
)

type trustCmd struct {
	Show   trustShowCmd   `cmd:"" help:"Show who may sign, up to which label and level."`
	Add    trustAddCmd    `cmd:"" help:"Enter a signer; signed by the root key."`
	Revoke trustRevokeCmd `cmd:"" help:"End a signer's authority, for good; signed by the root key."`
}

type trustShowCmd struct{}

type trustAddCmd struct {
	Key       string `arg:"" help:"A key of the home, an OpenSSH public key file, or the line itself."`
	ID        string `help:"Signer id that manifests will name; by default the key's name." placeholder:"ID"`
	Level     string `help:"Highest level it may attest." enum:"unverified,declared,tested,formal" default:"unverified" placeholder:"LEVEL"`
	Clearance string `help:"Highest label it may sign; by default the lowest of the scheme." placeholder:"LABEL"`
	NotAfter  string `help:"Last day it is valid, such as 2027-01-31, or never." default:"never" placeholder:"DATE"`
	Approver  bool   `help:"It may approve calls."`
	passphraseFlags
}

type trustRevokeCmd struct {
	ID  string `arg:"" help:"Signer to revoke."`
	Why string `help:"Your words, kept in the trust root." default:"revoked by the operator" placeholder:"TEXT"`
	passphraseFlags
}

type signerJSON struct {
	ID          string `json:"id" doc:"what manifests name"`
	Fingerprint string `json:"fingerprint" doc:"as ssh-keygen -l prints it"`
	PublicKey   string `json:"publicKey" doc:"32 bytes in base64"`
	Clearance   string `json:"clearance" doc:"highest label it may sign"`
	Level       string `json:"level" doc:"highest level it may attest"`
	NotAfter    string `json:"notAfter" doc:"RFC 3339 time, or never"`
	Approver    bool   `json:"approver" doc:"may approve calls"`
	Adopter     bool   `json:"adopter" doc:"unprotected key of iff skill adopt"`
	Status      string `json:"status" doc:"valid, signer-revoked or signer-expired"`
	Revoked     string `json:"revoked" doc:"when and why, empty unless revoked"`
}

type schemeJSON struct {
	Name         string   `json:"name" doc:"name of the scheme"`
	Ranks        []string `json:"ranks" doc:"lowest first"`
	Compartments []string `json:"compartments" doc:"all compartments"`
	Releasable   []string `json:"releasable" doc:"all principals"`
}

type trustJSON struct {
	Version   int64        `json:"version" doc:"newest document"`
	Digest    string       `json:"digest" doc:"SHA-256 of its canonical form, hex"`
	Root      string       `json:"root" doc:"fingerprint of the root key"`
	Clearance string       `json:"clearance" doc:"the operator's, from iff.toml"`
	Scheme    schemeJSON   `json:"scheme" doc:"label scheme"`
	Signers   []signerJSON `json:"signers" doc:"in the order they were entered"`
}

func (trustShowCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error { return a.showTrust(h) })
}

func (a *app) showTrust(h *home.Home) error {
	root := h.Root()
	d := root.Scheme().Data()
	out := trustJSON{
		Version: root.Version(), Digest: root.Digest(), Root: root.Key().Fingerprint(), Clearance: h.Config().Operator.Clearance,
		Scheme: schemeJSON{Name: d.Name, Ranks: list(d.Ranks), Compartments: list(d.Compartments), Releasable: list(d.Releasable)},
	}
	out.Signers = []signerJSON{}
	for _, e := range root.Entries() {
		out.Signers = append(out.Signers, describeSigner(root, e, a.now()))
	}
	return a.print(out, func() error {
		a.printf("trust root %d, signed by %s\n", out.Version, out.Root)
		a.printf("scheme %s: %s", out.Scheme.Name, strings.Join(out.Scheme.Ranks, " < "))
		if len(out.Scheme.Compartments) > 0 {
			a.printf("; compartments %s", strings.Join(out.Scheme.Compartments, ", "))
		}
		a.printf("; releasable to %s\noperator's clearance %s\n\n", strings.Join(out.Scheme.Releasable, ", "), out.Clearance)
		rows := [][]string{{"SIGNER", "LEVEL", "CLEARANCE", "MAY APPROVE", "NOT AFTER", "STATUS", "KEY"}}
		for _, s := range out.Signers {
			approve := "no"
			if s.Approver {
				approve = "yes"
			}
			status := s.Status
			if s.Revoked != "" {
				status += ": " + s.Revoked
			}
			rows = append(rows, []string{s.ID, s.Level, s.Clearance, approve, s.NotAfter, status, s.Fingerprint})
		}
		return a.table(rows)
	})
}

func describeSigner(root *trust.Root, e trust.Entry, now time.Time) signerJSON {
	out := signerJSON{
		ID: e.ID, Fingerprint: e.PublicKey.Fingerprint(), PublicKey: e.PublicKey.String(), Clearance: root.Clearance(e).String(),
		Level: e.Level.String(), NotAfter: e.NotAfter, Approver: e.Approver, Adopter: e.Adopter, Status: "valid",
	}
	if _, err := root.Signer(e.ID, now); err != nil {
		out.Status = reasonOf(err)
	}
	if r, ok := root.Revoked(e.ID); ok {
		out.Revoked = r.At + ", " + visible.Escape(r.Why)
	}
	return out
}

func (c trustAddCmd) Run(a *app) error {
	return a.withHome(home.Write, func(h *home.Home) error {
		e, err := c.entry(h)
		if err != nil {
			return err
		}
		if err := h.AddSigner(a.ctx, e, c.source(a)); err != nil {
			return err
		}
		return a.showTrust(h)
	})
}

func (c trustAddCmd) entry(h *home.Home) (trust.Entry, error) {
	key, name, err := c.publicKey(h)
	if err != nil {
		return trust.Entry{}, err
	}
	if c.ID != "" {
		name = c.ID
	}
	lv, err := level.Parse(c.Level)
	if err != nil {
		return trust.Entry{}, err
	}
	clearance := h.Root().Scheme().Bottom()
	if c.Clearance != "" {
		if clearance, err = h.Root().Scheme().Parse(c.Clearance); err != nil {
			return trust.Entry{}, &usageError{reason: reasonOf(err), detail: "--clearance: " + err.Error()}
		}
	}
	notAfter, err := endOfDay(c.NotAfter)
	return trust.Entry{
		ID: name, PublicKey: key, Clearance: clearance.Parts(), Level: lv, NotAfter: notAfter, Approver: c.Approver,
	}, err
}

// publicKey finds the key that the argument names, and a name for it.
func (c trustAddCmd) publicKey(h *home.Home) (trust.PublicKey, string, error) {
	keys, err := h.Keys()
	if err != nil {
		return trust.PublicKey{}, "", err
	}
	for _, k := range keys {
		if k.Name == c.Key {
			return k.Public, k.Name, nil
		}
	}
	if strings.HasPrefix(c.Key, "ssh-") {
		key, comment, err := keyfile.ParsePublic([]byte(c.Key))
		return key, comment, err
	}
	if _, err := os.Stat(c.Key); err != nil {
		return trust.PublicKey{}, "", &keyfile.Error{Reason: keyfile.Missing, Path: c.Key, Detail: "neither a key of this home, nor a public key file, nor an OpenSSH line"}
	}
	return keyfile.ReadPublic(c.Key)
}

// endOfDay turns a date into its last second, UTC.
func endOfDay(s string) (string, error) {
	if s == trust.Never {
		return s, nil
	}
	day, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return "", &usageError{reason: string(trust.NotAfterInvalid), detail: fmt.Sprintf("--not-after %q is neither never nor a date such as 2027-01-31", s)}
	}
	return trust.FormatTime(day.Add(24*time.Hour - time.Second)), nil
}

func (c trustRevokeCmd) Run(a *app) error {
	return a.withHome(home.Write, func(h *home.Home) error {
		if err := h.Revoke(a.ctx, c.ID, c.Why, c.source(a)); err != nil {
			return err
		}
		return a.showTrust(h)
	})
}
