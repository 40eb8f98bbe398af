// Package home is the directory in which an operator's iff lives, and what
// its verbs do there. It is the one place that knows the layout:
//
//	iff.toml           configuration: profile, operator, clearance, root key
//	trust/N.json       the trust chain, version N (package trust)
//	keys/NAME.key      private keys, NAME.pub the public halves (package keyfile)
//	base/              the operator's manifest without content
//	skills/ROOT/       sidecars of skills whose directory is not ours to write,
//	                   by content root
//	records.jsonl      the records (package record)
//	lock               held by the process that writes
//
// The home is mode 0700, files are 0600. [Init] builds it beside its place and
// renames it there, so that there is a whole home or none.
//
// [Open] reads and checks everything in the order that bootstrap needs:
// configuration, trust chain, records; a chain that is not signed by the
// configured root key, or is older than the records say, is refused. A Home
// opened for writing holds the lock until Close; one opened for reading takes
// none and sees the state at that instant.
//
// This room is not in the first design's list. It exists so that the command
// line, and later the runtime and connect, adopt and sign in one way.
package home
