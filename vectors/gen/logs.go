package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

func logVectors() []vector {
	out := append(goodLogs(), lineVectors()...)
	return append(append(append(out, vouchingVectors()...), anchorVectors()...), receiptVectors()...)
}

// ofLog has the header of a whole log, which is what its last line says.
func (v vector) ofLog(l *logText) vector {
	root := treeRoot(l.leaves)
	return v.with("records", fmt.Sprint(len(l.lines))).with("signed", fmt.Sprint(l.signed)).with("root", base64Of(root[:])).
		with("chain", l.leaves[len(l.leaves)-1].String()).with("state", l.state.Digest().String())
}

// at is the record at which a log stops to hold.
func (v vector) at(n int) vector { return v.with("record", fmt.Sprint(n)) }

func logVector(expect, name, comment string, l *logText) vector {
	return vector{name: expect + "-" + name, expect: expect, comment: comment, payload: []byte(strings.Join(l.lines, "\n"))}.with("kind", "log")
}

func bytesVector(expect, name, comment string, data []byte) vector {
	return vector{name: expect + "-" + name, expect: expect, comment: comment, payload: data}.with("kind", "bytes")
}

// segmentsVector is a log in several segments, by the number that each is named
// for and the number of the line that it begins with.
func segmentsVector(expect, name, comment string, l *logText, named, begins []int) vector {
	type segment struct {
		Lines []string `json:"lines"`
		Name  string   `json:"name"`
	}
	var out []segment
	for i, from := range begins {
		to := len(l.lines)
		if i+1 < len(begins) {
			to = begins[i+1]
		}
		out = append(out, segment{slices.Concat([]string{}, l.lines[from:to]), fmt.Sprintf("%020d.jsonl", named[i])})
	}
	return vector{name: expect + "-" + name, expect: expect, comment: comment, payload: must(canonical.Marshal(out))}.with("kind", "segments")
}

func (v vector) pinned() vector {
	return v.with("origin", logOrigin).with("key", trusttest.NewKey(trusttest.LogKey).Public().String())
}

// smallLog has four records, of which the last two are a batch.
func smallLog() *logText {
	l := newLog()
	l.add(record.Of(record.KeyCreated{Name: "me", Fingerprint: "SHA256:me"}))
	l.add(session(record.SessionOpened), record.Of(record.Boot{Fence: 1, PID: 7, Profile: "dev", Version: "1"}))
	return l
}

func session(t record.Transition) record.Entry {
	return record.Entry{Session: "S-1", Body: record.Session{Agent: "a", Transition: t}}
}

func goodLogs() []vector {
	l := longLog()
	room, refused := smallLog(), smallLog()
	refused.add(
		record.Entry{Session: "S-1", Body: record.Refused{Agent: "a", Channel: record.ChannelMCP, Count: 1, Reason: "too-deep"}},
		record.Of(record.Refused{Channel: record.ChannelHTTP, Count: 9999, Reason: "token-invalid"}),
	)
	return []vector{
		segmentsVector("ok", "segments", "every kind that changes the folded state, two changes of key, four segments of which the last has no lines yet", l,
			[]int{0, 20, 31, len(l.lines)}, []int{0, 20, 31, len(l.lines)}).pinned().with("anchor", l.anchor(21)).ofLog(l),
		bytesVector("ok", "room", "newlines behind the last line, some of which a power cut made zeros", append(room.bytes(), "\n\n\x00\x00\n\x00"...)).ofLog(room),
		bytesVector("ok", "refused", "messages that became no call, of an agent in its session and of nobody who is known", refused.bytes()).ofLog(refused),
	}
}

// longLog has every kind that changes the state, and strings that need escapes.
func longLog() *logText {
	l := newLog()
	skill := func(name string, version int64, subject string) record.Skill {
		return record.Skill{Name: name, Version: version, Signer: "ops", Level: "declared", Subject: subject}
	}
	l.add(record.Of(record.KeyCreated{Name: "bidi\u202e, nul\x00, tag\U000e0041, \"\\\n\r\t, é 漢 😀", Fingerprint: "not \xff UTF-8"}))
	l.add(record.Of(record.TrustChanged{Version: 2, Digest: "d2"}), record.Of(record.Revocation{Version: 3, Digest: "d3", Generation: 1}), record.Of(record.TrustChanged{Version: 1, Digest: "old"}))
	l.add(record.Of(record.SkillAdopted{Directory: "/z", Skill: skill("b", 2, "s2")}), record.Of(record.SkillSigned{Directory: "/a", Skill: skill("a", 1, "s1")}))
	l.add(record.Of(record.SkillLoaded{Directory: "/z", Skill: skill("b", 1, "s0")}), record.Of(record.SkillRefused{Directory: "/q", Reason: "content-changed", Step: 1}))
	l.add(record.Of(record.Boot{Fence: 3}), record.Of(record.Boot{Fence: 2}), session(record.SessionOpened), session(record.SessionPaused))
	l.add(record.Entry{Session: "S-2", Body: record.Session{Transition: record.SessionOpened}}, record.Entry{Session: "S-2", Body: record.Session{Transition: record.SessionClosed}})
	given := func(agent, level, mark string) record.Entry {
		return record.Entry{Session: "S-1", Body: record.Session{Agent: agent, Level: level, Mark: mark, Skill: "s2", Transition: record.SessionSkill}}
	}
	l.add(given("a", "formal", "PUBLIC"), given("a", "declared", "é"), given("a", "tested", "PUBLIC"), given("b", "other", ""), given("c", "tested", "A"), given("c", "", ""))
	l.add(record.Entry{Session: "S-3", Body: record.Session{Agent: "d", Mark: "A", Transition: record.SessionResumed}}, record.Of(record.Session{Agent: "c", Transition: record.AgentReset}))
	l.checkpoint()
	of := func(id string, bodies ...record.Body) {
		for _, b := range bodies {
			l.add(record.Entry{Session: "S-1", Request: id, Body: b})
		}
	}
	yes, no := record.Decision{Batch: []record.Hash{{1}, {2}}, Cause: record.CauseHuman, Choice: record.Approve}, record.Decision{Cause: record.CauseTimeout, Choice: record.Deny}
	of("denied", record.Request{}, no)
	of("done", record.Request{}, yes, record.Intent{Attempt: 1})
	l.rotate(trusttest.NewKey(trusttest.NextLogKey))
	l.checkpoint()
	of("done", record.Executed{})
	of("asked", record.Request{Agent: "a", Guarded: "hello", Mark: "B", Sink: "C"}, record.LateDecision{Decision: yes})
	of("decided", record.Request{}, yes, no)
	of("staged", record.ReversibleRequest{}, yes, record.Staged{Bytes: 1})
	of("doubt", record.ReversibleRequest{}, yes, record.Staged{}, record.CommitIntent{})
	of("barrier", record.ReversibleRequest{Request: record.Request{Agent: "e\u202e", Mark: "\u202e"}}, record.Staged{}, yes)
	of("conflict", record.Request{}, yes, record.Error{Outcome: record.Outcome{Reason: "conflict"}})
	of("back", record.RollbackIntent{}, no)
	of("gone", record.Request{}, record.Request{})
	of("nobody", record.Executed{}, yes)
	l.add(record.Of(record.Recovery{Denied: []string{"gone", "nobody"}, InDoubt: []string{"doubt", "nobody"}}), record.Of(record.Verdict{Result: record.Pass, To: 9}))
	l.rotate(trusttest.NewKey(trusttest.LogKey))
	l.checkpoint()
	of("back", record.RolledBack{}, record.Resolved{Finding: record.FoundPartial})
	return l
}

// lineVectors are wrong in one line.
func lineVectors() []vector {
	last := func(edit func(r *record.Record)) *logText {
		l := smallLog()
		r := l.next(record.KeyCreated{Name: "bidi\u202e"})
		edit(&r)
		l.put(r)
		return l
	}
	respelled := func(old, text string) *logText {
		l := last(func(*record.Record) {})
		l.lines[4] = replaceOnce(l.lines[4], old, text)
		return l
	}
	edited := smallLog()
	edited.lines[2] = replaceOnce(edited.lines[2], "S-1", "S-2")
	empty := smallLog()
	empty.add(record.Of(record.Decision{Cause: record.CauseHuman, Choice: record.Approve}))
	empty.lines[4] = replaceOnce(empty.lines[4], `"body":{`, `"body":{"batch":[],`)
	blank := smallLog()
	blank.lines = slices.Insert(blank.lines, 3, "")
	return []vector{
		logVector("line-invalid", "escape", "an escape in upper case says the same", respelled(`\u202e`, `\u202E`)).at(4),
		logVector("line-invalid", "kind", "a kind that there is not", respelled("key.created", "key.eaten")).at(4),
		logVector("line-invalid", "field", "a field that this kind does not have", respelled(`"name"`, `"more":1,"name"`)).at(4),
		logVector("line-invalid", "optional", "a field that may be left out, there and empty", empty).at(4),
		bytesVector("line-invalid", "return", "a carriage return before the last newline", append(bytes.TrimSuffix(smallLog().bytes(), []byte("\n")), "\r\n"...)).at(3),
		bytesVector("line-unended", "cut", "the last newline is gone", bytes.TrimSuffix(smallLog().bytes(), []byte("\n"))).at(3),
		logVector("line-blank", "inside", "an empty line with another behind it", blank).at(3),
		logVector("seq-gap", "skipped", "a number is left out, and all hashes are right", last(func(r *record.Record) { r.Seq, r.Batch = 5, 5 })).at(4),
		logVector("batch-order", "older", "a batch older than that of the line before", last(func(r *record.Record) { r.Batch = 1 })).at(4),
		logVector("chain-broken", "edited", "a record was changed", edited).at(3),
		logVector("first-record", "twice", "init, once more", last(func(r *record.Record) { r.Body = newLogBody() })).at(4),
		segmentsVector("segment-name", "number", "the second segment is named for the record before its first", longLog(), []int{0, 19}, []int{0, 20}).at(20),
	}
}

// vouchingVectors are wrong in a record that vouches for others.
func vouchingVectors() []vector {
	noted := func(edit func(n *noteText)) *logText {
		l := smallLog()
		n := l.note()
		edit(&n)
		l.add(record.Of(record.Checkpoint{Note: n.signed()}))
		return l
	}
	half := smallLog()
	b := half.rotation(trusttest.NewKey(trusttest.NextLogKey))
	b.OldSignature = b.NewSignature
	half.add(record.Of(b))
	return []vector{
		logVector("origin-other", "pin", "another log was expected", smallLog()).with("origin", "iff/log/other").at(0),
		logVector("key-other", "pin", "another first key was expected", smallLog()).with("key", trusttest.NewKey(77).Public().String()).at(0),
		logVector("key-rotation", "one", "signed twice by the new key, and not by the old one", half).at(4),
		logVector("note-signature", "stranger", "a checkpoint that another key signed", noted(func(n *noteText) { n.key = trusttest.NewKey(77) })).at(4),
		logVector("note-invalid", "state", "a checkpoint without its last line", noted(func(n *noteText) { n.lines = n.lines[:4] })).at(4),
		logVector("checkpoint-off", "root", "the root of the tree without the last record", noted(func(n *noteText) {
			root := treeRoot(smallLog().leaves[:3])
			n.lines[2] = base64Of(root[:])
		})).at(4),
		logVector("checkpoint-off", "state", "the hash of another state", noted(func(n *noteText) { n.lines[4] = "state " + strings.Repeat("0", 64) })).at(4),
	}
}

// anchorVectors are of logs that hold by themselves.
func anchorVectors() []vector {
	other := smallLog()
	other.add(session(record.SessionClosed))
	short := smallLog()
	return []vector{
		logVector("log-rolled-back", "one", "one record less than an anchor has seen", short).with("anchor", other.anchor(5)),
		logVector("log-forked", "root", "an anchor has seen other records", short).with("anchor", longLog().anchor(3)),
		logVector("log-empty", "none", "no record", &logText{}),
	}
}

// receiptVectors prove a record.
func receiptVectors() []vector {
	l := longLog()
	good := l.receipt(7, 21, trusttest.NewKey(trusttest.LogKey))
	of := func(expect, name, comment, text string) vector {
		return vector{name: expect + "-" + name, expect: expect, comment: comment, payload: []byte(strings.TrimSuffix(text, "\n"))}.with("kind", "receipt").pinned()
	}
	return []vector{
		of("ok", "receipt", "a record in the tree of 21", good).with("index", "7").with("size", "21").with("leaf", l.leaves[7].String()),
		of("proof-invalid", "index", "the number of the next record", replaceOnce(good, "\nindex 7\n", "\nindex 8\n")),
	}
}

func replaceOnce(text, old, with string) string {
	if strings.Count(text, old) != 1 {
		panic("bug in a table: " + old)
	}
	return strings.Replace(text, old, with, 1)
}
