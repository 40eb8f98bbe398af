package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/home"
)

// configCmd is for whoever edits iff.toml and wants to know what is in force before
// a runtime starts.
type configCmd struct {
	Check  configCheckCmd  `cmd:"" help:"Check iff.toml, and say what it puts in force."`
	Show   configShowCmd   `cmd:"" help:"Print every setting as it is in force, defaults included."`
	Sign   configSignCmd   `cmd:"" help:"Sign iff.toml and the policy files it names; signed by the root key."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON schema of iff.toml, for editors."`
}

type configCheckCmd struct{}

type configShowCmd struct{}

type configSchemaCmd struct{}

type configSignCmd struct{ passphraseFlags }

type configJSON struct {
	Home       string               `json:"home" doc:"directory of the home"`
	Profile    string               `json:"profile" doc:"dev or strict"`
	Digest     string               `json:"digest" doc:"what the boot record will name, hex"`
	Signed     bool                 `json:"signed" doc:"the root key has signed it as it is"`
	Unsigned   string               `json:"unsigned" doc:"why a signature that is there does not hold, so that nothing starts; empty if it does, or there is none"`
	Conditions []configStrictJSON   `json:"conditions" doc:"those of profile strict"`
	Ask        []string             `json:"ask" doc:"who is asked, in this order; none: nobody"`
	Times      configTimesJSON      `json:"times" doc:"how long things may take"`
	Buffer     int64                `json:"buffer" doc:"bytes that a session may stage"`
	Policies   []string             `json:"policies" doc:"policy files, in this order"`
	Webhook    string               `json:"webhook" doc:"where questions are sent, empty for none"`
	Corpora    []corpusJSON         `json:"corpora" doc:"the directories under iff"`
	Hosts      []configHostJSON     `json:"hosts" doc:"the hosts that calls may reach"`
	Upstreams  []configUpstreamJSON `json:"upstreams" doc:"the servers whose tools agents may use"`
	Listen     string               `json:"listen" doc:"address for MCP over HTTP, empty for none"`
	Most       int                  `json:"connections" doc:"connections open at once"`
	AgentDir   string               `json:"agentDir" doc:"second directory of sockets, empty for none"`
	Agents     []string             `json:"agents" doc:"users that may connect there"`
	Guarded    []string             `json:"guarded" doc:"patterns of objects that nothing changes without a person"`
	Control    []string             `json:"control" doc:"files of agents outside of corpora, with the keys that count"`
	Absent     []string             `json:"absent" doc:"those of them where nothing is, and that no agent known here has: perhaps a slip"`
}

type configTimesJSON struct {
	Ask     string `json:"ask" doc:"a question waits; then it is denied"`
	Call    string `json:"call" doc:"one call of a host"`
	Webhook string `json:"webhook" doc:"one answer of the webhook; empty without one"`
	Wait    string `json:"wait" doc:"a call over MCP that waits for a person; then it is answered pending"`
	Idle    string `json:"idle" doc:"nothing in flight; then what is staged is asked about"`
}

type configStrictJSON struct {
	Name   string `json:"name" doc:"signature, anchor, agents or keys"`
	Holds  bool   `json:"holds" doc:"whether it holds"`
	Detail string `json:"detail" doc:"what holds, or why it does not and what to do"`
}

type configHostJSON struct {
	Host    string `json:"host" doc:"as in net.egress(...)"`
	Label   string `json:"label" doc:"of what goes there and comes from there"`
	Private bool   `json:"private" doc:"addresses of private networks too"`
}

type configUpstreamJSON struct {
	Name    string           `json:"name" doc:"what tool.invoke calls it"`
	Server  string           `json:"server" doc:"the command or address"`
	Mapping string           `json:"mapping" doc:"the ready mapping, empty for none"`
	Prefix  string           `json:"prefix" doc:"before the names of its tools"`
	Label   string           `json:"label" doc:"of its tools"`
	Timeout string           `json:"timeout" doc:"for one call"`
	Tools   []configToolJSON `json:"tools" doc:"the entries of iff.toml, each instead of the mapping's"`
}

type configToolJSON struct {
	Name       string `json:"name" doc:"as the server calls it"`
	Capability string `json:"capability" doc:"what a call of it is"`
	Target     string `json:"target" doc:"template; empty for tool.invoke"`
	Reach      string `json:"reach" doc:"exact, bounded or opaque"`
	Label      string `json:"label" doc:"its label"`
}

type configSchemaJSON struct {
	Schema string `json:"schema" doc:"JSON schema, draft 2020-12; docs/iff.schema.json"`
}

type configSignedJSON struct {
	Home      string   `json:"home" doc:"directory of the home"`
	Digest    string   `json:"digest" doc:"what the boot record will name, hex"`
	Root      string   `json:"root" doc:"fingerprint of the root key, which signed"`
	Policies  []string `json:"policies" doc:"policy files whose digests are signed too"`
	Signature string   `json:"signature" doc:"file with the signature"`
}

func (configCheckCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		out, err := describeConfig(a, h)
		if err != nil {
			return err
		}
		if err := h.CheckCorpora(); err != nil {
			return err
		}
		if err := a.print(out, func() error { return a.table(checkRows(out)) }); err != nil {
			return err
		}
		fails := out.Unsigned != ""
		for _, c := range out.Conditions {
			fails = fails || out.Profile == string(home.Strict) && !c.Holds
		}
		if fails {
			return &outcomeError{exitDoesNot}
		}
		return nil
	})
}

func (configShowCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		out, err := describeConfig(a, h)
		if err != nil {
			return err
		}
		return a.print(out, func() error { return a.table(showRows(out)) })
	})
}

func (configSchemaCmd) Run(a *app) error {
	text, err := home.Schema()
	if err != nil {
		return err
	}
	out := configSchemaJSON{string(text)}
	return a.print(out, func() error { a.printf("%s", out.Schema); return nil })
}

func (c configSignCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		if err := h.SignConfig(c.source(a)); err != nil {
			return err
		}
		out := configSignedJSON{
			Home: h.Dir(), Digest: h.ConfigDigest(), Root: h.Root().Key().Fingerprint(), Policies: list(h.Config().Policy.Files), Signature: h.SignaturePath(),
		}
		return a.print(out, func() error {
			a.printf("signed iff.toml%s with the root key %s\n", also(out.Policies), out.Root)
			a.printf("a change of one byte keeps the runtime from starting, until it is signed again\n")
			return nil
		})
	})
}

func also(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return " and " + strings.Join(files, ", ")
}

func describeConfig(a *app, h *home.Home) (configJSON, error) {
	c := h.Config()
	signed, err := h.Signed()
	unsigned := ""
	switch {
	case err != nil && reasonOf(err) != string(home.Unsigned):
		return configJSON{}, err
	case err != nil:
		unsigned = shown(err)
	}
	out := configJSON{
		Home: h.Dir(), Profile: string(c.Profile), Digest: h.ConfigDigest(), Signed: signed, Unsigned: unsigned, Conditions: []configStrictJSON{}, Ask: []string{}, Buffer: c.Gate.Buffer,
		Times:    configTimesJSON{Ask: c.Gate.Timeout.String(), Call: c.Gate.CallTimeout.String(), Wait: c.MCP.Wait.String(), Idle: c.MCP.Idle.String()},
		Policies: list(c.Policy.Files), Corpora: []corpusJSON{}, Hosts: []configHostJSON{}, Upstreams: []configUpstreamJSON{}, Listen: c.MCP.Listen, Most: c.Serve.Connections,
		AgentDir: c.Serve.AgentDir, Agents: list(c.Serve.Agents), Guarded: list(c.Guarded.Strings()), Control: []string{}, Absent: list(unknownControl(h)),
	}
	for _, s := range h.Strict(a.ctx) {
		detail := s.Detail
		if s.Err != nil {
			detail = shown(s.Err)
		}
		out.Conditions = append(out.Conditions, configStrictJSON{s.Name, s.Err == nil, detail})
	}
	for _, who := range c.Gate.Chain {
		out.Ask = append(out.Ask, string(who))
	}
	if c.Webhook != nil {
		out.Webhook, out.Times.Webhook = c.Webhook.URL, c.Webhook.Timeout.String()
	}
	out.reach(c)
	return out, nil
}

// reach lists what agents reach, and what is watched.
func (out *configJSON) reach(c home.Config) {
	for _, o := range c.Corpora {
		out.Corpora = append(out.Corpora, corpusJSON{o.Name, o.Root, o.Label.String()})
	}
	for _, o := range c.Net {
		out.Hosts = append(out.Hosts, configHostJSON{o.Host, o.Label.String(), o.Private})
	}
	for _, u := range c.Upstreams {
		out.Upstreams = append(out.Upstreams, describeUpstream(u))
	}
	for _, f := range c.Control {
		text := f.Name
		if len(f.Keys) > 0 {
			text += "#" + strings.Join(f.Keys, ",")
		}
		out.Control = append(out.Control, text)
	}
}

func describeUpstream(u home.UpstreamConfig) configUpstreamJSON {
	out := configUpstreamJSON{
		Name: u.Name, Server: u.URL, Mapping: u.Mapping, Prefix: u.Prefix, Label: u.Label.String(), Timeout: u.Timeout.String(), Tools: []configToolJSON{},
	}
	if u.URL == "" {
		out.Server = strings.Join(u.Command, " ")
	}
	for _, t := range u.Tools {
		out.Tools = append(out.Tools, configToolJSON{t.Name, t.Capability, t.Target, t.Reach, t.Label.String()})
	}
	return out
}

// checkRows is what is in force, in a few lines.
func checkRows(c configJSON) [][]string {
	signed := "not signed"
	switch {
	case c.Signed:
		signed = "signed by the root key"
	case c.Unsigned != "":
		signed = "and the signature does not hold, so nothing starts: " + c.Unsigned
	}
	rows := [][]string{{"profile", c.Profile + ", " + signed}, {"ask", asked(c)}}
	for _, o := range c.Corpora {
		rows = append(rows, []string{"corpus " + o.Name, fmt.Sprintf("%s, label %s", short(o.Root), o.Label)})
	}
	for _, o := range c.Hosts {
		text := "label " + o.Label
		if o.Private {
			text += ", addresses of private networks too"
		}
		rows = append(rows, []string{"host " + o.Host, text})
	}
	for _, u := range c.Upstreams {
		rows = append(rows, []string{"upstream " + u.Name, fmt.Sprintf("%s, label %s, %s", short(u.Server), u.Label, mapped(u))})
	}
	rows = append(rows, []string{"connect", connects(c)}, []string{"guarded", plural(len(c.Guarded), "pattern") + " in corpora, " + plural(len(c.Control), "file") + " outside of them"})
	if len(c.Absent) > 0 {
		rows = append(rows, []string{"guard.home", "nothing is at " + shortList(c.Absent) + ": look at the spelling; what appears there is watched"})
	}
	if c.Profile == string(home.Strict) {
		for _, s := range c.Conditions {
			word := "no"
			if s.Holds {
				word = "ok"
			}
			rows = append(rows, []string{"strict: " + s.Name, word + ": " + s.Detail})
		}
	}
	return rows
}

func asked(c configJSON) string {
	if len(c.Ask) == 0 {
		return "nobody: a call that needs a person is denied"
	}
	text := strings.Join(c.Ask, ", then ")
	if len(c.Policies) > 0 {
		text += "; policy " + strings.Join(c.Policies, ", ")
	}
	if c.Webhook != "" {
		text += "; webhook " + c.Webhook
	}
	return text + "; a question waits " + c.Times.Ask
}

func mapped(u configUpstreamJSON) string {
	text := plural(len(u.Tools), "tool") + " mapped here"
	if u.Mapping != "" {
		text += ", others by " + u.Mapping
	}
	return text + "; what is not mapped is tool.invoke, irreversible"
}

func connects(c configJSON) string {
	text := "you, by the sockets of the home"
	if c.Listen != "" {
		text += "; whoever has a token, on " + c.Listen
	}
	if c.AgentDir != "" {
		text += "; " + strings.Join(c.Agents, ", ") + " in " + short(c.AgentDir)
	}
	return fmt.Sprintf("%s; %s at once", text, count(int64(c.Most)))
}

// showRows are the settings, one a line, as iff.toml could have them.
func showRows(c configJSON) [][]string {
	row := func(name string, value any) []string { return []string{name, fmt.Sprintf("%#v", value)} }
	rows := [][]string{
		row("profile", c.Profile), {"gate.ask", quotedList(c.Ask)}, row("gate.timeout", c.Times.Ask), row("gate.call_timeout", c.Times.Call),
		row("gate.buffer", fmt.Sprintf("%dMiB", c.Buffer>>20)), {"policy.files", quotedList(c.Policies)},
	}
	if c.Webhook != "" {
		rows = append(rows, row("webhook.url", c.Webhook), row("webhook.timeout", c.Times.Webhook))
	}
	for _, o := range c.Corpora {
		rows = append(rows, row("corpus."+o.Name+".root", o.Root), row("corpus."+o.Name+".label", o.Label))
	}
	for _, o := range c.Hosts {
		rows = append(rows, row("net.host", o.Host), row("net.host.label", o.Label), row("net.host.private", o.Private))
	}
	for _, u := range c.Upstreams {
		at := "upstream." + u.Name
		rows = append(rows, row(at, u.Server), row(at+".mapping", u.Mapping), row(at+".prefix", u.Prefix), row(at+".label", u.Label), row(at+".timeout", u.Timeout))
		for _, t := range u.Tools {
			rows = append(rows, []string{at + ".tool", fmt.Sprintf("%s is %s(%s), %s, %s", t.Name, t.Capability, t.Target, t.Reach, t.Label)})
		}
	}
	return append(rows, row("mcp.listen", c.Listen), row("mcp.wait", c.Times.Wait), row("mcp.idle", c.Times.Idle), row("serve.connections", c.Most),
		row("serve.agent_dir", c.AgentDir), []string{"serve.agents", quotedList(c.Agents)}, []string{"guard.files", quotedList(c.Guarded)}, []string{"guard.home", quotedList(c.Control)})
}

func quotedList(items []string) string {
	var out []string
	for _, s := range items {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
