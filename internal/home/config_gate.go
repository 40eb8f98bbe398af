package home

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iff-run/iff/corpus"
)

// Ask says whom the gate asks about a call that needs a person.
type Ask string

// Who is asked. The zero value is nobody.
const (
	AskNobody Ask = "nobody" // such a call is denied
	AskInbox  Ask = "inbox"
)

// GateConfig is [gate] of iff.toml. What is not set there has its default.
type GateConfig struct {
	Ask         Ask           // default: nobody
	Timeout     time.Duration // how long a question waits before it is denied; 1s to 24h, default 2m
	CallTimeout time.Duration // how long a host may take for one call; 1s to 24h, default 30s
	Buffer      int64         // bytes that a session may stage, with the states before; 1MiB to 16GiB, default 64MiB
}

// gateTable is [gate] as it is written.
type gateTable struct {
	Ask         *string `toml:"ask"`
	Timeout     *string `toml:"timeout"`
	CallTimeout *string `toml:"call_timeout"`
	Buffer      *string `toml:"buffer"`
}

type guardTable struct {
	Files []string `toml:"files"`
}

func (s settings) gate() (GateConfig, error) {
	g := GateConfig{AskNobody, 2 * time.Minute, 30 * time.Second, 64 << 20}
	for _, set := range []struct {
		key   string
		text  *string
		parse func(string) error
	}{
		{"ask", s.Gate.Ask, func(text string) (err error) { g.Ask, err = parseAsk(text); return }},
		{"timeout", s.Gate.Timeout, func(text string) (err error) { g.Timeout, err = parseTimeout(text); return }},
		{"call_timeout", s.Gate.CallTimeout, func(text string) (err error) { g.CallTimeout, err = parseTimeout(text); return }},
		{"buffer", s.Gate.Buffer, func(text string) (err error) { g.Buffer, err = parseSize(text); return }},
	} {
		if set.text == nil {
			continue
		}
		if err := set.parse(*set.text); err != nil {
			return GateConfig{}, s.wrong("gate", 0, set.key, err.Error())
		}
	}
	return g, nil
}

func parseAsk(text string) (Ask, error) {
	if a := Ask(text); a == AskNobody || a == AskInbox {
		return a, nil
	}
	return AskNobody, fmt.Errorf(`%s; write "inbox" or "nobody"`, quoted(text))
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
func (s settings) guarded() (corpus.Patterns, error) {
	files := DefaultGuarded()
	for _, text := range s.Guard.Files {
		if !slices.Contains(files, text) {
			files = append(files, text)
		}
	}
	if _, err := patterns(s.Guard.Files); err != nil {
		return corpus.Patterns{}, s.wrong("guard", 0, "files", err.Error())
	}
	p, err := corpus.ParsePatterns(files)
	if err != nil {
		return p, s.wrong("guard", 0, "files", err.Error())
	}
	return p, nil
}

// DefaultGuarded names the files by which agents are told what to do and what
// they may: instructions, settings, tool servers, skills, secrets. They are
// guarded in every corpus, whatever iff.toml says.
func DefaultGuarded() []string {
	return []string{
		"**/AGENTS.md", "**/AGENTS.override.md", "**/CLAUDE.md", "**/CLAUDE.local.md", "**/GEMINI.md", "**/QWEN.md",
		"**/.claude", "**/.codex", "**/.gemini", "**/.qwen", "**/.agents", "**/.opencode", "**/.cursor", "**/.windsurf",
		"**/.mcp.json", "**/.vscode", "**/opencode.json", "**/opencode.jsonc", "**/.cursorrules", "**/.windsurfrules",
		"**/.github/copilot-instructions.md", "**/.github/instructions",
		"**/SKILL.md", "**/skill.iff.json", "**/skill.iff.sig",
		"**/.env", "**/.env.*", "**/.envrc", "**/.git/hooks", "**/.git/config", "**/.iff",
	}
}
