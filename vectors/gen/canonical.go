package main

import "strings"

// canonicalRow is a document and its RFC 8785 form, or why it is refused. In a
// document that is refused the marker stands before the byte at fault.
type canonicalRow struct{ name, comment, document, want string }

func canonicalVectors() []vector {
	var out []vector
	for _, r := range canonicalAccepted() {
		out = append(out, vector{name: "ok-" + r.name, comment: r.comment, expect: "ok", payload: []byte(r.document)}.
			with("canonical", r.want))
	}
	for _, r := range append(canonicalSyntax(), canonicalRefused()...) {
		out = append(out, refused(r))
	}
	return append(out, canonicalLimits()...)
}

func refused(r canonicalRow) vector {
	document, offset := unmark(r.document)
	return vector{name: r.want + "-" + r.name, comment: r.comment, expect: r.want, payload: []byte(document)}.
		with("offset", offset)
}

func canonicalAccepted() []canonicalRow {
	return []canonicalRow{
		{"object-empty", "the empty object", `{}`, `{}`},
		{"string", "a document may be a string", `"é"`, `"é"`},
		{"space", "white space goes", "\t{ \"a\" : [ 1 , 2 ]\r\n}\n", `{"a":[1,2]}`},
		{"key-order", "keys are ordered at every depth, elements are not", `{"b":{"d":1,"c":2},"a":[2,1]}`, `{"a":[2,1],"b":{"c":2,"d":1}}`},
		{"key-order-utf16", "keys are ordered by UTF-16 code units, not by bytes (RFC 8785, section 3.2.3)",
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
		{"escapes", "the shortest escapes, lower case, and no escape that is not needed (RFC 8785, section 3.2.2)",
			`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`, `"€$\u000f\nA'B\"\\\\\"/"`},
		{"escapes-controls", "which controls have a short escape", `"\u0000\u0008\u0009\u000A\u000b\u000c\u000d\u001F"`, `"\u0000\b\t\n\u000b\f\r\u001f"`},
		{"surrogate-pair", "an escaped pair is one character", `"\uD83D\uDE00"`, `"😀"`},
		{"numbers-plain", "numbers as ECMAScript prints them", `[1.0,1e2,100E-2,0.10,-1.50,12e-1]`, `[1,100,1,0.1,-1.5,1.2]`},
		{"numbers-exponent", "where the exponent begins to be written", `[100000000000000000000,1e21,0.000001,0.0000001]`, `[100000000000000000000,1e+21,0.000001,1e-7]`},
		{"numbers-extreme", "the least float64, and the greatest power of ten that is one", `[5e-324,1e22]`, `[5e-324,1e+22]`},
		{"number-zero", "every zero without a sign is 0", `[0,0.0,0e5,0e-400]`, `[0,0,0,0]`},
		{"number-2-53", "every whole number to 2^53 is exact", `[9007199254740991,9007199254740992,-9007199254740992]`, `[9007199254740991,9007199254740992,-9007199254740992]`},
		{"number-long", "zeros do not make a number inexact", `1000000000000000000000000000000000000000e-39`, `1`},
		{"keys-normalization", "Unicode forms are not looked at: these are two keys", "{\"\u00e9\":1,\"e\u0301\":2}", "{\"e\u0301\":2,\"\u00e9\":1}"},
		{"keys-sharp-s", "simple folding, not full: ß and ss are two keys", `{"ß":1,"ss":2}`, `{"ss":2,"ß":1}`},
		{"keys-elsewhere", "keys are compared within one object", `{"a":{"a":1},"b":{"A":1}}`, `{"a":{"a":1},"b":{"A":1}}`},
		{"key-proto", "a key is only a key", `{"__proto__":{"b":1,"a":2}}`, `{"__proto__":{"a":2,"b":1}}`},
		{"depth-32", "32 levels are the limit", strings.Repeat("[", 32) + strings.Repeat("]", 32), strings.Repeat("[", 32) + strings.Repeat("]", 32)},
	}
}

// canonicalSyntax are documents that are not JSON.
func canonicalSyntax() []canonicalRow {
	return []canonicalRow{
		{"empty", "nothing", `¶`, "json-syntax"},
		{"cut-off", "the document ends inside", `{"a":[1¶`, "json-syntax"},
		{"comma-array", "a comma before a bracket: the comma is at fault", `[1¶,]`, "json-syntax"},
		{"comma-missing", "two elements without a comma", `[1 ¶2,3]`, "json-syntax"},
		{"key-bare", "a key without quotes", `{¶a:1}`, "json-syntax"},
		{"comment", "a comment", `{¶/* x */}`, "json-syntax"},
		{"colon-missing", "a key without a colon", `{"a" ¶1}`, "json-syntax"},
		{"literal", "a word that JSON does not have", `[tru¶th]`, "json-syntax"},
		{"number-bare-point", "a number that ends with its point", `[1.¶]`, "json-syntax"},
		{"number-leading-zero", "a number with a leading zero", `[0¶1]`, "json-syntax"},
		{"escape-unknown", "an escape that JSON does not have", `"a¶\x0041"`, "json-syntax"},
		{"escape-digits", "an escape with a letter among its digits", `"a¶\u00g1"`, "json-syntax"},
		{"newline-raw", "a line end within a string", "\"a¶\nb\"", "json-syntax"},
		{"nul-raw", "a NUL within a string", "\"a¶\x00b\"", "json-syntax"},
		{"bom-inside", "a byte order mark that is not at the start", "{¶\ufeff}", "json-syntax"},
	}
}

func canonicalRefused() []canonicalRow {
	return []canonicalRow{
		{"plain", "one key twice", `{"a":1,¶"a":1}`, "duplicate-key"},
		{"escaped", "one key twice, once as an escape", `{"a":1,¶"\u0061":2}`, "duplicate-key"},
		{"plain", "two keys that differ only in case", `{"target":1,¶"Target":2}`, "case-key"},
		{"kelvin", "k and the Kelvin sign are one letter in two cases", "{\"k\":1,¶\"\u212a\":2}", "case-key"},
		{"sigma", "both lower-case sigmas are one letter", "{\"σ\":1,¶\"ς\":2}", "case-key"},
		{"ff", "a byte that UTF-8 never has", "\"a¶\xff\"", "bad-utf8"},
		{"overlong", "NUL in two bytes", "\"¶\xc0\x80\"", "bad-utf8"},
		{"surrogate", "a surrogate in three bytes", "\"¶\xed\xa0\x80\"", "bad-utf8"},
		{"beyond", "beyond U+10FFFF", "\"¶\xf4\x90\x80\x80\"", "bad-utf8"},
		{"cut-character", "a character without its last byte", "\"¶\xe2\x82\"", "bad-utf8"},
		{"high", "a high surrogate alone", `"¶\ud800"`, "lone-surrogate"},
		{"low", "a low surrogate alone", `"x¶\udc00"`, "lone-surrogate"},
		{"high-letter", "a high surrogate, then a letter", `"¶\ud800\u0041"`, "lone-surrogate"},
		{"key", "half of a pair in a key", `{"¶\udbff":1}`, "lone-surrogate"},
		{"start", "a byte order mark at the start", "¶\ufeff{}", "byte-order-mark"},
		{"value", "two documents", `{} ¶{}`, "trailing-bytes"},
		{"nul", "a NUL after the document", "{}¶\x00", "trailing-bytes"},
		{"2-53-plus-1", "the first whole number that a float64 does not hold", `¶9007199254740993`, "number-inexact"},
		{"1e23", "a float64 prints as 1e23 and is another number", `¶1e23`, "number-inexact"},
		{"digits", "one digit too many (RFC 8785, appendix B, rounds it)", `[¶333333333.33333329]`, "number-inexact"},
		{"huge", "greater than every float64", `¶1e400`, "number-inexact"},
		{"minus-zero", "a zero with a sign", `[¶-0]`, "number-inexact"},
		{"33", "one level more than the limit", strings.Repeat("[", 32) + "¶[" + strings.Repeat("]", 33), "too-deep"},
	}
}

func canonicalLimits() []vector {
	return []vector{
		vector{name: "ok-limit-bytes", comment: "exactly as many bytes as the limit", expect: "ok", payload: []byte(`[1,2,3]`)}.
			with("limit-bytes", "7").with("canonical", "[1,2,3]"),
		vector{name: "too-large-limit", comment: "one byte more than the limit", expect: "too-large", payload: []byte(`[1, 2]`)}.
			with("limit-bytes", "5").with("offset", "5"),
		vector{name: "too-large-expanded", comment: "within the limit as written, beyond it as canonical form", expect: "too-large", payload: []byte(`1e20`)}.
			with("limit-bytes", "8").with("offset", "8"),
		vector{name: "too-deep-limit", comment: "objects and arrays both count", expect: "too-deep", payload: []byte(`{"a":[[]]}`)}.
			with("limit-depth", "2").with("offset", "6"),
	}
}
