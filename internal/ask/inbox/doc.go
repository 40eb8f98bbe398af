// Package inbox is the broker that asks a human: questions are posted and wait
// for somebody who lists, reads and answers them.
//
// # A question's life
//
// [Inbox.Ask] posts all that is asked together as one group and returns when
// each of its questions has ended. A question ends once, in one of four ways,
// and whatever comes first counts:
//
//	answered    [Inbox.Answer] took an answer before the deadline
//	timed-out   its deadline came; the answer is deny, cause timeout
//	cancelled   the context of Ask ended; the answer is deny, cause cancelled, or timeout
//	            if the context's deadline was what ended it
//
// An answer counts if it is taken strictly before the deadline and before the
// context ends. One that comes later is refused with answer-late; if it would have
// counted in time it is handed to [Options.Late], so that it is recorded. For that
// the newest questions that ended are kept: at most [MaxRecent], of them at most
// [MaxKept] bytes, and none for longer than [KeptFor]. A question that is refused
// at once because too many wait is counted and never listed.
//
// Answer holds each answer against [Options.Check] before it takes it, so that a
// human is told at once what is wrong with it. That is a courtesy: the gate
// checks whatever comes out of Ask again.
//
// # Places
//
//	MaxPerAgent    20   groups of one agent wait
//	MaxPerSession   8   of them of one session
//	KeptFree        4   of the 20 are for sessions of which no group waits
//	MaxPending    200   questions wait in all
//	MaxOfAgent    160   of them of one agent
//
// An agent is a principal, so programs of one user are one agent: the places of one
// session leave some to the others. A group that finds none is refused with
// inbox-full, and counted.
//
// # Time
//
// Deadlines are those of the questions. The clock is [Options.Now], the timers
// are those of package time. There are no goroutines but the caller's.
package inbox
