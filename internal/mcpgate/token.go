package mcpgate

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/iff-run/iff/internal/serve"
)

// ReadToken is the secret in the file at path, which is made with a new one if it is not there. Only its owner may read it.
func ReadToken(path string) (string, error) {
	err := newToken(path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", tokenError(path, "the token cannot be made; check the directory", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", tokenError(path, "the token cannot be read", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", tokenError(path, fmt.Sprintf("%s is not a file that only its owner may read; remove it, and a new one is made", info.Mode()), nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", tokenError(path, "the token cannot be read", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 256))
	secret := strings.TrimSpace(string(data))
	if err != nil || len(secret) < 32 || strings.ContainsAny(secret, " \t\r\n") {
		return "", tokenError(path, "it holds no token of at least 32 characters; remove it, and a new one is made", err)
	}
	return secret, nil
}

func newToken(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	var secret [32]byte
	_, err = rand.Read(secret[:])
	if err == nil {
		_, err = f.WriteString(base64.RawURLEncoding.EncodeToString(secret[:]) + "\n")
	}
	return errors.Join(err, f.Close())
}

func tokenError(path, detail string, err error) error {
	return &serve.Error{Reason: serve.Reason(TokenInvalid), Path: path, Detail: detail, Err: err}
}
