// Package gatetest is a small world in memory for tests of whatever runs calls
// through a gate: a host that can be told to misbehave, an observer that sees
// the truth, a log that can fail, a broker that follows a script. Nothing that
// ships imports it; a test says so.
//
// A [World] is files of the corpus work, by path. Its calls are
//
//	fs.read         {} or {"op":"read"}
//	fs.write.rev    {"op":"write","content":"..."}, {"op":"append","content":"..."}
//	fs.write.irrev  those, {"op":"delete"}, {"op":"rename","to":"path"}
//
// A [Bench] puts a gate together over one, with a [Log] and a [Broker].
package gatetest
