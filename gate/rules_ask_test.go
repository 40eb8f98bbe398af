package gate

import "fmt"

// weighs is a call of so many bytes, on a day.
func weighs(bytes, day int64) func(*Facts) {
	return func(f *Facts) { f.Weight, f.Day = bytes, day }
}

// refusedBare is what is said of a call that is denied, of which only the hash is kept.
func refusedBare(id string, why Reason) Append {
	return Append{ID: id, What: Denial, Why: why, Bare: true}
}

// denied has a call that waits for an answer denied.
func (r *rig) denied(id string) {
	r.does(Answered{ID: id, Why: DeniedByBroker}, Append{ID: id, What: Decided, Why: DeniedByBroker})
	r.does(Appended{ID: id}, Tell{ID: id, Status: Denied, Reason: DeniedByBroker, Last: true})
}

// checkPlaces shares the places of questions among the sessions of an agent.
func checkPlaces() error {
	r := newRig(func(r *Rules) { r.Asked = 10 })
	for _, id := range []string{"d3", "d4"} {
		r.m.Step(Opened{Session: id, Agent: "D", Skill: "dd"})
		r.m.Step(Recorded{Session: id})
	}
	full := func(id, session string) {
		r.does(r.call(id, session, "asked"), Preview{ID: id})
		r.does(Planned{ID: id}, refused(id, TooManyCalls))
		r.does(Appended{ID: id}, Tell{ID: id, Status: Denied, Reason: TooManyCalls, Last: true})
	}
	for i := range 8 { // two fifths each, and the last fifth is not for who has some
		id := fmt.Sprint("a", i)
		r.toAsked(r.call(id, []string{"d", "d2"}[i/4], "asked"))
		if i == 3 {
			full("x", "d")
		}
	}
	full("y", "d2")
	r.toAsked(r.call("b", "d3", "asked"))
	full("z", "d3")
	r.toAsked(r.call("c", "d4", "asked"))
	full("v", "b")
	for _, id := range []string{"a0", "a1", "a2", "c"} {
		r.denied(id)
	}
	r.toAsked(r.call("e", "d", "asked"))
	r.does(r.call("f", "d", "read-asked"), Append{ID: "f", What: AskedFor})
	r.does(r.call("g", "d", "read-asked"), refused("g", TooManyCalls))
	return r.err
}

// checkUnwanted bounds what is written of calls that nobody approves.
func checkUnwanted() error {
	r := newRig(func(r *Rules) { r.Unwanted = 1000 })
	over := func(c Submitted, listed int64) {
		r.does(c, Preview{ID: c.ID})
		r.does(Planned{ID: c.ID, Listed: listed}, Append{ID: c.ID, What: Denial, Why: TooMuchAsked, Bare: listed == 0})
		r.does(Appended{ID: c.ID, Failed: true}, Tell{ID: c.ID, Status: Refused, Reason: LogFailed, Last: true})
	}
	asked := func(c Submitted, listed int64) {
		r.does(c, Preview{ID: c.ID})
		r.does(Planned{ID: c.ID, Listed: listed}, Append{ID: c.ID, What: AskedFor})
		r.does(Appended{ID: c.ID}, Ask{ID: c.ID})
	}
	asked(r.call("a", "d", "asked", weighs(200, 5)), 200)
	over(r.call("b", "d", "asked", weighs(100, 5)), 1)
	r.denied("a")
	asked(r.call("c", "d2", "asked", weighs(300, 5)), 0) // half of the 600 that are left
	r.does(Answered{ID: "c", Approve: true}, Append{ID: "c", What: Decided})
	r.does(Appended{ID: "c"}, PlanIt{ID: "c", Approved: true})
	asked(r.call("e", "d2", "asked", weighs(300, 5)), 0)
	r.denied("e")
	return checkUnwantedLater(r, over, asked)
}

// checkUnwantedLater goes on in another session, and on the next day.
func checkUnwantedLater(r *rig, over, asked func(Submitted, int64)) error {
	over(r.call("g", "b", "asked", weighs(151, 5)), 0) // half of the 300 that are left
	asked(r.call("h", "b", "asked", weighs(149, 5)), 0)
	over(r.call("i", "b", "asked", weighs(2, 4)), 0) // as a clock that is set back would have it
	r.does(r.call("j", "d", "asked", weighs(101, 5), void(NoCorpus)), refusedBare("j", NoCorpus))
	r.does(r.call("k", "d", "asked", weighs(0, 5), void(NoCorpus)), refusedBare("k", NoCorpus))
	r.does(r.call("l", "d", "asked", weighs(500, 6), void(NoCorpus)), refused("l", NoCorpus))
	r.does(r.call("m", "d", "asked", weighs(1, 6), void(NoCorpus)), refusedBare("m", NoCorpus))
	r.does(Appended{ID: "l", Failed: true}, Tell{ID: "l", Status: Refused, Reason: LogFailed, Last: true})
	r.does(r.call("n", "d", "asked", weighs(500, 6), void(NoCorpus)), refused("n", NoCorpus))
	r.does(Forgiven{Agent: "D"})
	r.does(r.call("o", "d", "asked", weighs(500, 6), void(NoCorpus)), refused("o", NoCorpus))
	// What is staged counts until it is approved.
	r.does(r.call("s", "u", "staged", weighs(400, 6)), Preview{ID: "s"})
	r.does(Planned{ID: "s", Listed: 100}, Append{ID: "s", What: StagedFor})
	r.does(Appended{ID: "s"}, Tell{ID: "s", Status: StagedStatus})
	r.does(r.call("t", "u", "staged", weighs(1, 6)), Preview{ID: "t"})
	r.does(Planned{ID: "t"}, refusedBare("t", TooMuchAsked))
	if r.err == nil {
		r.err = checkUnwantedForgotten()
	}
	large := newRig(nil)
	large.does(large.call("a", "d", "asked", weighs(maxDenied, 1), void(NoCorpus)), refused("a", NoCorpus))
	large.does(large.call("b", "d", "asked", weighs(maxDenied+1, 1), void(NoCorpus)), refusedBare("b", NoCorpus))
	if r.err == nil {
		r.err = large.err
	}
	return r.err
}

// checkUnwantedForgotten gives back what was counted, where it was counted and once.
func checkUnwantedForgotten() error {
	r := newRig(func(r *Rules) { r.Unwanted = 1000 })
	asks := func(id, session string, bytes, day int64) {
		r.does(r.call(id, session, "asked", weighs(bytes, day)), Preview{ID: id})
		r.does(Planned{ID: id}, Append{ID: id, What: AskedFor})
		r.does(Appended{ID: id}, Ask{ID: id})
	}
	approved := func(id string) {
		r.does(Answered{ID: id, Approve: true}, Append{ID: id, What: Decided})
		r.does(Appended{ID: id}, PlanIt{ID: id, Approved: true})
		r.does(Planned{ID: id, Refused: Conflict}, Append{ID: id, What: NotTried, Why: Conflict})
		r.does(Appended{ID: id}, Tell{ID: id, Status: Failed, Reason: Conflict, Last: true})
	}
	asks("a", "d", 1, 6)
	asks("b", "d", 499, 5) // the clock was set back
	approved("b")
	asks("c", "d", 499, 5)
	r.does(Forgiven{Agent: "D"})
	asks("e", "d", 400, 6)
	approved("c")
	r.does(r.call("f", "d", "asked", weighs(101, 6)), Preview{ID: "f"})
	r.does(Planned{ID: "f"}, refusedBare("f", TooMuchAsked))
	return r.err
}
