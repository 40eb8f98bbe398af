package home

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/iff-run/iff/internal/visible"
)

// lines are the lines of iff.toml, to say where something stands. A near miss
// does no harm.
type lines []string

// readLines splits what is no longer than maxConfig into lines no longer than
// maxLine: the parser takes time quadratic in a key, and a key ends with its
// line.
func readLines(data []byte) (lines, error) {
	if len(data) > maxConfig {
		return nil, configError(fmt.Sprintf("%d bytes, at most %d", len(data), maxConfig))
	}
	l := lines(strings.Split(string(data), "\n"))
	for i, line := range l {
		if len(line) > maxLine {
			return nil, configError(fmt.Sprintf("line %d: %d bytes, at most %d; write a list one item to a line", i+1, len(line), maxLine))
		}
	}
	return l, nil
}

// of is the line on which a table has a key: that of the nth table with the
// name, from 0, for an array of tables. Without the key it is the table's
// first line, without the table the first of the file.
func (l lines) of(table string, nth int, key string) int {
	header, found := "", 1
	for i, line := range l {
		if name, ok := headerOf(line); ok {
			header = name
			if name == table {
				nth--
			}
			if nth == -1 && name == table {
				found = i + 1
			}
			continue
		}
		if header == table && nth == -1 && key != "" && keyOf(line) == key {
			return i + 1
		}
	}
	return found
}

// ofKey is the line of a key wherever it was written: in its table, or with
// dots.
func (l lines) ofKey(key toml.Key) int {
	for i := len(key); i > 0; i-- {
		table, rest := strings.Join(key[:i-1], "."), strings.Join(key[i-1:], ".")
		if n := l.of(table, 0, rest); n > 1 || keyOf(l[0]) == rest {
			return n
		}
	}
	if n := l.of(strings.Join(key, "."), 0, ""); n > 1 {
		return n
	}
	for i, line := range l {
		if strings.Contains(strings.SplitN(line, "=", 2)[0], key[len(key)-1]) {
			return i + 1
		}
	}
	return 1
}

// headerOf reads [name] and [[name]].
func headerOf(line string) (string, bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "[") {
		return "", false
	}
	line, _, ok := strings.Cut(strings.TrimLeft(line, "["), "]")
	return bare(line), ok
}

func keyOf(line string) string {
	key, _, ok := strings.Cut(line, "=")
	if !ok {
		return ""
	}
	return bare(key)
}

// bare is a key without what TOML allows around its parts.
func bare(key string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\"'", r) {
			return -1
		}
		return r
	}, key)
}

// quoted shows a text that somebody wrote.
func quoted(text string) string { return `"` + visible.Escape(text) + `"` }

// checkKeys refuses settings that this version does not have, and other
// spellings of those that it has: the decoder takes Label for label, and of the
// two would pick one by chance.
func checkKeys(l lines, meta toml.MetaData) error {
	for _, key := range meta.Keys() {
		if name := key.String(); name != strings.ToLower(name) && !isVariable(key) {
			return configError(fmt.Sprintf("line %d: %s: settings are written in small letters", l.ofKey(key), visible.Escape(name)))
		}
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		key, known := unknown(extra[0])
		near := meant(key[len(key)-1], known)
		if near == "" {
			near = "; remove it"
		}
		return configError(fmt.Sprintf("line %d: %s is not a setting of this version%s", l.ofKey(key), visible.Escape(key.String()), near))
	}
	return nil
}

// unknown is the first part of a key that is no setting, and what is known in its
// place.
func unknown(key toml.Key) (toml.Key, []string) {
	for i, name := range key {
		if known := settingsOf(key[:i]); len(known) > 0 && !slices.Contains(known, name) {
			return key[:i+1], known
		}
	}
	return key, nil
}

// isVariable says whether a key is the name of a variable of an upstream's
// environment.
func isVariable(key toml.Key) bool { return len(key) == 4 && key[0] == "upstream" && key[2] == "env" }

// meant asks for the word that somebody may have meant; empty if none is near.
func meant(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(word, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is how many letters are to be changed, put in or left out; of long
// words it is not looked for.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// decode reads the settings of the file. Its errors name the line.
func decode(data []byte, into *settings) error {
	l, err := readLines(data)
	if err != nil {
		return err
	}
	meta, err := toml.NewDecoder(bytes.NewReader(data)).Decode(into)
	if err != nil {
		if p, ok := err.(toml.ParseError); ok {
			return configError(fmt.Sprintf("line %d: %s", p.Position.Line, visible.Escape(p.Message)))
		}
		return configError(visible.Escape(err.Error()))
	}
	into.lines = l
	return checkKeys(l, meta)
}
