package home

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

var configTemplate = template.Must(template.New("").Funcs(template.FuncMap{"quote": tomlString}).Parse(`# iff's configuration. Written by iff init; yours to edit.

# dev, or strict: nothing runs unless this file is signed (iff config sign), an
# anchor of the log answers, and agents are other users; iff doctor says what is
# missing. After a change: iff config check.
profile = "{{.Profile}}"

[operator]
# The signer that skills you sign yourself name.
name = "{{.Operator.Name}}"
# Skills above this label are not loaded. Labels: iff trust show
clearance = "{{.Operator.Clearance}}"

[trust]
# The key that must have signed the trust chain in trust/.
root = "{{.Trust.Root}}"

[log]
# The log's name, and the key that signed its first checkpoints. What the log
# says of itself is held against them.
origin = "{{.Log.Origin}}"
key = "{{.Log.Key}}"

# Where checkpoints are remembered outside of this home, so that a log that was
# cut back or rewritten is found out: a file on another disk or machine, or a
# witness (iff audit witness). Any number.
# [[log.anchor]]
# place = "/mnt/elsewhere/iff.checkpoint"
# [[log.anchor]]
# place = "https://witness.example"
# key = "witness.example+1a2b3c4d+BA..."

# Directories under iff: agents read and write them by calls that are decided,
# recorded and can be compared with what happened. Any number, under any name.
# label: of every object; path: raises the label of some. volatile: what nobody
# keeps account of, and what no call writes to.
{{- range .Corpora}}
[corpus.{{.Name}}]
root = {{quote .Root}}
label = {{quote $.Lowest}}
volatile = [{{range .Volatile.Strings}}
  {{quote .}},{{end}}
]
{{else}}
# [corpus.work]
# root = "/home/me/notes"
# label = "{{.Lowest}}"
# volatile = [".git"]
{{end}}
# [[corpus.work.path]]
# pattern = "private"
# label = "{{.Lowest}}"

# Who is asked about a call that needs a person: inbox (iff inbox), or nobody,
# which denies it; nobody if nothing is said. Or a chain, in which each may pass to
# the next: ["policy", "webhook", "inbox"].
{{- if .Corpora}}
[gate]
ask = "inbox"
{{- else}}
# [gate]
# ask = "inbox"
{{- end}}
# timeout = "2m"
# call_timeout = "30s"
# buffer = "64MiB"

# Rules that decide without a person, and a service that is asked. A path is
# relative to this directory; the pin is that of the server's public key.
# [policy]
# files = ["policy.cedar"]
# [webhook]
# url = "https://approvals.example.com/iff"
# pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
# timeout = "20s"

# Hosts that calls may reach, as in net.egress(...). label: of what may go there
# and of what comes from there. A host in no entry is refused.
# [[net.host]]
# host = "*.example.com"
# label = "{{.Lowest}}"

# Servers whose tools agents may use: a command, or a url. mapping: what its tools
# are (fetch, git, memory, server-filesystem). A tool that is not mapped is
# tool.invoke, irreversible.
# [upstream.files]
# command = ["/usr/bin/npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
# dir = "/home/me/notes"
# mapping = "server-filesystem"
# label = "{{.Lowest}}"
# relay = ["elicitation"]  # it may ask the agent's client; an answer approves nothing
# [[upstream.files.tool]]
# name = "write_file"
# capability = "fs.write.irrev"
# target = "{path}"
# takes = ["content"]
# reach = "bounded"

# MCP over HTTP, on this machine alone. wait: after this a call that waits for a
# person is answered pending. idle: with nothing in flight so long, what is staged
# is asked about.
# [mcp]
# listen = "127.0.0.1:7447"
# wait = "50s"
# idle = "1m"

# Sockets: how many connections, and a second directory of them for agents that
# are other users.
# [serve]
# connections = 1024
# agent_dir = "/run/iff-agents"
# agents = ["agent"]

# Files that nothing changes without a person, beside those by which agents are
# told what to do, such as AGENTS.md, which are always guarded. home: files of
# agents outside of corpora; behind # the members that count of a JSON or TOML file.
# [guard]
# files = ["Makefile"]
# home = ["~/.claude.json#mcpServers", "~/.codex/config.toml#mcp_servers,features"]
`))

// format writes iff.toml; lowest is a label to show.
func (c Config) format(lowest string) ([]byte, error) {
	var b bytes.Buffer
	err := configTemplate.Execute(&b, struct {
		Config
		Lowest string
	}{c, lowest})
	return b.Bytes(), err
}

// tomlString writes a text as TOML has it, between quotation marks.
func tomlString(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"', r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ', r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
