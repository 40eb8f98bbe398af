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
	// Corpora are the directories under iff, by name.
	Corpora []CorpusConfig `toml:"-"`
	Gate    GateConfig     `toml:"-"`
	// Guarded are the objects of any corpus that nothing changes without a
	// person: the default ones, and those that guard.files adds.
	Guarded corpus.Patterns `toml:"-"`
}

// settings is iff.toml as it is written.
type settings struct {
	Config
	Corpus map[string]corpusTable `toml:"corpus"`
	Gate   gateTable              `toml:"gate"`
	Guard  guardTable             `toml:"guard"`
	lines  lines
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
	var err error
	if c.Corpora, err = s.corpora(); err != nil {
		return Config{}, err
	}
	if c.Gate, err = s.gate(); err != nil {
		return Config{}, err
	}
	if c.Guarded, err = s.guarded(); err != nil {
		return Config{}, err
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
	switch c.Profile {
	case Dev:
		return nil
	case Strict:
		return configError(`profile = "strict" needs an anchored log and a signed configuration, which this version does not have yet; use "dev"`)
	}
	return configError(fmt.Sprintf("profile = %q; there are two, strict and dev", visible.Escape(string(c.Profile))))
}

func configError(detail string) error {
	return &Error{Reason: ConfigInvalid, Path: configFile, Detail: detail}
}
