package trust_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/trust"
)

var when = trusttest.Now

func entry(_ testing.TB, id string, seed byte, lv level.Level) trust.Entry {
	return trust.Entry{ID: id, PublicKey: trusttest.NewKey(seed).Public(), Clearance: trusttest.Scheme("default").Top().Parts(), Level: lv, NotAfter: trust.Never}
}

// chain makes three documents: a signer, another signer, a revocation.
func chain(tb testing.TB) (root trusttest.Key, docs [][]byte) {
	tb.Helper()
	root = trusttest.NewKey(1)
	d, err := trust.NewDraft(root.Public(), trusttest.Scheme("default"))
	must(tb, err)
	must(tb, d.Add(entry(tb, "ops", 2, level.Declared)))
	docs = append(docs, sign(tb, d, root))
	must(tb, d.Add(entry(tb, "dev", 3, level.Unverified)))
	docs = append(docs, sign(tb, d, root))
	must(tb, d.Revoke("dev", when, "left"))
	docs = append(docs, sign(tb, d, root))
	return root, docs
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func sign(tb testing.TB, d *trust.Draft, key trust.Signer) []byte {
	tb.Helper()
	doc, err := d.Sign(key)
	must(tb, err)
	return doc
}

func reason(err error) trust.Reason {
	var e *trust.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

func lock(tb testing.TB, docs [][]byte) *trust.Root {
	tb.Helper()
	d, err := trust.Open(docs, trust.PublicKey{})
	must(tb, err)
	r, err := d.Lock()
	must(tb, err)
	return r
}

func TestChainOpensAndResolves(t *testing.T) {
	_, docs := chain(t)
	r := lock(t, docs)
	if r.Version() != 3 || len(r.Entries()) != 2 {
		t.Fatalf("version %d with %d signers", r.Version(), len(r.Entries()))
	}
	e, err := r.Signer("ops", when)
	must(t, err)
	if e.Level != level.Declared || r.Clearance(e) != trusttest.Scheme("default").Top() {
		t.Errorf("ops is %v, %v", e.Level, r.Clearance(e))
	}
	for id, want := range map[string]trust.Reason{"dev": trust.SignerRevoked, "nobody": trust.SignerUnknown, "": trust.SignerUnknown} {
		if _, err := r.Signer(id, when); reason(err) != want {
			t.Errorf("signer %q: %v, want %s", id, err, want)
		}
	}
}

func TestZeroValuesTrustNobody(t *testing.T) {
	var r trust.Root
	if _, err := r.Signer("ops", when); reason(err) != trust.SignerUnknown {
		t.Errorf("the zero root resolves: %v", err)
	}
	if _, ok := r.ByKey(trust.PublicKey{}); ok {
		t.Error("the zero root knows the zero key")
	}
	var d trust.Draft
	if err := d.Add(entry(t, "x", 9, level.Unverified)); !errors.Is(err, trust.ErrLocked) {
		t.Errorf("the zero draft takes a signer: %v", err)
	}
	if trust.Verify(trust.PublicKey{}, trust.DomainSkill, nil, trust.Signature{}) {
		t.Error("the zero key verifies the zero signature")
	}
}

func TestExpiry(t *testing.T) {
	root := trusttest.NewKey(1)
	d, err := trust.NewDraft(root.Public(), trusttest.Scheme("default"))
	must(t, err)
	e := entry(t, "ops", 2, level.Declared)
	e.NotAfter = trust.FormatTime(when)
	must(t, d.Add(e))
	sign(t, d, root)
	r, err := d.Lock()
	must(t, err)
	if _, err := r.Signer("ops", when); err != nil {
		t.Errorf("at its last instant: %v", err)
	}
	if _, err := r.Signer("ops", when.Add(time.Second)); reason(err) != trust.SignerExpired {
		t.Errorf("a second later: %v", err)
	}
}

// tamper edits the document of one version and signs it again with key.
func tamper(t *testing.T, stored []byte, key trusttest.Key, edit func(*trust.Document)) []byte {
	t.Helper()
	var s struct {
		Document  trust.Document  `json:"document"`
		Signature trust.Signature `json:"signature"`
	}
	must(t, canonical.Parse(stored, &s, canonical.Limits{}))
	edit(&s.Document)
	form, err := canonical.Marshal(s.Document)
	must(t, err)
	s.Signature, err = trust.Sign(key, trust.DomainTrust, form)
	must(t, err)
	out, err := canonical.Pretty(s)
	must(t, err)
	return out
}

// Every case is signed by the real root key: it is the chain that refuses, so
// even a root key that is misused once cannot rewrite what was.
func TestChainRefuses(t *testing.T) {
	root, docs := chain(t)
	other := trusttest.NewKey(77)
	third := func(edit func(*trust.Document)) [][]byte {
		return [][]byte{docs[0], docs[1], tamper(t, docs[2], root, edit)}
	}
	for name, c := range map[string]struct {
		chain [][]byte
		want  trust.Reason
	}{
		"nothing":            {nil, trust.Empty},
		"version skipped":    {[][]byte{docs[0], docs[2]}, trust.VersionGap},
		"starts late":        {docs[1:], trust.VersionGap},
		"repeated":           {[][]byte{docs[0], docs[0]}, trust.VersionGap},
		"version jumps":      {third(func(d *trust.Document) { d.Version = 9 }), trust.VersionGap},
		"entry dropped":      {third(func(d *trust.Document) { d.Signers = d.Signers[:1]; d.Revocations = nil }), trust.EntryDropped},
		"first dropped":      {third(func(d *trust.Document) { d.Signers = d.Signers[1:] }), trust.EntryDropped},
		"reordered":          {third(func(d *trust.Document) { slices.Reverse(d.Signers) }), trust.EntryChanged},
		"level widened":      {third(func(d *trust.Document) { d.Signers[0].Level = level.Formal }), trust.EntryChanged},
		"clearance narrowed": {third(func(d *trust.Document) { d.Signers[0].Clearance = trusttest.Scheme("default").Bottom().Parts() }), trust.EntryChanged},
		"key swapped":        {third(func(d *trust.Document) { d.Signers[0].PublicKey = other.Public() }), trust.EntryChanged},
		"may approve":        {third(func(d *trust.Document) { d.Signers[0].Approver = true }), trust.EntryChanged},
		"life extended":      {third(func(d *trust.Document) { d.Signers[0].NotAfter = "2099-01-01T00:00:00Z" }), trust.EntryChanged},
		"nothing new":        {third(func(d *trust.Document) { d.Revocations = []trust.Revocation{} }), trust.NothingNew},
		"other previous":     {third(func(d *trust.Document) { d.Previous = strings.Repeat("0", 64) }), trust.BadPrevious},
		"scheme changed":     {third(func(d *trust.Document) { d.Scheme.Ranks[0] = "OPEN" }), trust.SchemeChanged},
		"schema":             {third(func(d *trust.Document) { d.Schema = "iff/trust/v2" }), trust.SchemaUnknown},
		"revokes a stranger": {third(func(d *trust.Document) { d.Revocations[0].ID = "nobody" }), trust.SignerUnknown},
		"id again": {third(func(d *trust.Document) {
			e := d.Signers[0]
			e.PublicKey = other.Public()
			d.Signers = append(d.Signers, e)
		}), trust.IDDuplicate},
		"key again": {third(func(d *trust.Document) {
			e := d.Signers[1]
			e.ID = "dev2"
			d.Signers = append(d.Signers, e)
		}), trust.KeyDuplicate},
		"root as signer": {third(func(d *trust.Document) {
			e := d.Signers[0]
			e.ID, e.PublicKey = "boss", root.Public()
			d.Signers = append(d.Signers, e)
		}), trust.KeyDuplicate},
		"adopter declares": {third(func(d *trust.Document) {
			d.Signers = append(d.Signers, trust.Entry{ID: "ad", PublicKey: other.Public(), Clearance: trusttest.Scheme("default").Bottom().Parts(), Level: level.Declared, NotAfter: trust.Never, Adopter: true})
		}), trust.AdopterLevel},
		"another root":             {[][]byte{docs[0], docs[1], tamper(t, docs[2], other, func(d *trust.Document) { d.Root = other.Public() })}, trust.RootChanged},
		"signed by another":        {[][]byte{docs[0], docs[1], tamper(t, docs[2], other, func(*trust.Document) {})}, trust.BadSignature},
		"version 1 has a previous": {[][]byte{tamper(t, docs[0], root, func(d *trust.Document) { d.Previous = strings.Repeat("0", 64) })}, trust.BadPrevious},
	} {
		if _, err := trust.Open(c.chain, root.Public()); reason(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := trust.Open(docs, other.Public()); reason(err) != trust.RootChanged {
		t.Errorf("another root key was expected: %v", err)
	}
}

// A flipped bit anywhere in a stored document is refused, or it is white space
// that does not change what was signed.
func TestFlippedBits(t *testing.T) {
	_, docs := chain(t)
	for i := range docs[0] {
		for bit := range 8 {
			flipped := slices.Clone(docs[0])
			flipped[i] ^= 1 << bit
			if _, err := trust.Open([][]byte{flipped}, trust.PublicKey{}); err == nil {
				t.Fatalf("byte %d bit %d: accepted", i, bit)
			}
		}
	}
}

func TestLockIsForEver(t *testing.T) {
	root, docs := chain(t)
	d, err := trust.Open(docs, root.Public())
	must(t, err)
	_, err = d.Lock()
	must(t, err)
	add := func() error { return d.Add(entry(t, "late", 8, level.Unverified)) }
	revoke := func() error { return d.Revoke("ops", when, "") }
	signIt := func() error { _, err := d.Sign(root); return err }
	again := func() error { _, err := d.Lock(); return err }
	for name, f := range map[string]func() error{"add": add, "revoke": revoke, "sign": signIt, "lock": again} {
		if err := f(); !errors.Is(err, trust.ErrLocked) || reason(err) != trust.Locked {
			t.Errorf("%s after the lock: %v", name, err)
		}
	}
}

func TestUnsignedChangesDoNotLock(t *testing.T) {
	root, docs := chain(t)
	d, err := trust.Open(docs, root.Public())
	must(t, err)
	must(t, d.Add(entry(t, "late", 8, level.Formal)))
	if _, err := d.Lock(); reason(err) != trust.Unsigned {
		t.Errorf("locked with an unsigned signer: %v", err)
	}
	if _, err := d.Sign(trusttest.NewKey(5)); !errors.Is(err, trust.ErrLocked) {
		t.Errorf("a draft that failed to lock can be signed: %v", err)
	}
}

func TestNarrowAfterLock(t *testing.T) {
	root, docs := chain(t)
	r := lock(t, docs[:2])
	n, err := r.Narrow(docs[2])
	must(t, err)
	if _, err := n.Signer("dev", when); reason(err) != trust.SignerRevoked {
		t.Errorf("dev after narrowing: %v", err)
	}
	if _, err := r.Signer("dev", when); err != nil {
		t.Errorf("narrowing changed the root it was made from: %v", err)
	}
	if _, err := lock(t, docs[:1]).Narrow(docs[1]); !errors.Is(err, trust.ErrLocked) {
		t.Errorf("a document that adds a signer narrows: %v", err)
	}
	if _, err := lock(t, docs[:1]).Narrow(docs[2]); reason(err) != trust.VersionGap {
		t.Errorf("a skipped version narrows: %v", err)
	}
	both := tamper(t, docs[2], root, func(d *trust.Document) { d.Signers = append(d.Signers, entry(t, "extra", 9, level.Formal)) })
	if _, err := r.Narrow(both); !errors.Is(err, trust.ErrLocked) {
		t.Errorf("a revocation that smuggles a signer narrows: %v", err)
	}
}

func TestDraftRefusesAtOnce(t *testing.T) {
	root, docs := chain(t)
	d, err := trust.Open(docs, root.Public())
	must(t, err)
	bad := entry(t, "Bad Name", 8, level.Unverified)
	if err := d.Add(bad); reason(err) != trust.IDInvalid {
		t.Errorf("bad id: %v", err)
	}
	ghost := entry(t, "ghost", 8, level.Unverified)
	ghost.PublicKey = trust.PublicKey{}
	if err := d.Add(ghost); reason(err) != trust.KeySize {
		t.Errorf("no key: %v", err)
	}
	date := entry(t, "dated", 8, level.Unverified)
	date.NotAfter = "tomorrow"
	if err := d.Add(date); reason(err) != trust.NotAfterInvalid {
		t.Errorf("bad date: %v", err)
	}
	labelled := entry(t, "labelled", 8, level.Unverified)
	labelled.Clearance.Rank = "COSMIC"
	var le *label.Error
	if err := d.Add(labelled); !errors.As(err, &le) {
		t.Errorf("unknown rank: %v", err)
	}
	if err := d.Revoke("dev", when, ""); reason(err) != trust.SignerRevoked {
		t.Errorf("revoked twice: %v", err)
	}
	if err := d.Revoke("ops", when, "a\nb"); reason(err) != trust.WhyInvalid {
		t.Errorf("newline in why: %v", err)
	}
	if _, err := d.Sign(root); reason(err) != trust.NothingNew {
		t.Errorf("refused changes were kept: %v", err)
	}
	if _, err := d.Sign(trusttest.NewKey(50)); reason(err) != trust.RootChanged {
		t.Errorf("signed by a stranger: %v", err)
	}
}

// smallOrder are the eight points of small order (RFC 7748 and the curve's
// torsion subgroup) in canonical encoding.
var smallOrder = []string{
	"0100000000000000000000000000000000000000000000000000000000000000",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0000000000000000000000000000000000000000000000000000000000000080",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
}

func TestSmallOrderKeysAreRefused(t *testing.T) {
	for _, h := range smallOrder {
		raw, err := hex.DecodeString(h)
		must(t, err)
		if _, err := trust.NewPublicKey(raw); reason(err) != trust.KeySmallOrder {
			t.Errorf("%s: %v", h, err)
		}
	}
	// The planted bug: the standard library alone takes the identity point,
	// and one signature then verifies every message.
	identity := make([]byte, 32)
	identity[0] = 1
	sig := make([]byte, 64)
	sig[0] = 1
	for _, m := range []string{"pay me", "pay him"} {
		if !ed25519.Verify(identity, []byte(m), sig) {
			t.Fatal("the forgery that this check is for no longer works; look again")
		}
	}
}

func TestKeyEncodings(t *testing.T) {
	nonCanonical, _ := hex.DecodeString("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")
	offCurve := bytes.Repeat([]byte{2}, 32)
	for name, c := range map[string]struct {
		raw  []byte
		want trust.Reason
	}{
		"short":         {make([]byte, 31), trust.KeySize},
		"long":          {make([]byte, 33), trust.KeySize},
		"non-canonical": {nonCanonical, trust.KeyEncoding},
		"off the curve": {offCurve, trust.KeyEncoding},
		"mixed order":   {mixedOrder(t), trust.KeyMixedOrder},
	} {
		if _, err := trust.NewPublicKey(c.raw); reason(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	k := trusttest.NewKey(4).Public()
	var back trust.PublicKey
	must(t, back.UnmarshalText([]byte(k.String())))
	if back != k {
		t.Error("text form does not round trip")
	}
	for _, bad := range []string{"", k.String()[:43], k.String() + "\n", " " + k.String(), strings.TrimRight(k.String(), "=")} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken as a key", bad)
		}
	}
}

func TestSignatureHasOneSpelling(t *testing.T) {
	sig, err := trusttest.NewKey(4).SignMessage([]byte("x"))
	must(t, err)
	text, err := sig.MarshalText()
	must(t, err)
	var back trust.Signature
	must(t, back.UnmarshalText(text))
	// The last digit before the padding carries four bits that mean nothing.
	loose := slices.Clone(text)
	loose[85]++
	for _, bad := range [][]byte{loose, text[:87], append(slices.Clone(text), '\n'), append([]byte("\r\n"), text...)} {
		if err := back.UnmarshalText(bad); reason(err) != trust.SignatureEncoding {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestDomainsSeparate(t *testing.T) {
	k := trusttest.NewKey(4)
	sig, err := trust.Sign(k, trust.DomainSkill, []byte("{}"))
	must(t, err)
	if !trust.Verify(k.Public(), trust.DomainSkill, []byte("{}"), sig) {
		t.Error("does not verify in its own domain")
	}
	for _, other := range []trust.Domain{trust.DomainTrust, trust.DomainLogKey, trust.DomainApproval, trust.DomainConfig} {
		if trust.Verify(k.Public(), other, []byte("{}"), sig) {
			t.Errorf("a skill's signature verifies under %q", other)
		}
	}
}

// brokenKey makes signatures of something else: a fault is noticed at once.
type brokenKey struct{ trusttest.Key }

func (k brokenKey) SignMessage(m []byte) (trust.Signature, error) {
	return k.Key.SignMessage(append(m, 'x'))
}

func TestFaultySignerIsNoticed(t *testing.T) {
	if _, err := trust.Sign(brokenKey{trusttest.NewKey(4)}, trust.DomainSkill, nil); reason(err) != trust.SignatureInvalid {
		t.Errorf("a wrong signature left Sign: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	_, docs := chain(f)
	for _, d := range docs {
		f.Add(d)
	}
	f.Add([]byte(`{"document":{},"signature":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := trust.Open([][]byte{data}, trust.PublicKey{})
		if err != nil {
			return
		}
		r, err := d.Lock()
		if err != nil {
			t.Fatalf("opened, and then: %v", err)
		}
		if r.Version() != 1 || r.Key().IsZero() || r.Scheme() == nil {
			t.Fatalf("opened without a root: %+v", r)
		}
		for _, e := range r.Entries() {
			if e.Adopter && e.Level != level.Unverified {
				t.Fatal("an adopter with authority")
			}
		}
	})
}

func Example() {
	key := trusttest.NewKey(1)
	scheme, _ := label.Builtin("generic")
	draft, err := trust.NewDraft(key.Public(), scheme)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := draft.Add(trust.Entry{
		ID: "ops-2026", PublicKey: trusttest.NewKey(2).Public(), Clearance: scheme.Top().Parts(), Level: level.Declared, NotAfter: "2027-01-01T00:00:00Z",
	}); err != nil {
		fmt.Println(err)
		return
	}
	document, err := draft.Sign(key)
	if err != nil {
		fmt.Println(err)
		return
	}
	reopened, err := trust.Open([][]byte{document}, key.Public())
	if err != nil {
		fmt.Println(err)
		return
	}
	root, err := reopened.Lock()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = root.Signer("ops-2026", time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(err)
	fmt.Println(reopened.Add(trust.Entry{ID: "late"}))
	// Output:
	// signer-expired: ops-2026 was valid until 2027-01-01T00:00:00Z
	// trust-locked: nothing can be added; start again to change who is trusted
}
