package home_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/home"
)

// change changes a file of a home.
func change(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s has no %q", path, old)
	}
	must(t, os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600))
}

func sign(t *testing.T, dir string) {
	t.Helper()
	h := open(t, dir, home.Read)
	must(t, h.SignConfig(pass))
	must(t, h.Close())
}

// strictHome is one in which everything that profile strict needs holds.
func strictHome(t *testing.T) (dir, place string) {
	t.Helper()
	dir, place = anchored(t)
	config := filepath.Join(dir, "iff.toml")
	change(t, config, `profile = "dev"`, `profile = "strict"`)
	text, err := os.ReadFile(config)
	must(t, err)
	more := "[gate]\nask = [\"policy\", \"inbox\"]\n[policy]\nfiles = [\"policy.cedar\"]\n[serve]\nagent_dir = \"" + filepath.Join(t.TempDir(), "agents") + "\"\nagents = [\"65533\"]\n"
	must(t, os.WriteFile(config, append(text, more...), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "policy.cedar"), []byte("forbid (principal, action, resource);\n"), 0o600))
	sign(t, dir)
	return dir, place
}

func runs(t *testing.T, dir string) error {
	t.Helper()
	h, err := home.Open(t.Context(), dir, home.Run, home.Options{})
	if err != nil {
		return err
	}
	_, err = h.LockCorpora()
	return errors.Join(err, h.Close())
}

func TestStrictStarts(t *testing.T) {
	dir, _ := strictHome(t)
	must(t, runs(t, dir))
	h := open(t, dir, home.Write)
	for _, c := range h.Strict(t.Context()) {
		if c.Err != nil || c.Detail == "" {
			t.Errorf("%s: %q, %v", c.Name, c.Detail, c.Err)
		}
	}
	if _, err := h.LockCorpora(); err == nil {
		t.Error("a runtime starts in profile strict from a home whose conditions nobody looked at")
	}
	must(t, h.Close())
}

// Each condition, taken away alone, is told by its name with the command that
// mends it, and nothing starts. All others hold then, so a program that does not
// look at this one would start.
func TestStrictMissesOne(t *testing.T) {
	for name, c := range map[string]struct {
		reason, says string
		resign       bool
		spoil        func(t *testing.T, dir, place string)
	}{
		"no signature": {"config-unsigned", "iff config sign", false, func(t *testing.T, dir, _ string) { must(t, os.Remove(filepath.Join(dir, "iff.toml.sig"))) }},
		"a byte of iff.toml": {"config-unsigned", "iff.toml was changed", false, func(t *testing.T, dir, _ string) {
			change(t, filepath.Join(dir, "iff.toml"), "# iff's", "# iff s")
		}},
		"a byte of a policy": {"config-unsigned", `"policy.cedar" was changed`, false, func(t *testing.T, dir, _ string) {
			change(t, filepath.Join(dir, "policy.cedar"), "forbid", "permit")
		}},
		"another key": {"config-unsigned", "not that of the root key", false, func(t *testing.T, dir, _ string) {
			path := filepath.Join(dir, "iff.toml.sig")
			text, err := os.ReadFile(path)
			must(t, err)
			at := bytes.Index(text, []byte(`"signature": "`)) + len(`"signature": "`)
			copy(text[at:], "AAAAAAAA")
			must(t, os.WriteFile(path, text, 0o600))
		}},
		"no form": {"config-unsigned", "it is no signature", false, func(t *testing.T, dir, _ string) {
			must(t, os.WriteFile(filepath.Join(dir, "iff.toml.sig"), []byte("{}"), 0o600))
		}},
		"no anchor": {"log-unanchored", "[[log.anchor]]", true, func(t *testing.T, dir, place string) {
			change(t, filepath.Join(dir, "iff.toml"), "[[log.anchor]]\nplace = \""+place+"\"\n", "")
		}},
		"anchor away": {"log-unanchored", "no anchor answers", false, func(t *testing.T, _, place string) {
			must(t, os.RemoveAll(filepath.Dir(place)))
		}},
		"no agents": {"agents-unseparated", "agent_dir", true, func(t *testing.T, dir, _ string) {
			text, err := os.ReadFile(filepath.Join(dir, "iff.toml"))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, "iff.toml"), text[:bytes.LastIndex(text, []byte("[serve]"))], 0o600))
		}},
		"agent as root": {"agents-unseparated", "uid 0", true, func(t *testing.T, dir, _ string) { change(t, filepath.Join(dir, "iff.toml"), "65533", "0") }},
		"unknown agent": {"agents-unseparated", "useradd", true, func(t *testing.T, dir, _ string) { change(t, filepath.Join(dir, "iff.toml"), "65533", "no-such-user") }},
		"agents by the network": {"agents-unseparated", "mcp.listen", true, func(t *testing.T, dir, _ string) {
			change(t, filepath.Join(dir, "iff.toml"), "[policy]\nfiles", "[mcp]\nlisten = \"127.0.0.1:7447\"\n[policy]\nfiles")
		}},
		"home in a directory for all": {"home-exposed", "mode 0777", false, func(t *testing.T, dir, _ string) { must(t, os.Chmod(filepath.Dir(dir), 0o777)) }},
		"keys for all":                {"keys-exposed", "chmod 600", false, func(t *testing.T, dir, _ string) { must(t, os.Chmod(filepath.Join(dir, "keys/approver.key"), 0o640)) }},
		"home for all":                {"keys-exposed", "chmod 700", false, func(t *testing.T, dir, _ string) { must(t, os.Chmod(dir, 0o750)) }},
		"sockets by all":              {"home-exposed", "mode 0777", false, func(t *testing.T, dir, _ string) { share(t, dir) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir, place := strictHome(t)
			c.spoil(t, dir, place)
			if c.resign {
				sign(t, dir)
			}
			err := runs(t, dir)
			if reason(err) != c.reason || !strings.Contains(err.Error(), c.says) {
				t.Errorf("want %s, %s: %v", c.reason, c.says, err)
			}
			h := open(t, dir, home.Read)
			failed := 0
			for _, c := range h.Strict(t.Context()) {
				if c.Err != nil {
					failed++
				}
			}
			agents := strings.HasSuffix(name, " agent") || strings.HasPrefix(name, "agent ") // what they may read is then open too
			if must(t, h.Close()); failed != 1 && !(agents && failed == 2) {
				t.Errorf("%d conditions do not hold, want one", failed)
			}
		})
	}
}

func share(t *testing.T, home string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "iff.toml"))
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "\nagent_dir = \"")
	dir, _, _ := strings.Cut(rest, "\"")
	must(t, os.Mkdir(dir, 0o777))
	must(t, os.Chmod(dir, 0o777))
}

// The directory of the agents' sockets is made where nobody else could have put
// another one, and not used where somebody could.
func TestAgentDir(t *testing.T) {
	dir, _ := strictHome(t)
	h := open(t, dir, home.Read)
	defer h.Close()
	at := h.Config().Serve.AgentDir
	must(t, h.MakeAgentDir())
	info, err := os.Lstat(at)
	if must(t, err); info.Mode().Perm() != 0o750 {
		t.Errorf("mode %04o", info.Mode().Perm())
	}
	must(t, h.MakeAgentDir())
	must(t, os.Chmod(filepath.Dir(at), 0o777))
	if err := h.MakeAgentDir(); reason(err) != "home-exposed" {
		t.Errorf("in a directory of everybody's: %v", err)
	}
	must(t, os.Chmod(filepath.Dir(at), 0o755))
	must(t, os.Remove(at))
	must(t, os.Symlink(dir, at))
	if err := h.MakeAgentDir(); reason(err) != "home-exposed" {
		t.Errorf("by way of a link: %v", err)
	}
}

// A configuration that was signed and then changed starts nothing in profile dev
// either, so that writing another profile is not the way around.
func TestSignedStaysSigned(t *testing.T) {
	dir, _ := strictHome(t)
	change(t, filepath.Join(dir, "iff.toml"), `profile = "strict"`, `profile = "dev"`)
	for _, mode := range []home.Mode{home.Write, home.Run} {
		h, err := home.Open(t.Context(), dir, mode, home.Options{})
		if reason(err) != "config-unsigned" {
			t.Errorf("mode %d: %v", mode, err)
		}
		if err == nil {
			must(t, h.Close())
		}
	}
	must(t, os.Remove(filepath.Join(dir, "iff.toml.sig")))
	must(t, runs(t, dir))
}

// The signature of one log's configuration is none for another log's.
func TestSignatureIsOfOneLog(t *testing.T) {
	dir, _ := strictHome(t)
	path := filepath.Join(dir, "iff.toml.sig")
	text, err := os.ReadFile(path)
	must(t, err)
	_, rest, _ := strings.Cut(string(text), `"origin": "`)
	origin, _, _ := strings.Cut(rest, `"`)
	change(t, path, origin, origin[:len(origin)-1]+"x")
	if err := runs(t, dir); reason(err) != "config-unsigned" {
		t.Error(err)
	}
}

func TestConfigDigestHasThePolicies(t *testing.T) {
	dir, _ := strictHome(t)
	digest := func() string {
		h := open(t, dir, home.Read)
		defer h.Close()
		if files := h.PolicyFiles(); len(files) != 1 || files[0].Name != "policy.cedar" || len(files[0].Text) == 0 {
			t.Errorf("%+v", files)
		}
		return h.ConfigDigest()
	}
	before := digest()
	change(t, filepath.Join(dir, "policy.cedar"), "forbid", "permit")
	if after := digest(); before == after || len(before) != 64 {
		t.Errorf("the digest is %s before and after a policy was changed", before)
	}
	must(t, os.Remove(filepath.Join(dir, "policy.cedar")))
	if _, err := home.Open(t.Context(), dir, home.Read, home.Options{}); reason(err) != "config-invalid" {
		t.Errorf("a policy file that is gone: %v", err)
	}
}

// No byte of what is signed, or of the signature, can be another one.
func TestEveryByteIsSigned(t *testing.T) {
	dir, _ := strictHome(t)
	for _, name := range []string{"iff.toml", "policy.cedar", "iff.toml.sig"} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		must(t, err)
		for at := 0; at < len(text); at += 1 + len(text)/16 {
			other := bytes.Clone(text)
			other[at] ^= 1 << (at % 7)
			must(t, os.WriteFile(path, other, 0o600))
			h, err := home.Open(t.Context(), dir, home.Read, home.Options{})
			if err != nil {
				continue
			}
			signed, err := h.Signed()
			if must(t, h.Close()); signed || err == nil {
				t.Errorf("%s is signed with another byte at %d", name, at)
			}
		}
		must(t, os.WriteFile(path, text, 0o600))
	}
}
