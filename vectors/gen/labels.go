package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
)

func labelVectors() []vector {
	out := append(labelTexts(), labelParts()...)
	out = append(out, labelOrders()...)
	out = append(out, labelJoins()...)
	return append(out, labelSchemes()...)
}

const (
	usGov = "us-government"
	allUS = `["AUS","CAN","GBR","NZL","USA"]`
)

// labelTexts: the text of a label, and the structured form it has.
func labelTexts() []vector {
	var out []vector
	add := func(scheme, expect, name, comment, text, parts string) {
		v := vector{name: "parse-" + name, comment: comment, expect: expect, payload: []byte(text)}.
			with("kind", "parse").with("scheme", scheme)
		if expect == "ok" {
			v = v.with("parts", parts)
		}
		out = append(out, v)
	}
	us := func(expect, name, comment, text, parts string) { add(usGov, expect, name, comment, text, parts) }
	us("ok", "rank", "a rank alone: no compartments, releasable to all", `TOP SECRET`, `{"compartments":[],"rank":"TOP SECRET","releasable":`+allUS+`}`)
	us("ok", "full", "all three parts", `SECRET//NOFORN//REL USA`, `{"compartments":["NOFORN"],"rank":"SECRET","releasable":["USA"]}`)
	us("ok", "release", "no compartments, two principals", `SECRET//REL CAN,USA`, `{"compartments":[],"rank":"SECRET","releasable":["CAN","USA"]}`)
	us("ok", "nobody", "releasable to nobody", `CUI//REL NOBODY`, `{"compartments":[],"rank":"CUI","releasable":[]}`)
	add("default", "ok", "default", "the scheme's single principal is everyone", `RESTRICTED-PLUS`, `{"compartments":[],"rank":"RESTRICTED-PLUS","releasable":["EVERYONE"]}`)
	us("label-syntax", "empty", "no label", ``, "")
	us("label-syntax", "rank-missing", "compartments without a rank", `//SI`, "")
	us("label-syntax", "part-empty", "a separator and nothing behind it", `SECRET//`, "")
	us("label-syntax", "name-empty", "a comma too many", `SECRET//SI,,TK`, "")
	us("label-syntax", "release-empty", "a release that names no one", `SECRET//REL`, "")
	us("label-syntax", "release-not-last", "something behind the release", `SECRET//REL USA//SI`, "")
	us("rank-unknown", "rank-unknown", "a rank that the scheme does not have", `COSMIC`, "")
	us("rank-unknown", "rank-case", "names are exact in case", `Secret`, "")
	us("rank-unknown", "absent", "the absent label has no text", `absent`, "")
	us("compartment-unknown", "compartment-unknown", "a compartment that the scheme does not have", `SECRET//GAMMA`, "")
	us("releasable-unknown", "releasable-unknown", "a principal that the scheme does not have", `SECRET//REL FRA`, "")
	us("releasable-unknown", "releasable-group", "a group is written as its members", `SECRET//REL FVEY`, "")
	us("releasable-unknown", "nobody-and-more", "NOBODY stands alone", `SECRET//REL NOBODY,USA`, "")
	us("label-not-canonical", "unsorted", "compartments out of order", `SECRET//TK,SI`, "")
	us("label-not-canonical", "duplicate", "a compartment twice", `SECRET//SI,SI`, "")
	us("label-not-canonical", "space", "a space after a comma", `SECRET//SI, TK`, "")
	us("label-not-canonical", "release-all", "all principals are never written out", `SECRET//REL AUS,CAN,GBR,NZL,USA`, "")
	return out
}

// labelParts: the structured form, and the text it has.
func labelParts() []vector {
	var out []vector
	add := func(expect, name, comment, parts, text string) {
		v := vector{name: "parts-" + name, comment: comment, expect: expect, payload: []byte(parts)}.
			with("kind", "parts").with("scheme", usGov)
		if expect == "ok" {
			v = v.with("text", text)
		}
		out = append(out, v)
	}
	add("ok", "all", "all principals are written out here and left out in the text", `{"rank":"SECRET","compartments":[],"releasable":`+allUS+`}`, `SECRET`)
	add("ok", "some", "all three parts", `{"rank":"SECRET","compartments":["SI","SI-G"],"releasable":["USA"]}`, `SECRET//SI,SI-G//REL USA`)
	add("ok", "nobody", "an empty set is nobody", `{"rank":"SECRET","compartments":[],"releasable":[]}`, `SECRET//REL NOBODY`)
	add("compartment-unknown", "compartment", "a principal among the compartments", `{"rank":"SECRET","compartments":["USA"],"releasable":[]}`, "")
	add("releasable-unknown", "releasable", "NOBODY is an empty list here", `{"rank":"SECRET","compartments":[],"releasable":["NOBODY"]}`, "")
	add("label-not-canonical", "unsorted", "compartments out of order", `{"rank":"SECRET","compartments":["TK","SI"],"releasable":[]}`, "")
	return out
}

// labelOrders: whether the first label is below or equal to the second.
func labelOrders() []vector {
	var out []vector
	for _, r := range []struct{ expect, name, comment, a, b string }{
		{"yes", "rank", "a lower rank", `CUI`, `SECRET`},
		{"no", "rank-above", "a higher rank", `SECRET`, `CUI`},
		{"yes", "compartments", "fewer compartments", `SECRET//SI`, `SECRET//SI,TK`},
		{"no", "compartment-missing", "a compartment that the other has not, whatever the rank", `CUI//SI`, `TOP SECRET//TK`},
		{"yes", "release-narrower", "fewer principals is more restricted", `SECRET`, `SECRET//REL USA`},
		{"no", "release-wider", "more principals is less restricted", `SECRET//REL USA`, `SECRET`},
		{"yes", "release-nobody", "nobody is above everyone", `SECRET//REL AUS,CAN`, `SECRET//REL NOBODY`},
		{"no", "nobody", "and not below", `SECRET//REL NOBODY`, `SECRET//REL USA`},
		{"yes", "top", "the top is above all", `TOP SECRET//SI//REL NOBODY`, `TOP SECRET//CTI,EXPT,FISA,FRD,HCS,NOFORN,ORCON,PROPIN,PRVCY,RD,SI,SI-G,TK//REL NOBODY`},
	} {
		out = append(out, vector{name: "order-" + r.name, comment: r.comment, expect: r.expect, payload: []byte(r.a + "\n" + r.b)}.
			with("kind", "order").with("scheme", usGov))
	}
	return out
}

func labelJoins() []vector {
	var out []vector
	for _, r := range []struct{ name, comment, a, b, want string }{
		{"same", "of a label with itself", `CUI//REL USA`, `CUI//REL USA`, `CUI//REL USA`},
		{"comparable", "of comparable labels it is the upper one", `CUI`, `SECRET//SI//REL USA`, `SECRET//SI//REL USA`},
		{"apart", "the higher rank, all compartments, the common principals", `CUI//SI//REL CAN,USA`, `SECRET//TK//REL GBR,USA`, `SECRET//SI,TK//REL USA`},
		{"nobody", "no common principal is nobody", `SECRET//REL GBR`, `SECRET//REL USA`, `SECRET//REL NOBODY`},
	} {
		out = append(out, vector{name: "join-" + r.name, comment: r.comment, expect: "ok", payload: []byte(r.a + "\n" + r.b)}.
			with("kind", "join").with("scheme", usGov).with("join", r.want))
	}
	return out
}

// labelSchemes: the data of a scheme, and its digest.
func labelSchemes() []vector {
	scheme := func(name, ranks, compartments, releasable string) string {
		return fmt.Sprintf(`{"name":%q,"ranks":[%s],"compartments":[%s],"releasable":[%s]}`, name, ranks, compartments, releasable)
	}
	digest := func(d label.SchemeData) string {
		sum := must(label.NewScheme(d)).Digest()
		return hex.EncodeToString(sum[:])
	}
	var out []vector
	add := func(expect, name, comment, data string) {
		out = append(out, vector{name: "scheme-" + name, comment: comment, expect: expect, payload: []byte(data)}.with("kind", "scheme"))
	}
	ok := func(name, comment, data string, d label.SchemeData) {
		add("ok", name, comment, data)
		out[len(out)-1] = out[len(out)-1].with("digest", digest(d))
	}
	mine := label.SchemeData{Name: "mine", Ranks: []string{"LOW", "HIGH"}, Compartments: []string{"b", "a"}, Releasable: []string{"x"}}
	ok("own", "the digest is over both sets sorted, the ranks as they are", scheme("mine", `"LOW","HIGH"`, `"b","a"`, `"x"`), mine)
	for _, name := range label.BuiltinNames() {
		data := trusttest.Scheme(name).Data()
		ok("builtin-"+name, "the built-in scheme "+name, string(must(canonical.Marshal(data))), data)
	}
	add("scheme-invalid", "no-ranks", "a scheme needs a rank", scheme("mine", ``, ``, `"x"`))
	add("scheme-invalid", "name-space", "a space at the end of a name", scheme("mine", `"LOW "`, ``, `"x"`))
	add("scheme-invalid", "name-letters", "names are ASCII", scheme("mine", `"GEHEIM","STRENGST-GEHEIM-Ü"`, ``, `"x"`))
	add("scheme-invalid", "too-many", "65 compartments, at most 64", scheme("mine", `"LOW"`, numbered(65), `"x"`))
	add("scheme-duplicate", "same", "a rank twice", scheme("mine", `"LOW","LOW"`, ``, `"x"`))
	add("scheme-duplicate", "case", "two principals that differ only in case", scheme("mine", `"LOW"`, ``, `"x","X"`))
	add("scheme-reserved", "nobody", "NOBODY is not a principal", scheme("mine", `"LOW"`, ``, `"Nobody"`))
	add("scheme-reserved", "release", "a compartment that reads as a release", scheme("mine", `"LOW"`, `"REL USA"`, `"x"`))
	add("scheme-reserved", "everyone-beside", "EVERYONE stands alone", scheme("mine", `"LOW"`, ``, `"EVERYONE","x"`))
	add("scheme-reserved", "builtin-other", "the name of a built-in scheme with other content", scheme("default", `"LOW"`, ``, `"x"`))
	return out
}

// numbered is n names in quotes.
func numbered(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"c%02d"`, i)
	}
	return strings.Join(names, ",")
}
