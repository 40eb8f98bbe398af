package skill_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

func TestLoads(t *testing.T) {
	r := skill.Verify(read(t, signed(t)), terms())
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if r.Skill.Name != "invoice-reports" || r.Skill.Level != "declared" || r.Skill.Signer != "ops" {
		t.Errorf("loaded as %+v", r.Skill)
	}
	for _, s := range r.Steps {
		if s.Outcome != skill.OK || s.Checked == "" {
			t.Errorf("step %d: %+v", s.Number, s)
		}
	}
}

// TestManifestFaults are refused at step 1.
func TestManifestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(string) string
		reason string
	}{
		"field missing":       {replace("  \"name\": \"invoice-reports\",\n", ""), "missing-field"},
		"label field missing": {replace("\"rank\": \"PUBLIC\"", "\"ranks\": \"PUBLIC\""), "unknown-field"},
		"not JSON":            {replace(`"name"`, `name`), "json-syntax"},
		"field unknown":       {replace(`"name"`, `"trusted": true, "name"`), "unknown-field"},
		"prototype pollution": {replace(`"name"`, `"__proto__": {}, "name"`), "unknown-field"},
		"field duplicated":    {replace(`"name"`, `"name": "other", "name"`), "duplicate-key"},
		"differs in case":     {replace(`"name"`, `"Name": "other", "name"`), "case-key"},
		"renamed in case":     {replace(`"caps"`, `"Caps"`), "case-key"},
		"wrong type":          {replace(`"version": 1`, `"version": "1"`), "wrong-type"},
		"null":                {replace(`"version": 1`, `"version": null`), "wrong-type"},
		"version a float":     {replace(`"version": 1`, `"version": 1.5`), "wrong-type"},
		"version zero":        {replace(`"version": 1`, `"version": 0`), "version-invalid"},
		"version inexact":     {replace(`"version": 1`, `"version": 9007199254740993`), "number-inexact"},
		"unknown level":       {replace(`"declared"`, `"trusted"`), "level-unknown"},
		"level in capitals":   {replace(`"declared"`, `"DECLARED"`), "level-unknown"},
		"level empty":         {replace(`"declared"`, `""`), "missing-field"},
		"unknown capability":  {replace("fs.read(", "fs.peek("), "capability-unknown"},
		"bad pattern":         {replace("reports/**", "../**"), "pattern-invalid"},
		"caps unsorted":       {replace(`"fs.read(reports/**)"`, `"spawn.proc(z)", "fs.read(reports/**)"`), "grants-unsorted"},
		"grant twice":         {replace(`"fs.read(reports/**)"`, `"fs.read(reports/**)", "fs.read(reports/**)"`), "grant-duplicate"},
		"rank outside":        {replace(`"PUBLIC"`, `"COSMIC"`), "rank-unknown"},
		"compartment outside": {replace(`"compartments": []`, `"compartments": ["X"]`), "compartment-unknown"},
		"releasable outside":  {replace(`"EVERYONE"`, `"MARTIANS"`), "releasable-unknown"},
		"schema":              {replace("iff/skill/v1", "iff/skill/v2"), "schema-unknown"},
		"name in capitals":    {replace(`"invoice-reports"`, `"Invoice-Reports"`), "name-invalid"},
		"bidi summary":        {replace(`"name"`, "\"summary\": \"good\u202e\", \"name\""), "summary-invalid"},
		"trailing bytes":      {func(s string) string { return s + "{}" }, "trailing-bytes"},
		"byte-order mark":     {func(s string) string { return "\ufeff" + s }, "byte-order-mark"},
		"bad UTF-8":           {replace("invoice", "inv\xffoice"), "bad-utf8"},
		"lone surrogate":      {replace("invoice", `\ud800`), "lone-surrogate"},
		"empty":               {func(string) string { return "" }, "json-syntax"},
		"array":               {func(string) string { return "[]" }, "wrong-type"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := signed(t)
			edit(t, filepath.Join(dir, manifest.FileName), c.change)
			refusedAt(t, dir, terms(), 1, c.reason)
		})
	}
	t.Run("missing", func(t *testing.T) { refusedAt(t, plain().write(t), terms(), 1, "manifest-missing") })
	t.Run("too large", func(t *testing.T) {
		dir := signed(t)
		edit(t, filepath.Join(dir, manifest.FileName), func(s string) string { return s + strings.Repeat(" ", 1<<20) })
		refusedAt(t, dir, terms(), 1, "too-large")
	})
}

func TestVerificationAbsentIsUnverified(t *testing.T) {
	dir := plain().write(t)
	f := fields()
	f.Verification = ""
	sign(t, dir, f, trusttest.OpsKey)
	r := skill.Verify(read(t, dir), terms())
	if r.Err != nil || r.Skill.Level != "unverified" {
		t.Errorf("%+v, %v", r.Skill, r.Err)
	}
}

func TestSignerFaults(t *testing.T) {
	for signer, c := range map[string]struct {
		key    byte
		reason string
	}{
		"nobody": {99, "signer-unknown"}, "gone": {trusttest.GoneKey, "signer-revoked"}, "old": {trusttest.OldKey, "signer-expired"},
	} {
		t.Run(signer, func(t *testing.T) {
			dir := plain().write(t)
			f := fields()
			f.Signer = signer
			sign(t, dir, f, c.key)
			refusedAt(t, dir, terms(), 2, c.reason)
		})
	}
	t.Run("expires later", func(t *testing.T) {
		dir := plain().write(t)
		f := fields()
		f.Signer, f.Verification = "tester", "declared"
		sign(t, dir, f, trusttest.TesterKey)
		late := terms()
		late.Now = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
		refusedAt(t, dir, late, 2, "signer-expired")
	})
}

func TestContentFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		where  string
		reason string
	}{
		"a byte appended": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "scripts/list.sh"), func(s string) string { return s + "\n" })
			must(t, os.Chmod(filepath.Join(dir, "scripts/list.sh"), 0o755))
		}, "scripts/list.sh", "content-changed"},
		"hidden file changed": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "data/.hidden"), func(string) string { return "y" })
		}, "data/.hidden", "content-changed"},
		"file added": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "extra"), nil, 0o644))
		}, "extra", "content-changed"},
		"file removed": {func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "data/.hidden")))
		}, "data/.hidden", "content-changed"},
		"file renamed": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "data/.hidden"), filepath.Join(dir, "data/seen")))
		}, "data/seen", "content-changed"},
		"made executable": {func(t *testing.T, dir string) {
			must(t, os.Chmod(filepath.Join(dir, "data/.hidden"), 0o700))
		}, "data/.hidden", "content-changed"},
		"a link": {func(t *testing.T, dir string) {
			must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "passwd")))
		}, "passwd", "file-link"},
		"a link to a directory": {func(t *testing.T, dir string) {
			must(t, os.Symlink("scripts", filepath.Join(dir, "more")))
		}, "more", "file-link"},
		"a FIFO": {func(t *testing.T, dir string) {
			must(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
		}, "pipe", "file-special"},
		"a control in a name": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "a\nb"), nil, 0o644))
		}, "a\nb", "file-name"},
		"a bidi name": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "gnp\u202e.sh"), nil, 0o644))
		}, "gnp\u202e.sh", "file-name"},
		"case twins": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "skill.MD"), nil, 0o644))
		}, "skill.MD", "name-twin"},
		"normalisation twins": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "caf\u00e9"), nil, 0o644))
			must(t, os.WriteFile(filepath.Join(dir, "cafe\u0301"), nil, 0o644))
		}, "caf\u00e9", "name-twin"},
		"no SKILL.md": {func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "SKILL.md")))
			sign(t, dir, fields(), trusttest.OpsKey)
		}, "SKILL.md", "skillmd-missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := signed(t)
			c.change(t, dir)
			if err := refusedAt(t, dir, terms(), 3, c.reason); err.Where != c.where {
				t.Errorf("names %q, want %q", err.Where, c.where)
			}
		})
	}
}

func TestSignatureFaults(t *testing.T) {
	t.Run("missing", func(t *testing.T) {
		dir := signed(t)
		must(t, os.Remove(filepath.Join(dir, manifest.SignatureFileName)))
		refusedAt(t, dir, terms(), 3, "signature-missing")
	})
	t.Run("manifest edited", func(t *testing.T) {
		dir := signed(t)
		edit(t, filepath.Join(dir, manifest.FileName), replace("reports/**", "**"))
		refusedAt(t, dir, terms(), 3, "manifest-changed")
	})
	t.Run("another skill's manifest", func(t *testing.T) {
		dir, other := signed(t), files{"SKILL.md": "---\nname: b\ndescription: b\n---\n"}.write(t)
		f := fields()
		f.Name = "b"
		sign(t, other, f, trusttest.OpsKey)
		data, err := os.ReadFile(filepath.Join(other, manifest.FileName))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, manifest.FileName), data, 0o644))
		refusedAt(t, dir, terms(), 3, "manifest-changed")
		data, err = os.ReadFile(filepath.Join(other, manifest.SignatureFileName))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, manifest.SignatureFileName), data, 0o644))
		refusedAt(t, dir, terms(), 3, "content-changed")
	})
	t.Run("another key", func(t *testing.T) {
		dir := plain().write(t)
		sign(t, dir, fields(), 99)
		refusedAt(t, dir, terms(), 3, "signature-invalid")
	})
	t.Run("list doctored", func(t *testing.T) {
		// The list in the signature file is made to match changed content: the
		// signature over its root does not.
		dir := signed(t)
		must(t, os.WriteFile(filepath.Join(dir, "data/.hidden"), []byte("evil"), 0o644))
		original, err := os.ReadFile(filepath.Join(dir, manifest.SignatureFileName))
		must(t, err)
		sign(t, dir, fields(), 99)
		i := strings.Index(string(original), `"signature": "`)
		edit(t, filepath.Join(dir, manifest.SignatureFileName), func(s string) string {
			return s[:strings.Index(s, `"signature": "`)] + string(original)[i:]
		})
		refusedAt(t, dir, terms(), 3, "signature-invalid")
	})
	t.Run("list unsorted", func(t *testing.T) {
		dir := signed(t)
		edit(t, filepath.Join(dir, manifest.SignatureFileName), replace(`"path":"SKILL.md"`, `"path":"zz"`))
		refusedAt(t, dir, terms(), 3, "signature-malformed")
	})
}

// TestEveryFlippedBit flips each bit of manifest, signature and one file.
func TestEveryFlippedBit(t *testing.T) {
	dir, under := signed(t), terms()
	p := read(t, dir)
	flip := func(name string, data []byte, with func() *skill.Package) {
		for i := range data {
			for bit := range 8 {
				data[i] ^= 1 << bit
				if r := skill.Verify(with(), under); r.Err == nil {
					t.Fatalf("%s byte %d bit %d: loads", name, i, bit)
				}
				data[i] ^= 1 << bit
			}
		}
		if r := skill.Verify(with(), under); r.Err != nil {
			t.Fatalf("%s with all bits back: %v", name, r.Err)
		}
	}
	s := p.Sidecar()
	flip("manifest", s.Manifest, func() *skill.Package { return p.WithSidecar(s) })
	flip("signature", s.Signature, func() *skill.Package { return p.WithSidecar(s) })
	path := filepath.Join(dir, "SKILL.md")
	data, err := os.ReadFile(path)
	must(t, err)
	flip("SKILL.md", data, func() *skill.Package {
		must(t, os.WriteFile(path, data, 0o644))
		return read(t, dir)
	})
}

func TestVersions(t *testing.T) {
	dir := signed(t)
	first := skill.Verify(read(t, dir), terms()).Skill
	seen := func(version int64, subject string) skill.Terms {
		x := terms()
		x.State.Apply(record.Record{Body: record.SkillLoaded{Skill: record.Skill{Name: "invoice-reports", Signer: "ops", Version: version, Subject: subject}}})
		return x
	}
	refusedAt(t, dir, seen(2, "x"), 3, "version-replayed")
	refusedAt(t, dir, seen(1, "x"), 3, "version-equivocal")
	if r := skill.Verify(read(t, dir), seen(1, first.Subject)); r.Err != nil {
		t.Errorf("the same again: %v", r.Err)
	}
	wider := fields()
	wider.Caps = []string{"pay"}
	sign(t, dir, wider, trusttest.OpsKey)
	refusedAt(t, dir, seen(1, first.Subject), 3, "version-equivocal")
}

func TestLabelsAndLevels(t *testing.T) {
	s := trusttest.Scheme("default")
	restricted, err := s.New("RESTRICTED", nil, nil)
	must(t, err)
	sealed, err := s.New("PUBLIC", nil, []string{"EVERYONE"})
	must(t, err)
	signAs := func(t *testing.T, signer string, key byte, level string, l label.Label) string {
		dir := plain().write(t)
		f := fields()
		f.Signer, f.Verification, f.Label = signer, level, l.Parts()
		sign(t, dir, f, key)
		return dir
	}
	refusedAt(t, signAs(t, "tester", trusttest.TesterKey, "declared", restricted), terms(), 4, "label-above-signer")
	low := terms()
	low.Clearance = s.Bottom()
	refusedAt(t, signAs(t, "ops", trusttest.OpsKey, "declared", restricted), low, 5, "label-above-operator")
	low.Clearance = label.Label{}
	refusedAt(t, signAs(t, "ops", trusttest.OpsKey, "declared", sealed), low, 5, "label-above-operator")
	refusedAt(t, signAs(t, "ops", trusttest.OpsKey, "tested", sealed), terms(), 6, "level-above-signer")
	refusedAt(t, signAs(t, "adopter", trusttest.AdopterKey, "declared", s.Bottom()), terms(), 6, "level-above-signer")
	refusedAt(t, signAs(t, "tester", trusttest.TesterKey, "tested", sealed), terms(), 6, "evidence-unavailable")
	refusedAt(t, signAs(t, "tester", trusttest.TesterKey, "formal", sealed), terms(), 6, "evidence-unavailable")
	if r := skill.Verify(read(t, signAs(t, "adopter", trusttest.AdopterKey, "unverified", s.Bottom())), terms()); r.Err != nil {
		t.Errorf("adopter at unverified: %v", r.Err)
	}
}

func TestCompartmentsBeyondClearance(t *testing.T) {
	s := trusttest.Scheme("us-government")
	secret, err := s.New("SECRET", []string{"SI"}, nil)
	must(t, err)
	clearance, err := s.New("TOP SECRET", nil, []string{})
	must(t, err)
	d, err := trust.NewDraft(trusttest.NewKey(1).Public(), s)
	must(t, err)
	must(t, d.Add(trust.Entry{ID: "ops", PublicKey: trusttest.NewKey(trusttest.OpsKey).Public(), Clearance: clearance.Parts(), Level: 1, NotAfter: trust.Never}))
	_, err = d.Sign(trusttest.NewKey(1))
	must(t, err)
	root, err := d.Lock()
	must(t, err)
	dir := plain().write(t)
	f := fields()
	f.Label = secret.Parts()
	c, err := read(t, dir).Content()
	must(t, err)
	m, err := f.Freeze(s)
	must(t, err)
	sidecar, err := skill.Sign(c, m, trusttest.NewKey(trusttest.OpsKey))
	must(t, err)
	r := skill.Verify(read(t, dir).WithSidecar(sidecar), skill.Terms{Root: root, Clearance: s.Top(), State: new(record.State), Now: trusttest.Now})
	if r.Err == nil || r.Err.Reason != skill.LabelAboveSigner {
		t.Errorf("SECRET//SI signed by TOP SECRET without compartments: %v", r.Err)
	}
}

func TestZeroTermsRefuse(t *testing.T) {
	if r := skill.Verify(read(t, signed(t)), skill.Terms{}); r.Err == nil {
		t.Error("loads under nothing")
	}
}

// memorySink keeps records; it can be told to fail.
type memorySink struct {
	bodies []record.Body
	err    error
}

func (s *memorySink) Append(_ context.Context, entries ...record.Entry) ([]record.Mark, error) {
	if s.err != nil {
		return nil, s.err
	}
	for _, e := range entries {
		s.bodies = append(s.bodies, e.Body)
	}
	return make([]record.Mark, len(entries)), nil
}

func TestLoaderRecordsEveryOutcome(t *testing.T) {
	sink := &memorySink{}
	l := skill.NewLoader(terms(), sink)
	good, bad := signed(t), plain().write(t)
	if _, err := l.Load(t.Context(), read(t, good)); err != nil {
		t.Fatal(err)
	}
	_, err := l.Load(t.Context(), read(t, bad))
	var refused *skill.LoadError
	if !errors.As(err, &refused) || refused.Reason != skill.ManifestMissing {
		t.Fatalf("the bad one: %v", err)
	}
	if len(sink.bodies) != 2 {
		t.Fatalf("%d records", len(sink.bodies))
	}
	if b, ok := sink.bodies[0].(record.SkillLoaded); !ok || b.Skill.Name != "invoice-reports" || b.Directory != good {
		t.Errorf("first record: %+v", sink.bodies[0])
	}
	if b, ok := sink.bodies[1].(record.SkillRefused); !ok || b.Step != 1 || b.Reason != "manifest-missing" {
		t.Errorf("second record: %+v", sink.bodies[1])
	}
	set := l.Freeze()
	if _, err := l.Load(t.Context(), read(t, good)); !errors.As(err, &refused) || refused.Reason != skill.Frozen {
		t.Errorf("after the freeze: %v", err)
	}
	if got, ok := set.Skill("invoice-reports"); !ok || set.Len() != 1 || got.Manifest.Version() != 1 {
		t.Errorf("the set is %v", set.Names())
	}
}

func TestUnrecordedIsNotLoaded(t *testing.T) {
	broken := errors.New("disk full")
	l := skill.NewLoader(terms(), &memorySink{err: broken})
	if _, err := l.Load(t.Context(), read(t, signed(t))); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if n := l.Freeze().Len(); n != 0 {
		t.Errorf("%d skills are loaded without a record", n)
	}
	if _, err := new(skill.Loader).Load(t.Context(), read(t, signed(t))); err == nil {
		t.Error("the zero loader loads")
	}
}

func TestServedContentIsWhatWasHashed(t *testing.T) {
	dir := signed(t)
	l := skill.NewLoader(terms(), &memorySink{})
	_, err := l.Load(t.Context(), read(t, dir))
	must(t, err)
	loaded, _ := l.Freeze().Skill("invoice-reports")
	must(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("evil"), 0o644))
	got, ok := loaded.Content.ReadFile("SKILL.md")
	if !ok || string(got) != plain()["SKILL.md"] {
		t.Errorf("serves %q", got)
	}
	got[0] = 'X'
	if again, _ := loaded.Content.ReadFile("SKILL.md"); again[0] == 'X' {
		t.Error("a reader can change what is served")
	}
}

func TestNewerThenOlderInOneBootstrap(t *testing.T) {
	l := skill.NewLoader(terms(), &memorySink{})
	older, newer := signed(t), plain().write(t)
	f := fields()
	f.Version = 2
	sign(t, newer, f, trusttest.OpsKey)
	_, err := l.Load(t.Context(), read(t, newer))
	must(t, err)
	_, err = l.Load(t.Context(), read(t, older))
	var refused *skill.LoadError
	if !errors.As(err, &refused) || refused.Reason != skill.VersionReplayed {
		t.Errorf("the older one: %v", err)
	}
}

func TestTwoSkillsOfOneName(t *testing.T) {
	sink := &memorySink{}
	l := skill.NewLoader(terms(), sink)
	first, second := signed(t), plain().write(t)
	f := fields()
	f.Signer, f.Verification = "adopter", "unverified"
	sign(t, second, f, trusttest.AdopterKey)
	_, err := l.Load(t.Context(), read(t, first))
	must(t, err)
	_, err = l.Load(t.Context(), read(t, second))
	var refused *skill.LoadError
	if !errors.As(err, &refused) || refused.Reason != skill.NameTaken || refused.Step != 7 {
		t.Errorf("the second: %v", err)
	}
	if b, ok := sink.bodies[1].(record.SkillRefused); !ok || b.Reason != "name-taken" {
		t.Errorf("recorded as %+v", sink.bodies[1])
	}
}

// An evidence file that is a directory, or a link, hides nothing.
func TestOursAreFiles(t *testing.T) {
	dir := signed(t)
	must(t, os.MkdirAll(filepath.Join(dir, manifest.AttestFileName), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, manifest.AttestFileName, "x.sh"), nil, 0o755))
	refusedAt(t, dir, terms(), 3, "content-changed")
	dir = signed(t)
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, manifest.AttestFileName)))
	refusedAt(t, dir, terms(), 3, "file-link")
}

func TestOnlyTheOperatorSignsBase(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "base")
	must(t, os.Mkdir(empty, 0o700))
	f := fields()
	f.Name, f.Signer, f.Verification = skill.BaseName, "adopter", "unverified"
	sign(t, empty, f, trusttest.AdopterKey)
	refusedAt(t, empty, terms(), 3, "name-reserved")
	nobody := terms()
	nobody.Operator = ""
	f.Signer, f.Verification = "ops", "declared"
	sign(t, empty, f, trusttest.OpsKey)
	refusedAt(t, empty, nobody, 3, "name-reserved")
}

func TestZeroTimeHasExpired(t *testing.T) {
	never := terms()
	never.Now = time.Time{}
	refusedAt(t, signed(t), never, 2, "signer-expired")
}

// What an author writes cannot make a refusal too long to record.
func TestRefusalsCanBeRecorded(t *testing.T) {
	dir := signed(t)
	edit(t, filepath.Join(dir, manifest.FileName), replace(`"name"`, `"`+strings.Repeat("\u202e", 30_000)+`": 1, "name"`))
	sink := &memorySink{}
	_, err := skill.NewLoader(terms(), sink).Load(t.Context(), read(t, dir))
	var refused *skill.LoadError
	if !errors.As(err, &refused) || len(sink.bodies) != 1 {
		t.Fatalf("%d records, %v", len(sink.bodies), err)
	}
	if _, err := (record.Record{Body: sink.bodies[0]}).Line(); err != nil {
		t.Error(err)
	}
}

func TestBaseHasNoContent(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "base")
	must(t, os.Mkdir(empty, 0o700))
	f := fields()
	f.Name = skill.BaseName
	sign(t, empty, f, trusttest.OpsKey)
	if r := skill.Verify(read(t, empty), terms()); r.Err != nil {
		t.Errorf("base: %v", r.Err)
	}
	full := plain().write(t)
	sign(t, full, f, trusttest.OpsKey)
	refusedAt(t, full, terms(), 3, "name-reserved")
}
