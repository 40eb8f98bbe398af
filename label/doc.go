// Package label is the classification lattice: what a skill, an object, a
// sink or a reader is labelled with, and when one may flow to another.
//
// # Meaning
//
// A [Label] is the paper's ⟨ℓ, C, R⟩ ("The skill trust schema", M.label): a
// rank, a set of compartments and the set of principals it is releasable to,
// all drawn from one declared [Scheme]. U is the set of all principals of the
// scheme.
//
//	a ⪯ b  iff  rank(a) ≤ rank(b)  and  C(a) ⊆ C(b)  and  R(a) ⊇ R(b)
//	a ⊔ b  =    ⟨max of the ranks, C(a) ∪ C(b), R(a) ∩ R(b)⟩
//
// Releasability is ordered by superset: fewer principals is more restricted.
// Only so is the paper's join a least upper bound. It follows that an empty R
// means nobody, never everybody; that a marking which restricts (NOFORN) is a
// compartment and not a principal; and that principals are atomic, a group is
// written as its members.
//
// [Scheme.Bottom] is ⟨lowest rank, ∅, U⟩ and [Scheme.Top] is ⟨highest rank, all
// compartments, ∅⟩.
//
// A clearance is a label too: clearance c admits label l iff l ⪯ c. The R of
// a clearance is the audience it speaks for. The clearance "SECRET//REL USA"
// admits what is releasable at least to USA; the clearance "SECRET", whose
// audience is all of U, admits only what is releasable to all of U; the
// clearance "SECRET//REL NOBODY" asks for no release and admits any R.
//
// The zero Label is absent. It is below nothing and above nothing, not even
// itself; joining it gives absent; it is not in any scheme and has no text
// that parses. Labels of different schemes are not ordered and join to
// absent. Schemes are the same if their content is, wherever they came from.
//
// # Names
//
// One rule for the names of ranks, compartments, principals and schemes: 1 to
// 64 bytes of ASCII letters, digits, '-', '_', '.', '+' and space; the first
// is a letter or a digit; a space stands alone and not at the end. Names are
// compared byte for byte, and two names of one list may not differ only in
// case. Reserved, in any case: ABSENT, NOBODY, REL, and whatever begins with
// "REL ". ASCII only, so that no two names look alike and bytewise order is
// the order in every language.
//
// # Schemes
//
// A scheme is data ([SchemeData]): a name; 1 to 32 ranks, lowest first; 0 to
// 64 compartments; 1 to 64 principals. The order of compartments and of
// principals means nothing; they are kept sorted bytewise. At least one
// principal, because with none R = U and R = ∅ would be the same set; EVERYONE
// only as the single principal, because beside others it would not be U. The
// names of the built-in schemes ([BuiltinNames]) cannot be given to other
// content.
//
// The digest of a scheme is the SHA-256 of the RFC 8785 form of its data with
// both sets sorted.
//
// # Text
//
//	label        = rank [ "//" compartments ] [ "//REL " releasable ]
//	compartments = name *( "," name )
//	releasable   = name *( "," name ) / "NOBODY"
//
// Every label of a scheme has exactly one text, so that texts can be compared
// instead of labels:
//
//   - both sets are sorted bytewise, without duplicates, spaces around commas
//     or empty names;
//   - no compartments: that part is left out;
//   - R = U: the REL part is left out, and all of U may not be written out;
//   - R = ∅: "//REL NOBODY".
//
// So "TOP SECRET", "SECRET//SI,TK", "SECRET//NOFORN//REL USA" and
// "CUI//REL NOBODY". [Scheme.Parse] accepts that spelling alone. The text does
// not name the scheme: who stores labels stores the scheme beside them.
//
// # Structure
//
// In JSON a label is [Parts]: rank, compartments, releasable. Both sets are
// sorted bytewise without duplicates; R = U is written out in full and [] is
// nobody. [Scheme.FromParts] accepts that form alone. [Scheme.New] is for
// values that a program assembles: any order, duplicates allowed.
//
// # Refusals
//
// Errors are *[Error] with one of the closed [Reason] tokens, the first thing
// wrong from left to right: a part that is not of the form, or a rank, then a
// compartment, then a principal that the scheme does not know. That the
// spelling is not the canonical one is said last, when the label is known.
package label
