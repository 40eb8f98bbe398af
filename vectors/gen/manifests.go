package main

import (
	"strings"

	"github.com/iff-run/iff/internal/canonical"
)

// manifestText is what the rows of manifestVectors edit.
const manifestText = `{
  "caps": [
    "fs.read(reports/**)",
    "net.egress"
  ],
  "label": {
    "compartments": [],
    "rank": "INTERNAL",
    "releasable": [
      "EVERYONE"
    ]
  },
  "name": "invoice-reports",
  "schema": "iff/skill/v1",
  "signer": "ops",
  "verification": "declared",
  "version": 3
}`

// edit is one manifest: manifestText with old replaced. Where the refusal has
// an offset the marker stands there, in what replaces it or, with an empty old,
// in the whole text that is given instead.
type edit struct{ expect, name, comment, old, text string }

func (e edit) apply() string {
	if e.old == "" {
		return e.text
	}
	if strings.Count(manifestText, e.old) != 1 {
		panic("bug in a table: " + e.name)
	}
	return strings.Replace(manifestText, e.old, e.text, 1)
}

func manifestVectors() []vector {
	var out []vector
	for _, e := range append(append(manifestsAccepted(), manifestJSON()...), manifestFields()...) {
		text, offset := unmark(e.apply())
		v := vector{name: e.expect + "-" + e.name, comment: e.comment, expect: e.expect, payload: []byte(text)}.with("scheme", "default")
		if e.expect == "ok" {
			v = v.with("canonical", string(must(canonical.Transform([]byte(text), canonical.Limits{}))))
		}
		if offset != "" {
			v = v.with("offset", offset)
		}
		out = append(out, v)
	}
	return out
}

func manifestsAccepted() []edit {
	return []edit{
		{"ok", "pretty", "as it lies on disk, indented for review", `"version": 3`, `"version": 3`},
		{"ok", "compact", "the same in canonical form", "", string(must(canonical.Transform([]byte(manifestText), canonical.Limits{})))},
		{"ok", "unverified", "without a level it is unverified", `  "verification": "declared",` + "\n", ""},
		{"ok", "summary", "with the signer's own words", `"signer": "ops",`, `"signer": "ops", "summary": "Lists invoices; résumé in 日本語.",`},
		{"ok", "no-caps", "a skill that may do nothing", "[\n    \"fs.read(reports/**)\",\n    \"net.egress\"\n  ]", `[]`},
		{"ok", "version-exponent", "a whole number in another spelling is the same number", `"version": 3`, `"version": 3.0e0`},
		{"ok", "name-script", "a name in another script", `"invoice-reports"`, `"請求書-2026"`},
		{"ok", "formal", "the manifest is valid; what supports the level is for the loader to ask", `"declared"`, `"formal"`},
	}
}

// manifestJSON is refused by the strict parser, at a byte.
func manifestJSON() []edit {
	return []edit{
		{"missing-field", "top", "no signer; the offset is that of the object", "", marker + strings.Replace(manifestText, `"signer": "ops",`, "", 1)},
		{"unknown-field", "top", "a key that manifests do not have", `"signer": "ops",`, `"signer": "ops", ¶"allow": "all",`},
		{"duplicate-key", "name", "the name twice", `"name": "invoice-reports",`, `"name": "invoice-reports", ¶"name": "other",`},
		{"case-key", "signer", "a key in another case", `"signer"`, `¶"Signer"`},
		{"wrong-type", "version-fraction", "a version that is not whole", `"version": 3`, `"version": ¶3.5`},
		{"wrong-type", "caps-object", "the grants as an object", "[\n    \"fs.read(reports/**)\",\n    \"net.egress\"\n  ]", `¶{"fs.read": true}`},
		{"wrong-type", "null", "null for a field that may be left out", `"verification": "declared"`, `"verification": ¶null`},
		{"number-inexact", "version", "a version that readers take for different numbers", `"version": 3`, `"version": ¶9007199254740993`},
		{"bad-utf8", "name", "a byte that is not UTF-8", `"invoice-reports"`, "\"invoice¶\xff\""},
		{"lone-surrogate", "name", "half of a surrogate pair", `"invoice-reports"`, `"invoice¶\ud800"`},
		{"byte-order-mark", "start", "a byte order mark", "{\n  \"caps\"", "¶\ufeff{\n  \"caps\""},
		{"trailing-bytes", "second", "a second object", "\"version\": 3\n}", "\"version\": 3\n}\n¶{}"},
		{"json-syntax", "comment", "a comment", `"version": 3`, `¶// the third` + "\n" + `"version": 3`},
	}
}

// manifestFields is valid JSON of the right shape with a field that is refused.
func manifestFields() []edit {
	long := strings.Repeat("a", 65)
	return []edit{
		{"missing-field", "empty", "an optional field that is there and empty", `"signer": "ops",`, `"signer": "ops", "summary": "",`},
		{"schema-unknown", "version-2", "a format of the future", `iff/skill/v1`, `iff/skill/v2`},
		{"name-invalid", "upper", "an upper-case letter", `"invoice-reports"`, `"Invoice-reports"`},
		{"name-invalid", "hyphens", "two hyphens in a row", `"invoice-reports"`, `"invoice--reports"`},
		{"name-invalid", "path", "a way up", `"invoice-reports"`, `"../reports"`},
		{"name-invalid", "nfkc", "letters that are others in disguise", `"invoice-reports"`, `"ｉｎｖｏｉｃｅ"`},
		{"name-invalid", "long", "65 characters, at most 64", `"invoice-reports"`, `"` + long + `"`},
		{"version-invalid", "zero", "versions begin at 1", `"version": 3`, `"version": 0`},
		{"version-invalid", "large", "2^53; at most one less", `"version": 3`, `"version": 9007199254740992`},
		{"signer-id-invalid", "upper", "an upper-case letter", `"ops"`, `"Ops"`},
		{"summary-invalid", "line", "two lines", `"signer": "ops",`, `"signer": "ops", "summary": "a\nb",`},
		{"summary-invalid", "bidi", "a character that turns the direction of reading", `"signer": "ops",`, `"signer": "ops", "summary": "a\u202eb",`},
		{"rank-unknown", "rank", "a rank of another scheme", `"INTERNAL"`, `"SECRET"`},
		{"label-not-canonical", "duplicate", "a principal twice", `"EVERYONE"`, `"EVERYONE", "EVERYONE"`},
		{"level-unknown", "unknown", "a level that there is not is no lower one", `"declared"`, `"verified"`},
		{"capability-unknown", "token", "a capability that the vocabulary does not have", `"net.egress"`, `"net.ingress"`},
		{"pattern-invalid", "path", "a pattern that does not parse", `fs.read(reports/**)`, `fs.read(../**)`},
		{"grant-not-canonical", "host", "a grant in another spelling", `"net.egress"`, `"net.egress(example.com:443)"`},
		{"grants-unsorted", "order", "grants out of order", `"net.egress"`, `"fs.read"`},
		{"grant-duplicate", "twice", "a grant twice", `"net.egress"`, `"fs.read(reports/**)"`},
	}
}
