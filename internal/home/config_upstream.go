package home

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
)

const (
	maxUpstreams = 32
	maxWords     = 64 // of a command
	maxEnv       = 64
)

// UpstreamConfig is [upstream.NAME] of iff.toml: a server whose tools agents may
// use. It has a Command or a URL.
type UpstreamConfig struct {
	Name      string
	Command   []string // the program, absolute or a name, and its arguments
	URL       string   // https, or http to this machine
	TokenFile string   // absolute; sent as a bearer token; empty: none
	Pin       string   // of the server's public key, as in WebhookConfig; empty: none
	Dir       string   // absolute; where the command runs; empty: a private empty directory
	Env       map[string]string
	Mapping   string // name of a ready mapping; empty: none
	Prefix    string // before the names of its tools
	Label     label.Label
	Timeout   time.Duration // for one call; default 30s
	Relay     []string      // what it may ask the client of a call: sampling, elicitation
	Tools     []ToolConfig  // in the order of the file; each instead of the mapping's

	text located
}

// upstreamTable is [upstream.NAME] as it is written.
type upstreamTable struct {
	_         struct{}          `one:"command url"`
	Command   []string          `toml:"command" form:"word" most:"64" doc:"the program and its arguments; or url"`
	URL       string            `toml:"url" form:"url" doc:"of a server that speaks MCP over HTTP; or command"`
	TokenFile string            `toml:"token_file" form:"path" doc:"with url: file with the bearer token"`
	Pin       string            `toml:"pin" form:"pin" doc:"with url: of the server's public key"`
	Dir       string            `toml:"dir" form:"path" doc:"with command: its working directory; a private empty one if nothing is said"`
	Env       map[string]string `toml:"env" form:"env" most:"64" doc:"with command: variables beside PATH, HOME and LANG; no secrets"`
	Mapping   string            `toml:"mapping" form:"mapping" doc:"a ready mapping of its tools"`
	Prefix    string            `toml:"prefix" form:"prefix" doc:"put before the names of its tools"`
	Label     string            `toml:"label" form:"label" need:"yes" doc:"of all its tools that have none"`
	Timeout   *string           `toml:"timeout" form:"time" doc:"for one call; 30s if nothing is said"`
	Relay     []string          `toml:"relay" form:"relay" most:"2" doc:"what it may ask the client of a call: sampling, elicitation; nothing if nothing is said"`
	Tools     []toolTable       `toml:"tool" most:"256" doc:"what its tools are; one in no entry and no mapping is tool.invoke, irreversible and opaque"`
}

// upstreams checks the tables and gives them in the order of their names.
func (s settings) upstreams(c *Config) error {
	if n := len(s.Upstream); n > maxUpstreams {
		return s.wrong("upstream", 0, "", fmt.Sprintf("%d servers, at most %d", n, maxUpstreams))
	}
	prefixes := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(s.Upstream)) {
		u, err := s.upstream(name, s.Upstream[name])
		if err != nil {
			return err
		}
		if other, taken := prefixes[u.Prefix]; taken && u.Prefix != "" {
			return s.wrong("upstream."+name, 0, "prefix", fmt.Sprintf("%s is that of upstream.%s; choose another", quoted(u.Prefix), other))
		}
		prefixes[u.Prefix] = name
		c.Upstreams = append(c.Upstreams, u)
	}
	return nil
}

func (s settings) upstream(name string, t upstreamTable) (UpstreamConfig, error) {
	table := "upstream." + name
	if len(name) > 32 || name == "" || strings.Trim(name, lower+digits+"-") != "" {
		return UpstreamConfig{}, s.wrong(table, 0, "", quoted(name)+" is no name of an upstream; use 1 to 32 of a-z, 0-9 and -")
	}
	u := UpstreamConfig{
		Name: name, Command: t.Command, URL: t.URL, Pin: t.Pin, Env: t.Env, Mapping: t.Mapping, Prefix: t.Prefix, Relay: t.Relay,
		Timeout: 30 * time.Second, text: s.at(table, 0, "label", t.Label),
	}
	if err := u.text.given(); err != nil {
		return UpstreamConfig{}, err
	}
	for _, check := range []struct {
		key string
		err func() error
	}{
		{"command", func() error { return oneWay(t) }},
		{"command", func() error { return checkCommand(t.Command) }},
		{"url", func() error { return checkRemote(t, &u) }},
		{"dir", func() error { return expandInto(t.Dir, &u.Dir) }},
		{"token_file", func() error { return expandInto(t.TokenFile, &u.TokenFile) }},
		{"env", func() error { return checkEnv(t.Env) }},
		{"mapping", func() error { return checkMapping(t.Mapping) }},
		{"prefix", func() error { return checkPrefix(t.Prefix) }},
		{"timeout", func() error { return timeInto(t.Timeout, &u.Timeout) }},
		{"relay", func() error { return checkRelay(t.Relay) }},
	} {
		if err := check.err(); err != nil {
			return UpstreamConfig{}, s.wrong(table, 0, check.key, err.Error())
		}
	}
	var err error
	u.Tools, err = s.tools(table, t.Tools)
	return u, err
}

// oneWay sees that it is one of the two kinds, with that kind's settings.
func oneWay(t upstreamTable) error {
	command, remote := len(t.Command) > 0, t.URL != ""
	switch {
	case command && remote:
		return errors.New("there is a url too; leave one of the two out")
	case !command && !remote:
		return errors.New("it is missing, and so is url; name the program that is the server, or where it is")
	case command && (t.TokenFile != "" || t.Pin != ""):
		return errors.New("token_file and pin are for a url; leave them out")
	case remote && (t.Dir != "" || len(t.Env) > 0):
		return errors.New("dir and env are for a command, and there is a url; leave them out")
	}
	return nil
}

func checkCommand(words []string) error {
	if n := len(words); n > maxWords {
		return fmt.Errorf("%d words, at most %d", n, maxWords)
	}
	for i, word := range words {
		if i == 0 && (word == "" || strings.Contains(word, "/") && !strings.HasPrefix(word, "/")) {
			return fmt.Errorf("%s; write the program's name, or its path from the root, such as \"/usr/bin/npx\"", quoted(word))
		}
		if strings.ContainsRune(word, 0) {
			return errors.New("it holds a NUL; leave it out")
		}
	}
	return nil
}

func checkRemote(t upstreamTable, u *UpstreamConfig) error {
	if t.URL == "" {
		return nil
	}
	secure, err := checkURL(t.URL)
	if err != nil {
		return err
	}
	return checkPin(u.Pin, secure)
}

func expandInto(text string, into *string) (err error) {
	if text != "" {
		*into, err = expandPath(text)
	}
	return err
}

func timeInto(text *string, into *time.Duration) (err error) {
	if text != nil {
		*into, err = parseTimeout(*text)
	}
	return err
}

// checkEnv takes names of variables that are not those of secrets: iff.toml is
// shown, copied and signed.
func checkEnv(env map[string]string) error {
	if n := len(env); n > maxEnv {
		return fmt.Errorf("%d variables, at most %d", n, maxEnv)
	}
	for name, value := range env {
		switch {
		case name == "" || len(name) > 128 || strings.ContainsRune(digits, rune(name[0])) || strings.Trim(name, letters+digits+"_") != "":
			return fmt.Errorf("%s is no name of a variable; use letters, digits and _", quoted(name))
		case isSecret(name):
			return fmt.Errorf("%s looks like a secret, and iff.toml is no place for one; have the program read it from a file", visible.Escape(name))
		case strings.ContainsRune(value, 0):
			return fmt.Errorf("%s holds a NUL; leave it out", visible.Escape(name))
		}
	}
	return nil
}

func isSecret(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	for part := range strings.SplitSeq(name, "_") {
		if slices.Contains([]string{"KEY", "PAT", "AUTH", "BEARER", "COOKIE"}, part) {
			return true
		}
	}
	return false
}

// Mappings are the names of the mappings of tools that come with iff.
func Mappings() []string { return []string{"fetch", "git", "memory", "server-filesystem"} }

func checkMapping(name string) error {
	if name == "" || slices.Contains(Mappings(), name) {
		return nil
	}
	return fmt.Errorf("%s is no ready mapping%s; there are %s", quoted(name), meant(name, Mappings()), strings.Join(Mappings(), ", "))
}

func checkPrefix(text string) error {
	if len(text) > 32 || strings.Trim(text, letters+digits+"_.-") != "" {
		return fmt.Errorf("%s; use at most 32 of letters, digits, _ . and -", quoted(text))
	}
	return nil
}

// relays are what an upstream can be allowed to ask the client of a call.
func relays() []string { return []string{"sampling", "elicitation"} }

func checkRelay(words []string) error {
	for i, word := range words {
		switch {
		case !slices.Contains(relays(), word):
			return fmt.Errorf("%s cannot be relayed%s; there are %s", quoted(word), meant(word, relays()), strings.Join(relays(), ", "))
		case slices.Contains(words[:i], word):
			return fmt.Errorf("%s is there twice; leave one out", quoted(word))
		}
	}
	return nil
}
