package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/label"
)

type initCmd struct {
	Operator  string   `help:"Your signer id: lower-case letters, digits, . _ @ -" default:"me" placeholder:"ID"`
	Scheme    string   `help:"Label scheme: generic, default, us-government, healthcare, financial, or a JSON file." default:"default" placeholder:"NAME|FILE"`
	Clearance string   `help:"Your clearance; by default the scheme's highest." placeholder:"LABEL"`
	Corpus    []string `help:"Put this directory under iff, with the lowest label; the name is work unless given. Repeatable." placeholder:"[NAME=]DIR" sep:"none"`
	passphraseFlags
}

type initJSON struct {
	Home      string       `json:"home" doc:"directory of the home"`
	Operator  string       `json:"operator" doc:"the operator's signer id"`
	Profile   string       `json:"profile" doc:"dev or strict"`
	Scheme    string       `json:"scheme" doc:"name of the label scheme"`
	Clearance string       `json:"clearance" doc:"the operator's clearance, a label"`
	Root      string       `json:"root" doc:"fingerprint of the root key"`
	Keys      []keyJSON    `json:"keys" doc:"the keys that were made"`
	Corpora   []corpusJSON `json:"corpora" doc:"the directories under iff"`
}

type corpusJSON struct {
	Name  string `json:"name" doc:"what grants and targets call it"`
	Root  string `json:"root" doc:"its directory"`
	Label string `json:"label" doc:"label of its objects, where no path has a higher one"`
}

func (c initCmd) Run(a *app) error {
	scheme, err := c.scheme()
	if err != nil {
		return err
	}
	plan := home.Plan{Operator: c.Operator, Scheme: scheme}
	for _, text := range c.Corpus {
		corpus, err := corpusPlan(text)
		if err != nil {
			return err
		}
		plan.Corpora = append(plan.Corpora, corpus)
	}
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

// corpusPlan reads [NAME=]DIR. What stands before an equals sign is the name
// unless it has a slash.
func corpusPlan(text string) (home.CorpusPlan, error) {
	name, dir, ok := strings.Cut(text, "=")
	if !ok || strings.Contains(name, "/") {
		name, dir = capability.DefaultCorpus, text
	}
	if dir == "" {
		return home.CorpusPlan{}, &usageError{reason: "usage", detail: "--corpus names no directory", remedy: "write --corpus DIR, or --corpus NAME=DIR"}
	}
	root, err := filepath.Abs(dir)
	return home.CorpusPlan{Name: name, Root: root}, err
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
	out.Corpora = []corpusJSON{}
	for _, c := range cfg.Corpora {
		out.Corpora = append(out.Corpora, corpusJSON{c.Name, c.Root, c.Label.String()})
	}
	return a.print(out, func() error { return a.printInit(out) })
}

func (a *app) printInit(out initJSON) error {
	rows := [][]string{
		{"home", out.Home + " (profile " + out.Profile + ")"},
		{"scheme", out.Scheme + ", clearance " + out.Clearance},
		{"trust", filepath.Join(out.Home, "trust") + ", signed by " + out.Root},
	}
	for _, k := range out.Keys {
		rows = append(rows, []string{"key", k.Name + ": " + k.Use})
	}
	rows = append(rows, []string{"base", "calls outside any skill: read and reversible write in corpus work, all else asks"})
	for _, c := range out.Corpora {
		rows = append(rows, []string{"corpus", fmt.Sprintf("%s: %s, label %s", c.Name, short(c.Root), c.Label)})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	a.printf("next: iff skill inspect DIR, then iff skill adopt DIR\n")
	return nil
}
