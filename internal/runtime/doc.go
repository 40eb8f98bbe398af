// Package runtime puts a gate together with what it needs: a log, a locked
// trust root, frozen skills, corpora with their observers, hosts and a broker. It
// takes them as parts, so that whoever tests a runtime has the same door as
// whoever runs one.
//
// # Start
//
// In this order, each step recorded before the next: boot (with a fence higher
// than any before, and the digests of configuration and trust), lock (which
// skills are frozen), what became of each call in doubt, and a barrier with whole
// snapshots.
//
// A call in doubt has an intent and no outcome. Its hosts first bring to an end
// what it left under its staging name ([Mender]); then its objects are read. All
// as planned: executed. All as before: not executed. Each one or the other:
// partial. Anything else: conflict, for somebody else was there. If one of them
// cannot be read the call stays in doubt, nobody is let at its objects, and
// verdicts are OPEN until an operator says what became of it ([Runtime.Settle]).
// Nothing is ever done a second time.
//
// Then the calls that had an idempotency key are read from the log, backwards, so
// that none of them is done again in whatever session it is asked for: the newest
// 65,536 keys, from at most 1,048,576 records.
//
// # Barriers
//
// A barrier reads every corpus while nobody holds a lease. One is taken when a
// session begins, commits or ends, when a verdict is asked for, and when the
// runtime ends; its record has the root of each corpus and what changed since the
// one before, or everything: at the start, and from time to time while no call is
// under way, so that a verdict need not read the log from its beginning.
//
// At a barrier every session at level tested or formal is judged. If its verdict
// is not PASS it is aborted, and what it committed is put back.
//
// # Sessions
//
// A session belongs to a principal, which comes from a credential. What a
// principal was given and has read follows it through all its sessions, until an
// operator resets it. A session that a crash interrupted can be taken up by its
// principal: with the same id, active skill and pause. What it
// had staged, and the states before what it had committed, were in memory and are
// gone.
//
// Skills are listed with the signer's summary; the words of an unverified skill
// are shown only as its content, to who asks for that. Delivering content is
// recorded first.
//
// # Refusals
//
// What an agent sends and what is refused before it can become a call leaves
// record.Refused ([Runtime.NoteRefused]): the first of an agent, session, channel
// and reason at once and beside whoever reads the connection, the others as a
// count, when the session or the runtime ends or a minute has passed. So a flood
// makes few records, and a crash loses at most a count.
//
// # Guarded objects
//
// Files of skills, loaded or refused, and control files of agents: see the
// guard's routes in guard.go. A skill that lies in no corpus is named
// iff-skills:<skill>/<path> where a call reaches for it. What a link leads to whose
// own path is a control file's is one too; links are looked for at every barrier.
// A read of a file of a skill, by whatever name, is a delivery of the skill.
//
// Control files of agents that lie in no corpus are observed under iff-control, at
// every barrier. No call can target them, and every change there is tampering
// ([ControlFiles]).
//
// What was tried is recorded with the states before, proposed and after. Those of
// a skill that lies in no corpus iff reads itself. Such a skill can be reached only
// in a spelling or by a link that is refused whatever the answer, and no plan is
// made of such a call: the state proposed is unreadable, and what it would have
// written stands in the payload of its request. Where the skill's directory itself
// cannot be opened any more, before and after are unreadable too.
//
// # Verdicts
//
// [Judge] needs a log and what the corpora are, and no runtime. The interval of a
// session goes from the barrier at which it began to the first one behind its
// end, or to now. Chain and snapshots are checked on the way; signatures of
// checkpoints are for audit.Verify.
package runtime
