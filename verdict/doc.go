// Package verdict says whether the world changed exactly as approved (paper,
// section "Biconditional correctness"; DESIGN section 6): it holds what was
// observed, D, against what was approved and done, S, and the life of every
// call against what it has to be, W. It reads nothing and writes nothing.
//
// # Input
//
// Records of an interval of the log in their order, between two instants at
// which nobody holds a lease; what the corpora were at the first and the last of
// them; and snapshots at barriers between. Records before the interval, of calls
// that reach into it, come first: they count for W, save for their readings, and
// for nothing else. A caller that is in doubt gives the whole log.
//
// # Readings
//
// An intent leases the objects of its plan until the next outcome of its call.
// An outcome carries a reading (before p, after q) of each of them. A snapshot is
// a reading of every object of its corpus that no open intent leases. The chain
// of an object is its state at the start and its readings in the order of the
// log.
//
//   - D is every reading of a call with p != q, tagged with the call and its
//     phase, and every gap: two neighbours in a chain that differ where no lease
//     spans them, tagged with nobody.
//   - S is every planned change with a difference of a call that was executed,
//     committed, rolled back, or resolved as executed. "any" as the state after
//     (a bounded call) stands for what was read. A call that failed, or was
//     resolved in another way, contributes nothing.
//
// A reading that could not be made, or is not in the outcome, is a finding
// (unread), and the planned states stand in for it (after a failure: no change;
// for a bounded state after: none is known). In a snapshot it is left out of
// the chain. What is left has to add up: where it does not, no state that could
// have been read would have made it, so that is a finding too. An object counts
// once in a plan and in readings; the first place counts, the second breaks W.
//
// # W
//
// All records of a call have one request id, which no other call has, one
// envelope hash and, save for rollbacks and resolutions, one session.
//
//	read          request(none) decision(approve) executed
//	irreversible  request decision(approve) intent executed|error|resolved
//	reversible    reversible.request, staged and decision(approve) in either order,
//	              commit.intent committed|error|resolved
//	rollback      of a committed one: rollback.intent rolled-back|error|resolved
//	refused       request decision(deny)
//	not tried     request decision(approve) error, without readings
//	dropped       staged, no commit.intent, rolled-back without readings
//
// A rollback that failed, or was not tried (error without an intent), may be
// tried again; nothing else may. What a recovery record closes gets no approval
// and no intent any more. Late decisions and mutations have no effect.
//
// An approval comes from a human, a webhook, a policy or a level. Human and
// webhook sign ([Options].Check). A level approves no change of an unverified
// session; only human and webhook approve a change that reaches for something
// guarded. An intent has the fence of the runtime, comes no later than a
// minute after the approval expires, for it was looked at before, and has a plan that the request's admits: the same objects
// in the same order with the same states, "any" in the request admitting every
// state; the plan of a rollback is the committed one backwards. Readings without
// an intent before them break W.
//
// The first fault breaks a call. D and S are taken from broken calls as from
// others: every intent opens, every outcome closes.
//
// # Findings
//
// PASS iff W holds, D = S as multisets, every intent has an outcome and every
// object could be read. FAIL beats OPEN: what is found could not be otherwise
// whatever became of a call in doubt, for of the objects that it leases nothing
// is said but that they are in doubt. Every difference has exactly one class:
//
//  1. forgery: a broken call, and every difference tagged with one
//  2. tamper: a gap on a guarded object
//  3. wrong-target: a missing member of S whose state after is that of a member
//     of D, of a call that succeeded or of nobody, on another object at the time:
//     first of S by outcome and object, first of D by reading, object, and gaps
//     before calls
//  4. wrong-content: the reading of a call that succeeded, other than planned
//  5. silent-failure: a planned change of which nothing is left
//  6. partial: changes left by a call that failed, or was resolved otherwise
//     than as executed
//  7. bypass: a gap on an object that nobody leased
//  8. drift: a gap before the end of the first lease; overlap: a later one
//
// and for OPEN in-doubt (an object that an open intent leases; no object where it
// leases none) and unread.
//
// # The paper's result
//
// With values and calls dropped, D and S are multisets over (operation, target).
// Whether they are equal is reported beside the result: two faults that offset
// each other there do not offset each other here.
//
// # What is not seen
//
// [Unseen] says it in words; every report carries them.
package verdict
