package main

import (
	"fmt"
	"time"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/trust"
)

type keyCmd struct {
	New    keyNewCmd    `cmd:"" help:"Make a key pair, protected by a passphrase."`
	List   keyListCmd   `cmd:"" help:"List the keys of the home and what they may do."`
	Export keyExportCmd `cmd:"" help:"Print a public key as an OpenSSH line."`
}

type keyNewCmd struct {
	Name string `arg:"" help:"Name of the key."`
	passphraseFlags
}

type keyListCmd struct{}

type keyExportCmd struct {
	Name string `arg:"" help:"Name of the key."`
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
		Private: k.Private, Protected: k.Protected, Use: keyUse(h.Root(), k.Public, now),
	}
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
