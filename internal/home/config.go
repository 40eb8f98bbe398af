package home

import (
	"fmt"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/visible"
)

// Profile is one of the two deployment classes (paper, G9).
type Profile string

// The profiles. The zero value is neither and is refused.
const (
	Strict Profile = "strict"
	Dev    Profile = "dev"
)

// Config is iff.toml.
type Config struct {
	Profile  Profile `toml:"profile" form:"profile" need:"yes" doc:"dev, or strict"`
	Operator struct {
		Name      string `toml:"name" form:"some" need:"yes" doc:"the signer that skills you sign yourself name"`
		Clearance string `toml:"clearance" form:"label" need:"yes" doc:"skills above this label are not loaded"`
	} `toml:"operator" need:"yes" doc:"whose home this is"`
	Trust struct {
		Root string `toml:"root" form:"some" need:"yes" doc:"fingerprint of the key that must have signed the trust chain"`
	} `toml:"trust" need:"yes"`
	Log struct {
		Origin string `toml:"origin" form:"some" need:"yes" doc:"the log's name"`
		Key    string `toml:"key" form:"some" need:"yes" doc:"the key that signed its first checkpoints"`
		// Anchors are the places outside that remember checkpoints.
		Anchors []struct {
			Place string `toml:"place" form:"some" need:"yes" doc:"file on another disk or machine, or address of a witness"`
			Key   string `toml:"key" doc:"the witness's"`
		} `toml:"anchor" doc:"where checkpoints are remembered outside of this home"`
	} `toml:"log" need:"yes"`
	// Corpora are the directories under iff, by name.
	Corpora []CorpusConfig `toml:"-"`
	Gate    GateConfig     `toml:"-"`
	Policy  PolicyConfig   `toml:"-"`
	Webhook *WebhookConfig `toml:"-"` // nil: there is none
	// Net are the hosts that calls may reach, in the order of the file.
	Net []HostLabel `toml:"-"`
	// Upstreams are the servers whose tools agents may use, by name.
	Upstreams []UpstreamConfig `toml:"-"`
	MCP       MCPConfig        `toml:"-"`
	Serve     ServeConfig      `toml:"-"`
	// Guarded are the objects of any corpus that nothing changes without a
	// person: the default ones, and those that guard.files adds.
	Guarded corpus.Patterns `toml:"-"`
	// Control are the files of agents outside of corpora that guard.home names.
	Control []ControlFile `toml:"-"`
}

// settings is iff.toml as it is written.
type settings struct {
	Config
	Corpus   map[string]corpusTable   `toml:"corpus" most:"16" doc:"directories under iff, by name"`
	Gate     gateTable                `toml:"gate" doc:"who is asked, and how long things may take"`
	Policy   policyTable              `toml:"policy" doc:"rules that decide without a person"`
	Webhook  *webhookTable            `toml:"webhook" doc:"a service that is asked"`
	Net      netTable                 `toml:"net" doc:"which hosts calls may reach"`
	Upstream map[string]upstreamTable `toml:"upstream" most:"32" doc:"servers whose tools agents may use, by name"`
	MCP      mcpTable                 `toml:"mcp" doc:"how agents that speak MCP are served"`
	Serve    serveTable               `toml:"serve" doc:"sockets of the runtime"`
	Guard    guardTable               `toml:"guard" doc:"files that nothing changes without a person"`
	lines    lines
}

// pin is what the configuration says of the log. parseConfig has checked the
// key.
func (c Config) pin() audit.Pin {
	key, _ := audit.ParseKey(c.Log.Key)
	return audit.Pin{Origin: c.Log.Origin, Key: key}
}

// Bounds of iff.toml in bytes.
const (
	maxConfig = 64 << 10
	maxLine   = 512
)

// parseConfig reads iff.toml. Its errors name the line and what to do. The
// corpora have no labels yet.
func parseConfig(data []byte) (Config, error) {
	var s settings
	if err := decode(data, &s); err != nil {
		return Config{}, err
	}
	c := s.Config
	if err := c.check(); err != nil {
		return Config{}, err
	}
	for _, read := range []func(*Config) error{
		s.corpora, s.gate, s.guarded, s.policy, s.webhook, s.net, s.upstreams, s.mcp, s.serve, s.control, s.crossed,
	} {
		if err := read(&c); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

func (c Config) check() error {
	for _, want := range []struct{ key, value string }{
		{"profile", string(c.Profile)}, {"operator.name", c.Operator.Name}, {"operator.clearance", c.Operator.Clearance}, {"trust.root", c.Trust.Root},
		{"log.origin", c.Log.Origin}, {"log.key", c.Log.Key},
	} {
		if want.value == "" {
			return configError(want.key + " is missing; iff init writes it")
		}
	}
	if _, err := audit.ParseKey(c.Log.Key); err != nil {
		return configError("log.key: " + err.Error())
	}
	if c.Profile == Dev || c.Profile == Strict {
		return nil
	}
	return configError(fmt.Sprintf("profile = %q; there are two, strict and dev", visible.Escape(string(c.Profile))))
}

func configError(detail string) error {
	return &Error{Reason: ConfigInvalid, Path: configFile, Detail: detail}
}
