package label

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
)

func valid() SchemeData {
	return SchemeData{
		Name: "acme", Ranks: []string{"LOW", "HIGH"},
		Compartments: []string{"LEGAL", "HR"}, Releasable: []string{"STAFF", "PARTNERS"},
	}
}

func numbered(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("N%02d", i))
	}
	return names
}

func TestSchemesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*SchemeData)
		reason Reason
		field  string
	}{
		"zero":                      {func(d *SchemeData) { *d = SchemeData{} }, SchemeInvalid, "/name"},
		"no name":                   {func(d *SchemeData) { d.Name = "" }, SchemeInvalid, "/name"},
		"long name":                 {func(d *SchemeData) { d.Name = strings.Repeat("a", 65) }, SchemeInvalid, "/name"},
		"built-in name":             {func(d *SchemeData) { d.Name = "default" }, SchemeReserved, "/name"},
		"built-in name, other case": {func(d *SchemeData) { d.Name = "US-Government" }, SchemeReserved, "/name"},
		"no ranks":                  {func(d *SchemeData) { d.Ranks = nil }, SchemeInvalid, "/ranks"},
		"too many ranks":            {func(d *SchemeData) { d.Ranks = numbered(33) }, SchemeInvalid, "/ranks"},
		"too many compartments":     {func(d *SchemeData) { d.Compartments = numbered(65) }, SchemeInvalid, "/compartments"},
		"too many principals":       {func(d *SchemeData) { d.Releasable = numbered(65) }, SchemeInvalid, "/releasable"},
		"no principals":             {func(d *SchemeData) { d.Releasable = nil }, SchemeInvalid, "/releasable"},
		"empty rank":                {func(d *SchemeData) { d.Ranks[1] = "" }, SchemeInvalid, "/ranks/1"},
		"leading space":             {func(d *SchemeData) { d.Ranks[1] = " HIGH" }, SchemeInvalid, "/ranks/1"},
		"trailing space":            {func(d *SchemeData) { d.Ranks[1] = "HIGH " }, SchemeInvalid, "/ranks/1"},
		"double space":              {func(d *SchemeData) { d.Ranks[1] = "VERY  HIGH" }, SchemeInvalid, "/ranks/1"},
		"separator":                 {func(d *SchemeData) { d.Ranks[1] = "A//B" }, SchemeInvalid, "/ranks/1"},
		"slash":                     {func(d *SchemeData) { d.Compartments[0] = "A/B" }, SchemeInvalid, "/compartments/0"},
		"comma":                     {func(d *SchemeData) { d.Compartments[0] = "A,B" }, SchemeInvalid, "/compartments/0"},
		"newline":                   {func(d *SchemeData) { d.Compartments[0] = "A\nB" }, SchemeInvalid, "/compartments/0"},
		"NUL":                       {func(d *SchemeData) { d.Compartments[0] = "A\x00" }, SchemeInvalid, "/compartments/0"},
		"quote":                     {func(d *SchemeData) { d.Compartments[0] = `A"` }, SchemeInvalid, "/compartments/0"},
		"leading hyphen":            {func(d *SchemeData) { d.Compartments[0] = "-A" }, SchemeInvalid, "/compartments/0"},
		"not ASCII":                 {func(d *SchemeData) { d.Releasable[1] = "F\u00dcR" }, SchemeInvalid, "/releasable/1"},
		"look-alike":                {func(d *SchemeData) { d.Releasable[1] = "ST\u0410FF" }, SchemeInvalid, "/releasable/1"},
		"bad UTF-8":                 {func(d *SchemeData) { d.Releasable[1] = "A\xff" }, SchemeInvalid, "/releasable/1"},
		"duplicate rank":            {func(d *SchemeData) { d.Ranks[1] = "LOW" }, SchemeDuplicate, "/ranks/1"},
		"duplicate compartment":     {func(d *SchemeData) { d.Compartments[1] = "LEGAL" }, SchemeDuplicate, "/compartments/1"},
		"differs in case":           {func(d *SchemeData) { d.Releasable[1] = "Staff" }, SchemeDuplicate, "/releasable/1"},
		"principal nobody":          {func(d *SchemeData) { d.Releasable[1] = "NOBODY" }, SchemeReserved, "/releasable/1"},
		"principal nobody, in case": {func(d *SchemeData) { d.Releasable[1] = "Nobody" }, SchemeReserved, "/releasable/1"},
		"compartment REL":           {func(d *SchemeData) { d.Compartments[0] = "REL" }, SchemeReserved, "/compartments/0"},
		"compartment REL USA":       {func(d *SchemeData) { d.Compartments[0] = "REL USA" }, SchemeReserved, "/compartments/0"},
		"compartment rel usa":       {func(d *SchemeData) { d.Compartments[0] = "rel usa" }, SchemeReserved, "/compartments/0"},
		"rank absent":               {func(d *SchemeData) { d.Ranks[0] = "absent" }, SchemeReserved, "/ranks/0"},
		"everyone beside others":    {func(d *SchemeData) { d.Releasable[0] = "EVERYONE" }, SchemeReserved, "/releasable/0"},
	} {
		d := valid()
		c.change(&d)
		s, err := NewScheme(d)
		var e *Error
		if !errors.As(err, &e) || s != nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if e.Reason != c.reason || e.Field != c.field || e.Offset != -1 || !strings.HasPrefix(err.Error(), "scheme "+c.field+": ") {
			t.Errorf("%s: %v, want %s at %s", name, err, c.reason, c.field)
		}
	}
}

func TestSchemesAccepted(t *testing.T) {
	for name, change := range map[string]func(*SchemeData){
		"plain":                     func(*SchemeData) {},
		"no compartments":           func(d *SchemeData) { d.Compartments = nil },
		"everyone alone":            func(d *SchemeData) { d.Releasable = []string{"EVERYONE"} },
		"one rank":                  func(d *SchemeData) { d.Ranks = []string{"ONLY"} },
		"full":                      func(d *SchemeData) { d.Ranks, d.Compartments, d.Releasable = numbered(32), numbered(64), numbered(64) },
		"longest names":             func(d *SchemeData) { d.Ranks[0] = strings.Repeat("x", 64) },
		"one name in several lists": func(d *SchemeData) { d.Compartments[0] = "STAFF" },
		"odd but allowed":           func(d *SchemeData) { d.Ranks = []string{"0", "a.b_c-d+", "Streng Geheim 2"} },
		"near a reserved word":      func(d *SchemeData) { d.Compartments = []string{"RELEASE", "REL-X", "NOBODY2"} },
	} {
		d := valid()
		change(&d)
		s, err := NewScheme(d)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, l := range []Label{s.Bottom(), s.Top()} {
			if got, err := s.Parse(l.String()); err != nil || got != l {
				t.Errorf("%s: %s: %v, %v", name, l, got, err)
			}
		}
	}
}

func TestBottomAndTopAtEverySize(t *testing.T) {
	for n := 1; n <= maxInASet; n++ {
		s := mustScheme(t, SchemeData{"n", []string{"LOW", "HIGH"}, numbered(n), numbered(n)})
		b, top := s.Bottom().Parts(), s.Top().Parts()
		if b.Rank != "LOW" || len(b.Compartments) != 0 || len(b.Releasable) != n {
			t.Errorf("%d: bottom %+v", n, b)
		}
		if top.Rank != "HIGH" || len(top.Compartments) != n || len(top.Releasable) != 0 {
			t.Errorf("%d: top %+v", n, top)
		}
	}
}

func TestDuplicateSaysWhich(t *testing.T) {
	for other, says := range map[string]string{"LEGAL": "already in the list", "Legal": `differs from "LEGAL" only in case`} {
		d := valid()
		d.Compartments[1] = other
		if _, err := NewScheme(d); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", other, err, says)
		}
	}
}

// The longest text there can be is still read.
func TestLongestText(t *testing.T) {
	long := func(n int) []string {
		names := numbered(n)
		for i := range names {
			names[i] += strings.Repeat("x", maxName-len(names[i]))
		}
		return names
	}
	s := mustScheme(t, SchemeData{Name: "long", Ranks: long(1), Compartments: long(64), Releasable: long(64)})
	l := s.label(1, full(64), full(64)>>1)
	if got, err := s.Parse(l.String()); err != nil || got != l {
		t.Errorf("%d bytes: %v", len(l.String()), err)
	}
}

func TestSchemeIsFrozen(t *testing.T) {
	d := valid()
	s := mustScheme(t, d)
	before := s.Top().String()
	d.Ranks[1], d.Compartments[0], d.Releasable[0] = "X", "Y", "Z"
	out := s.Data()
	out.Ranks[1], out.Compartments[0], out.Releasable[0] = "X", "Y", "Z"
	if want := (SchemeData{"acme", []string{"LOW", "HIGH"}, []string{"HR", "LEGAL"}, []string{"PARTNERS", "STAFF"}}); !reflect.DeepEqual(s.Data(), want) {
		t.Errorf("%+v", s.Data())
	}
	if s.Top().String() != before {
		t.Error(s.Top())
	}
}

func TestZeroSchemeMakesNothing(t *testing.T) {
	var s Scheme
	if !s.Bottom().IsAbsent() || !s.Top().IsAbsent() || s.Has(Label{}) || s.Name() != "" {
		t.Error("the zero scheme makes labels")
	}
	for _, text := range []string{"", "A", "absent", "//REL NOBODY"} {
		if l, err := s.Parse(text); err == nil || !l.IsAbsent() {
			t.Errorf("%q parses in the zero scheme", text)
		}
	}
	if _, err := s.New("", nil, nil); !isReason(err, RankUnknown) {
		t.Error(err)
	}
}

// The digests are pinned: a change of a built-in scheme orphans every label
// signed under it and needs a new name.
func TestBuiltins(t *testing.T) {
	want := map[string]string{
		"generic":       "9663c2dcf33d39dc65fad86809c907b81d57bf95c66ab7f4d3025a4d7bdbb15f",
		"default":       "dcd858c14625ad53574d1002ee3fd8c7af2d03f6201d6068f3de90f69ece0d44",
		"us-government": "8957bdd94ed014481493325b1f0053a037d42a559e29cd165c48a837999790b8",
		"healthcare":    "e55f63dce92f33a1c60bb3f8aaf47dc8b2f8bcb41aa24b58c177b49f7ac3576f",
		"financial":     "b3b11cd81c4c1882fe0e14a579cfb3d961b8d06874a53ab8bc2ac599b2798a80",
	}
	if got := BuiltinNames(); !slices.Equal(got, []string{"generic", "default", "us-government", "healthcare", "financial"}) {
		t.Error(got)
	}
	for _, name := range BuiltinNames() {
		s := mustBuiltin(t, name)
		again, err := NewScheme(s.Data())
		if err != nil || again.Top() != s.Top() || s.Name() != name {
			t.Errorf("%s is not valid: %v", name, err)
		}
		digest := s.Digest()
		if got := hex.EncodeToString(digest[:]); got != want[name] {
			t.Errorf("%s: digest %s, want %s", name, got, want[name])
		}
	}
	for _, name := range []string{"", "Default", "none"} {
		if s, ok := Builtin(name); ok || s != nil {
			t.Errorf("there is a scheme %q", name)
		}
	}
}

func TestDigestIsOfTheCanonicalForm(t *testing.T) {
	schemes := []*Scheme{mustScheme(t, valid()), {}}
	for _, name := range BuiltinNames() {
		schemes = append(schemes, mustBuiltin(t, name))
	}
	for _, s := range schemes {
		plain, err := json.Marshal(s.Data())
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := jcs.Transform(plain)
		if err != nil {
			t.Fatal(err)
		}
		if sha256.Sum256(canonical) != s.Digest() {
			t.Errorf("%s: the digest is not of %s", s.Name(), canonical)
		}
	}
}
