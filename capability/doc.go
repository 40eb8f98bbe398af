// Package capability is the closed vocabulary of what a skill may ask a
// runtime to do, the grants in which a manifest declares it, and the calls
// that are held against those grants (paper, section "Capability vocabulary").
//
// # Grants
//
// A grant is text. The bare token declares the class and covers nothing: every
// call of that class asks. With an argument it covers the targets that the
// argument matches.
//
//	grant = token | token "(" argument ")"
//
//	token           effect        argument
//	net.egress      irreversible  host, as in api.example.com or *.example.com:8443
//	fs.read         none          path, as in reports/**
//	fs.write.rev    reversible    path
//	fs.write.irrev  irreversible  path
//	tool.invoke     irreversible  name, as in github/create_issue or github/*
//	spawn.proc      irreversible  argv, as in git log **
//	publish         irreversible  name
//	pay             irreversible  amount, as in usd,100.5
//	mutate.schema   irreversible  name
//
// [Vocabulary] is this table. It is the minimum of the paper, not a closure: a
// new token is one more row there and a new [ManifestSchema].
//
// Text is UTF-8 without invisible characters, which are those of the Unicode
// general categories Cc, Cf, Zl and Zp (controls, bidi and zero-width format
// characters, separators) and those with the property
// Default_Ignorable_Code_Point, Variation_Selector or Noncharacter_Code_Point.
// Comparison is by byte: nothing folds case or
// normalises. There is exactly one accepted spelling of each grant. Any other
// is refused with the token grant-not-canonical and the spelling to use.
//
// # Paths
//
//	path    = [ corpus ":" ] ( "." | segment *( "/" segment ) )
//	corpus  = 1*32( %x61-7A / %x30-39 / "-" )
//
// A path is relative to the root of its corpus; "." is that root. Without a
// prefix the corpus is work, and that is how work is written, except where the
// first segment holds a colon: work:a:b. In a segment * matches any run of
// bytes, none and leading dots too; a literal * or backslash is written with a
// backslash before it. The segment ** matches zero or more whole segments, and
// at the end one or more: reports/** is everything below reports, not reports
// itself, and ** is everything below the root. In a run of such segments each
// * goes before the **, and there is only one: a/*/**/b. Segments are not
// empty, not "." or "..", and end neither in a dot nor in a space.
//
// # Hosts
//
//	host    = ( [ "*." ] labels | IPv4 | "[" IPv6 "]" ) [ ":" ( port | "*" ) ]
//
// Labels are lower-case ASCII letters, digits and inner hyphens (A-labels for
// other scripts), without a trailing dot. *.example.com matches one or more
// labels before .example.com, never example.com. No port means 443, and that
// is how 443 is written; :* is any port. Addresses are spelled as package
// net/netip spells them; 127.1, 0x7f.1, 2130706433, zones and IPv4 inside IPv6
// are refused.
//
// # Names
//
// Tools, channels and schemas are names: exact, or a prefix and one trailing
// *. A literal * or backslash is written with a backslash before it. A name
// does not begin or end with a space.
//
// # Arguments of a process
//
// Arguments are separated by one space. Within one, * matches any run of
// bytes; ** as the last argument matches any further arguments, or none. A
// literal space, * or backslash is written with a backslash before it; an
// invisible character, or a space other than U+0020, as \u{hex}, its code point
// in lower-case hexadecimal; the empty argument as \u{}. NUL has no spelling.
// The first argument, the program, has at least one literal byte.
//
// # Amounts
//
//	amount  = unit "," decimal
//	decimal = whole [ "." fraction ]
//
// A grant states a maximum, zero or more, in one unit; it covers every amount
// of that unit up to it. Decimals are plain: no sign, no exponent, no leading
// zeros, no zeros at the end of a fraction, at most 78 digits on each side.
//
// # Targets
//
// A [Target] is the one thing that a call acts on. Its text is the argument of
// the grant that covers just that (see [Literal]): the same spelling, without
// wildcards. So what a person reads in a record can be put into a manifest.
//
// # Cost
//
// [Grant.Covers] allocates nothing. No segment, argument or name of a target is
// held against the same part of a grant twice, and each literal piece between
// two * is searched for once, forwards. So for a given grant the time is linear
// in the target, and never more than (bytes of the grant) times (bytes of the
// target) comparisons of a byte.
//
// # Envelopes
//
// An [Envelope] is a call in frozen bytes: the RFC 8785 form of
//
//	schema      "iff/call/v1"
//	capability  a token
//	target      the target's text
//	arguments   an object, {} where a call has none
//	reasoning   what the agent says about it; untrusted; at most 64 KiB
//
// of at most 1 MiB. Its hash, SHA-256 of those bytes, is what is approved,
// logged and executed. Bytes that are not in that form already are refused.
package capability
