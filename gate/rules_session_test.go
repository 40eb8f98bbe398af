package gate

import "slices"

func checkUndo() error {
	r := newRig(nil)
	for _, id := range []string{"a", "b", "c"} {
		r.toDone(r.call(id, "d", "commit"), 1)
	}
	r.does(Undoing{Session: "d"}, PlanIt{ID: "c", Undo: true}, TellSession{Session: "d"})
	r.does(Planned{ID: "c"}, Append{ID: "c", What: IntendedToUndo})
	r.does(Appended{ID: "c"}, DoIt{ID: "c", Phase: Rollback})
	r.does(Finished{ID: "c"}, Append{ID: "c", What: Came, Undo: true})
	r.does(Appended{ID: "c"}, Tell{ID: "c", Status: Done, Last: true}, PlanIt{ID: "b", Undo: true})
	r.does(Planned{ID: "b", Refused: Conflict}, Tell{ID: "b", Status: Failed, Reason: Conflict}, PlanIt{ID: "a", Undo: true})
	r.does(Planned{ID: "a"}, Append{ID: "a", What: IntendedToUndo})
	r.does(Appended{ID: "a", Failed: true}, Tell{ID: "a", Status: Failed, Reason: LogFailed})
	r.does(r.call("e", "d2", "auto"), PlanIt{ID: "e"})
	r.does(Pausing{Session: "d"}, RecordSession{Session: "d", What: RecordPaused})
	r.does(Undoing{Session: "d"}, Wait{ID: "b"}, TellSession{Session: "d"})
	r.does(WaitedEnough{ID: "b"}, Tell{ID: "b", Status: Failed, Reason: Busy}, Wait{ID: "a"})
	r.does(WaitedEnough{ID: "a"}, Tell{ID: "a", Status: Failed, Reason: Busy})
	r.does(Undoing{Session: "d"}, Wait{ID: "b"}, TellSession{Session: "d"})
	r.does(Planned{ID: "e", Refused: NotFound}, refused("e", NotFound))
	r.does(Appended{ID: "e"}, Tell{ID: "e", Status: Denied, Reason: NotFound, Last: true}, PlanIt{ID: "b", Undo: true})
	r.does(Planned{ID: "b"}, Append{ID: "b", What: IntendedToUndo})
	r.does(Appended{ID: "b"}, DoIt{ID: "b", Phase: Rollback})
	r.does(Finished{ID: "b", Failed: HostFailed}, Append{ID: "b", What: Came, Undo: true})
	r.does(Appended{ID: "b"}, Tell{ID: "b", Status: Failed, Reason: HostFailed, Last: true}, PlanIt{ID: "a", Undo: true})
	r.does(Ended{Session: "d"})
	r.does(Ended{Session: "d", How: Aborting, Undo: true, Ticket: 7})
	r.does(Planned{ID: "a"}, Append{ID: "a", What: IntendedToUndo})
	r.does(Appended{ID: "a"}, DoIt{ID: "a", Phase: Rollback})
	r.does(Finished{ID: "a"}, Append{ID: "a", What: Came, Undo: true})
	r.does(Appended{ID: "a"}, Tell{ID: "a", Status: Done, Last: true})
	r.does(Recorded{Session: "d"}, TellSession{Session: "d"}, RecordSession{Session: "d", What: RecordEnded, How: Aborting})
	r.toDone(r.call("f", "d2", "commit"), 1)
	r.does(Ended{Session: "d2", How: Aborting, Undo: true}, PlanIt{ID: "f", Undo: true})
	return r.err
}

func checkStaged() error {
	r := newRig(nil)
	for _, id := range []string{"a", "b", "c"} {
		r.toStaged(r.call(id, "u", "staged"), 1)
	}
	r.does(Confirming{Session: "u"}, Ask{ID: "a"}, Ask{ID: "b"}, Ask{ID: "c"}, TellSession{Session: "u"})
	r.does(Answered{ID: "b", Approve: true}, Append{ID: "b", What: Decided})
	r.does(Appended{ID: "b"})
	r.does(Answered{ID: "c", Why: TimedOut}, Append{ID: "c", What: Decided, Why: TimedOut})
	r.does(Appended{ID: "c"}, Tell{ID: "c", Status: Denied, Reason: TimedOut, Last: true})
	r.does(Answered{ID: "a", Approve: true}, Append{ID: "a", What: Decided})
	r.does(Appended{ID: "a"}, PlanIt{ID: "a", Approved: true})
	r.wants("what is being committed is staged still", func() bool { return slices.Equal(r.m.sessions["u"].staged, []string{"a", "b"}) })
	r.does(Planned{ID: "a"}, Append{ID: "a", What: IntendedToAct})
	r.does(Appended{ID: "a"}, DoIt{ID: "a", Phase: Commit})
	r.does(Finished{ID: "a"}, Append{ID: "a", What: Came})
	r.does(Appended{ID: "a"}, Tell{ID: "a", Status: Done}, PlanIt{ID: "b", Approved: true})
	r.does(Ended{Session: "u"})
	r.does(Planned{ID: "b"}, Append{ID: "b", What: NotTried, Why: SessionEnded})
	r.does(Appended{ID: "b"}, Tell{ID: "b", Status: Failed, Reason: SessionEnded, Last: true}, RecordSession{Session: "u", What: RecordEnded})
	r.does(r.call("e", "u", "staged"), Tell{ID: "e", Status: Refused, Reason: SessionEnded, Last: true})
	return r.err
}

func checkSessions() error {
	r := newRig(nil)
	paused, resumed := RecordSession{Session: "d", What: RecordPaused}, RecordSession{Session: "d", What: RecordResumed}
	told := TellSession{Session: "d"}
	r.does(Resuming{Session: "d"}, told)
	r.does(Pausing{Session: "d"}, paused)
	r.does(r.call("a", "d", "auto"), refused("a", SessionPaused))
	r.does(Given{Session: "d", Subject: "dd"}, TellSession{Session: "d", Failed: SessionPaused})
	r.does(Confirming{Session: "d"}, TellSession{Session: "d", Failed: SessionPaused})
	r.does(Resuming{Session: "d"})
	r.does(Recorded{Session: "d"}, told, resumed)
	r.does(r.call("b", "d", "auto"), refused("b", SessionPaused))
	r.does(Pausing{Session: "d"})
	r.does(Recorded{Session: "d"}, told, paused)
	r.does(r.call("c", "d", "auto"), refused("c", SessionPaused))
	r.does(Pausing{Session: "d"}, TellSession{Session: "d", Failed: SessionPaused})
	r.does(Recorded{Session: "d"}, told)
	r.does(Resuming{Session: "d"}, resumed)
	r.does(Recorded{Session: "d", Failed: true}, TellSession{Session: "d", Failed: LogFailed})
	r.does(r.call("e", "d", "auto"), refused("e", SessionPaused))
	r.does(Resuming{Session: "d"}, resumed)
	r.does(Recorded{Session: "d"}, told)
	r.does(r.call("f", "d", "auto"), PlanIt{ID: "f"})
	r.does(Opened{Session: "d", Agent: "D"}, TellSession{Session: "d", Failed: SessionUnknown})
	r.does(Opened{Session: "p", Agent: "D", Skill: "dd", Paused: true}, RecordSession{Session: "p", What: RecordOpened})
	r.does(r.call("g", "p", "auto"), Tell{ID: "g", Status: Refused, Reason: SessionUnknown, Last: true})
	r.does(Recorded{Session: "p"}, TellSession{Session: "p"}, RecordSession{Session: "p", What: RecordPaused})
	r.does(r.call("h", "p", "auto"), refused("h", SessionPaused))
	r.does(Opened{Session: "q", Agent: "D"}, RecordSession{Session: "q", What: RecordOpened})
	r.does(Recorded{Session: "q", Failed: true, Fatal: true}, TellSession{Session: "q", Failed: LogFailed}, TellSession{Session: "q", Over: true})
	r.does(Opened{Session: "s", Agent: "D"}, TellSession{Session: "s", Failed: LogFailed, Over: true})
	r.does(Planned{ID: "f"}, refused("f", LogFailed))
	return r.err
}

func checkOverdue() error {
	r := newRig(nil)
	r.does(r.call("a", "d", "read"), DoIt{ID: "a", Phase: Read})
	r.does(Overdue{ID: "a"}, Tell{ID: "a", Status: Doubtful, Reason: HostOverdue})
	r.does(Overdue{ID: "a"})
	r.does(Finished{ID: "a"}, Append{ID: "a", What: ReadByLevel})
	r.does(r.call("b", "d", "auto"), PlanIt{ID: "b"})
	r.does(Planned{ID: "b"}, Append{ID: "b", What: IntendedByLevel})
	r.does(Appended{ID: "b"}, DoIt{ID: "b", Phase: Execute})
	r.does(Overdue{ID: "b"}, Tell{ID: "b", Status: Doubtful, Reason: HostOverdue})
	r.does(Held{})
	r.does(Finished{ID: "b"}, Append{ID: "b", What: Came})
	r.does(Appended{ID: "b"}, Tell{ID: "b", Status: Done, Last: true}, Quiet{})
	return r.err
}

func checkDoubts() error {
	r := newRig(nil)
	r.does(r.call("a", "d", "commit"), PlanIt{ID: "a"})
	r.does(Planned{ID: "a", Size: 3}, Append{ID: "a", What: IntendedByLevel})
	r.does(Appended{ID: "a"}, DoIt{ID: "a", Phase: Commit})
	r.does(Finished{ID: "a"}, Append{ID: "a", What: Came})
	r.does(Appended{ID: "a", Failed: true}, Tell{ID: "a", Status: Doubtful, Reason: LogFailed, Last: true})
	r.does(r.call("b", "d", "auto"), refused("b", InDoubt))
	r.does(r.call("c", "u", "unverified", changes(stageObjects[2])), refused("c", InDoubt))
	r.does(Appended{ID: "b"}, Tell{ID: "b", Status: Denied, Reason: InDoubt, Last: true})
	r.does(Held{}, Quiet{})
	r.does(Unheld{})
	r.does(Ended{Session: "d"}, RecordSession{Session: "d", What: RecordEnded})
	r.does(Recorded{Session: "d"}, TellSession{Session: "d"}, TellSession{Session: "d"}, TellSession{Session: "d", Over: true})
	r.does(r.call("e", "d2", "auto"), refused("e", InDoubt))
	r.does(Settled{ID: "a"})
	r.does(r.call("f", "d2", "auto"), PlanIt{ID: "f"})
	return r.err
}

func checkRevocation() error {
	r := newRig(nil)
	r.toAsked(r.call("a", "d", "asked"))
	r.does(r.call("b", "d", "auto"), PlanIt{ID: "b"})
	r.does(Planned{ID: "b"}, Append{ID: "b", What: IntendedByLevel})
	r.does(r.call("c", "d", "auto"), Wait{ID: "c"})
	r.does(r.call("f", "d2", "auto", changes(stageObjects[1])), PlanIt{ID: "f"})
	r.does(Given{Session: "u", Subject: "dd"}, RecordSession{Session: "u", What: RecordSkill, Subject: "dd"})
	r.does(Narrowed{Subjects: []string{"dd"}},
		Abandon{ID: "a"}, Append{ID: "a", What: Decided, Why: SkillRevoked}, Append{ID: "c", What: Denial, Why: SkillRevoked})
	r.does(Recorded{Session: "u"}, TellSession{Session: "u", Failed: SkillRevoked})
	r.does(Answered{ID: "a", Approve: true}, Late{ID: "a"})
	r.does(Planned{ID: "f"}, refused("f", SkillRevoked))
	r.does(Appended{ID: "b"}, DoIt{ID: "b", Phase: Execute}, Evict{})
	r.does(r.call("e", "d2", "auto"), refused("e", SkillRevoked))
	r.does(Given{Session: "d2", Subject: "dd"}, TellSession{Session: "d2", Failed: SkillRevoked})
	return r.err
}
