package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/trust"
)

func trustVectors() []vector {
	out := append(chainVectors(), documentVectors()...)
	return append(append(out, signerVectors()...), narrowVectors()...)
}

func rootKey() trusttest.Key { return trusttest.NewKey(trusttest.RootKey) }

// stored is the stored form of a document, on one line, signed by key.
func stored(doc trust.Document, key trusttest.Key) []byte {
	return seal(must(canonical.Marshal(doc)), trust.DomainTrust, key)
}

func seal(form []byte, d trust.Domain, key trusttest.Key) []byte {
	sig := must(key.SignMessage(trust.Message(d, form)))
	return []byte(`{"document":` + string(form) + `,"signature":"` + base64Of(sig[:]) + `"}`)
}

func digest(doc trust.Document) string {
	sum := sha256.Sum256(must(canonical.Marshal(doc)))
	return hex.EncodeToString(sum[:])
}

func entry(id string, seed byte, lv level.Level) trust.Entry {
	return trust.Entry{ID: id, PublicKey: trusttest.NewKey(seed).Public(), Clearance: trusttest.Scheme("default").Top().Parts(), Level: lv, NotAfter: trust.Never}
}

func revocation(id string) trust.Revocation {
	return trust.Revocation{ID: id, At: "2026-11-20T11:00:00Z", Why: "left"}
}

// version makes documents 1 to 3: a signer; another one and an adopter; the
// revocation of the second.
func version(n int64) trust.Document {
	d := trust.Document{
		Schema: trust.Schema, Version: n, Root: rootKey().Public(), Scheme: trusttest.Scheme("default").Data(),
		Signers: []trust.Entry{entry("ops", trusttest.OpsKey, level.Declared)}, Revocations: []trust.Revocation{},
	}
	if n > 1 {
		adopter := entry("adopter", trusttest.AdopterKey, level.Unverified)
		adopter.Clearance, adopter.Adopter = trusttest.Scheme("default").Bottom().Parts(), true
		tester := entry("tester", trusttest.TesterKey, level.Tested)
		tester.NotAfter = "2027-01-01T00:00:00Z"
		d.Previous, d.Signers = digest(version(n-1)), append(d.Signers, tester, adopter)
	}
	if n > 2 {
		d.Revocations = append(d.Revocations, revocation("tester"))
	}
	return d
}

// upTo is the chain of versions 1 to n.
func upTo(n int64) [][]byte {
	var out [][]byte
	for i := int64(1); i <= n; i++ {
		out = append(out, stored(version(i), rootKey()))
	}
	return out
}

// edited is version n, changed and signed again by the root key: even a root
// key that is misused cannot rewrite what was.
func edited(n int64, edit func(*trust.Document)) []byte {
	d := version(n)
	edit(&d)
	return stored(d, rootKey())
}

// third is the chain with another third document.
func third(edit func(*trust.Document)) [][]byte { return append(upTo(2), edited(3, edit)) }

// replaced is the first document with its text changed, and signed again.
func replaced(old, text string) [][]byte {
	form := string(must(canonical.Marshal(version(1))))
	if strings.Count(form, old) != 1 {
		panic("bug in a table: " + old)
	}
	return [][]byte{seal([]byte(strings.Replace(form, old, text, 1)), trust.DomainTrust, rootKey())}
}

func chainOf(name, expect, comment string, chain [][]byte) vector {
	return vector{name: name, expect: expect, comment: comment, payload: bytes.Join(chain, []byte("\n"))}
}

func opened(v vector, n int64) vector {
	return v.with("version", string('0'+rune(n))).with("digest", digest(version(n)))
}

func chainVectors() []vector {
	other := trusttest.NewKey(77)
	pin := rootKey().Public().String()
	out := []vector{
		opened(chainOf("ok-first", "ok", "the first document", upTo(1)).with("kind", "chain"), 1),
		opened(chainOf("ok-chain", "ok", "three documents under the root key that is expected", upTo(3)).with("kind", "chain").with("pin", pin), 3),
		chainOf("trust-root-changed-pin", "trust-root-changed", "another root key is expected", upTo(3)).with("kind", "chain").with("pin", other.Public().String()),
	}
	first := string(upTo(1)[0])
	for _, r := range []struct {
		expect, name, comment string
		chain                 [][]byte
	}{
		{"trust-empty", "none", "no document", nil},
		{"trust-too-many", "documents", "4097 documents, at most 4096, whatever they are", bytes.Split([]byte(strings.Repeat("0\n", 4096)+"0"), []byte("\n"))},
		{"trust-version-gap", "skipped", "version 2 is missing", [][]byte{upTo(3)[0], upTo(3)[2]}},
		{"trust-version-gap", "late", "the chain begins at version 2", [][]byte{edited(2, func(d *trust.Document) { d.Previous = "" })}},
		{"trust-version-gap", "repeated", "the first document twice", [][]byte{upTo(1)[0], upTo(1)[0]}},
		{"trust-previous", "other", "version 3 follows another version 2", third(func(d *trust.Document) { d.Previous = digest(version(1)) })},
		{"trust-previous", "first", "version 1 follows something", [][]byte{edited(1, func(d *trust.Document) { d.Previous = digest(version(2)) })}},
		{"trust-root-changed", "document", "a document that names another root key, signed by that one", append(upTo(1), stored(underAnother(other), other))},
		{"trust-scheme-changed", "rank", "a rank was renamed", third(func(d *trust.Document) { d.Scheme.Ranks[0] = "OPEN" })},
		{"trust-entry-dropped", "signer", "the signer in the middle is gone", third(func(d *trust.Document) { d.Signers = append(d.Signers[:1:1], d.Signers[2]) })},
		{"trust-entry-dropped", "revocation", "a revocation is gone, a signer came", append(upTo(3), revived())},
		{"trust-entry-changed", "level", "a level was raised", third(func(d *trust.Document) { d.Signers[0].Level = level.Formal })},
		{"trust-entry-changed", "clearance", "a clearance was raised", third(func(d *trust.Document) { d.Signers[2].Clearance.Rank = "INTERNAL" })},
		{"trust-entry-changed", "key", "a key was replaced", third(func(d *trust.Document) { d.Signers[0].PublicKey = other.Public() })},
		{"trust-entry-changed", "not-after", "a time was extended", third(func(d *trust.Document) { d.Signers[1].NotAfter = trust.Never })},
		{"trust-entry-changed", "order", "two signers changed places", third(func(d *trust.Document) { d.Signers[0], d.Signers[1] = d.Signers[1], d.Signers[0] })},
		{"trust-nothing-new", "same", "a version that adds nothing", third(func(d *trust.Document) { d.Revocations = []trust.Revocation{} })},
		{"trust-signature", "stranger", "signed by another key than the root key that it names", [][]byte{stored(version(1), other)}},
		{"trust-signature", "domain", "signed as if it were a skill", [][]byte{seal(must(canonical.Marshal(version(1))), trust.DomainSkill, rootKey())}},
		{"trust-signature", "edited", "changed after it was signed", [][]byte{[]byte(strings.Replace(first, `"declared"`, `"formal"`, 1))}},
		{"schema-unknown", "version-2", "a format of the future", [][]byte{edited(1, func(d *trust.Document) { d.Schema = "iff/trust/v2" })}},
		{"trust-malformed", "field", "a field that documents do not have", replaced(`"approver":false`, `"approver":false,"owner":true`)},
		{"trust-malformed", "twice", "a key twice", [][]byte{[]byte(strings.Replace(first, `"version":1`, `"version":1,"version":1`, 1))}},
		{"trust-malformed", "json", "cut off", [][]byte{[]byte(first[:100])}},
	} {
		out = append(out, chainOf(r.expect+"-"+r.name, r.expect, r.comment, r.chain).with("kind", "chain"))
	}
	return out
}

// underAnother is version 2 under another root key.
func underAnother(key trusttest.Key) trust.Document {
	d := version(2)
	d.Root = key.Public()
	return d
}

// revived is a version 4 that has lost the revocation of version 3.
func revived() []byte {
	return edited(3, func(d *trust.Document) {
		d.Version, d.Previous, d.Revocations = 4, digest(version(3)), []trust.Revocation{}
		d.Signers = append(d.Signers, entry("late", 8, level.Declared))
	})
}

// documentVectors are single documents, well signed, with one thing that no
// document may say.
func documentVectors() []vector {
	key := `"publicKey":"` + ops().Public().String() + `"`
	with := func(edit func(*trust.Document)) [][]byte { return [][]byte{edited(1, edit)} }
	second := func(e trust.Entry) [][]byte {
		return with(func(d *trust.Document) { d.Signers = append(d.Signers, e) })
	}
	adopter := func(lv level.Level, approver bool) trust.Entry {
		e := entry("adopter", trusttest.AdopterKey, lv)
		e.Adopter, e.Approver = true, approver
		return e
	}
	revoke := func(rs ...trust.Revocation) [][]byte {
		return with(func(d *trust.Document) { d.Revocations = rs })
	}
	when := func(text string) [][]byte {
		return with(func(d *trust.Document) { d.Signers[0].NotAfter = text })
	}
	var out []vector
	for _, r := range []struct {
		expect, name, comment string
		chain                 [][]byte
	}{
		{"key-small-order", "signer", "a signer's key for which everyone can sign", replaced(key, `"publicKey":"`+base64Of(fromHex(orderEight))+`"`)},
		{"signature-encoding", "document", "a signature without padding", [][]byte{[]byte(strings.Replace(string(upTo(1)[0]), `=="}`, `"}`, 1))}},
		{"level-unknown", "signer", "a level that there is not", replaced(`"declared"`, `"trusted"`)},
		{"signer-id-invalid", "space", "a space in an id", second(entry("my key", 9, level.Declared))},
		{"signer-duplicate", "id", "an id twice", second(entry("ops", 9, level.Declared))},
		{"key-duplicate", "signers", "one key under two ids", second(entry("ops2", trusttest.OpsKey, level.Declared))},
		{"key-duplicate", "root", "the root key as a signer", second(entry("boss", trusttest.RootKey, level.Declared))},
		{"adopter-level", "declared", "an adopter above unverified", second(adopter(level.Declared, false))},
		{"adopter-level", "approver", "an adopter that approves", second(adopter(level.Unverified, true))},
		{"not-after-invalid", "date", "a date without a time", when("2027-01-01")},
		{"not-after-invalid", "day", "a day that there is not", when("2027-02-29T00:00:00Z")},
		{"not-after-invalid", "fraction", "a part of a second", when("2027-01-01T00:00:00.5Z")},
		{"not-after-invalid", "hour", "an hour of one digit", when("2027-01-01T5:00:00Z")},
		{"signer-unknown", "revoked", "a revocation of nobody", revoke(revocation("nobody"))},
		{"signer-revoked", "twice", "a signer revoked twice", revoke(revocation("ops"), revocation("ops"))},
		{"revocation-invalid", "why", "two lines of reasons", revoke(trust.Revocation{ID: "ops", At: "2026-11-20T11:00:00Z", Why: "a\nb"})},
		{"revocation-invalid", "why-bidi", "a reason that turns the direction of reading", revoke(trust.Revocation{ID: "ops", At: "2026-11-20T11:00:00Z", Why: "a\u202eb"})},
		{"rank-unknown", "clearance", "a clearance outside the scheme", with(func(d *trust.Document) { d.Signers[0].Clearance.Rank = "COSMIC" })},
		{"scheme-duplicate", "rank", "a scheme that is none", with(func(d *trust.Document) { d.Scheme.Name, d.Scheme.Ranks[1] = "mine", "PUBLIC" })},
	} {
		out = append(out, chainOf(r.expect+"-"+r.name, r.expect, r.comment, r.chain).with("kind", "chain"))
	}
	return out
}

// signerVectors: whether a root names a signer at a time.
func signerVectors() []vector {
	var out []vector
	for _, r := range []struct {
		expect, name, comment, id, at string
		versions                      int64
	}{
		{"ok", "never", "a signer without an end", "ops", "2099-01-01T00:00:00Z", 3},
		{"ok", "last-second", "a signer at its last second", "tester", "2027-01-01T00:00:00Z", 2},
		{"signer-expired", "second-after", "and a second later", "tester", "2027-01-01T00:00:01Z", 2},
		{"signer-revoked", "tester", "a revoked signer, whatever its end", "tester", "2026-11-20T12:00:00Z", 3},
		{"signer-unknown", "stranger", "an id that the root does not have", "stranger", "2026-11-20T12:00:00Z", 3},
	} {
		out = append(out, chainOf(r.expect+"-signer-"+r.name, r.expect, r.comment, upTo(r.versions)).
			with("kind", "signer").with("signer", r.id).with("at", r.at))
	}
	return out
}

// narrowVectors: what a root that is locked still takes. All documents but the
// last are locked.
func narrowVectors() []vector {
	smuggled := third(func(d *trust.Document) { d.Signers = append(d.Signers, entry("late", 8, level.Formal)) })
	return []vector{
		opened(chainOf("ok-narrow", "ok", "a document that only revokes is taken after the lock", upTo(3)).with("kind", "narrow"), 3),
		chainOf("trust-locked-signer", "trust-locked", "a document that adds a signer is not", upTo(2)).with("kind", "narrow"),
		chainOf("trust-locked-smuggled", "trust-locked", "nor one that adds a signer beside a revocation", smuggled).with("kind", "narrow"),
	}
}
