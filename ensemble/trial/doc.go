// Package trial has the roles of package ensemble act on what an operator has
// configured: the same trusted signers, skills, levels, policies, labels, and volatile
// and guarded patterns, on a copy of one of the corpora.
//
// # What is as it is
//
// The home is opened for reading and nothing else: its log, keys, locks and sockets are
// not touched, and a runtime that serves it goes on. What keeps such a runtime from
// starting keeps a trial from starting, with the same error, save for locks: in profile
// strict an anchor of the log is asked whether it answers, as there. Skills are
// read where they lie, and measured against what the home's log knows of them.
//
// # What is not
//
//	corpus     one, copied ([Options].Corpus), in which lies what agents name without
//	           a corpus; calls to others have no-corpus
//	log        one of the trial's own, beside the copy, with a key of its own; so no
//	           target was seen before, and no agent has read anything
//	trust      the operator's signers and revocations under a root key of the trial's
//	           own, with one more signer, who may approve calls and nothing else
//	who is     policies answer as they do. Where iff.toml asks a webhook or the inbox,
//	asked      [Options].Answer says what a person would, signed by that signer. Where it
//	           asks nobody, nobody is asked
//	hosts      that of files, on the copy. Requests to hosts of the network are looked at
//	           and decided like others, and then not sent: no-host. Other classes, and
//	           tools of upstreams, have no host
//	agents     principals named by their role and number; each uses one of the skills that
//	           are loaded, or none
//
// Control files of agents outside of every corpus are not observed.
//
// # The copy
//
// It has regular files and directories, with their modes, and the second names of
// files within it. Links are copied as links where they are relative and go up, if at
// all, at their beginning only and not above the root: so each of them stays inside,
// and so does what several lead to. All else is left out, and told ([Copied].Left):
// other links, special files, mounts, files that cannot be read or that change
// meanwhile. Owners and extended attributes are not copied. Nothing is followed, and the
// corpus is only read. It is bounded in files and bytes.
//
// Copy and log lie in a directory of package scratch: removed at the end, or, of a
// trial that was killed, by the next one in the same place. None is made inside a corpus
// or the home.
//
// # Rounds
//
// Every round each agent takes one turn, one after the other, and the runtime judges
// the round: a barrier, with every byte read, and a verdict. What comes of a trial with
// scripts follows from the seed, the configuration and the corpus, save for times, keys
// and hashes that hang on those.
//
// A mind that tells what it hears to somebody else is told only what may flow to them
// ([Cast].Outside): where its session has read more it is not asked any more.
package trial
