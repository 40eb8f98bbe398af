// Package broker holds the brokers that need nothing but themselves. A broker is
// an oracle that answers questions with approve or deny; a gate that is given
// none uses [DenyAll].
//
// # Chains
//
// [Chain] asks links one after the other. A link approves, denies, or has no
// opinion and passes, which is an answer without a choice; the next is asked what
// the ones before passed. An approval is one link's own: none is made of passes,
// and what all pass is denied. A link that fails, answers another number of
// questions, or answers oddly, denies what it was asked, and nobody behind it is
// asked.
//
// # Policies
//
// A [Policy] is Cedar text (https://docs.cedarpolicy.com), held against a schema
// that is generated from the vocabulary: [Schema] prints it. Of one question:
//
//	a forbid matches                 deny
//	a rule cannot be evaluated       deny
//	a permit matches, no forbid      approve
//	nothing matches                  pass
//
// The rule that decided is named by its file and line, and its @id if it has one.
// Where several match it is the first, by name of the file and then by line. A
// policy has no clock, and sees of a question only what the log keeps of it: the
// request record and the envelope, and what the log says of the skill. So a logged
// request can be put to any policy again, and is decided as it was.
//
// A call that changes several objects, such as a rename, is put to the policy once
// for each. It is approved if each is, by rules that may differ; one denial denies
// it.
//
// # What a policy cannot do
//
// It never approves what reaches for something guarded; and outside of profile dev
// nothing for a skill, or in a session, that is unverified. There an approval
// becomes a pass, and a person decides.
//
// # Wildcards
//
// A rule that permits an irreversible capability for arbitrary targets is refused
// when the policy is read, in two ways.
//
// By shape: in every way in which a permit's conditions can hold, one of them must
// tie the target: resource == something, in something narrower than a whole
// corpus or a top-level domain, one of the names in a list, or a comparison of what
// identifies it; or a like with enough of it written out where that counts: of a
// host the end from a dot on, of a path the beginning up to a slash or the kind of
// file, of a command line the program and more. For an amount it is the unit and an
// upper bound. Conditions on the agent, the skill or the context tie no target,
// nor does a forbid: what it leaves over is everything else.
//
// By probing: of each irreversible capability a number of targets is drawn that
// have nothing to do with one another, from the digest of the policy itself, so
// that it cannot name and spare them. Each permit is evaluated with one of them and
// an agent and a context that are unknown: what could hold for some is taken to
// hold. If the permits together could approve two of them, the policy is refused.
//
// Neither sees what a long list of names comes to, such as each file there is or
// each registered domain below a suffix of several labels; nor that a target that
// is one, such as a program that runs others, does anything.
package broker
