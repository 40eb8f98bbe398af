// Package canonical reads JSON strictly and writes it in the one form of
// RFC 8785 (JCS). It is the only place where JSON that matters to a decision is
// decoded: what one reader takes for {"target":"a"} no other reader may take
// for {"target":"b"}.
//
// # Any document
//
// [Check], [Transform], [NewRaw] and [Parse] accept one JSON value by the
// grammar of RFC 8259, with white space around it, and refuse:
//
//   - bytes that are not UTF-8 (bad-utf8), a byte order mark at the start
//     (byte-order-mark), an escaped surrogate without its other half
//     (lone-surrogate);
//   - anything but white space after the value (trailing-bytes);
//   - two equal keys in one object (duplicate-key), and two that differ only in
//     case (case-key), both compared after escapes are resolved. "Only in case"
//     is Unicode simple folding, as [strings.EqualFold] has it: key, KEY and
//     K-with-the-Kelvin-sign are the same, ß and ss are not;
//   - numbers that a float64 does not hold without a change (number-inexact),
//     see below;
//   - nesting deeper and documents larger than [Limits] (too-deep, too-large);
//   - everything else that is not JSON (json-syntax).
//
// Unicode normalization is not looked at: é in one code point and in two are
// different keys and different strings.
//
// # Numbers
//
// A number is accepted if the shortest decimal that identifies its float64 has
// the same value, digit by digit: 0.1, 1.0 and 1e2 are accepted,
// 333333333.33333329, 1e400 and 1e-400 are not. A whole number must also be
// exactly that float64, which every one up to 2^53 is: 9007199254740992 is
// accepted, 9007199254740993 and 1e23 are not. -0 is refused in every spelling.
// So no reader, with 64-bit floats, 64-bit integers or unlimited decimals, sees
// another number than we. This is stricter than RFC 8785, which rounds; amounts
// and large identifiers belong in strings.
//
// # Documents with a type
//
// [Parse] also checks against a Go type, with the tags of encoding/json:
//
//   - a key that is no field is refused (unknown-field); if it is one in
//     another case, as case-key. Fields are matched exactly;
//   - every field is mandatory (missing-field), at every depth, unless its tag
//     says omitzero or omitempty;
//   - null is refused wherever the type reaches (wrong-type): leave an optional
//     field out instead;
//   - a value of another JSON type, a fraction or a number out of range for an
//     integer, an array of another length than a Go array, are wrong-type. 1.0
//     and 1e0 are the integer 1;
//   - a string that UnmarshalText refuses is invalid-value, with that error
//     wrapped.
//
// Types may be made of string, bool, the int and uint types, float64, slices,
// arrays, maps with string keys, structs of at most 64 fields, pointers to
// these, types with UnmarshalText and MarshalText (which are strings), and
// [Raw] for a value of any shape. Everything else, []byte, interfaces, embedded
// structs without a name, types with their own UnmarshalJSON, is an [ErrType].
//
// On error nothing is stored. The first fault in the order of the bytes is the
// one reported; a missing field is reported at the end of its object.
//
// # Canonical form
//
// [Transform] and [Marshal] write RFC 8785: no white space, keys ordered by
// UTF-16 code units, the shortest escapes, numbers as ECMAScript prints them.
// What Marshal has written, Parse accepts into the same type, and Transform
// leaves as it is. [Pretty] writes the same value for people.
//
// [StringLength] and [ValueLength] find where a string and a value end, for who looks
// for a part of a text without reading it all.
//
// Reading and writing are pure; the package has no variable state but a memo of
// what reflection says about each Go type. All functions are safe for
// concurrent use.
package canonical
