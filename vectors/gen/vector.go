package main

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// vector is one file.
type vector struct {
	family, name    string
	expect, comment string
	keys            []key // in the order they are written
	payload         []byte
}

// key is one more line of the header.
type key struct{ name, value string }

// with returns v with one more line.
func (v vector) with(name, value string) vector {
	v.keys = append(append([]key(nil), v.keys...), key{name, value})
	return v
}

// format is the file.
func (v vector) format() []byte {
	var b bytes.Buffer
	line := func(name, value string) {
		if strings.ContainsAny(value, "\n\r") || value == "" {
			panic("bug in a table: " + v.name + ": header " + name)
		}
		b.WriteString(name + ": " + value + "\n")
	}
	line("expect", v.expect)
	line("comment", v.comment)
	for _, k := range v.keys {
		line(k.name, k.value)
	}
	payload := v.payload
	if spoils(payload) {
		line("encoding", "hex")
		payload = []byte(hex.EncodeToString(payload))
	}
	b.WriteByte('\n')
	b.Write(payload)
	b.WriteByte('\n')
	return b.Bytes()
}

// spoils reports whether an editor, a terminal or a mail might change the
// bytes: what is not UTF-8, controls and invisible characters, spaces or line
// ends at an end.
func spoils(payload []byte) bool {
	for rest := payload; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || r != '\n' && !strconv.IsPrint(r) {
			return true
		}
		rest = rest[n:]
	}
	text := string(payload)
	return strings.HasSuffix(text, "\n") || strings.HasPrefix(text, "\n") || strings.Contains(text+"\n", " \n")
}

// marker stands in a table where an offset points at.
const marker = "¶"

// unmark takes the marker out and returns its offset, "" if there is none.
func unmark(text string) (clean, offset string) {
	i := strings.Index(text, marker)
	if i < 0 {
		return text, ""
	}
	return strings.Replace(text, marker, "", 1), strconv.Itoa(i)
}
