// Package keyfile keeps Ed25519 keys in files.
//
// A private key file holds the canonical JSON {"schema":"iff/key/v1",
// "seed":...}, the 32-byte seed (RFC 8032) in base64. A protected one is that,
// encrypted by age with a passphrase (scrypt, work factor 18) and armored; a
// plain one is that, as it is, in a file that only its owner can read. Both
// are mode 0600. The public half lies beside it as one OpenSSH line,
// "ssh-ed25519 AAAA... name", so that other tools can read it too.
//
// OpenSSH Ed25519 keys are accepted as they are: the public line by
// [ParsePublic], the private file, encrypted or not, by [Open].
//
// A passphrase is asked for at most once per file and only if the file needs
// one. It never appears in an error.
package keyfile

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"golang.org/x/crypto/ssh"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/trust"
)

const (
	schema = "iff/key/v1"
	// maxFile bounds what is read of a key file; an armored key has 600 bytes,
	// an OpenSSH one 500.
	maxFile = 16 << 10
	// maxWork bounds the scrypt work factor that is accepted: 2^20 takes about
	// two seconds and 1 GiB, more is a file made to stall the reader.
	maxWork = 20
)

// Reason is a closed token.
type Reason string

// Why a key file is refused.
const (
	Missing         Reason = "key-missing"
	Exists          Reason = "key-exists"
	Exposed         Reason = "key-exposed"
	Malformed       Reason = "key-malformed"
	NotEd25519      Reason = "key-not-ed25519"
	PassphraseWrong Reason = "passphrase-wrong"
	PassphraseEmpty Reason = "passphrase-empty"
)

// Error says which key file was refused and why.
type Error struct {
	Reason Reason
	Path   string
	Detail string
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("key %s: %s: %s", visible.Escape(e.Path), e.Reason, e.Detail)
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Passphrase supplies a passphrase when a file needs one. what names the file
// for the prompt.
type Passphrase func(what string) ([]byte, error)

// Key is an Ed25519 key pair in memory. It implements trust.Signer.
type Key struct {
	private ed25519.PrivateKey
	public  trust.PublicKey
}

// Generate makes a key pair from the system's random source.
func Generate() (*Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return nil, fmt.Errorf("generate key: %w", err)
	}
	return fromSeed(seed)
}

func fromSeed(seed []byte) (*Key, error) {
	private := ed25519.NewKeyFromSeed(seed)
	public, err := trust.NewPublicKey(private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("key pair: %w", err)
	}
	return &Key{private: private, public: public}, nil
}

// Public is the public half.
func (k *Key) Public() trust.PublicKey { return k.public }

// SignMessage implements trust.Signer.
func (k *Key) SignMessage(message []byte) (trust.Signature, error) {
	return trust.Signature(ed25519.Sign(k.private, message)), nil
}

type stored struct {
	Schema string `json:"schema"`
	Seed   string `json:"seed"`
}

// WriteProtected stores the key encrypted under a passphrase. An existing file
// is never replaced: reason key-exists.
func (k *Key) WriteProtected(fsys durable.FS, path string, passphrase []byte) error {
	if len(passphrase) == 0 {
		return &Error{Reason: PassphraseEmpty, Path: path, Detail: "choose a passphrase"}
	}
	r, err := age.NewScryptRecipient(string(passphrase))
	if err != nil {
		return &Error{Reason: PassphraseEmpty, Path: path, Detail: "the passphrase cannot be used", Err: err}
	}
	text, err := k.encode()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	a := armor.NewWriter(&out)
	w, err := age.Encrypt(a, r)
	if err != nil {
		return fmt.Errorf("encrypt %s: %w", path, err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("encrypt %s: %w", path, err)
	}
	if err := errors.Join(w.Close(), a.Close()); err != nil {
		return fmt.Errorf("encrypt %s: %w", path, err)
	}
	return write(fsys, path, out.Bytes())
}

// WritePlain stores the key readable by its owner alone. It is for keys that
// grant nothing.
func (k *Key) WritePlain(fsys durable.FS, path string) error {
	text, err := k.encode()
	if err != nil {
		return err
	}
	return write(fsys, path, append(text, '\n'))
}

// WritePublic stores the public half as an OpenSSH line.
func (k *Key) WritePublic(fsys durable.FS, path, comment string) error {
	return write(fsys, path, []byte(FormatPublic(k.public, comment)+"\n"))
}

func (k *Key) encode() ([]byte, error) {
	return canonical.Marshal(stored{Schema: schema, Seed: base64.StdEncoding.EncodeToString(k.private.Seed())})
}

func write(fsys durable.FS, path string, data []byte) error {
	err := durable.WriteNew(fsys, path, data, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &Error{Reason: Exists, Path: path, Detail: "a key of this name is there; choose another name, keys are never replaced", Err: err}
	}
	return err
}

// Open reads a private key: one of ours, protected or plain, or an OpenSSH
// Ed25519 private key. pass is called only if the file is protected; nil
// refuses those.
func Open(path string, pass Passphrase) (*Key, error) {
	data, mode, err := read(path)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(data, []byte(armor.Header)):
		return openAge(path, data, pass)
	case bytes.HasPrefix(data, []byte("-----BEGIN OPENSSH PRIVATE KEY-----")):
		return openSSH(path, data, mode, pass)
	case bytes.HasPrefix(data, []byte("{")):
		if mode&0o077 != 0 {
			return nil, exposed(path, mode)
		}
		return decode(path, bytes.TrimSuffix(data, []byte("\n")))
	}
	return nil, &Error{Reason: Malformed, Path: path, Detail: "neither a key of iff nor an OpenSSH Ed25519 private key; name the private key file"}
}

// IsProtected reports whether a private key file needs a passphrase, without
// opening it.
func IsProtected(path string) (bool, error) {
	data, _, err := read(path)
	if err != nil {
		return false, err
	}
	if bytes.HasPrefix(data, []byte(armor.Header)) {
		return true, nil
	}
	_, err = ssh.ParseRawPrivateKey(data)
	var missing *ssh.PassphraseMissingError
	return errors.As(err, &missing), nil
}

func read(path string) ([]byte, fs.FileMode, error) {
	data, mode, err := durable.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, &Error{Reason: Missing, Path: path, Detail: "there is no such key; see iff key list", Err: err}
	}
	if err != nil {
		return nil, 0, &Error{Reason: Malformed, Path: path, Detail: "not a key file: " + err.Error(), Err: err}
	}
	return data, mode, nil
}

func exposed(path string, mode fs.FileMode) error {
	return &Error{Reason: Exposed, Path: path, Detail: fmt.Sprintf("mode %04o lets others read it; chmod 600, and revoke it if others could", mode)}
}

func openAge(path string, data []byte, pass Passphrase) (*Key, error) {
	secret, err := ask(path, pass)
	if err != nil {
		return nil, err
	}
	id, err := age.NewScryptIdentity(string(secret))
	if err != nil {
		return nil, &Error{Reason: PassphraseEmpty, Path: path, Detail: "the passphrase is empty"}
	}
	id.SetMaxWorkFactor(maxWork)
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(data)), id)
	if err != nil {
		var none *age.NoIdentityMatchError
		if errors.As(err, &none) {
			return nil, &Error{Reason: PassphraseWrong, Path: path, Detail: "this passphrase does not open it; try again"}
		}
		return nil, &Error{Reason: Malformed, Path: path, Detail: "not a key of iff, or damaged: " + err.Error(), Err: err}
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, &Error{Reason: Malformed, Path: path, Detail: "damaged: " + err.Error(), Err: err}
	}
	return decode(path, text)
}

func decode(path string, text []byte) (*Key, error) {
	var s stored
	// The cause is not kept: a parser's message may quote the seed.
	if err := canonical.Parse(text, &s, canonical.Limits{}); err != nil || s.Schema != schema {
		return nil, &Error{Reason: Malformed, Path: path, Detail: "not a key of iff, or damaged; restore it from a copy"}
	}
	seed, err := base64.StdEncoding.Strict().DecodeString(s.Seed)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, &Error{Reason: Malformed, Path: path, Detail: "the seed is damaged; restore the file from a copy"}
	}
	return fromSeed(seed)
}

func openSSH(path string, data []byte, mode fs.FileMode, pass Passphrase) (*Key, error) {
	raw, err := ssh.ParseRawPrivateKey(data)
	var missing *ssh.PassphraseMissingError
	if errors.As(err, &missing) {
		secret, askErr := ask(path, pass)
		if askErr != nil {
			return nil, askErr
		}
		raw, err = ssh.ParseRawPrivateKeyWithPassphrase(data, secret)
		if err != nil {
			return nil, &Error{Reason: PassphraseWrong, Path: path, Detail: "this passphrase does not open it; try again"}
		}
	} else if mode&0o077 != 0 {
		return nil, exposed(path, mode)
	}
	if err != nil {
		return nil, &Error{Reason: Malformed, Path: path, Detail: "not an OpenSSH private key, or damaged"}
	}
	k, ok := raw.(*ed25519.PrivateKey)
	if !ok {
		return nil, &Error{Reason: NotEd25519, Path: path, Detail: "only Ed25519 keys sign here; make one with ssh-keygen -t ed25519"}
	}
	return fromSeed(k.Seed())
}

func ask(path string, pass Passphrase) ([]byte, error) {
	if pass == nil {
		return nil, &Error{Reason: PassphraseEmpty, Path: path, Detail: "it is protected and there is no passphrase"}
	}
	secret, err := pass(path)
	if err != nil {
		return nil, err
	}
	if len(secret) == 0 {
		return nil, &Error{Reason: PassphraseEmpty, Path: path, Detail: "the passphrase is empty"}
	}
	return secret, nil
}

// FormatPublic is the OpenSSH line of a public key, without a newline.
func FormatPublic(k trust.PublicKey, comment string) string {
	return strings.TrimSpace("ssh-ed25519 " + base64.StdEncoding.EncodeToString(k.SSHWire()) + " " + comment)
}

// ParsePublic reads a public key: an OpenSSH line, or 44 characters of base64
// as trust documents spell it. Options before the key type are refused.
func ParsePublic(text []byte) (key trust.PublicKey, comment string, err error) {
	line := strings.TrimSpace(string(text))
	if len(line) > maxFile || strings.ContainsAny(line, "\r\n") {
		return key, "", &Error{Reason: Malformed, Path: "public key", Detail: "give one line, such as a .pub file of ssh-keygen"}
	}
	if !strings.Contains(line, " ") {
		err = key.UnmarshalText([]byte(line))
		return key, "", err
	}
	kind, rest, _ := strings.Cut(line, " ")
	if kind != "ssh-ed25519" {
		return key, "", &Error{Reason: NotEd25519, Path: "public key", Detail: "the line does not begin with ssh-ed25519; make a key with ssh-keygen -t ed25519"}
	}
	blob, comment, _ := strings.Cut(rest, " ")
	wire, err := base64.StdEncoding.Strict().DecodeString(blob)
	if err != nil {
		return key, "", &Error{Reason: Malformed, Path: "public key", Detail: "the key is not base64; copy the line again"}
	}
	prefix := len(trust.PublicKey{}.SSHWire()) - ed25519.PublicKeySize
	if len(wire) != prefix+ed25519.PublicKeySize || !bytes.Equal(wire[:prefix], trust.PublicKey{}.SSHWire()[:prefix]) {
		return key, "", &Error{Reason: Malformed, Path: "public key", Detail: "the line does not hold one Ed25519 key"}
	}
	key, err = trust.NewPublicKey(wire[prefix:])
	return key, strings.TrimSpace(comment), err
}

// ReadPublic reads a public key file.
func ReadPublic(path string) (trust.PublicKey, string, error) {
	data, _, err := read(path)
	if err != nil {
		return trust.PublicKey{}, "", err
	}
	key, comment, err := ParsePublic(data)
	if err != nil {
		return key, "", fmt.Errorf("%s: %w", visible.Escape(path), err)
	}
	return key, comment, nil
}
