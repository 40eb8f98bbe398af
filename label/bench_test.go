package label

import "testing"

func benchLabels(b *testing.B) (*Scheme, Label, Label) {
	s := mustBuiltin(b, "us-government")
	return s, mustParse(b, s, "SECRET//SI,TK//REL GBR,USA"), s.Top()
}

func BenchmarkLessEq(b *testing.B) {
	_, l, top := benchLabels(b)
	for b.Loop() {
		if !l.LessEq(top) {
			b.Fatal("not below top")
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	_, l, top := benchLabels(b)
	for b.Loop() {
		if l.Join(top) != top {
			b.Fatal("not top")
		}
	}
}

func BenchmarkString(b *testing.B) {
	_, l, _ := benchLabels(b)
	b.ReportAllocs()
	for b.Loop() {
		if l.String() == "" {
			b.Fatal("no text")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	s, l, _ := benchLabels(b)
	text := l.String()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFromParts(b *testing.B) {
	s, l, _ := benchLabels(b)
	parts := l.Parts()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.FromParts(parts); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewScheme(b *testing.B) {
	s, _, _ := benchLabels(b)
	data := s.Data()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewScheme(data); err != nil {
			b.Fatal(err)
		}
	}
}
