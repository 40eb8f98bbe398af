// Package gate decides calls and has them done (paper, section "The capability
// gate"; DESIGN sections 2 and 5). Nothing else reaches a host.
//
// It has two parts. A [Machine] is what may happen next: it is told an [Event]
// and answers with [Command]s, and does nothing else; it has no clock, no
// goroutine, no input and no output, and is the same every time. A [Gate] is the
// shell around it: it does the commands, each call's one after the other on a
// goroutine of the call's own, and tells the machine what came of them.
//
// # Routing
//
// One table, route.go. A class that the active manifest does not declare is
// denied; a target that none of its grants covers is asked about; so is whatever
// reaches for something guarded, declared or not.
//
//	covered        unverified   declared and above
//	none           run          run
//	reversible     stage        commit
//	irreversible   ask          auto
//
// The level is the lowest of all skills whose content the agent was given, in any
// of its sessions; the base manifest has no content and lowers nothing. It is
// looked at when the call is asked for, and again at the intent: what a level
// that has fallen since would have approved is refused ([LevelLowered]).
//
// # The life of a call
//
// A call stands in one phase, which is named for what it waits for.
//
//	phase       waits for                       then
//	previewing  a plan without a lease          requesting, staging, refusing
//	requesting  its request in the log          asked
//	asked       an answer                       deciding
//	deciding    the decision in the log         waiting, reading, ready; denied
//	staging     request and staged in the log   staged
//	staged      Confirming                      confirming; dropped
//	confirming  an answer                       deciding
//	ready       its turn, in the staged order   waiting
//	waiting     a lease                         planning; busy
//	planning    a plan under the lease          intending, refusing; previewing
//	intending   the intent in the log           doing
//	doing       the host, then the observer     settling
//	tainting    what its content does, in the log  reading, refusing
//	reading     the host                        settling
//	settling    the outcome in the log          committed; done, failed, in doubt
//	committed   Undoing, or its session's end   waiting, with a rollback for doing
//	refusing    the refusal in the log          denied, failed
//	doubtful    Settled
//
// By way of the table:
//
//	run     reading, settling
//	ask     previewing, requesting, asked, deciding, then as auto; a read is read
//	auto    waiting, planning, intending, doing, settling
//	commit  the same, and committed
//	stage   previewing, staging, staged; confirming, deciding, ready, then as commit
//
// staged, committed and doubtful are rest: nothing is under way, and the session
// can end. A call that is asked about holds no lease meanwhile: it is planned once
// more under the lease, and what is planned then has to be what was approved. A
// plan that shows more than the grants cover, such as what is in a directory,
// makes a call that the level would have approved one that is asked about. What
// reaches for something guarded and cannot be done is asked about too, and not
// attempted whatever the answer.
//
// # What is recorded when
//
// Each Append is one batch, durable as a whole or not at all. [What] names it:
//
//	Denial           request, decision(deny)        refused before anybody was asked
//	AskedFor         request                        before anybody is asked
//	Decided          decision                       before anything follows from it
//	StagedFor        reversible.request, staged     before the agent is told
//	IntendedByLevel  request, decision(approve),    under the lease, before the host
//	                 (staged,) intent
//	IntendedToAct    intent, commit.intent          the same, once approved
//	IntendedToUndo   rollback.intent                the same, to put back
//	ReadByLevel      request, decision(approve),    before the agent is told
//	                 executed or error
//	Came             the outcome, with readings     before the agent is told
//	NotTried         error                          approved, and not attempted
//	Dropped          rolled-back                    staged, and never in the world
//
// What could not be recorded before an intent is refused ([LogFailed]), and the
// call's key is free again if nothing of it is in the log. An outcome that could
// not be recorded leaves the call in doubt. When the log takes no more (Fatal)
// nothing is begun, not even what an intent is in the log for.
//
// # Bounds
//
// What an agent asks for in vain is bounded ([Limits]), so that one that floods
// costs neither people's time nor the disk, and takes nothing from the others.
// The numbers are those of the zero Limits:
//
//	under way     64 calls of a session
//	questions     20 of an agent wait, 8 of them of one session at most; the last 4
//	              places are for sessions of which none waits ([TooManyCalls])
//	not approved  128 MiB a day of an agent, twice the buffer: the envelopes and
//	              plans in requests that are denied, dropped or not answered yet. A
//	              session has half of what the agent's other sessions leave
//	              ([TooMuchAsked])
//
// A person is shown all of what is asked, so its envelope is kept before anybody is
// asked; what is approved stops to count. A call that is denied before anybody was
// asked is recorded with its envelope if that has at most 4 KiB and there is room
// for it, else with its hash alone. What is counted is forgotten on the next day,
// when the process ends, and by an operator's reset. Records themselves, of which
// a denied call makes two, are not bounded.
//
// # Leases
//
// A lease is the right to change objects: exclusive on the objects, which a
// directory extends to all below it, and in nobody's way above. A call gets all
// it needs at once, from before its plan until its outcome is durable, in the
// order in which calls began to wait: nobody gets what is in the way of one that
// waits longer, so none starves. Reads take none. Calls in doubt keep theirs
// until [Gate.Settle], beyond their session and the process; whoever wants to
// change the same is refused ([InDoubt]). A barrier stops leases from being given
// ([Held]), so that it begins ([Quiet]) when those that are held are given up;
// those in doubt do not count. A host that does not come back keeps it waiting.
//
// # Sessions
//
// A session is open when that is recorded. Pausing counts at once, resuming when
// it is recorded: a paused session reads, asks and intends nothing, and what was
// intended before comes to its end. So it is with one that ends: questions are
// abandoned, what is staged is dropped, what was committed is put back if that is
// wanted, the newest first; when nothing is under way the end is recorded. A
// second Ended may want more than the first, never less. Narrowed does the same to
// the calls under a skill; [Evict] says that no intent under it is on its way, so
// that its eviction stands in the log behind all of them. Putting back is not
// barred by any of these.
//
// # Keys
//
// A call with a key that the agent used before, in any session, gets what became
// of that one ([Repeat]), and is refused if it is another call ([KeyReused]). The
// newest 65,536 keys of an agent are remembered, those of earlier runtimes among
// them as far as whoever makes the gate knows them (Parts.Known); of those not
// what they told. An operator's reset lets go of what an agent's calls told: how
// they ended is told again, their results are not. What a read tells again counts
// as read again.
//
// # Labels
//
// What a call reads is joined into the agent's mark when it is asked for, denied
// or not, and must be below the operator's clearance; so is the label of a skill
// that is given. What it writes to must be above the mark, when it is asked for
// and again at the intent. Something without a label, or a call that names none,
// is refused ([Unlabelled]).
//
// A read that would tell files of a skill, by whatever name, does what the
// delivery of the skill does, but makes no skill active: a session record with the
// lowest level of such skills is durable before the host reads. A skill that is
// not loaded, or is revoked, counts as unverified. Listings tell no files.
//
// # Invariants
//
// The tests explore every state that calls, answers, faults of the log and of
// hosts, revocation, pauses, ends, barriers, repeated keys and crashes lead to,
// and find these to hold; bugs planted in the machine are found.
//
//	I1  no effect before its intent is durable
//	I2  at most one live intent for a key
//	I3  what is in doubt is not done again
//	I4  done is said when the outcome is durable, not before
//	I5  what cannot be recorded is not admitted
//	W   one request, one decision, one intent that an approval stands before, one
//	    outcome, in this order
//	    no two leases are in each other's way, and no effect is without one
//	    no intent in a session that is paused or over, or under a revoked skill
//	    every call ends, rests, or waits for a host; every session that is to end ends
//
// # The shell
//
// A host is given a [Permit], made for one intent that is durable and taken once.
// [Gate.Close] ends every session, and waits for all that is under way or until
// its context ends; what has not come back by then is in doubt, and the next
// runtime resolves it from the log. A Gate is safe for concurrent use, a Machine
// is not. The zero Machine refuses everything.
package gate
