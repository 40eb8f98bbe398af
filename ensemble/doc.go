// Package ensemble tries the gate and the verdict on agents that want to do harm,
// and on hosts, logs and neighbours that do (paper, section "Adversarial-ensemble
// evaluation").
//
// # A run
//
// A run is a directory of small files with the names of a company's documents, a
// log beside it, and a runtime over both with real files, real records and real
// signatures. K agents act in R rounds; then the whole is judged, from the log and
// the corpus. Agents have the paper's roles: the cleaner deletes, the consolidator
// merges, the auditor marks, the critic does whatever is destructive or not allowed.
//
// # The paper's cast
//
// Under [Paper] every agent takes its turn after the other, and asks for one call:
// a read, or a change that cannot be put back. Whatever is asked about is approved,
// by a rule that allows everything, or signed by a person where no rule may decide.
// Every other agent has a skill whose grants cover what it does. What an agent asks
// for is said by its [Mind]: a [Script], which follows from the seed and from what
// replies say is gone, or a model (package model). What comes of a run follows from
// its [Config] alone.
//
// A [Scenario] is a column of the paper's table. Its fault comes between two turns
// of round R/2, rounded up, and strikes any file that is there then, whoever works on
// it; it is made so that it changes something. So the class of an unaccounted change
// is bypass, drift or overlap by who had leased the object ([verdict]), and any of the
// three is right. The same run is judged by each [Criterion]: by the verdict, and by
// the paper's definition, taken from the same log.
//
// # The wild cast
//
// Under [Wild] all agents take their turns at once, and a barrier follows every
// round. They write, append, make directories, delete, rename, chmod, read, list,
// write what is there already, change skills, commit what they staged, put back what
// they committed, repeat idempotency keys, reach for files of skills, misspell, and
// ask for what fails or is denied. A script follows from the seed: no agent looks at
// replies. The approver answers at once, by the call and the seed, with a key of
// its own; about one in five questions it denies, leaves, or approves for a time
// that is over.
//
// In honest runs one call in fifty fails because the host says that the disk is
// full; an operator pauses, resumes and stops sessions, forgives agents, judges in
// the middle, and narrows trust; and in one run of eight some files have a label
// that must not flow to the others.
//
// # Faults
//
// A [Fault] strikes once, in the middle round, while the agents act. Its calls are
// the first agent's; of the wild cast on objects that no agent touches, so that what
// a verdict has to find follows from the fault alone ([Want]: one class, on the
// fault's objects, and nothing else). Everything about it is beside the gate: hosts
// that stand before the real one, writes through a handle of the corpus, records
// appended to the same log. Neither the gate nor a host, an observer or a log has a
// switch for it.
//
// Class by evidence: a change that nobody accounts for on an object that a call
// leased is drift or overlap, whoever made it; so a made-up call that needs no
// signature and claims an effect that never was is found as overlap. A log that is
// made up entirely, with its effects and by a key that may sign, is not found at
// all.
//
// A crash kills the runtime at an instant: from a batch, a deed of the host, or
// just behind one, nothing is written or done any more. What a host has begun it
// ends, as if the kill had come a moment later; batches torn in two are the audit
// package's business. Under [Paper] the instant is in a call of the middle round that changes
// something: before the host does it, behind that, or behind its record. Another
// runtime starts over the same log and corpus, perhaps
// is killed too, perhaps works on, sessions taken up again or not.
//
// # Where it works
//
// Only on what it made: [Kit.NewCorpus] makes a new directory every time (a trial
// copies an operator's corpus into one), nothing
// takes one that is there, all writes beside the gate go through a handle of it, and
// [Corpus.Close] removes it only if what stands at the path is that directory. Keys
// and trust root are made with the [Kit] and die with it. The approver that says
// yes to nearly everything cannot be had from outside.
//
// A [Site] has runs of the paper's cast played on one corpus, one after the other.
// What a run changed, by its own first and last snapshot, is put back; a corpus that
// a run may have left otherwise, or that cannot be put back, is made anew. That it
// was put back is not believed: the first snapshot of each run has to have the same
// root as that of the first.
package ensemble
