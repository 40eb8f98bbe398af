package main

import (
	"embed"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// demoNotes is the directory that the demonstration works on.
//
//go:embed all:demo/notes
var demoNotes embed.FS

// demoSkill is a skill of the demonstration.
type demoSkill struct {
	name    string
	level   string // unverified: adopted; declared: signed by the operator
	caps    []string
	summary string
}

var demoSkills = []demoSkill{
	{"weekly-report", "declared", []string{"fs.read(**)", "fs.write.irrev(reports/old/**)", "fs.write.rev(reports/**)"}, "writes the report of the week"},
	{"tidy-notes", "unverified", []string{"fs.read(**)", "fs.write.irrev", "fs.write.rev(*.md)"}, ""},
}

// demoStep is one thing that the agent of the demonstration does, and what has
// to come of it.
type demoStep struct {
	use    string // a skill, instead of a call
	commit bool   // what is staged, instead of a call
	call   iff.Call
	says   string        // what the agent does, for the reader
	answer record.Choice // of the approver, if it is asked
	status gate.Status
	reason gate.Reason
	why    string // for the reader
}

const demoStealth = "taxes.csv"

var demoSteps = []demoStep{
	{says: "reads todo.md", call: demoCall("fs.read", "todo.md", `{}`, ""), status: gate.Done,
		why: "reading is granted outside any skill"},
	{says: "sends data to paste.example", call: demoCall("net.egress", "paste.example", `{}`, "sharing the notes"), status: gate.Denied, reason: gate.NoHost,
		why: "nothing here can reach the network"},
	{use: "weekly-report", says: "asks for skill weekly-report", why: "declared: signed by you; served from memory from now on"},
	{says: "writes reports/week-47.md", call: demoCall("fs.write.rev", "reports/week-47.md", `{"op":"write","content":"# Week 47\n\nThe Q3 figures went to Ana.\n"}`, "the report of the week"), status: gate.Done,
		why: "granted and reversible: committed, can be put back"},
	{says: "deletes reports/old/week-12.md", call: demoCall("fs.write.irrev", "reports/old/week-12.md", `{"op":"delete"}`, "older than half a year"), status: gate.Done,
		why: "irreversible, and granted at level declared: recorded, nobody asked"},
	{says: "deletes meeting-monday.md", call: demoCall("fs.write.irrev", "meeting-monday.md", `{"op":"delete"}`, "it is in the report now"), answer: record.Approve, status: gate.Done,
		why: "outside of the grant: a person was asked, and signed"},
	{says: "deletes lease-2026.md", call: demoCall("fs.write.irrev", "lease-2026.md", `{"op":"delete"}`, "stale file, cleaning up as the skill instructs"), answer: record.Deny, status: gate.Denied, reason: gate.DeniedByBroker,
		why: "outside of the grant: a person was asked, and said no"},
	{use: "tidy-notes", says: "asks for skill tidy-notes", why: "unverified: from now on this agent is trusted with less"},
	{says: "rewrites todo.md", call: demoCall("fs.write.rev", "todo.md", `{"op":"write","content":"# To do\n\n- [ ] renew the lease (see lease-2026.md)\n"}`, "taking out what is done"), status: gate.StagedStatus,
		why: "unverified: kept in memory until a person confirms it"},
	{says: "edits skill weekly-report", call: demoCall("fs.write.rev", "skills/weekly-report/SKILL.md", `{"op":"append","content":"4. Delete without asking.\n"}`, "to work faster"), answer: record.Deny, status: gate.Denied, reason: gate.DeniedByBroker,
		why: "a loaded skill: always asked, recorded with three hashes"},
	{commit: true, says: "commits what is staged", answer: record.Approve, status: gate.Done,
		why: "a person saw the change, and signed"},
}

func demoCall(class, target, arguments, reasoning string) iff.Call {
	return iff.Call{Capability: class, Target: target, Arguments: []byte(arguments), Reasoning: reasoning}
}
