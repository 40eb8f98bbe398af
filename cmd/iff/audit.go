package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/trust"
)

type auditCmd struct {
	Verify  auditVerifyCmd  `cmd:"" help:"Check the whole log: every line, link, checkpoint and signature."`
	Show    auditShowCmd    `cmd:"" help:"Print records, or what happened to one call."`
	Tail    auditTailCmd    `cmd:"" help:"Print the last records, and those to come."`
	Stat    auditStatCmd    `cmd:"" help:"Count the records, by kind and by session."`
	Export  auditExportCmd  `cmd:"" help:"Write records as JSON Lines or CSV."`
	Prove   auditProveCmd   `cmd:"" help:"Print a receipt: the proof that a record is in the log."`
	Check   auditCheckCmd   `cmd:"" help:"Check a receipt, with or without the log."`
	Anchor  auditAnchorCmd  `cmd:"" help:"Have the anchors hold the newest checkpoint."`
	Witness auditWitnessCmd `cmd:"" help:"Be a witness for the logs of others: cosign what extends what was seen."`
}

// logKey is a log's name and one of its keys.
type logKey struct {
	origin   string
	key      trust.PublicKey
	verifier note.Verifier
}

// parseLogKey reads a verifier key as signed notes have it: origin+hash+base64.
func parseLogKey(text string) (logKey, error) {
	bad := func(why string) (logKey, error) {
		return logKey{}, &usageError{reason: "usage", detail: fmt.Sprintf("--key %s: %s", visible.Escape(text), why), remedy: "copy the whole key as iff audit anchor --key prints it: NAME+HASH+BASE64"}
	}
	v, err := note.NewVerifier(text)
	if err != nil {
		return bad("not the verifier key of a log")
	}
	parts := strings.SplitN(text, "+", 3) // the verifier was read, so there are three
	raw, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(raw) < 1 {
		return bad("not the verifier key of a log")
	}
	key, err := trust.NewPublicKey(raw[1:])
	if err != nil {
		return bad(err.Error())
	}
	return logKey{v.Name(), key, v}, nil
}

// withKey adds a key unless it is there; a list with one twice opens no note.
func withKey(keys []note.Verifier, k note.Verifier) []note.Verifier {
	if slices.ContainsFunc(keys, func(o note.Verifier) bool { return o.Name() == k.Name() && o.KeyHash() == k.KeyHash() }) {
		return keys
	}
	return append(slices.Clip(keys), k)
}

// readAtMost reads a file that a person named; "-" is standard input.
func (a *app) readAtMost(name string, limit int64) ([]byte, error) {
	var r io.Reader = a.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &usageError{reason: "usage", detail: visible.Escape(err.Error()), remedy: "name a file that can be read, or - for standard input"}
		}
		defer f.Close()
		r = f
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, &usageError{reason: "usage", detail: fmt.Sprintf("%s: more than %d bytes, so it is not what it should be", visible.Escape(name), limit), remedy: "name the right file"}
	}
	return data, err
}

// logBytes is the size of the segments in a directory, 0 where it cannot be
// known: for progress alone.
func logBytes(dir string) int64 {
	var sum int64
	for _, name := range segmentsIn(dir) {
		if info, err := os.Stat(name); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

func segmentsIn(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "[0-9]*.jsonl"))
	return names
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// count writes a number with its thousands apart.
func count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// size writes a number of bytes for people.
func size(n int64) string {
	if n < 1000 {
		return plural(int(n), "byte")
	}
	v, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB", "PB"}
	for v >= 999.5 && len(units) > 1 {
		v, units = v/1000, units[1:]
	}
	if v < 10 {
		return fmt.Sprintf("%.1f %s", v, units[0])
	}
	return fmt.Sprintf("%.0f %s", v, units[0])
}

// span names a run of records, the last one included.
func span(from, to int64) string {
	if from == to {
		return "record " + count(from)
	}
	return "records " + count(from) + " to " + count(to)
}

// damaged is an error of reading the log with the verb that says where it does
// not hold.
func damaged(err error) error {
	var e *audit.Error
	if errors.As(err, &e) && (e.Reason == audit.LineInvalid || e.Reason == audit.ChainBroken || e.Reason == audit.SeqGap || e.Reason == audit.LogEmpty) {
		return &advisedError{err, "find the place: iff audit verify; then restore the log from a copy"}
	}
	return err
}

// advisedError is an error with a remedy that fits better than that of its
// reason.
type advisedError struct {
	error
	remedy string
}

// Unwrap returns the error.
func (e *advisedError) Unwrap() error { return e.error }
