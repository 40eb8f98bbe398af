// Package iff is the runtime that stands between an AI agent and the world.
//
// Skills are untrusted code until they are verified. iff loads only signed ones,
// decides every call by the level of the active skill, asks a person only for
// what nothing covers, writes a log that shows tampering, and proves afterwards
// that the world changed if and only if an approved call is in the log.
//
// # Life of a skill
//
// Bytes on disk are read by skill.Read, within limits, without following
// links. Nothing is believed yet. An operator inspects them (skill.Inspect),
// adopts them as unverified with a key that grants nothing, or signs them at a
// level with a protected one (skill.Sign). At bootstrap skill.Loader takes
// each through the paper's seven steps and records the outcome; Freeze ends
// that, and what was hashed is what is served for the whole session.
//
// # Life of a runtime
//
// [Bootstrap] opens a home, which has trust root, label scheme, configuration and
// log checked against one another, locks its corpora, and loads skills.
// [Boot.Lock] ends that for good. [Locked.Start] records boot and lock, finds out
// what became of calls that a crash interrupted, and takes the first snapshot. A
// [Runtime] opens sessions. Each of the four is a type of its own: no method of a
// Runtime or a [Session] loads a skill, widens trust or raises a level.
//
// # Life of a call
//
// An agent hands [Session.Call] words. They become one envelope in canonical form,
// whose hash is what is approved, recorded and done. The gate asks the class's
// host what the call reaches for, joins the labels of what it would tell into the
// session's mark, and routes it by one table: effect of the class, what the
// active manifest declares and covers, the session's level, whether something
// guarded is reached. Then, by route:
//
//	denied      request, decision
//	read        done; request, decision, outcome in one batch; reply
//	by level    lease, plan; request, decision, intent durable; permit; done;
//	            read by the observer; outcome durable; reply
//	asked       plan; request durable; a person decides and signs; decision
//	            durable; lease, plan again, compared with what was approved;
//	            then as above
//	staged      request durable; kept in memory, seen by its session alone; asked
//	            about at the barrier
//
// Who is asked is a chain: rules, a service, a person, each of which may pass
// ([github.com/iff-run/iff/broker]). What a host reaches beyond the corpora has a
// label of its own, which holds for what goes there and what comes back.
//
// iff has hosts for files, for HTTP, and for tools of other MCP servers. A call of
// such a tool is whatever capability and target its mapping makes of it, found out
// again by the host, so that an agent cannot choose a softer one.
//
// A host gets a permit, once, when the intent is durable, and knows what to do
// from nowhere else. The gate's decisions are a pure function of events
// ([github.com/iff-run/iff/gate]), so that all its states can be explored.
//
// # Embedding
//
// A program of one's own adds hosts for classes that iff has none for, and may ask
// in its own way. See the example.
package iff
