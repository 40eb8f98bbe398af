package home

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iff-run/iff/corpus"
)

// Ask says whom the gate asks about a call that needs a person.
type Ask string

// Who is asked, one after the other: each may pass to the next.
const (
	AskPolicy  Ask = "policy"  // the files of [policy]
	AskWebhook Ask = "webhook" // the service of [webhook]
	AskInbox   Ask = "inbox"   // a person; passes to nobody

	askNobody = "nobody" // such a call is denied
)

// GateConfig is [gate] of iff.toml. What is not set there has its default.
type GateConfig struct {
	Chain       []Ask         // in this order; none, the default: such a call is denied
	Timeout     time.Duration // how long a question waits before it is denied; 1s to 24h, default 2m
	CallTimeout time.Duration // how long a host may take for one call; 1s to 24h, default 30s
	Buffer      int64         // bytes that a session may stage, with the states before; 1MiB to 16GiB, default 64MiB
}

// Asks says whether somebody is in the chain.
func (g GateConfig) Asks(who Ask) bool { return slices.Contains(g.Chain, who) }

// Asked is the chain in words, such as "policy, inbox", or "nobody".
func (g GateConfig) Asked() string {
	if len(g.Chain) == 0 {
		return askNobody
	}
	var words []string
	for _, a := range g.Chain {
		words = append(words, string(a))
	}
	return strings.Join(words, ", ")
}

// gateTable is [gate] as it is written.
type gateTable struct {
	Ask         *askText `toml:"ask" doc:"who is asked about a call that needs a person: one, or a chain; nobody if nothing is said"`
	Timeout     *string  `toml:"timeout" form:"time" doc:"a question waits so long, then it is denied; 2m if nothing is said"`
	CallTimeout *string  `toml:"call_timeout" form:"time" doc:"a call may take so long; 30s if nothing is said"`
	Buffer      *string  `toml:"buffer" form:"size" doc:"what a session may stage; 64MiB if nothing is said"`
}

type guardTable struct {
	Files []string `toml:"files" form:"pattern" doc:"objects of corpora that nothing changes without a person, beside those of agents"`
	Home  []string `toml:"home" form:"control" most:"256" doc:"files of agents outside of corpora: PATH, or PATH#KEY,KEY for members of a JSON or TOML file"`
}

// askText is a word or a list of words.
type askText []string

// UnmarshalTOML implements toml.Unmarshaler.
func (a *askText) UnmarshalTOML(value any) error {
	if word, ok := value.(string); ok {
		*a = askText{word}
		if word == askNobody {
			*a = askText{}
		}
		return nil
	}
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return errAsk
	}
	for _, item := range list {
		word, ok := item.(string)
		if !ok {
			return errAsk
		}
		*a = append(*a, word)
	}
	return nil
}

var errAsk = errors.New(`gate.ask: write "inbox", "nobody", or a chain such as ["policy", "webhook", "inbox"]`)

func (s settings) gate(c *Config) error {
	g := GateConfig{nil, 2 * time.Minute, 30 * time.Second, 64 << 20}
	if s.Gate.Ask != nil {
		var err error
		if g.Chain, err = parseChain(*s.Gate.Ask); err != nil {
			return s.wrong("gate", 0, "ask", err.Error())
		}
	}
	for _, set := range []struct {
		key   string
		text  *string
		parse func(string) error
	}{
		{"timeout", s.Gate.Timeout, func(text string) (err error) { g.Timeout, err = parseTimeout(text); return }},
		{"call_timeout", s.Gate.CallTimeout, func(text string) (err error) { g.CallTimeout, err = parseTimeout(text); return }},
		{"buffer", s.Gate.Buffer, func(text string) (err error) { g.Buffer, err = parseSize(text); return }},
	} {
		if set.text == nil {
			continue
		}
		if err := set.parse(*set.text); err != nil {
			return s.wrong("gate", 0, set.key, err.Error())
		}
	}
	c.Gate = g
	return nil
}

// parseChain takes each at most once, and the inbox last: who is behind a person
// would never be asked.
func parseChain(words []string) ([]Ask, error) {
	known := []string{string(AskPolicy), string(AskWebhook), string(AskInbox)}
	var out []Ask
	for i, word := range words {
		switch {
		case word == askNobody:
			return nil, errors.New(`"nobody" stands alone; write ask = "nobody", or leave it out of the chain: the last that passes is a denial`)
		case !slices.Contains(known, word):
			return nil, fmt.Errorf(`%s%s; write "inbox", "nobody", or a chain of "policy", "webhook" and "inbox"`, quoted(word), meant(word, append(known, askNobody)))
		case slices.Contains(words[:i], word):
			return nil, fmt.Errorf("%s stands there twice; leave one out", quoted(word))
		case i > 0 && words[i-1] == string(AskInbox):
			return nil, errors.New(`"inbox" passes to nobody; put it last`)
		}
		out = append(out, Ask(word))
	}
	return out, nil
}

// crossed checks what settings of several tables say together.
func (s settings) crossed(c *Config) error {
	switch {
	case c.Gate.Asks(AskPolicy) && len(c.Policy.Files) == 0:
		return s.wrong("gate", 0, "ask", `"policy" needs [policy] with files = ["policy.cedar"]`)
	case len(c.Policy.Files) > 0 && !c.Gate.Asks(AskPolicy):
		return s.wrong("policy", 0, "files", `gate.ask does not name "policy", so nobody would ask these; write ask = ["policy", "inbox"] in [gate], or leave them out`)
	case c.Webhook != nil && !c.Gate.Asks(AskWebhook):
		return s.wrong("webhook", 0, "url", `gate.ask does not name "webhook", so nobody would ask it; write ask = ["webhook", "inbox"] in [gate], or leave it out`)
	case c.Gate.Asks(AskWebhook) && c.Webhook == nil:
		return s.wrong("gate", 0, "ask", `"webhook" needs [webhook] with a url`)
	case c.Gate.Asks(AskWebhook) && c.Webhook.Timeout >= c.Gate.Timeout:
		return s.wrong("webhook", 0, "timeout", fmt.Sprintf("%s is not shorter than gate.timeout, %s; nobody behind it would be asked", c.Webhook.Timeout, c.Gate.Timeout))
	}
	return nil
}

func parseTimeout(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > 24*time.Hour {
		return 0, fmt.Errorf(`%s; write a time from "1s" to "24h", such as "2m30s"`, quoted(text))
	}
	return d, nil
}

// parseSize reads a whole number of KiB, MiB or GiB.
func parseSize(text string) (int64, error) {
	const least, most = 1 << 20, 16 << 30
	digits := strings.TrimRight(text, "KMGiB")
	shift, ok := map[string]int{"KiB": 10, "MiB": 20, "GiB": 30}[text[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 32)
	if size := n << shift; ok && err == nil && size >= least && size <= most {
		return int64(size), nil
	}
	return 0, fmt.Errorf(`%s; write a size from "1MiB" to "16GiB", in KiB, MiB or GiB`, quoted(text))
}

// guarded is what the setting adds to what is guarded anyway.
func (s settings) guarded(c *Config) error {
	files := DefaultGuarded()
	for _, text := range s.Guard.Files {
		if !slices.Contains(files, text) {
			files = append(files, text)
		}
	}
	if _, err := patterns(s.Guard.Files); err != nil {
		return s.wrong("guard", 0, "files", err.Error())
	}
	var err error
	if c.Guarded, err = corpus.ParsePatterns(files); err != nil {
		return s.wrong("guard", 0, "files", err.Error())
	}
	return nil
}

// DefaultGuarded names the files by which agents are told what to do and what
// they may: instructions, settings, tool servers, skills, secrets. They are
// guarded in every corpus, whatever iff.toml says.
func DefaultGuarded() []string {
	return []string{
		"**/AGENTS.md", "**/AGENTS.override.md", "**/CLAUDE.md", "**/CLAUDE.local.md", "**/GEMINI.md", "**/QWEN.md",
		"**/.claude", "**/.codex", "**/.gemini", "**/.qwen", "**/.agents", "**/.opencode", "**/.cursor", "**/.windsurf",
		"**/.claude.json", "**/.claude-plugin", "**/.config/opencode", "**/gemini-extension.json", "**/qwen-extension.json",
		"**/.mcp.json", "**/.vscode", "**/opencode.json", "**/opencode.jsonc", "**/.cursorrules", "**/.windsurfrules",
		"**/.github/copilot-instructions.md", "**/.github/instructions", "**/.github/agents", "**/.github/hooks", "**/.github/prompts", "**/.github/skills",
		"**/SKILL.md", "**/skill.iff.json", "**/skill.iff.sig",
		"**/.env", "**/.env.*", "**/.envrc", "**/.git/hooks", "**/.git/config", "**/.iff",
	}
}
