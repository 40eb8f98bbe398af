package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/label"
)

type initCmd struct {
	Operator  string `help:"Your signer id: lower-case letters, digits, . _ @ -" default:"me" placeholder:"ID"`
	Scheme    string `help:"Label scheme: generic, default, us-government, healthcare, financial, or a JSON file." default:"default" placeholder:"NAME|FILE"`
	Clearance string `help:"Your clearance; by default the scheme's highest." placeholder:"LABEL"`
	passphraseFlags
}

type initJSON struct {
	Home      string    `json:"home" doc:"directory of the home"`
	Operator  string    `json:"operator" doc:"the operator's signer id"`
	Profile   string    `json:"profile" doc:"dev or strict"`
	Scheme    string    `json:"scheme" doc:"name of the label scheme"`
	Clearance string    `json:"clearance" doc:"the operator's clearance, a label"`
	Root      string    `json:"root" doc:"fingerprint of the root key"`
	Keys      []keyJSON `json:"keys" doc:"the keys that were made"`
}

func (c initCmd) Run(a *app) error {
	scheme, err := c.scheme()
	if err != nil {
		return err
	}
	plan := home.Plan{Operator: c.Operator, Scheme: scheme}
	if c.Clearance != "" {
		if plan.Clearance, err = scheme.Parse(c.Clearance); err != nil {
			return &usageError{reason: reasonOf(err), detail: "--clearance: " + err.Error()}
		}
	}
	if err := home.CheckPlan(a.dir, plan); err != nil {
		return err
	}
	if plan.Passphrase, err = c.choose(a, "one passphrase for the root, "+c.Operator+" and approver keys"); err != nil {
		return err
	}
	h, err := home.Init(a.ctx, a.dir, plan, home.Options{Now: a.now})
	if err != nil {
		return err
	}
	return errors.Join(c.report(a, h), h.Close())
}

// scheme is a built-in by name, or else a file.
func (c initCmd) scheme() (*label.Scheme, error) {
	if s, ok := label.Builtin(c.Scheme); ok {
		return s, nil
	}
	f, err := os.Open(c.Scheme)
	if err != nil {
		return nil, &usageError{reason: "usage", detail: "--scheme " + c.Scheme + ": neither a built-in scheme nor a file that can be read", remedy: "built-in: generic, default, us-government, healthcare, financial; a file: see docs/formats.md"}
	}
	defer f.Close()
	const limit = 256 << 10
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	var d label.SchemeData
	if err := canonical.Parse(data, &d, canonical.Limits{Bytes: limit}); err != nil {
		return nil, err
	}
	return label.NewScheme(d)
}

func (c initCmd) report(a *app, h *home.Home) error {
	keys, err := h.Keys()
	if err != nil {
		return err
	}
	cfg := h.Config()
	out := initJSON{
		Home: h.Dir(), Operator: cfg.Operator.Name, Profile: string(cfg.Profile), Scheme: h.Root().Scheme().Name(),
		Clearance: cfg.Operator.Clearance, Root: cfg.Trust.Root,
	}
	for _, k := range keys {
		out.Keys = append(out.Keys, describeKey(h, k, a.now()))
	}
	return a.print(out, func() error {
		rows := [][]string{
			{"home", out.Home + " (profile " + out.Profile + ")"},
			{"scheme", out.Scheme + ", clearance " + out.Clearance},
			{"trust", filepath.Join(out.Home, "trust") + ", signed by " + out.Root},
		}
		for _, k := range out.Keys {
			rows = append(rows, []string{"key", k.Name + ": " + k.Use})
		}
		rows = append(rows, []string{"base", "calls outside any skill: read and reversible write in corpus work, all else asks"})
		if err := a.table(rows); err != nil {
			return err
		}
		a.printf("next: iff skill inspect DIR, then iff skill adopt DIR\n")
		return nil
	})
}
