package verdicttest

import "slices"

// Granted is the script of a whole call that a level approves.
const Granted = "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>2) "

// Case is a small log and its verdict: what there was, what was recorded (see
// [Script]), what there is, and the result with class:object:call of each finding.
// Work/G is guarded.
type Case struct{ Name, Start, Log, End, Want string }

// Cases are the smallest logs of every class and rule.
func Cases() []Case {
	return slices.Concat(goodCases(), failCases(), brokenCases(), openCases())
}

func goodCases() []Case {
	return []Case{
		{"nothing", "a=1", "", "a=1", "PASS"},
		{"granted", "a=1", Granted, "a=2", "PASS"},
		{"asked", "a=1", "c1.ask(a:1>2) c1.human c1.do(a:1>2) c1.done(a:1>2)", "a=2", "PASS"},
		{"unverified, asked", "a=1", "c1.low(a:1>2) c1.human c1.do(a:1>2) c1.done(a:1>2)", "a=2", "PASS"},
		{"guarded, asked", "a=1", "c1.guarded(a:1>2) c1.human c1.do(a:1>2) c1.done(a:1>2)", "a=2", "PASS"},
		{"webhook", "a=1", "c1.ask(a:1>2) c1.webhook c1.do(a:1>2) c1.done(a:1>2)", "a=2", "PASS"},
		{"policy", "a=1", "c1.ask(a:1>2) c1.policy c1.do(a:1>2) c1.done(a:1>2)", "a=2", "PASS"},
		{"read", "a=1", "c1.get() c1.level c1.done()", "a=1", "PASS"},
		{"denied", "a=1", "c1.ask(a:1>2) c1.deny c1.late", "a=1", "PASS"},
		{"pending", "a=1", "c1.ask(a:1>2)", "a=1", "PASS"},
		{"not tried", "a=1", "c1.ask(a:1>2) c1.human c1.error()", "a=1", "PASS"},
		{"failed", "a=1", "c1.ask(a:1>2) c1.human c1.do(a:1>2) c1.error(a:1>1)", "a=1", "PASS"},
		{"create", "", "c1.ask(a:0>2) c1.level c1.do(a:0>2) c1.done(a:0>2)", "a=2", "PASS"},
		{"delete", "a=1", "c1.ask(a:1>0) c1.level c1.do(a:1>0) c1.done(a:1>0)", "", "PASS"},
		{"rename", "a=1", "c1.ask(a:1>0 b:0>1) c1.level c1.do(a:1>0 b:0>1) c1.done(a:1>0 b:0>1)", "b=1", "PASS"},
		{"no change", "a=1", "c1.ask(a:1>1) c1.level c1.do(a:1>1) c1.done(a:1>1)", "a=1", "PASS"},
		{"append", "a=1", "c1.ask(a:*>*) c1.level c1.do(a:1>2) c1.done(a:1>2)", "a=2", "PASS"},
		{"bounded", "a=1", "c1.ask(a:1>*) c1.level c1.do(a:1>*) c1.done(a:1>7)", "a=7", "PASS"},
		{"opaque", "a=1", "c1.ask() c1.level c1.do() c1.done()", "a=1", "PASS"},
		{"reversible", "a=1", "c1.rev(a:1>2) c1.level c1.staged c1.commit(a:1>2) c1.wrote(a:1>2)", "a=2", "PASS"},
		{"confirmed", "a=1", "c1.rev(a:1>2) c1.staged c1.human c1.commit(a:1>2) c1.wrote(a:1>2)", "a=2", "PASS"},
		{"put back", "a=1", "c1.rev(a:1>2) c1.level c1.staged c1.commit(a:1>2) c1.wrote(a:1>2) c1.undo(a:2>1) c1.back(a:2>1)", "a=1", "PASS"},
		{"put back again", "a=1", "c1.rev(a:1>2) c1.level c1.staged c1.commit(a:1>2) c1.wrote(a:1>2) c1.undo(a:2>1) c1.error(a:2>2) c1.undo(a:2>1) c1.back(a:2>1)", "a=1", "PASS"},
		{"put back twice", "a=1", "c1.rev(a:1>2) c1.level c1.staged c1.commit(a:1>2) c1.wrote(a:1>2) c1.undo(a:2>1) c1.back(a:2>1) c1.undo(a:2>1)", "a=1", "FAIL forgery::c1 in-doubt:a:c1"},
		{"put back otherwise", "a=1", "c1.rev(a:1>2) c1.level c1.staged c1.commit(a:1>2) c1.wrote(a:1>2) c1.undo(a:2>3) c1.back(a:2>3)", "a=3", "FAIL forgery::c1"},
		{"dropped", "a=1", "c1.rev(a:1>2) c1.staged c1.back()", "a=1", "PASS"},
		{"dropped when denied", "a=1", "c1.rev(a:1>2) c1.staged c1.deny c1.back()", "a=1", "PASS"},
		{"barrier", "a=1", Granted + "look(a=2) c2.ask(a:2>3) c2.level c2.do(a:2>3) c2.done(a:2>3)", "a=3", "PASS"},
		{"two writes", "a=1", Granted + "c2.ask(a:2>1) c2.level c2.do(a:2>1) c2.done(a:2>1)", "a=1", "PASS"},
		{"crash before", "a=1", "c1.ask(a:1>2) c1.human c1.do(a:1>2) boot c1.found-not-executed(a:1>1)", "a=1", "PASS"},
		{"crash after", "a=1", "c1.ask(a:1>2) c1.human c1.do(a:1>2) boot c1.found-executed(a:1>2)", "a=2", "PASS"},
		{"crash while staged", "a=1", "c1.rev(a:1>2) c1.staged boot cut(c1) c1.back()", "a=1", "PASS"},
	}
}

func failCases() []Case {
	return []Case{
		{"bypass", "a=1", "", "a=2", "FAIL bypass:a:"},
		{"bypass of a new one", "", "", "a=2", "FAIL bypass:a:"},
		{"bypass beside", "a=1 b=1", Granted, "a=2 b=2", "FAIL bypass:b:"},
		{"bypass within another lease", "a=1 b=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) look(a=1 b=3) c1.done(a:1>2)", "a=2 b=3", "FAIL bypass:b:"},
		{"bypass undone after a barrier", "a=1", "look(a=2)", "a=1", "FAIL bypass:a: bypass:a:"},
		{"tamper", "G=1", "", "G=2", "FAIL tamper:G:"},
		{"drift", "a=1", "c1.ask(a:3>2) c1.level c1.do(a:3>2) c1.done(a:3>2)", "a=2", "FAIL drift:a:"},
		{"overlap", "a=1", Granted, "a=3", "FAIL overlap:a:"},
		{"overlap between", "a=1", Granted + "c2.ask(a:3>4) c2.level c2.do(a:3>4) c2.done(a:3>4)", "a=4", "FAIL overlap:a:"},
		{"silent failure", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>1)", "a=1", "FAIL silent-failure:a:c1"},
		{"silent half of a rename", "a=1", "c1.ask(a:1>0 b:0>1) c1.level c1.do(a:1>0 b:0>1) c1.done(a:1>1 b:0>1)", "a=1 b=1", "FAIL silent-failure:a:c1"},
		{"wrong target", "a=1 b=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>1)", "a=1 b=2", "FAIL wrong-target:a:c1"},
		{"wrong target by another time", "a=1 b=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>1) look(a=1 b=1)", "a=1 b=2", "FAIL bypass:b: silent-failure:a:c1"},
		{"wrong target, barrier blind", "a=1 b=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>1) look(a=1 b=?) c2.ask(b:2>3) c2.level c2.do(b:2>3) c2.done(b:2>3)", "a=1 b=3", "FAIL unread:b: wrong-target:a:c1"},
		{"not the target, but failed there", "a=1 b=1", "c1.ask(b:1>2) c1.level c1.do(b:1>2) c2.ask(a:1>2) c2.level c2.do(a:1>2) c1.error(b:1>2) c2.done(a:1>1)", "a=1 b=2", "FAIL partial:b:c1 silent-failure:a:c2"},
		{"the first of two targets", "a=1 b=1 x=1", "c1.ask(b:1>1) c1.level c1.do(b:1>1) c1.done(b:1>1) c2.ask(a:1>1) c2.level c2.do(a:1>1) c2.done(a:1>1) c3.ask(x:1>2) c3.level c3.do(x:1>2) c3.done(x:1>1)", "a=2 b=2 x=1", "FAIL overlap:b: wrong-target:x:c3"},
		{"swap", "a=1 b=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c2.ask(b:1>3) c2.level c2.do(b:1>3) c1.done(a:1>3) c2.done(b:1>2)", "a=3 b=2", "FAIL wrong-target:a:c1 wrong-target:b:c2"},
		{"wrong content", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>3)", "a=3", "FAIL wrong-content:a:c1"},
		{"content for no change", "a=1", "c1.ask(a:1>1) c1.level c1.do(a:1>1) c1.done(a:1>3)", "a=3", "FAIL wrong-content:a:c1"},
		{"partial", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.error(a:1>2)", "a=2", "FAIL partial:a:c1"},
		{"partial after a crash", "a=1 b=1", "c1.ask(a:1>2 b:1>2) c1.level c1.do(a:1>2 b:1>2) boot c1.found-partial(a:1>2 b:1>1)", "a=2 b=1", "FAIL partial:a:c1"},
		{"resolved as done, not done", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) boot c1.found-executed(a:1>1)", "a=1", "FAIL silent-failure:a:c1"},
		{"forged and matched", "a=1", "c1.done(a:1>2)", "a=2", "FAIL forgery::c1 forgery:a:c1"},
		{"forged, matched behind", "a=1", "c1.done()", "a=2", "FAIL bypass:a: forgery::c1"},
	}
}

func brokenCases() []Case {
	return []Case{
		{"no decision", "a=1", "c1.ask(a:1>2) c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"denied and done", "a=1", "c1.ask(a:1>2) c1.deny c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"no intent", "a=1", "c1.ask(a:1>1) c1.level c1.done()", "a=1", "FAIL forgery::c1"},
		{"intent of a read", "a=1", "c1.get() c1.level c1.do() c1.done()", "a=1", "FAIL forgery::c1"},
		{"two decisions", "a=1", "c1.ask(a:1>2) c1.deny c1.human", "a=1", "FAIL forgery::c1"},
		{"two requests", "a=1", Granted + "c1.ask(a:2>3)", "a=2", "FAIL forgery::c1"},
		{"two intents", "a=1", Granted + "c1.do(a:2>2) c1.done(a:2>2)", "a=2", "FAIL forgery::c1"},
		{"two outcomes", "a=1", Granted + "c1.done()", "a=2", "FAIL forgery::c1"},
		{"unsigned", "a=1", "c1.ask(a:1>2) c1.unsigned c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"expired", "a=1", "c1.ask(a:1>2) c1.expired c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"other envelope", "a=1", "c1.ask(a:1>2) c1.other c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"approved by no cause", "a=1", "c1.ask(a:1>2) c1.undeclared c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"other plan", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>3) c1.done(a:1>3)", "a=3", "FAIL forgery::c1"},
		{"other kind of intent", "a=1", "c1.ask(a:1>2) c1.level c1.commit(a:1>2) c1.wrote(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"not staged", "a=1", "c1.rev(a:1>2) c1.level c1.commit(a:1>2) c1.wrote(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"after a recovery", "a=1", "c1.ask(a:1>2) boot cut(c1) c1.human c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"readings without intent", "a=1", "c1.ask(a:1>2) c1.human c1.error(a:1>1)", "a=1", "FAIL forgery::c1"},
		{"an object twice", "a=1", "c1.ask(a:1>2 a:1>2) c1.level c1.do(a:1>2 a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"an object twice in readings", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>2 a:1>2)", "a=2", "FAIL forgery::c1"},
		{"another session", "a=1", "c1.ask(a:1>2) c1.elsewhere c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"another runtime", "a=1", "boot c1.ask(a:1>2) c1.level c1.stale(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"unverified, by its level", "a=1", "c1.low(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"guarded, by a policy", "a=1", "c1.guarded(a:1>2) c1.policy c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"put back from elsewhere", "a=1", "c1.rev(a:1>2) c1.level c1.staged c1.commit(a:1>2) c1.wrote(a:1>2) c1.undo(a:3>1) c1.back(a:3>1)", "a=1", "FAIL forgery::c1 overlap:a:"},
		{"two commits", "a=1", "c1.rev(a:1>2) c1.level c1.staged c1.commit(a:1>2) c1.wrote(a:1>2) c1.commit(a:2>2) c1.wrote(a:2>2)", "a=2", "FAIL forgery::c1"},
		{"approved, and closed by a recovery", "a=1", "c1.ask(a:1>2) c1.human boot cut(c1) c1.do(a:1>2) c1.done(a:1>2)", "a=2", "FAIL forgery::c1"},
		{"approved after a recovery", "a=1", "c1.ask(a:1>2) boot cut(c1) c1.human", "a=1", "FAIL forgery::c1"},
		{"read after a recovery", "a=1", "c1.get() c1.level boot cut(c1) c1.done()", "a=1", "FAIL forgery::c1"},
	}
}

func openCases() []Case {
	return []Case{
		{"in doubt", "a=1", "c1.ask(a:1>2) c1.human c1.do(a:1>2) boot", "a=2", "OPEN in-doubt:a:c1"},
		{"in doubt, opaque", "a=1", "c1.ask() c1.human c1.do()", "a=1", "OPEN in-doubt::c1"},
		{"in doubt, and a bypass", "a=1 b=1", "c1.ask(a:1>2) c1.human c1.do(a:1>2) boot", "a=2 b=2", "FAIL bypass:b: in-doubt:a:c1"},
		{"in doubt over a barrier", "a=1", "c1.ask(a:1>2) c1.human c1.do(a:1>2) boot look(a=2) c1.found-executed(a:1>2)", "a=2", "PASS"},
		{"unread at the start", "a=?", "", "a=1", "OPEN unread:a:"},
		{"unread at the end", "a=1", "", "a=?", "OPEN unread:a:"},
		{"unread on the way", "a=1", "look(a=?)", "a=1", "OPEN unread:a:"},
		{"unread on the way, and changed", "a=1", "look(a=?)", "a=2", "FAIL bypass:a: unread:a:"},
		{"unread after", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>?)", "a=2", "OPEN unread:a:c1"},
		{"unread after, and not done", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:1>?)", "a=1", "FAIL overlap:a: unread:a:c1"},
		{"unread before", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done(a:?>2)", "a=2", "OPEN unread:a:c1"},
		{"unread before, and drift", "a=1", "c1.ask(a:3>2) c1.level c1.do(a:3>2) c1.done(a:?>2)", "a=2", "FAIL drift:a: unread:a:c1"},
		{"no reading", "a=1", "c1.ask(a:1>2) c1.level c1.do(a:1>2) c1.done()", "a=2", "OPEN unread:a:c1"},
	}
}
