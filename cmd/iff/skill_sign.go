package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/manifest"
)

type skillSignCmd struct {
	Dir     string `arg:"" help:"Skill directory."`
	Level   string `help:"Level you attest." enum:"unverified,declared,tested,formal" default:"declared" placeholder:"LEVEL"`
	Key     string `help:"A key of the home, or a private key file (OpenSSH Ed25519 too); by default the operator's." placeholder:"NAME|FILE"`
	Version int64  `help:"Version to sign as; by default the next one." placeholder:"N"`
	Label   string `help:"Label of the skill; by default the manifest's." placeholder:"LABEL"`
	Summary string `help:"Your one line about it, shown in listings; by default the manifest's." placeholder:"TEXT"`
	Edited  bool   `help:"Sign the manifest as it stands on disk, though nobody here has signed it."`
	Redraft bool   `help:"Propose the grants anew instead of keeping the manifest's."`
	InHome  bool   `help:"Keep manifest and signature in the home, not beside the skill."`
	passphraseFlags
}

type signJSON struct {
	Directory string      `json:"directory" doc:"where it is"`
	Skill     *skillJSON  `json:"skill" doc:"what it was signed as"`
	Grants    []string    `json:"grants" doc:"what you attest that it does not go beyond"`
	Summary   string      `json:"summary" doc:"the signer's line"`
	Label     string      `json:"label" doc:"label of the skill"`
	Stored    string      `json:"stored" doc:"directory that holds manifest and signature"`
	Steps     []stepsJSON `json:"steps" doc:"the seven steps it was taken through"`
}

// review tells a person, before a passphrase is asked for, what they are about
// to vouch for.
func (c skillSignCmd) review(a *app) func(manifest.Fields) error {
	return func(f manifest.Fields) error {
		if !a.json {
			fmt.Fprintf(a.err, "about to sign %s as %s: grants %s\n", f.Name, c.Level, visible.Escape(strings.Join(f.Caps, ", ")))
			if f.Summary != "" {
				fmt.Fprintf(a.err, "  summary: %s\n", visible.Escape(f.Summary))
			}
		}
		return nil
	}
}

func (c skillSignCmd) Run(a *app) error {
	path, err := one(c.Dir)
	if err != nil {
		return err
	}
	return a.withHome(home.Write, func(h *home.Home) error {
		key := c.Key
		if key == "" {
			key = h.Config().Operator.Name
		}
		got, err := h.Sign(a.ctx, path, home.SignOptions{
			Key: key, Passphrase: c.source(a), Level: c.Level, Version: c.Version, Label: c.Label, Summary: c.Summary,
			Edited: c.Edited, Redraft: c.Redraft, InHome: c.InHome, Review: c.review(a),
		})
		if err != nil {
			return err
		}
		out := signJSON{
			Directory: path, Skill: skillOf(got.Report), Stored: got.Stored, Steps: stepsOf(got.Report),
			Grants: list(got.Grants), Summary: got.Manifest.Summary(), Label: got.Manifest.Label().String(),
		}
		return a.print(out, func() error {
			a.printf("signed  %s version %d by %s as %s, label %s\n", out.Skill.Name, out.Skill.Version, out.Skill.Signer, out.Skill.Level, out.Label)
			for _, g := range out.Grants {
				a.printf("  attested  %s\n", g)
			}
			if out.Summary != "" {
				a.printf("  summary   %s\n", visible.Escape(out.Summary))
			}
			a.printf("next: iff skill verify %s\n", short(path))
			return nil
		})
	})
}
