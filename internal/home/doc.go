// Package home is the directory in which an operator's iff lives, and what
// its verbs do there. It is the one place that knows the layout:
//
//	iff.toml           configuration: profile, operator, clearance, root key, log,
//	                   corpora with their labels, who is asked, hosts, upstreams,
//	                   sockets, guarded files
//	iff.toml.sig       the root key's signature over it and the policy files, if any
//	trust/N.json       the trust chain, version N (package trust)
//	keys/NAME.key      private keys, NAME.pub the public halves (package keyfile)
//	base/              the operator's manifest without content
//	skills/ROOT/       sidecars of skills whose directory is not ours to write,
//	                   by content root
//	log/               the log (packages audit and internal/store/file); its lock is
//	                   held by the process that writes to the home
//	anchors/           copies of what the anchors hold (package internal/anchor)
//	run/               sockets of the runtime
//
// The home is mode 0700, files are 0600. [Init] builds it beside its place and
// renames it there, so that there is a whole home or none.
//
// [Open] reads and checks everything in the order that bootstrap needs:
// configuration, log, anchors, trust chain. A log that is not the configured one,
// or shorter or other than an anchor saw, is refused; so is a chain that is not
// signed by the configured root key, or is older than the log says. A Home opened
// for writing holds the log's lock until Close; one opened for reading takes none
// and sees the state at that instant.
//
// # Configuration
//
// What a key of iff.toml means stands in the table types, config_*.go: the parser, the
// JSON schema ([Schema]) and the question what a typo was meant to be are made of the
// same tags. Every value is bounded, every error names line, field and remedy. Policy
// files are read with it, once: what was read is what decides, what is signed and what
// [Home.ConfigDigest] is of.
//
// # Profile strict
//
// A signature, once it is there, has to be right for every opening but to read. In
// profile strict it has to be there, and to [Run] everything has to hold that
// [Home.Strict] looks at: the signature, an anchor that answers, agents of other users,
// and keys that those cannot read, in a home in whose place nobody can put another. A
// home of somebody else does not open, in either profile, but for root.
//
// # Corpora
//
// A corpus is a directory that iff.toml names, with a label for every object in
// it: the join of the corpus's and of all entries that name the object, so an
// entry raises and never lowers. [Home.CheckCorpora] refuses a corpus that shares
// a directory with another one or with anything of the home. It compares device
// and inode of every directory above, and on Linux the path in the file system,
// so neither links nor bind mounts hide it; paths are not compared.
// [Home.LockCorpora] has each root for one runtime on the machine: an exclusive
// flock(2) on the root itself and shared ones on the directories of the same user
// above it. Opening a home looks at no corpus, for the log can be read while a
// disk is away.
//
// # The log's key
//
// The log's own key is plain, keys/log-N.key, for it grants nothing: it signs
// checkpoints. When it is changed the key before is erased.
//
// This room is not in the first design's list. It exists so that the command
// line, and later the runtime and connect, adopt and sign in one way.
package home
