package home

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"

	"github.com/iff-run/iff/audit"
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
	Profile  Profile `toml:"profile"`
	Operator struct {
		Name      string `toml:"name"`
		Clearance string `toml:"clearance"`
	} `toml:"operator"`
	Trust struct {
		Root string `toml:"root"`
	} `toml:"trust"`
	Log struct {
		Origin string `toml:"origin"`
		Key    string `toml:"key"`
		// Anchors are the places outside that remember checkpoints.
		Anchors []struct {
			Place string `toml:"place"`
			Key   string `toml:"key"`
		} `toml:"anchor"`
	} `toml:"log"`
}

// pin is what the configuration says of the log. parseConfig has checked the
// key.
func (c Config) pin() audit.Pin {
	key, _ := audit.ParseKey(c.Log.Key)
	return audit.Pin{Origin: c.Log.Origin, Key: key}
}

// maxConfig bounds iff.toml; its parser takes time quadratic in a key.
const maxConfig = 8 << 10

// parseConfig reads iff.toml. Its errors name the line and what to do.
func parseConfig(data []byte) (Config, error) {
	var c Config
	if len(data) > maxConfig {
		return c, configError(fmt.Sprintf("%d bytes, at most %d", len(data), maxConfig))
	}
	meta, err := toml.NewDecoder(bytes.NewReader(data)).Decode(&c)
	if err != nil {
		if p, ok := err.(toml.ParseError); ok {
			return c, configError(fmt.Sprintf("line %d: %s", p.Position.Line, visible.Escape(p.Message)))
		}
		return c, configError(visible.Escape(err.Error()))
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return c, configError(fmt.Sprintf("line %d: %s is not a setting of this version; remove it", lineOf(data, extra[0]), visible.Escape(extra[0].String())))
	}
	for _, want := range []struct{ key, value string }{
		{"profile", string(c.Profile)}, {"operator.name", c.Operator.Name}, {"operator.clearance", c.Operator.Clearance}, {"trust.root", c.Trust.Root},
		{"log.origin", c.Log.Origin}, {"log.key", c.Log.Key},
	} {
		if want.value == "" {
			return c, configError(want.key + " is missing; iff init writes it")
		}
	}
	if _, err := audit.ParseKey(c.Log.Key); err != nil {
		return c, configError("log.key: " + err.Error())
	}
	switch c.Profile {
	case Dev:
		return c, nil
	case Strict:
		return c, configError(`profile = "strict" needs an anchored log and a signed configuration, which this version does not have yet; use "dev"`)
	}
	return c, configError(fmt.Sprintf("profile = %q; there are two, strict and dev", visible.Escape(string(c.Profile))))
}

// lineOf finds the line on which a key's last part first stands; a hint for
// people, so a near miss does no harm.
func lineOf(data []byte, key toml.Key) int {
	last := key[len(key)-1]
	for i, line := range bytes.Split(data, []byte("\n")) {
		if strings.Contains(strings.SplitN(string(line), "=", 2)[0], last) {
			return i + 1
		}
	}
	return 1
}

func configError(detail string) error {
	return &Error{Reason: ConfigInvalid, Path: configFile, Detail: detail}
}

var configTemplate = template.Must(template.New("").Parse(`# iff's configuration. Written by iff init; yours to edit.

# dev, or strict once the log is anchored and this file is signed; this version
# has dev only.
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
`))

func (c Config) format() ([]byte, error) {
	var b bytes.Buffer
	err := configTemplate.Execute(&b, c)
	return b.Bytes(), err
}
