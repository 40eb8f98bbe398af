package docs_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// tamper is something done to a log, and what has to come of it.
type tamper struct {
	name string
	edit func(*testing.T, segments) segments
	// anchored says that the newest checkpoint was kept elsewhere; without it
	// a few tampers make a log that holds.
	anchored bool
	audit    audit.Reason // of package audit, which has the origin and the key
	// python is the reason of verify.py, which has the origin; "" if it takes
	// the log, which it may do only where Unseen says why.
	python string
	unseen string
}

// What verify.py does not see.
const (
	needsSignature = "signature"
	needsState     = "folded state"
	needsBodies    = "kinds and bodies"
)

const lineInvalid = "line-invalid"

// bytesOf edits the bytes of one segment.
func bytesOf(nth int, edit func(t *testing.T, data []byte) []byte) func(*testing.T, segments) segments {
	return func(t *testing.T, s segments) segments {
		names := s.names()
		file := names[(nth+len(names))%len(names)]
		s[file] = edit(t, s[file])
		return s
	}
}

// linesOf edits the lines of one segment.
func linesOf(nth int, edit func(lines []string) []string) func(*testing.T, segments) segments {
	return bytesOf(nth, func(_ *testing.T, data []byte) []byte {
		lines := strings.SplitAfter(strings.TrimRight(string(data), "\n")+"\n", "\n")
		return []byte(strings.Join(edit(lines[:len(lines)-1]), ""))
	})
}

// lastLine replaces text in the last line, which no line behind it vouches for.
// The line is that of a call and not a checkpoint.
func lastLine(old, text string) func(*testing.T, segments) segments {
	return func(t *testing.T, s segments) segments {
		names := s.names()
		file := names[len(names)-1]
		data := bytes.TrimRight(s[file], "\n")
		at := bytes.LastIndexByte(data, '\n') + 1
		if at == 0 {
			t.Fatal("the last segment has one line only")
		}
		s[file] = slices.Concat(data[:at], replaceOne(t, data[at:], old, text), []byte("\n"))
		return s
	}
}

// records edits what lines say and writes them anew.
func records(edit func(f *forged)) func(*testing.T, segments) segments {
	return func(t *testing.T, s segments) segments {
		f := forge(t, s)
		edit(f)
		return f.segments()
	}
}

func swap(lines []string) []string {
	lines[2], lines[3] = lines[3], lines[2]
	return lines
}

func reverse(lines []string) []string { slices.Reverse(lines); return lines }

// note edits the text of the nth checkpoint, and has the log's key, which at
// the end is the first one again, sign it.
func note(nth int, edit func(text string) string) func(*testing.T, segments) segments {
	return records(func(f *forged) {
		i := f.find(record.KindCheckpoint, nth)
		text, _, _ := strings.Cut(f.records[i].Body.(record.Checkpoint).Note, "\n\n")
		text = edit(text + "\n")
		f.records[i].Body = record.Checkpoint{Note: text + "\n" + sign(text, trusttest.NewKey(logKey))}
		f.cut(i + 1)
	})
}

// noteLine replaces one line of the text of the last checkpoint.
func noteLine(n int, line string) func(*testing.T, segments) segments {
	return note(-1, func(text string) string {
		lines := strings.Split(text, "\n")
		lines[n] = line
		return strings.Join(lines, "\n")
	})
}

// edited changes a record behind the last change of key, where checkpoints
// still follow.
func edited(sign signer) func(*testing.T, segments) segments {
	return records(func(f *forged) {
		i := f.find(record.KindKeyRotated, -1) + 2
		if f.find(record.KindCheckpoint, -1) < i+1 {
			f.Fatal("no checkpoint follows")
		}
		f.records[i].Body = record.KeyCreated{Name: "forged"}
		f.rechain(i, sign)
	})
}

// last sets the body of the last record.
func last(b record.Body) func(*testing.T, segments) segments {
	return records(func(f *forged) { f.records[len(f.records)-1].Body = b })
}

func drop(which ...int) func(*testing.T, segments) segments {
	return func(_ *testing.T, s segments) segments {
		names := s.names()
		for _, i := range which {
			delete(s, names[(i+len(names))%len(names)])
		}
		return s
	}
}

// renumbered has the last record say another number than the next.
func renumbered(edit func(r *record.Record)) func(*testing.T, segments) segments {
	return records(func(f *forged) { edit(&f.records[len(f.records)-1]) })
}

// whole is another log.
func whole(origin string, key byte, calls int) func(*testing.T, segments) segments {
	return func(t *testing.T, _ segments) segments { return write(t, origin, key, calls).segments }
}

// spliced has a part of another log of that name and key.
func spliced(take func(own, other segments) segments) func(*testing.T, segments) segments {
	return func(t *testing.T, s segments) segments {
		l := forge(t, s)
		l.records[5].Body = record.KeyCreated{Name: "other"}
		l.rechain(5, signed(logKey))
		return take(s, l.segments())
	}
}

func oneLine(own, other segments) segments {
	file := own.names()[1]
	mine, theirs := segments{file: own[file]}.lines(), segments{file: other[file]}.lines()
	mine[1] = theirs[1]
	own[file] = []byte(strings.Join(mine, "\n") + "\n")
	return own
}

func oneSegment(own, other segments) segments {
	file := own.names()[1]
	own[file] = other[file]
	return own
}

const seqGap, chainBroken, segmentName, lineBlank = "seq-gap", "chain-broken", "segment-name", "line-blank"

// tampers are what is done to a log of several segments that ends in a call.
func tampers() []tamper {
	return slices.Concat(lineTampers(), spellingTampers(), forgedTampers(), tailTampers())
}

// lineTampers do without hashing anew.
func lineTampers() []tamper {
	var out []tamper
	add := func(name string, token audit.Reason, edit func(*testing.T, segments) segments) {
		out = append(out, tamper{name: name, edit: edit, audit: token, python: string(token)})
	}
	add("edit", chainBroken, linesOf(1, func(l []string) []string { l[2] = strings.Replace(l[2], "7K2M", "7K2N", 1); return l }))
	add("edit a time", chainBroken, linesOf(1, func(l []string) []string { l[2] = strings.Replace(l[2], "2026-11", "2026-10", 1); return l }))
	add("delete", seqGap, linesOf(1, func(l []string) []string { return slices.Delete(l, 2, 3) }))
	add("delete the first", seqGap, linesOf(0, func(l []string) []string { return l[1:] }))
	add("delete the last of a segment", segmentName, linesOf(1, func(l []string) []string { return l[:len(l)-1] }))
	add("delete a segment", segmentName, drop(2))
	add("delete the first segment", segmentName, drop(0))
	add("rename a segment", segmentName, func(_ *testing.T, s segments) segments {
		file := s.names()[1]
		s[name(1)] = s[file]
		delete(s, file)
		return s
	})
	add("duplicate a segment", segmentName, func(_ *testing.T, s segments) segments {
		names := s.names()
		s[names[1][:19]+"9.jsonl"] = s[names[1]]
		return s
	})
	add("a segment for records to come", segmentName, func(_ *testing.T, s segments) segments { s[name(9999)] = []byte("\n\n"); return s })
	add("swap", seqGap, linesOf(1, swap))
	add("reverse", seqGap, linesOf(1, reverse))
	add("duplicate", seqGap, linesOf(1, func(l []string) []string { return slices.Insert(l, 2, l[2]) }))
	add("splice a line", chainBroken, spliced(oneLine))
	add("splice a segment", chainBroken, spliced(oneSegment))
	add("empty line", lineBlank, linesOf(1, func(l []string) []string { return slices.Insert(l, 2, "\n") }))
	add("empty line first", lineBlank, linesOf(0, func(l []string) []string { return slices.Insert(l, 0, "\n") }))
	add("room in an old segment", lineBlank, bytesOf(1, func(_ *testing.T, d []byte) []byte { return append(d, '\n') }))
	add("lines behind the room", lineBlank, bytesOf(-1, func(_ *testing.T, d []byte) []byte { return append(d, "{}\n"...) }))
	return out
}

// spellingTampers say the same, or nothing, in other bytes.
func spellingTampers() []tamper {
	var out []tamper
	add := func(name string, edit func(*testing.T, segments) segments) {
		out = append(out, tamper{name: name, edit: edit, audit: audit.LineInvalid, python: lineInvalid})
	}
	add("line ends of Windows", bytesOf(0, func(_ *testing.T, d []byte) []byte { return bytes.ReplaceAll(d, []byte("\n"), []byte("\r\n")) }))
	add("one carriage return", lastLine(`Z"}`, "Z\"}\r"))
	add("byte order mark", bytesOf(0, func(_ *testing.T, d []byte) []byte { return append([]byte("\ufeff"), d...) }))
	add("UTF-16", bytesOf(0, func(_ *testing.T, d []byte) []byte { return bytes.Join(bytes.Split(d, nil), []byte{0}) }))
	add("join", linesOf(1, func(l []string) []string { l[2] = strings.TrimSuffix(l[2], "\n"); return l }))
	add("split", linesOf(1, func(l []string) []string { l[2] = strings.Replace(l[2], ",", ",\n", 1); return l }))
	add("space before a line", linesOf(1, func(l []string) []string { l[2] = " " + l[2]; return l }))
	for what, edit := range map[string][2]string{
		"a space":                {`,"kind"`, `, "kind"`},
		"a space behind":         {`Z"}`, `Z"} `},
		"a space in the body":    {`"body":{`, `"body":{ `},
		"number with a point":    {`"size":0`, `"size":0.0`},
		"number with a power":    {`"size":0`, `"size":0e0`},
		"minus zero":             {`"size":0`, `"size":-0`},
		"leading zero":           {`"size":0`, `"size":00`},
		"not a number":           {`"size":0`, `"size":NaN`},
		"other order":            {`"body":{`, `"body":{"z":0,"a":0,`},
		"a key twice":            {`"body":{`, `"body":{"digest":0,"digest":0,`},
		"escape in upper case":   {`\u202e`, `\u202E`},
		"escape without need":    {`"detail":"`, `"detail":"\u0062`},
		"slash escaped":          {`"detail":"`, `"detail":"\/`},
		"half of a pair":         {`"detail":"`, `"detail":"\ud800`},
		"a bidi character raw":   {`\u202e`, "\u202e"},
		"a control raw":          {`\u202e`, "\x01"},
		"DEL raw":                {`\u202e`, "\x7f"},
		"a line separator raw":   {`\u202e`, "\u2028"},
		"a soft hyphen raw":      {`\u202e`, "\u00ad"},
		"a zero width space raw": {`\u202e`, "\u200b"},
		"a word joiner raw":      {`\u202e`, "\u2060"},
		"a byte order mark raw":  {`\u202e`, "\ufeff"},
		"an annotation raw":      {`\u202e`, "\ufff9"},
		"a noncharacter raw":     {`\u202e`, "\uffff"},
		"a tag raw":              {`\u202e`, "\U000e0041"},
		"a letter mark raw":      {`\u202e`, "\u061c"},
		"a vowel separator raw":  {`\u202e`, "\u180e"},
		"not UTF-8":              {`\u202e`, "\xff"},
		"UTF-8 too long":         {`\u202e`, "\xc0\xaf"},
		"a field more":           {`,"kind"`, `,"c":0,"kind"`},
		"an object more":         {`,"kind"`, `,"c":{},"kind"`},
		"a field less":           {`"session":"7K2M",`, ``},
		"a field renamed":        {`"session"`, `"sessioN"`},
		"null":                   {`"session":"7K2M"`, `"session":null`},
		"session with a space":   {"7K2M", "7K 2M"},
		"session in Cyrillic":    {"7K2M", "7К2М"},
		"session too long":       {"7K2M", strings.Repeat("x", 129)},
		"request with a slash":   {`"request":"`, `"request":"/`},
		"time of no day":         {"2026-11-20T", "2026-11-31T"},
		"time of no hour":        {"T12:00:00.", "T24:00:00."},
		"time of another form":   {"2026-11-20T12:00:00.", "20261120T120000.0000."},
		"time without a zone":    {`Z"}`, `"}`},
		"time in another zone":   {`000Z"}`, `000+01:00"}`},
		"milliseconds":           {`.000000000Z"}`, `.000Z"}`},
		"batch is true":          {`{"batch":`, `{"batch":true,"batc":`},
		"the body is a list":     {`"body":{`, `"body":[{`},
		"deep":                   {`"detail":"`, `"detail":` + strings.Repeat("[", 60000) + `"`},
		"too long":               {`"detail":"`, `"detail":"` + strings.Repeat("x", record.MaxLine)},
	} {
		add("last line: "+what, lastLine(edit[0], edit[1]))
	}
	return out
}

// forgedTampers hash anew what has to be.
func forgedTampers() []tamper {
	out := []tamper{
		{name: "hash anew from a point on", edit: edited(nil), audit: audit.CheckpointOff, python: "checkpoint-off"},
		{name: "hash anew, mend the checkpoints", edit: edited(kept), audit: audit.NoteSignature, unseen: needsSignature},
		{name: "hash anew, mend the checkpoints, anchored", anchored: true, edit: edited(kept), audit: audit.NoteSignature, python: "log-forked"},
		{name: "hash anew, sign with another key", edit: edited(signed(strangerKey)), audit: audit.NoteSignature, unseen: needsSignature},
		{name: "hash anew with the log's key, anchored", anchored: true, edit: edited(signed(logKey)), audit: audit.Forked, python: "log-forked"},
		{name: "another number", edit: renumbered(func(r *record.Record) { r.Seq++ }), audit: audit.SeqGap, python: seqGap},
		{name: "another batch", edit: renumbered(func(r *record.Record) { r.Batch -= 6 }), audit: audit.BatchOrder, python: "batch-order"},
		{name: "another hash", edit: renumbered(func(r *record.Record) { r.Prev[0] ^= 1 }), audit: audit.ChainBroken, python: chainBroken},
		{name: "init again", edit: last(begin(origin)), audit: audit.FirstRecord, python: "first-record"},
		{name: "no init", audit: audit.FirstRecord, python: "first-record", edit: records(func(f *forged) {
			f.cut(1)
			f.records[0].Body = record.KeyCreated{}
		})},
		{name: "checkpoint of another size", edit: noteLine(1, "5"), audit: audit.CheckpointOff, python: "checkpoint-off"},
		{name: "checkpoint of another root", edit: noteLine(2, strings.Repeat("A", 43)+"="), audit: audit.CheckpointOff, python: "checkpoint-off"},
		{name: "checkpoint of another chain", edit: noteLine(3, "chain "+strings.Repeat("0", 64)), audit: audit.CheckpointOff, python: "checkpoint-off"},
		{name: "checkpoint of another state", edit: noteLine(4, "state "+strings.Repeat("0", 64)), audit: audit.CheckpointOff, unseen: needsState},
		{name: "checkpoint of another log", edit: noteLine(0, "iff/log/other"), audit: audit.NoteSignature, python: "checkpoint-off"},
		{name: "checkpoint with a line more", edit: noteLine(4, "state "+strings.Repeat("0", 64)+"\nmore"), audit: audit.NoteInvalid, python: "checkpoint-off"},
		{name: "checkpoint without a state", edit: note(-1, func(text string) string { return text[:strings.Index(text, "state")] }), audit: audit.NoteInvalid, python: "checkpoint-off"},
		{name: "checkpoint without a signature", edit: last(record.Checkpoint{Note: "a\n1\nb\n"}), audit: audit.NoteSignature, python: "checkpoint-off"},
		{name: "signature of a checkpoint", audit: audit.NoteSignature, unseen: needsSignature, edit: records(func(f *forged) {
			i := f.find(record.KindCheckpoint, -1)
			note := f.records[i].Body.(record.Checkpoint).Note
			f.records[i].Body = record.Checkpoint{Note: note[:len(note)-10] + "AAAAAA" + note[len(note)-4:]}
			f.cut(i + 1)
		})},
		{name: "signature of a change of key", audit: audit.KeyRotation, unseen: needsSignature, edit: records(func(f *forged) {
			i := f.find(record.KindKeyRotated, -1)
			b := f.records[i].Body.(record.KeyRotated)
			b.OldSignature = b.NewSignature
			f.records[i].Body = b
			f.cut(i + 1)
		})},
		{name: "field of a body", edit: lastLine(`"body":{`, `"body":{"a":0,`), audit: audit.LineInvalid, unseen: needsBodies},
		{name: "number of a body", edit: lastLine(`"size":0`, `"size":9007199254740993`), audit: audit.LineInvalid, unseen: needsBodies},
		{name: "kind", edit: lastLine(`"kind":"executed"`, `"kind":"eaten"`), audit: audit.LineInvalid, unseen: needsBodies},
	}
	return append(out, wholeTampers()...)
}

func wholeTampers() []tamper {
	return []tamper{
		{name: "rewrite whole, with another key", edit: whole(origin, strangerKey, someCalls), audit: audit.KeyOther, unseen: needsSignature},
		{name: "rewrite whole, with another key, anchored", anchored: true, edit: whole(origin, strangerKey, someCalls), audit: audit.KeyOther, python: "log-forked"},
		{name: "rewrite whole, with the log's key, anchored", anchored: true, edit: whole(origin, logKey, someCalls+4), audit: audit.Forked, python: "log-forked"},
		{name: "other origin", edit: whole("iff/log/other", logKey, someCalls), audit: audit.OriginOther, python: "origin-other"},
	}
}

// tailTampers take from the end, or leave something there.
func tailTampers() []tamper {
	less := func(lines int) func(*testing.T, segments) segments {
		return records(func(f *forged) { f.cut(len(f.records) - lines) })
	}
	end := func(edit func(d []byte) []byte) func(*testing.T, segments) segments {
		return bytesOf(-1, func(_ *testing.T, d []byte) []byte { return edit(bytes.TrimRight(d, "\n")) })
	}
	return []tamper{
		{name: "truncate by lines, anchored", anchored: true, edit: less(20), audit: audit.RolledBack, python: "log-rolled-back"},
		{name: "truncate by segments, anchored", anchored: true, edit: drop(-1, -2, -3), audit: audit.RolledBack, python: "log-rolled-back"},
		{name: "truncate in a line", edit: end(func(d []byte) []byte { return d[:len(d)-9] }), audit: audit.LineUnended, python: lineInvalid},
		{name: "no newline at the end", edit: end(func(d []byte) []byte { return d }), audit: audit.LineUnended, python: lineInvalid},
		{name: "half a line and zeros", edit: end(func(d []byte) []byte { return append(d[:len(d)-9], make([]byte, 99)...) }), audit: audit.LineUnended, python: lineInvalid},
		{name: "half a line, zeros without end", edit: end(func(d []byte) []byte { return append(d[:len(d)-9], append(make([]byte, 300_000), '}')...) }), audit: audit.LineUnended, python: lineInvalid},
		{name: "zeros in a line", edit: end(func(d []byte) []byte { return append(d, "\n\x00{}\n"...) }), audit: audit.LineInvalid, python: lineInvalid},
		{name: "a space behind the lines", edit: end(func(d []byte) []byte { return append(d, "\n \n"...) }), audit: audit.LineInvalid, python: lineInvalid},
		{name: "something behind zeros", edit: end(func(d []byte) []byte { return append(d, "\n\x00\x00\n{}\n"...) }), audit: audit.LineInvalid, python: lineBlank},
		{name: "something behind zeros and newlines", edit: end(func(d []byte) []byte { return append(d, "\n\n\x00\n{}\n"...) }), audit: audit.LineBlank, python: lineBlank},
		{name: "empty", edit: func(_ *testing.T, s segments) segments { return segments{} }, audit: audit.LogEmpty, python: "log-empty"},
		{name: "empty file", edit: func(_ *testing.T, s segments) segments { return segments{name(0): nil} }, audit: audit.LogEmpty, python: "log-empty"},
		{name: "room alone", edit: func(_ *testing.T, s segments) segments { return segments{name(0): []byte("\n\n\n")} }, audit: audit.LogEmpty, python: "log-empty"},
	}
}

// check says what is wrong with a table of tampers.
func checkTampers(all []tamper) error {
	seen := map[string]bool{}
	for _, x := range all {
		if seen[x.name] || (x.python == "") == (x.unseen == "") {
			return fmt.Errorf("tamper %q: twice, or without a verdict", x.name)
		}
		seen[x.name] = true
	}
	return nil
}
