package model

import (
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/internal/durable"
)

// Dialect is what an endpoint speaks. The zero value is none.
type Dialect string

// The dialects.
const (
	Chat     Dialect = "chat"     // OpenAI's chat completions: POST URL/chat/completions
	Messages Dialect = "messages" // Anthropic's messages: POST URL/messages
)

// Sampling is how a model chooses its words.
type Sampling uint8

// The samplings.
const (
	Fixed  Sampling = iota // temperature 0, and a seed if there is one
	Theirs                 // the endpoint's own: some models take no temperature, or no bound on an answer
)

// Defaults and bounds of [Options].
const (
	DefaultTimeout  = 2 * time.Minute
	DefaultFailures = 10

	maxTimeout = time.Hour
	maxTokens  = 4096 // of an answer
	maxModel   = 256  // bytes of a model's name
	maxKey     = 4 << 10
	minKey     = 16 // bytes of a key that is looked for in answers: a shorter one may be any word
)

// Options of a mind. Dialect, URL, Model, Role and Way are needed.
type Options struct {
	Dialect Dialect
	// URL is the endpoint's base, as in http://127.0.0.1:11434/v1 or
	// https://api.anthropic.com/v1, without a slash at the end.
	URL   string
	Model string // as the endpoint calls it
	Role  ensemble.Role
	// KeyFile holds the endpoint's key in one line. Only its owner may read it;
	// empty is no key.
	KeyFile string
	// Seed goes to endpoints whose dialect has one, by its low 31 bits; 0 is none.
	Seed     uint64
	Sampling Sampling
	Timeout  time.Duration // of one turn, with its answer; 0 is [DefaultTimeout], an hour at most
	Failures int           // in a row after which the endpoint is left alone; 0 is [DefaultFailures]
	// Way leads to the endpoint: a way of internal/host/net, which is granted, or a
	// [Recorder] on one, or a [Player].
	Way http.RoundTripper
}

// dialect is how an endpoint is spoken to. Errors of hear are *[Error].
type dialect interface {
	path() string
	sign(h http.Header, key string)
	ask(o Options, k *talk) ([]byte, error)
	hear(v value) (heard, error)
}

// Target is what has to be granted for an endpoint: a target of net.egress.
func Target(base string) (capability.Target, error) {
	u, err := url.Parse(base)
	if err != nil || u.String() != base {
		return capability.Target{}, refuse(OptionsInvalid, nil, "the url of the endpoint cannot be read, or has another spelling; write it as in https://api.example.com/v1")
	}
	ports := map[string]string{"http": "80", "https": "443"}
	if ports[u.Scheme] == "" || u.User != nil || u.Opaque != "" || strings.ContainsAny(base, "?#") || strings.HasSuffix(base, "/") {
		return capability.Target{}, refuse(OptionsInvalid, nil, "the url of the endpoint is https:// or http://, a host and a path, and ends without a slash")
	}
	text := u.Port()
	if text == "" {
		text = ports[u.Scheme]
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return capability.Target{}, refuse(OptionsInvalid, nil, "the url of the endpoint has a port that is none")
	}
	to, err := capability.Host(u.Hostname(), uint16(port))
	if err != nil {
		return capability.Target{}, refuse(OptionsInvalid, err, "the url of the endpoint: %v", err)
	}
	return to, nil
}

// check fills in what has a default.
func (o Options) check() (Options, dialect, error) {
	d, known := map[Dialect]dialect{Chat: chat{}, Messages: messages{}}[o.Dialect]
	switch {
	case !known:
		return o, nil, refuse(OptionsInvalid, nil, "there is no dialect of that name; it is %s or %s", Chat, Messages)
	case o.Way == nil:
		return o, nil, refuse(OptionsInvalid, nil, "there is no way to the endpoint; grant it and make one")
	case o.Model == "" || len(o.Model) > maxModel || !plain(o.Model):
		return o, nil, refuse(OptionsInvalid, nil, "the model has no name, or one that is not in 1 to %d visible ASCII characters", maxModel)
	case o.Role.Name == "" || o.Role.Prompt == "":
		return o, nil, refuse(OptionsInvalid, nil, "the role has no name or no prompt")
	case o.Sampling > Theirs, o.Timeout < 0, o.Timeout > maxTimeout, o.Failures < 0:
		return o, nil, refuse(OptionsInvalid, nil, "sampling, timeout or failures is out of range; a turn may take up to %s", maxTimeout)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Failures == 0 {
		o.Failures = DefaultFailures
	}
	_, err := Target(o.URL)
	return o, d, err
}

// key reads the key file. Nothing of what is in it is in an error.
func (o Options) key() (string, error) {
	if o.KeyFile == "" {
		return "", nil
	}
	if strings.HasPrefix(o.URL, "http://") && !here(o.URL) {
		return "", refuse(OptionsInvalid, nil, "a key is not sent in plain http to another machine; write https")
	}
	data, mode, err := durable.ReadFile(o.KeyFile, maxKey)
	if err != nil {
		return "", refuse(OptionsInvalid, err, "the key file cannot be read: %v", err)
	}
	if mode&0o077 != 0 {
		return "", refuse(OptionsInvalid, nil, "the key file has mode %04o, so others can read it; chmod 600, and have a new key made if others could", mode)
	}
	key := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if key == "" || !plain(key) || strings.ContainsAny(key, ` "\`) {
		return "", refuse(OptionsInvalid, nil, "the key file does not hold one line of visible ASCII characters")
	}
	return key, nil
}

// here says whether a URL names this machine.
func here(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && a.IsLoopback()
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
