package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/trust"
)

type keyCmd struct {
	New    keyNewCmd    `cmd:"" help:"Make a key pair, protected by a passphrase."`
	List   keyListCmd   `cmd:"" help:"List the keys of the home and what they may do."`
	Export keyExportCmd `cmd:"" help:"Print a public key as an OpenSSH line."`
	Rotate keyRotateCmd `cmd:"" help:"Give the log a new signing key and erase the one before."`
}

type keyNewCmd struct {
	Name string `arg:"" help:"Name of the key."`
	passphraseFlags
}

type keyListCmd struct{}

type keyExportCmd struct {
	Name string `arg:"" help:"Name of the key."`
}

type keyRotateCmd struct{}

type keyRotateJSON struct {
	Name        string `json:"name" doc:"name of the new key in the home"`
	Fingerprint string `json:"fingerprint" doc:"as ssh-keygen -l prints it"`
	VerifierKey string `json:"verifierKey" doc:"what witnesses of the log need beside the keys before it"`
	Size        int64  `json:"size" doc:"records under the first checkpoint that it signed"`
}

type keyJSON struct {
	Name        string `json:"name" doc:"name in the home"`
	Fingerprint string `json:"fingerprint" doc:"as ssh-keygen -l prints it"`
	PublicKey   string `json:"publicKey" doc:"32 bytes in base64, as trust documents spell it"`
	Private     bool   `json:"private" doc:"the private half is in the home"`
	Protected   bool   `json:"protected" doc:"by a passphrase"`
	Use         string `json:"use" doc:"what the trust root lets it do, in words"`
}

type keyListJSON struct {
	Keys []keyJSON `json:"keys" doc:"by name"`
}

func describeKey(h *home.Home, k home.KeyInfo, now time.Time) keyJSON {
	return keyJSON{
		Name: k.Name, Fingerprint: k.Public.Fingerprint(), PublicKey: k.Public.String(),
		Private: k.Private, Protected: k.Protected, Use: useOf(h, k, now),
	}
}

// useOf says what a key does: for the log, or by the trust root.
func useOf(h *home.Home, k home.KeyInfo, now time.Time) string {
	if isLogKey(h, k) {
		return "signs the log's checkpoints"
	}
	if k.Name == home.WebhookKey {
		return "signs questions to the webhook"
	}
	if _, known := h.Root().ByKey(k.Public); !known && strings.HasPrefix(k.Name, "log-") {
		return "signed the log's checkpoints before"
	}
	return keyUse(h.Root(), k.Public, now)
}

// isLogKey says whether the log signs with a key now.
func isLogKey(h *home.Home, k home.KeyInfo) bool {
	_, present, _ := h.State().Log()
	return k.Public.String() == present
}

func keyUse(root *trust.Root, k trust.PublicKey, now time.Time) string {
	if k == root.Key() {
		return "signs the trust root"
	}
	e, ok := root.ByKey(k)
	if !ok {
		return "not in the trust root: may do nothing"
	}
	if _, err := root.Signer(e.ID, now); err != nil {
		return "may do nothing: " + reasonOf(err)
	}
	use := "signs up to " + e.Level.String()
	if e.Approver {
		use = "approves calls, " + use
	}
	if e.Adopter {
		use = "adopts: unverified only, no passphrase"
	}
	return use
}

func (c keyNewCmd) Run(a *app) error {
	return a.withHome(home.Write, func(h *home.Home) error {
		if err := trust.CheckID(c.Name); err != nil {
			return err
		}
		secret, err := c.choose(a, "new passphrase for key "+c.Name)
		if err != nil {
			return err
		}
		k, err := h.NewKey(a.ctx, c.Name, secret)
		if err != nil {
			return err
		}
		out := describeKey(h, k, a.now())
		return a.print(out, func() error {
			a.printf("%s  %s  %s\n", out.Name, out.Fingerprint, out.Use)
			a.printf("next: iff trust add %s --level declared\n", out.Name)
			return nil
		})
	})
}

func (keyListCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		keys, err := h.Keys()
		if err != nil {
			return err
		}
		out := keyListJSON{Keys: []keyJSON{}}
		rows := [][]string{{"NAME", "FINGERPRINT", "PASSPHRASE", "USE"}}
		for _, k := range keys {
			d := describeKey(h, k, a.now())
			out.Keys = append(out.Keys, d)
			protected := "no"
			if d.Protected {
				protected = "yes"
			}
			rows = append(rows, []string{d.Name, d.Fingerprint, protected, d.Use})
		}
		return a.print(out, func() error { return a.table(rows) })
	})
}

func (c keyExportCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		keys, err := h.Keys()
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.Name == c.Name {
				return a.print(describeKey(h, k, a.now()), func() error {
					a.printf("%s\n", keyfile.FormatPublic(k.Public, k.Name))
					return nil
				})
			}
		}
		return &keyfile.Error{Reason: keyfile.Missing, Path: c.Name, Detail: fmt.Sprintf("there is no key of this name in %s; see iff key list", h.Dir())}
	})
}

// Run changes the key at once: what the one before signed still holds, for the
// log has the change, signed by both.
func (keyRotateCmd) Run(a *app) error {
	return a.withHome(home.Write, func(h *home.Home) error {
		k, err := h.RotateLogKey(a.ctx)
		if err != nil {
			return err
		}
		origin, _, _ := h.State().Log()
		out := keyRotateJSON{Name: k.Name, Fingerprint: k.Public.Fingerprint()}
		_, out.Size = h.View().Newest()
		if out.VerifierKey, err = audit.VerifierKey(origin, k.Public); err != nil {
			return err
		}
		return a.print(out, func() error {
			a.printf("%s  %s  signs the log from record %s on; the private key before it is erased\n", out.Name, out.Fingerprint, count(out.Size))
			a.printf("next: give the witnesses of this log its new key beside the old: %s\n", out.VerifierKey)
			return nil
		})
	})
}
