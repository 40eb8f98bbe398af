package keyfile_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"golang.org/x/crypto/ssh"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/trust"
)

const secret = "correct horse battery staple"

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func pass(s string) keyfile.Passphrase {
	return func(string) ([]byte, error) { return []byte(s), nil }
}

func never(t *testing.T) keyfile.Passphrase {
	return func(what string) ([]byte, error) {
		t.Errorf("a passphrase for %s was asked for", what)
		return nil, errors.New("none")
	}
}

func reason(err error) keyfile.Reason {
	var e *keyfile.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

func generate(t *testing.T) *keyfile.Key {
	t.Helper()
	k, err := keyfile.Generate()
	must(t, err)
	return k
}

// signs checks that two keys are one.
func signs(t *testing.T, a, b trust.Signer) {
	t.Helper()
	if a.Public() != b.Public() {
		t.Fatalf("%s is not %s", a.Public(), b.Public())
	}
	sig, err := trust.Sign(b, trust.DomainSkill, []byte("x"))
	must(t, err)
	if !trust.Verify(a.Public(), trust.DomainSkill, []byte("x"), sig) {
		t.Error("the signature does not verify")
	}
}

func TestProtectedRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "me.key")
	k := generate(t)
	must(t, k.WriteProtected(durable.OS(), path, []byte(secret)))
	back, err := keyfile.Open(path, pass(secret))
	must(t, err)
	signs(t, k, back)
	data, err := os.ReadFile(path)
	must(t, err)
	if strings.Contains(string(data), "seed") || !strings.HasPrefix(string(data), armor.Header) {
		t.Errorf("not encrypted: %s", data)
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if p, err := keyfile.IsProtected(path); err != nil || !p {
		t.Errorf("protected: %v %v", p, err)
	}
	_, err = keyfile.Open(path, pass("wrong"))
	if reason(err) != keyfile.PassphraseWrong || strings.Contains(err.Error(), "wrong\"") {
		t.Errorf("wrong passphrase: %v", err)
	}
	if _, err := keyfile.Open(path, nil); reason(err) != keyfile.PassphraseEmpty {
		t.Errorf("no passphrase: %v", err)
	}
	if err := k.WriteProtected(durable.OS(), path, []byte(secret)); reason(err) != keyfile.Exists {
		t.Errorf("a key was replaced: %v", err)
	}
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(path, data, 0o600))
	if _, err := keyfile.Open(path, pass(secret)); err == nil {
		t.Error("a damaged file opens")
	}
}

func TestPlainRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adopter.key")
	k := generate(t)
	must(t, k.WritePlain(durable.OS(), path))
	back, err := keyfile.Open(path, never(t))
	must(t, err)
	signs(t, k, back)
	if p, err := keyfile.IsProtected(path); err != nil || p {
		t.Errorf("protected: %v %v", p, err)
	}
	must(t, os.Chmod(path, 0o640))
	if _, err := keyfile.Open(path, nil); reason(err) != keyfile.Exposed {
		t.Errorf("readable by the group: %v", err)
	}
}

func TestOpenSSHKeys(t *testing.T) {
	dir := t.TempDir()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	write := func(name string, block *pem.Block, err error, mode os.FileMode) string {
		must(t, err)
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, pem.EncodeToMemory(block), mode))
		return path
	}
	want, err := trust.NewPublicKey(public)
	must(t, err)

	block, err := ssh.MarshalPrivateKey(private, "me@host")
	plain := write("plain", block, err, 0o600)
	k, err := keyfile.Open(plain, never(t))
	must(t, err)
	if k.Public() != want {
		t.Error("another key")
	}
	if p, _ := keyfile.IsProtected(plain); p {
		t.Error("a plain OpenSSH key counts as protected")
	}
	block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "me@host", []byte(secret))
	locked := write("locked", block, err, 0o600)
	k, err = keyfile.Open(locked, pass(secret))
	must(t, err)
	if k.Public() != want {
		t.Error("another key")
	}
	if p, _ := keyfile.IsProtected(locked); !p {
		t.Error("an encrypted OpenSSH key counts as plain")
	}
	if _, err := keyfile.Open(locked, pass("wrong")); reason(err) != keyfile.PassphraseWrong {
		t.Errorf("wrong passphrase: %v", err)
	}
	block, err = ssh.MarshalPrivateKey(private, "")
	if _, err := keyfile.Open(write("open", block, err, 0o644), nil); reason(err) != keyfile.Exposed {
		t.Errorf("readable by all: %v", err)
	}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	block, err = ssh.MarshalPrivateKey(r, "")
	if _, err := keyfile.Open(write("rsa", block, err, 0o600), nil); reason(err) != keyfile.NotEd25519 {
		t.Errorf("RSA: %v", err)
	}
	authorized, err := ssh.NewPublicKey(public)
	must(t, err)
	got, comment, err := keyfile.ParsePublic(append(ssh.MarshalAuthorizedKey(authorized)[:80], " me@host\n"...))
	if err != nil || got != want || comment != "me@host" {
		t.Errorf("%v %q %v", got, comment, err)
	}
	if got.Fingerprint() != ssh.FingerprintSHA256(authorized) {
		t.Errorf("fingerprint %s, ssh says %s", got.Fingerprint(), ssh.FingerprintSHA256(authorized))
	}
}

func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	for name, c := range map[string]struct {
		path string
		want keyfile.Reason
	}{
		"missing":      {filepath.Join(dir, "none"), keyfile.Missing},
		"directory":    {dir, keyfile.Malformed},
		"empty":        {write("empty", ""), keyfile.Malformed},
		"public":       {write("pub", keyfile.FormatPublic(trusttest.NewKey(1).Public(), "x")), keyfile.Malformed},
		"large":        {write("large", "{"+strings.Repeat(" ", 1<<20)), keyfile.Malformed},
		"other schema": {write("schema", `{"schema":"iff/key/v9","seed":"AAAA"}`), keyfile.Malformed},
		"short seed":   {write("short", `{"schema":"iff/key/v1","seed":"AAAA"}`), keyfile.Malformed},
		"bad armor":    {write("armor", armor.Header+"\nAAAA\n"+armor.Footer+"\n"), keyfile.Malformed},
	} {
		if _, err := keyfile.Open(c.path, pass(secret)); reason(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A file that asks for hours of work is refused before any is done.
func TestWorkFactorIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow.key")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	r, err := age.NewScryptRecipient(secret)
	must(t, err)
	r.SetWorkFactor(10)
	a := armor.NewWriter(f)
	w, err := age.Encrypt(a, r)
	must(t, err)
	must(t, errors.Join(w.Close(), a.Close(), f.Close()))
	data, err := os.ReadFile(path)
	must(t, err)
	plain := decodeArmor(t, data)
	slow := strings.Replace(plain, " 10\n", " 30\n", 1)
	if slow == plain {
		t.Fatal("the header has no work factor")
	}
	var out strings.Builder
	a = armor.NewWriter(&out)
	_, err = a.Write([]byte(slow))
	must(t, errors.Join(err, a.Close()))
	must(t, os.WriteFile(path, []byte(out.String()), 0o600))
	if _, err := keyfile.Open(path, pass(secret)); err == nil {
		t.Error("opened")
	}
}

func decodeArmor(t *testing.T, data []byte) string {
	t.Helper()
	block, _ := pem.Decode(data)
	if block == nil {
		t.Fatal("not armored")
	}
	return string(block.Bytes)
}

func TestPublicLines(t *testing.T) {
	k := trusttest.NewKey(1).Public()
	line := keyfile.FormatPublic(k, "me")
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"line":      {line, true},
		"newline":   {line + "\n", true},
		"base64":    {k.String(), true},
		"options":   {`command="x" ` + line, false},
		"rsa":       {"ssh-rsa AAAA", false},
		"truncated": {line[:40], false},
		"two":       {line + "\n" + line, false},
		"empty":     {"", false},
	} {
		got, _, err := keyfile.ParsePublic([]byte(c.text))
		if (err == nil) != c.ok || c.ok && got != k {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// FuzzOpen reads private key files without a passphrase: what opens is a whole
// key pair, and what does not says why.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	plain := filepath.Join(dir, "plain")
	k, err := keyfile.Generate()
	must(f, err)
	must(f, k.WritePlain(durable.OS(), plain))
	data, err := os.ReadFile(plain)
	must(f, err)
	f.Add(data)
	f.Add([]byte(armor.Header + "\n" + armor.Footer + "\n"))
	f.Add([]byte("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "key")
		must(t, os.WriteFile(path, data, 0o600))
		k, err := keyfile.Open(path, nil)
		if err != nil {
			if reason(err) == "" {
				t.Fatalf("refused without a reason: %v", err)
			}
			return
		}
		sig, err := trust.Sign(k, trust.DomainSkill, []byte("x"))
		if err != nil || !trust.Verify(k.Public(), trust.DomainSkill, []byte("x"), sig) {
			t.Fatalf("opens and does not sign: %v", err)
		}
	})
}

func FuzzParsePublic(f *testing.F) {
	f.Add([]byte(keyfile.FormatPublic(trusttest.NewKey(1).Public(), "me@host")))
	f.Add([]byte(trusttest.NewKey(2).Public().String()))
	f.Add([]byte("ssh-ed25519 AAAA"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, comment, err := keyfile.ParsePublic(data)
		if err != nil {
			return
		}
		back, _, err := keyfile.ParsePublic([]byte(keyfile.FormatPublic(k, comment)))
		if err != nil || back != k {
			t.Fatalf("%q: %v %v", data, back, err)
		}
	})
}

func Example() {
	k, err := keyfile.Generate()
	if err != nil {
		fmt.Println(err)
		return
	}
	line := keyfile.FormatPublic(k.Public(), "ops")
	back, comment, err := keyfile.ParsePublic([]byte(line))
	fmt.Println(back == k.Public(), comment, err)
	// Output: true ops <nil>
}
