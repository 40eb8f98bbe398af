package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

type upstreamCmd struct {
	List   upstreamListCmd   `cmd:"" help:"List the servers whose tools agents are offered, and what a call of each tool is."`
	Accept upstreamAcceptCmd `cmd:"" help:"Hold a tool that has changed to the schema that it has now."`
}

type upstreamListCmd struct {
	Name string `arg:"" optional:"" help:"One server alone, with all of its tools."`
}

type upstreamAcceptCmd struct {
	Tool string `arg:"" help:"SERVER/TOOL, or SERVER for all of its tools."`
}

type upstreamListJSON struct {
	Upstreams []upstreamJSON `json:"upstreams" doc:"in the order of iff.toml"`
}

type upstreamJSON struct {
	Name   string             `json:"name" doc:"in iff.toml"`
	Up     bool               `json:"up" doc:"it answers"`
	Why    string             `json:"why" doc:"why it does not; empty if it does, or was not tried yet"`
	Stderr string             `json:"stderr" doc:"the last that its program said"`
	Tools  []upstreamToolJSON `json:"tools" doc:"in its order"`
	Faults []string           `json:"faults" doc:"what of its list was not taken"`
}

type upstreamToolJSON struct {
	Name       string `json:"name" doc:"as the server calls it"`
	Offered    string `json:"offered" doc:"as agents are offered it"`
	Standing   string `json:"standing" doc:"offered; changed: its schema is another one, and nothing calls it; taken: another server's tool has its name"`
	Capability string `json:"capability" doc:"what a call of it is"`
	Reach      string `json:"reach" doc:"exact, bounded or opaque"`
	Mapped     bool   `json:"mapped" doc:"iff.toml or a ready mapping says so"`
	Schema     string `json:"schema" doc:"hash of its name and input schema"`
}

// Run lists.
func (c upstreamListCmd) Run(a *app) error {
	var list struct {
		Upstreams []serve.Upstream `json:"upstreams"`
	}
	if err := a.operate(onDemand, "upstream.list", nil, &list); err != nil {
		return err
	}
	out := upstreamListJSON{Upstreams: []upstreamJSON{}}
	for _, u := range list.Upstreams {
		if c.Name == "" || c.Name == u.Server {
			out.Upstreams = append(out.Upstreams, upstreamOf(u))
		}
	}
	if c.Name != "" && len(out.Upstreams) == 0 {
		return &usageError{reason: "usage", detail: fmt.Sprintf("there is no upstream %q", c.Name), remedy: "iff upstream list names them"}
	}
	return a.print(out, func() error { return a.upstreams(out.Upstreams, c.Name != "") })
}

func upstreamOf(u serve.Upstream) upstreamJSON {
	out := upstreamJSON{Name: u.Server, Up: u.Up, Why: u.Why, Stderr: u.Stderr, Tools: []upstreamToolJSON{}, Faults: u.Faults}
	for _, t := range u.Tools {
		out.Tools = append(out.Tools, upstreamToolJSON(t))
	}
	return out
}

func (a *app) upstreams(all []upstreamJSON, tools bool) error {
	if len(all) == 0 {
		a.printf("no upstream servers; name one in iff.toml: see docs/upstreams.md\n")
		return nil
	}
	var rows [][]string
	for _, u := range all {
		rows = append(rows, []string{u.Name, a.upDown(u), u.counted(), visible.Escape(u.Why)})
	}
	if err := a.table(rows); err != nil || !tools {
		return err
	}
	for _, u := range all {
		if err := a.tools(u); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) upDown(u upstreamJSON) string {
	switch {
	case u.Up:
		return a.paint(green, "up")
	case u.Why != "":
		return a.paint(red, "down")
	}
	return "not tried"
}

// counted says how many tools there are, and what is wrong with some.
func (u upstreamJSON) counted() string {
	changed, taken := 0, 0
	for _, t := range u.Tools {
		switch t.Standing {
		case "changed":
			changed++
		case "taken":
			taken++
		}
	}
	out := []string{plural(len(u.Tools), "tool")}
	if changed > 0 {
		out = append(out, fmt.Sprintf("%d changed: iff upstream accept %s", changed, u.Name))
	}
	if taken > 0 {
		out = append(out, fmt.Sprintf("%d with names that others have: give it a prefix", taken))
	}
	return strings.Join(out, ", ")
}

func (a *app) tools(u upstreamJSON) error {
	var rows [][]string
	for _, t := range u.Tools {
		how := "not mapped"
		if t.Mapped {
			how = "mapped"
		}
		rows = append(rows, []string{"  " + said(t.Offered), t.Standing, t.Capability, t.Reach, how})
	}
	for _, f := range u.Faults {
		rows = append(rows, []string{"  " + a.paint(red, "!"), said(f)})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if u.Stderr != "" {
		a.printf("its program said last:\n")
		for line := range strings.Lines(u.Stderr) {
			a.printf("  | %s\n", visible.Escape(strings.TrimRight(line, "\n")))
		}
	}
	return nil
}

type upstreamAcceptJSON struct {
	Accepted string `json:"accepted" doc:"server, or server/tool"`
}

// Run accepts.
func (c upstreamAcceptCmd) Run(a *app) error {
	server, tool, _ := strings.Cut(c.Tool, "/")
	params := struct {
		Server string `json:"server"`
		Tool   string `json:"tool,omitempty"`
	}{server, tool}
	if err := a.operate(onDemand, "upstream.accept", params, nil); err != nil {
		return err
	}
	return a.print(upstreamAcceptJSON{c.Tool}, func() error {
		a.printf("%s: accepted as it is now, which is recorded\n", said(c.Tool))
		return nil
	})
}
