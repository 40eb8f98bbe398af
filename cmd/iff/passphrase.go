package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/iff-run/iff/internal/keyfile"
)

// passphraseFlags is how a verb that needs a protected key gets its
// passphrase: a file, a descriptor, or the terminal. Never an argument, never
// the environment.
type passphraseFlags struct {
	PassphraseFile string `help:"Read the passphrase from the first line of FILE." placeholder:"FILE" xor:"passphrase"`
	PassphraseFd   *int   `help:"Read the passphrase from the first line of descriptor N." placeholder:"N" xor:"passphrase"`
}

const maxPassphrase = 4096

// source returns a function that asks at most once and remembers.
func (f passphraseFlags) source(a *app) keyfile.Passphrase {
	var secret []byte
	return func(what string) ([]byte, error) {
		if secret != nil {
			return secret, nil
		}
		var err error
		secret, err = f.read(a, "passphrase for "+what)
		return secret, err
	}
}

func (f passphraseFlags) read(a *app, prompt string) ([]byte, error) {
	switch {
	case f.PassphraseFile != "":
		file, err := os.Open(f.PassphraseFile)
		if err != nil {
			return nil, &usageError{reason: "passphrase-needed", detail: "--passphrase-file: " + err.Error(), remedy: "name a readable file whose first line is the passphrase"}
		}
		return firstLine(file)
	case f.PassphraseFd != nil:
		return firstLine(os.NewFile(uintptr(*f.PassphraseFd), fmt.Sprintf("descriptor %d", *f.PassphraseFd)))
	}
	return fromTerminal(a, prompt)
}

// firstLine reads and closes r.
func firstLine(r *os.File) (out []byte, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	line, err := bufio.NewReader(io.LimitReader(r, maxPassphrase+2)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, &usageError{reason: "passphrase-needed", detail: "the passphrase cannot be read: " + err.Error()}
	}
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > maxPassphrase {
		return nil, &usageError{reason: "passphrase-needed", detail: fmt.Sprintf("%s: the first line has more than %d bytes", r.Name(), maxPassphrase), remedy: "write the passphrase on the first line"}
	}
	if len(line) == 0 {
		return nil, &usageError{reason: "passphrase-empty", detail: r.Name() + ": the first line is empty", remedy: "write the passphrase on the first line"}
	}
	return line, nil
}

func fromTerminal(a *app, prompt string) ([]byte, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, &usageError{reason: "passphrase-needed", detail: prompt + " is needed, and there is no terminal to ask on", remedy: "give --passphrase-file FILE or --passphrase-fd N"}
	}
	defer tty.Close()
	if _, err := fmt.Fprintf(tty, "%s: ", prompt); err != nil {
		return nil, err
	}
	secret, err := a.readSecret(int(tty.Fd()))
	fmt.Fprintln(tty)
	if a.ctx.Err() != nil {
		return nil, a.ctx.Err()
	}
	if err != nil {
		return nil, &usageError{reason: "passphrase-needed", detail: "the passphrase cannot be read: " + err.Error()}
	}
	if len(secret) == 0 {
		return nil, &usageError{reason: "passphrase-empty", detail: "the passphrase is empty", remedy: "type one, then Enter"}
	}
	return secret, nil
}

// readSecret reads a line without echo. On an interrupt it gives the terminal
// its echo back; the read it leaves behind ends with the process.
func (a *app) readSecret(fd int) ([]byte, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	type result struct {
		secret []byte
		err    error
	}
	read := make(chan result, 1)
	go func() {
		secret, err := term.ReadPassword(fd)
		read <- result{secret, err}
	}()
	select {
	case r := <-read:
		return r.secret, r.err
	case <-a.ctx.Done():
		return nil, errors.Join(a.ctx.Err(), term.Restore(fd, before))
	}
}

// choose asks for a new passphrase, twice on a terminal.
func (f passphraseFlags) choose(a *app, prompt string) ([]byte, error) {
	first, err := f.read(a, prompt)
	if err != nil || f.PassphraseFile != "" || f.PassphraseFd != nil {
		return first, err
	}
	second, err := f.read(a, "again")
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(first, second) {
		return nil, &usageError{reason: "passphrase-wrong", detail: "the two do not match", remedy: "start again"}
	}
	return first, nil
}
