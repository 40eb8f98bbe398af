// Package keyfiletest makes the keys of a test's home quick to open. Deriving
// a key from a passphrase is slow on purpose, and nothing that ships can make
// it otherwise; a test encrypts the files of a finished home again.
package keyfiletest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// Quicken encrypts every protected key in dir again under the same passphrase
// with a work factor of 2.
func Quicken(dir, passphrase string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.key"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(data, []byte(armor.Header)) {
			continue
		}
		if err := quicken(path, data, passphrase); err != nil {
			return err
		}
	}
	return nil
}

func quicken(path string, data []byte, passphrase string) error {
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return err
	}
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(data)), id)
	if err != nil {
		return err
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return err
	}
	recipient.SetWorkFactor(1)
	var out bytes.Buffer
	a := armor.NewWriter(&out)
	w, err := age.Encrypt(a, recipient)
	if err != nil {
		return err
	}
	if _, err := w.Write(plain); err != nil {
		return err
	}
	if err := errors.Join(w.Close(), a.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
}
