package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
)

type policyCmd struct {
	Check   policyCheckCmd   `cmd:"" help:"Read a policy and say what it can decide, or why it is refused."`
	Explain policyExplainCmd `cmd:"" help:"Say what a policy decides of one call, by which rule, and what it knows of it."`
	Replay  policyReplayCmd  `cmd:"" help:"Put logged requests to a policy, and show where it decides otherwise."`
	Schema  policySchemaCmd  `cmd:"" help:"Print the names and types that a policy may use, as a Cedar schema."`
}

type policyCheckCmd struct {
	Files []string `arg:"" optional:"" help:"Cedar files; by default those of the home."`
}

type policyCheckJSON struct {
	Digest string            `json:"digest" doc:"of the names and texts of the files, hex SHA-256"`
	Files  []string          `json:"files" doc:"their names, sorted"`
	Rules  []policyRuleJSON  `json:"rules" doc:"in the order in which they are named"`
	Tokens []policyTokenJSON `json:"tokens" doc:"the vocabulary"`
}

type policyRuleJSON struct {
	Name   string   `json:"name" doc:"file and line, and the @id"`
	Effect string   `json:"effect" doc:"permit or forbid"`
	Tokens []string `json:"tokens" doc:"capabilities that it can match; none: it never matches"`
}

type policyTokenJSON struct {
	Token   string   `json:"token" doc:"capability"`
	Effect  string   `json:"effect" doc:"none, reversible, irreversible"`
	Permits []string `json:"permits" doc:"names of rules"`
	Forbids []string `json:"forbids" doc:"names of rules"`
}

// Run reads the files and nothing else, if some are named.
func (c policyCheckCmd) Run(a *app) error {
	files, err := a.policyFiles(c.Files)
	if err != nil {
		return err
	}
	p, err := parsePolicy(files, broker.PolicyOptions{})
	if err != nil {
		return err
	}
	out := policyCheckJSON{Digest: p.Digest().String(), Files: []string{}, Rules: []policyRuleJSON{}, Tokens: []policyTokenJSON{}}
	for _, f := range files {
		out.Files = append(out.Files, f.Name)
	}
	slices.Sort(out.Files)
	for _, r := range p.Rules() {
		out.Rules = append(out.Rules, policyRuleJSON{Name: r.Name, Effect: ruleEffect(r), Tokens: list(r.Tokens)})
	}
	for _, row := range capability.Vocabulary() {
		t := policyTokenJSON{Token: row.Token, Effect: row.Effect.String(), Permits: []string{}, Forbids: []string{}}
		for _, r := range p.Rules() {
			switch {
			case !slices.Contains(r.Tokens, row.Token):
			case r.Permits:
				t.Permits = append(t.Permits, r.Name)
			default:
				t.Forbids = append(t.Forbids, r.Name)
			}
		}
		out.Tokens = append(out.Tokens, t)
	}
	return a.print(out, func() error { return a.printPolicy(out) })
}

func ruleEffect(r broker.Rule) string {
	if r.Permits {
		return "permit"
	}
	return "forbid"
}

func (a *app) printPolicy(out policyCheckJSON) error {
	rows := [][]string{{"CAPABILITY", "EFFECT", "PERMIT", "FORBID"}}
	for _, t := range out.Tokens {
		rows = append(rows, []string{t.Token, t.Effect, ruleNames(t.Permits), ruleNames(t.Forbids)})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	for _, r := range out.Rules {
		if len(r.Tokens) == 0 {
			a.printf("\n%s never matches: no capability fits its scope and conditions\n", r.Name)
		}
	}
	a.printf("\n%s in %s, digest %.12s: it holds\n", plural(len(out.Rules), "rule"), plural(len(out.Files), "file"), out.Digest)
	return nil
}

func ruleNames(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}

type policySchemaCmd struct{}

type policySchemaJSON struct {
	Schema string `json:"schema" doc:"Cedar schema"`
}

// Run prints the schema.
func (policySchemaCmd) Run(a *app) error {
	out := policySchemaJSON{string(broker.Schema())}
	return a.print(out, func() error { a.printf("%s", out.Schema); return nil })
}

// policyFiles reads the named files, or those of the home. A file that is named
// is known by the last part of its path, so that rules are called the same
// wherever it lies.
func (a *app) policyFiles(named []string) ([]broker.PolicyFile, error) {
	if len(named) > 0 {
		return readPolicyFiles(named)
	}
	var out []broker.PolicyFile
	err := a.withHome(home.Read, func(h *home.Home) error {
		out = homePolicy(h)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = noPolicy()
	}
	return out, err
}

func homePolicy(h *home.Home) []broker.PolicyFile {
	var out []broker.PolicyFile
	for _, f := range h.PolicyFiles() {
		out = append(out, broker.PolicyFile{Name: f.Name, Text: f.Text})
	}
	return out
}

// parsePolicy says what to do about a rule that is refused on a line of its own.
func parsePolicy(files []broker.PolicyFile, opts broker.PolicyOptions) (*broker.Policy, error) {
	p, err := broker.ParsePolicy(files, opts)
	var refused *broker.Error
	if !errors.As(err, &refused) || refused.Remedy == "" {
		return p, err
	}
	bare := *refused
	bare.Remedy = ""
	return nil, &advisedError{error: &bare, remedy: visible.Escape(refused.Remedy)}
}

func noPolicy() error {
	return &usageError{reason: "no-policy", detail: "the home has no policy, and no file is named", remedy: `name files; or say files = ["policy.cedar"] under [policy] of iff.toml`}
}

func readPolicyFiles(named []string) ([]broker.PolicyFile, error) {
	var out []broker.PolicyFile
	for _, path := range named {
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case !info.Mode().IsRegular():
			err = errors.New("not a regular file")
		case info.Size() > broker.MaxPolicyFile:
			err = fmt.Errorf("%d bytes, at most %d", info.Size(), broker.MaxPolicyFile)
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(path)
		}
		if err != nil {
			var at *os.PathError
			if errors.As(err, &at) {
				err = at.Err
			}
			return nil, &usageError{reason: "usage", detail: fmt.Sprintf("%s: %s", visible.Escape(path), err), remedy: "name Cedar files"}
		}
		out = append(out, broker.PolicyFile{Name: filepath.Base(path), Text: text})
	}
	return out, nil
}
