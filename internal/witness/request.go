package witness

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	maxBody  = 64 << 10
	maxProof = 63
)

// request is the body of an add-checkpoint request.
type request struct {
	old   int64
	proof tlog.TreeProof
	note  []byte
}

// parseRequest reads a body strictly: everything has one spelling. It does not look into the note.
func parseRequest(body []byte) (request, error) {
	line, rest, ok := bytes.Cut(body, []byte("\n"))
	size, isOld := bytes.CutPrefix(line, []byte("old "))
	if !ok || !isOld {
		return request{}, errors.New("line 1 is not \"old\", a space and a size")
	}
	r := request{}
	var err error
	if r.old, err = parseSize(size); err != nil {
		return request{}, fmt.Errorf("line 1: %w", err)
	}
	for n := 2; ; n++ {
		if line, rest, ok = bytes.Cut(rest, []byte("\n")); !ok {
			return request{}, fmt.Errorf("line %d has no end; an empty line and a checkpoint belong there", n)
		}
		if len(line) == 0 {
			r.note = rest
			return r, nil
		}
		if len(r.proof) == maxProof {
			return request{}, fmt.Errorf("there are more than %d proof lines", maxProof)
		}
		hash, err := parseHash(line)
		if err != nil {
			return request{}, fmt.Errorf("line %d: %w", n, err)
		}
		r.proof = append(r.proof, hash)
	}
}

// parseSize reads a decimal without sign or leading zeros.
func parseSize(text []byte) (int64, error) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 0 || n > maxSize || strconv.FormatInt(n, 10) != string(text) {
		return 0, errors.New("not a size: a decimal up to 2^60 without leading zeros")
	}
	return n, nil
}

func parseHash(text []byte) (tlog.Hash, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(raw) != tlog.HashSize || base64.StdEncoding.EncodeToString(raw) != string(text) {
		return tlog.Hash{}, fmt.Errorf("not a hash: base64 of %d bytes", tlog.HashSize)
	}
	return tlog.Hash(raw), nil
}
