package gate

// mutant is a bug planted in the machine: a text that stands exactly once in a
// file, and what stands there instead.
type mutant struct {
	name     string
	file     string
	old, new string
}

// mutants are each found by the laws or by the exploration.
var mutants = []mutant{
	// Submitting.
	{"a used key runs again", "step.go", "known = known && e.Key != \"\"", "known = false"},
	{"a used key admits another call", "step.go", "case known && old.envelope == e.Envelope:", "case known:"},
	{"a key is forgotten with the reuse", "step.go", "c.Void = KeyReused", "c.Void = \"\""},
	{"a dead log admits", "step.go", "case m.dead:\n\t\tm.emit(Tell{ID: e.ID, Status: Refused, Reason: LogFailed, Last: true})", "case false:\n\t\tm.emit(Tell{ID: e.ID, Status: Refused, Reason: LogFailed, Last: true})"},
	{"an ended session admits", "step.go", "case s.state == ended:", "case false:"},
	{"the number of calls is not bounded", "step.go", "case s.open > m.rules.Calls:", "case false:"},
	{"undeclared is void only", "step.go", "case c.way == deny:", "case false:"},
	{"void goes on", "step.go", "case c.Void != \"\":\n\t\tm.refuse(c, c.Void)\n\tcase flow", "case false:\n\t\tm.refuse(c, c.Void)\n\tcase flow"},
	{"labels are not checked at the request", "step.go", "case flow != \"\":", "case false:"},
	{"what cannot be put back is reversible", "step.go", "== capability.Reversible && !c.Reversible:", "== capability.Reversible && false:"},
	{"what is in doubt is changed", "step.go", "case m.inDoubt(c):", "case false:"},
	{"a hiding spelling is done once approved", "step.go", "case c.hidden:\n\t\tm.stop(c, c.Void)\n\tcase why", "case why"},
	{"what is guarded and void is denied unasked", "step.go", "case c.Guarded && (c.Spelled || c.Void != \"\"):", "case c.Guarded && c.Spelled:"},
	{"what is guarded and hidden is denied unasked", "step.go", "case c.Guarded && (c.Spelled || c.Void != \"\"):", "case c.Guarded && c.Void != \"\" && !c.Spelled:"},
	{"questions are not bounded", "step_ask.go", "return free > 0", "return true"},
	{"questions of a session are not bounded", "step_ask.go", "s.asked < all*2/5 && ", ""},
	{"a session takes the last places", "step_ask.go", " && free > all/5", " && free > 0"},
	{"questions of a session are not counted", "step_ask.go", "\ts.asked++\n", ""},
	{"questions of a session are counted for ever", "step_ask.go", "\t\t\ts.asked--\n", ""},
	{"what nobody approves is not bounded", "step_ask.go", "(m.rules.Unwanted-(a.unwanted.bytes-mine))/2", "1<<40"},
	{"a session takes all that may be unwanted", "step_ask.go", "(m.rules.Unwanted-(a.unwanted.bytes-mine))/2", "(m.rules.Unwanted-(a.unwanted.bytes-mine))"},
	{"the next session may as much again", "step_ask.go", "(m.rules.Unwanted-(a.unwanted.bytes-mine))/2", "m.rules.Unwanted/2"},
	{"the plan costs nothing", "step.go", "\tc.listed = e.Listed\n", ""},
	{"what is staged costs nothing", "step.go", "case !m.afford(s, c, c.Weight+c.listed):", "case false:"},
	{"a denial costs nothing", "step_ask.go", "c.Weight > maxDenied || !m.afford(m.session(c.Session), c, c.Weight)", "c.Weight > maxDenied"},
	{"a large call that is denied is kept", "step_ask.go", "c.Weight > maxDenied || ", ""},
	{"what is approved counts as unwanted", "step.go", "\tm.takeBack(c)\n\tm.unask(c)\n", "\tm.unask(c)\n"},
	{"what is not in the log counts as unwanted", "step.go", "\t\tm.takeBack(c)\n\t}\n", "\t}\n"},
	{"what was unwanted is for ever", "step_ask.go", "if day > t.day {", "if false {"},
	{"an old day counts anew", "step_ask.go", "if day > t.day {", "if day != t.day {"},
	{"what was counted on another day is not given back", "step_ask.go", "\tc.Day = max(c.Day, a.unwanted.day) // where the clock was set back, so that it is given back where it was counted\n", ""},
	{"what a reset forgot is given back", "step_session.go", "\t\t\tc.unwanted = 0 // it is forgotten, and not to be given back\n", ""},
	{"a reset leaves what was unwanted", "step_session.go", "\t\t\ts.unwanted = tally{}\n", ""},
	{"questions are not counted", "step_ask.go", "m.agentOf(s).asked++", "_ = s"},
	// Between.
	{"a refused preview is asked about", "step.go", "why := e.Refused\n\tif why == \"\" {\n\t\twhy = m.standing(s, c)\n\t}\n\tswitch {", "why := m.standing(s, c)\n\tswitch {"},
	{"a refused plan is intended", "step.go", "why := e.Refused\n\tif why == \"\" {\n\t\twhy = m.standing(s, c)\n\t}\n\tif why == \"\" {\n\t\twhy = m.sinks", "why := Reason(\"\")\n\tif why == \"\" {\n\t\twhy = m.standing(s, c)\n\t}\n\tif why == \"\" {\n\t\twhy = m.sinks"},
	{"a paused session intends", "step.go", "\t\twhy = m.standing(s, c)\n\t}\n\tif why == \"\" {\n\t\twhy = m.sinks(s, c)", "\t}\n\tif why == \"\" {\n\t\twhy = m.sinks(s, c)"},
	{"labels are not checked at the intent", "step.go", "\tif why == \"\" {\n\t\twhy = m.sinks(s, c)\n\t}\n", ""},
	{"the level is not checked at the intent", "step.go", "route(m.claim(s, c)) != c.way", "false"},
	{"what is wider than a grant is approved by level", "step.go", "!c.approved && e.Wider {", "!c.approved && false {"},
	{"what is asked instead keeps its lease", "step.go", "\tm.release(c)\n\tc.way, c.at = ask", "\tc.way, c.at = ask"},
	{"a guarded call that cannot be done is denied unasked", "step.go", "case e.Refused != \"\" && c.Guarded && why == e.Refused:", "case false:"},
	{"the buffer is not bounded", "step.go", "if s.buffer-c.size+size > m.rules.Buffer {", "if false {"},
	{"an approved call is denied", "step.go", "\tif !c.approved {\n\t\tm.refuse(c, why)\n\t\treturn\n\t}\n", "\tif true {\n\t\tm.refuse(c, why)\n\t\treturn\n\t}\n"},
	{"an unapproved intent is recorded as approved", "step.go", "\tif c.approved {\n\t\twhat = IntendedToAct", "\tif !c.approved {\n\t\twhat = IntendedToAct"},
	// The log.
	{"an intent that is not durable is acted on", "step.go", "if e.Failed {", "if e.Failed && c.at != intending {"},
	{"a failed append is taken as done", "step.go", "if e.Failed {", "if false {"},
	{"the end of the log is forgotten", "step.go", "m.dead = m.dead || e.Fatal", "m.dead = m.dead"},
	{"a dead log is acted on", "step.go", "if m.dead {\n\t\tm.finish(c, Refused, LogFailed)", "if false {\n\t\tm.finish(c, Refused, LogFailed)"},
	{"records that nobody waits for count", "step.go", "c == nil || !c.recording()", "c == nil"},
	{"an unrecorded outcome frees the object", "step.go", "case c.at == settling && c.leased:", "case false:"},
	{"an unrecorded undoing forgets the call", "step.go", "case c.at == intending && c.undoing:", "case false:"},
	{"an unrecorded call keeps its key", "step.go", "\t\tm.unkey(c)\n", ""},
	{"done before the outcome is recorded", "step.go", "\tc.at = settling\n", "\tc.at = settling\n\tm.emit(Tell{ID: c.ID, Status: Done})\n"},
	{"an undoing is recorded as doing", "step.go", "What: what, Undo: c.undoing})", "What: what})"},
	// Answers.
	{"the second answer counts", "step.go", "c.at != asked && c.at != confirming {", "c.at != asked && c.at != confirming && c.at != deciding {"},
	{"a denial approves", "step.go", "if !c.answer {\n\t\tm.finish", "if false {\n\t\tm.finish"},
	{"questions stay counted", "step.go", "\tm.unask(c)\n\tc.approved = true", "\tc.approved = true"},
	{"a confirmed call is not held against its session", "step.go", "case why != \"\":\n\t\tm.stop(c, why)\n\tcase c.way == stage:", "case why == LogFailed:\n\t\tm.stop(c, why)\n\tcase c.way == stage:"},
	{"nobody tells a question's session ended", "step.go", "case s.state == ending:\n\t\treturn SessionEnded\n", ""},
	{"nobody tells a question's skill is revoked", "step.go", "case m.evicted[c.skill]:\n\t\treturn SkillRevoked\n", ""},
	// Acting.
	{"an undoing is executed", "step.go", "\tcase c.undoing:\n\t\tp = Rollback\n", ""},
	{"a commit is executed", "step.go", "\tcase c.reversible():\n\t\tp = Commit\n", ""},
	{"an overdue call is told twice", "step.go", "&& !c.overdue {", "{"},
	{"an overdue call is ended", "step.go", "Status: Doubtful, Reason: HostOverdue}", "Status: Doubtful, Reason: HostOverdue, Last: true}"},
	{"a failed commit can be undone", "step.go", "|| status == Failed {", "{"},
	{"a committed call keeps its lease", "step.go", "m.emit(Tell{ID: c.ID, Status: Done})\n\tm.release(c)", "m.emit(Tell{ID: c.ID, Status: Done})"},
	{"a committed call stays staged", "step.go", "\ts.staged = without(s.staged, c.ID)\n", ""},
}
