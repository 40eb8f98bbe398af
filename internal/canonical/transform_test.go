package canonical

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

// TestTransformRFC is the example of RFC 8785, section 3.2.2. As it stands
// there it is refused, for two of its numbers change in a float64.
func TestTransformRFC(t *testing.T) {
	doc := `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`
	if out, err := Transform([]byte(doc), Limits{}); err == nil {
		t.Errorf("got %s", out)
	}
	doc = strings.NewReplacer("333333333.33333329", "333333333.3333333", "1E30", "1E21").Replace(doc)
	want := `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+21,4.5,0.002,1e-27],` +
		`"string":"€$\u000f\nA'B\"\\\\\"/"}`
	if out, err := Transform([]byte(doc), Limits{}); err != nil || string(out) != want {
		t.Errorf("got %s, %v", out, err)
	}
}

// spelling writes one value in two ways that must have one form.
type spelling struct{ a, b bytes.Buffer }

func (s *spelling) both(text string) { s.a.WriteString(text); s.b.WriteString(text) }

func (s *spelling) space(t *rapid.T) {
	s.b.WriteString(rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r"}).Draw(t, "space"))
}

func (s *spelling) text(t *rapid.T, text string) {
	s.a.WriteString(strconv.QuoteToASCII("")[:1])
	s.b.WriteByte('"')
	for _, r := range text {
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&s.a, `\u%04x`, u)
		}
		switch {
		case r < 0x20 || r == '"' || r == '\\':
			fmt.Fprintf(&s.b, `\u%04X`, r)
		default:
			s.b.WriteRune(r)
		}
	}
	s.both(`"`)
}

func (s *spelling) value(t *rapid.T, depth int) {
	s.space(t)
	defer s.space(t)
	switch rapid.IntRange(0, 4+2*min(depth, 1)).Draw(t, "kind") {
	case 0:
		s.both(rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word"))
	case 1:
		s.text(t, drawKey().Draw(t, "text"))
	case 2, 3:
		n := rapid.IntRange(-100_000, 100_000).Draw(t, "n")
		s.a.WriteString(strconv.Itoa(n))
		fmt.Fprintf(&s.b, "%de-3", n*1000)
	case 4:
		token := drawNumber().Filter(exactNumber).Draw(t, "number")
		s.both(token)
	case 5:
		s.both("[")
		for i := range rapid.IntRange(0, 4).Draw(t, "length") {
			if i > 0 {
				s.both(",")
			}
			s.value(t, depth-1)
		}
		s.both("]")
	default:
		s.object(t, depth)
	}
}

// object writes its members in one order into a, in another into b.
func (s *spelling) object(t *rapid.T, depth int) {
	var seen keys
	scope := seen.open()
	var a, b []string
	for range rapid.IntRange(0, 20).Draw(t, "members") {
		key := drawKey().Draw(t, "key")
		if seen.add(&scope, []byte(key)) != "" {
			continue
		}
		var member spelling
		member.text(t, key)
		member.both(":")
		member.value(t, depth-1)
		a, b = append(a, member.a.String()), append([]string{member.b.String()}, b...)
	}
	s.a.WriteString("{" + strings.Join(a, ",") + "}")
	s.b.WriteString("{" + strings.Join(b, ",") + "}")
}

// TestTransformLaw: two spellings of a value have one form, which is also what
// an independent implementation of RFC 8785 says.
func TestTransformLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s spelling
		s.value(t, 3)
		a, err := Transform(s.a.Bytes(), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", s.a.Bytes(), err)
		}
		b, err := Transform(s.b.Bytes(), Limits{})
		if err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s became %s\n%s became %s, %v", s.a.Bytes(), a, s.b.Bytes(), b, err)
		}
		if other, err := jcs.Transform(s.a.Bytes()); err != nil || !bytes.Equal(other, a) {
			t.Fatalf("got  %s\njcs: %s, %v", a, other, err)
		}
		if again, err := Transform(a, Limits{}); err != nil || !bytes.Equal(again, a) {
			t.Fatalf("%s became %s, %v", a, again, err)
		}
		raw, err := NewRaw(s.b.Bytes(), Limits{})
		if err != nil || raw.String() != string(a) {
			t.Fatalf("NewRaw: %s, %v", raw, err)
		}
	})
}
