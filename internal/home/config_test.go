package home

import (
	"errors"
	"github.com/iff-run/iff/internal/trusttest"
	"strings"
	"testing"
)

func validConfig() Config {
	c := Config{Profile: Dev}
	c.Operator.Name, c.Operator.Clearance, c.Trust.Root = "me", "PUBLIC", "SHA256:x"
	c.Log.Origin, c.Log.Key = "iff/log/x", trusttest.NewKey(1).Public().String()
	return c
}

func TestConfigErrorsNameTheLine(t *testing.T) {
	text, err := validConfig().format("PUBLIC")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, says string }{
		"syntax":          {"[operator]", "[operator", "line "},
		"unknown setting": {"[operator]", "[operator]\nadmin = true", "operator.admin is not a setting"},
		"duplicate":       {"[trust]", "[operator]\n[trust]", "line "},
		"wrong type":      {`name = "me"`, "name = 7", "name"},
		"missing":         {`name = "me"`, "", "operator.name is missing"},
		"escape sequence": {`"dev"`, `"\u001b[31m"`, `\u{1b}[31m`},
	} {
		_, err := parseConfig([]byte(strings.Replace(string(text), c.old, c.new, 1)))
		var e *Error
		if !errors.As(err, &e) || e.Reason != ConfigInvalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := parseConfig(make([]byte, maxConfig+1)); err == nil {
		t.Error("a configuration of any size is read")
	}
}

func FuzzConfig(f *testing.F) {
	text, err := validConfig().format("PUBLIC")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("profile = 'open'"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConfig(data)
		if err != nil {
			return
		}
		if c.Profile != Dev && c.Profile != Strict || c.Operator.Name == "" || c.Operator.Clearance == "" || c.Trust.Root == "" {
			t.Fatalf("%q is taken as %+v", data, c)
		}
	})
}
