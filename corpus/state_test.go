package corpus_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/corpus"
)

func hash(s string) corpus.Digest { return sha256.Sum256([]byte(s)) }

// The states are those of the documentation, byte for byte.
func TestStateIsTheDigestOfItsText(t *testing.T) {
	attrs := []corpus.Xattr{{"user.b", "2"}, {"user.a", "1\x00"}, {"security.selinux", "label"}}
	xattrs := hash("user.a\x002\x001\x00user.b\x001\x002")
	for what, c := range map[string]struct {
		facts corpus.Facts
		text  string
	}{
		"file": {
			corpus.Facts{Kind: corpus.File, Mode: 0o644, UID: 1000, GID: 100, Content: hash("hello")},
			fmt.Sprintf("iff/object/v1 file 0644 1000 100 - %x\n", hash("hello")),
		},
		"setuid, attributes": {
			corpus.Facts{Kind: corpus.File, Mode: 0o104755, Xattrs: corpus.XattrDigest(attrs), Content: hash("")},
			fmt.Sprintf("iff/object/v1 file 4755 0 0 %x %x\n", xattrs, hash("")),
		},
		"directory": {
			corpus.Facts{Kind: corpus.Directory, Mode: 0o1777, UID: 7, GID: 8, Xattrs: xattrs, Content: hash("x")},
			"iff/object/v1 directory 1777 0 0 - -\n",
		},
		"link": {
			corpus.Facts{Kind: corpus.Link, Mode: 0o777, UID: 7, GID: 8, Xattrs: xattrs, Content: hash("../to")},
			fmt.Sprintf("iff/object/v1 link 0000 0 0 - %x\n", hash("../to")),
		},
		"fifo": {
			corpus.Facts{Kind: corpus.Special, Mode: 0o4, UID: 4294967295, Content: corpus.SpecialContent("fifo", 0)},
			fmt.Sprintf("iff/object/v1 special 0004 4294967295 0 - %x\n", hash("fifo 0")),
		},
	} {
		want := corpus.State(fmt.Sprintf("%x", hash(c.text)))
		if got := c.facts.State(); got != want || !got.Known() {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
}

func TestStateFailsClosed(t *testing.T) {
	for what, f := range map[string]corpus.Facts{
		"zero":            {},
		"other kind":      {Kind: "door", Content: hash("x")},
		"file unread":     {Kind: corpus.File, Mode: 0o644},
		"link unread":     {Kind: corpus.Link},
		"special unknown": {Kind: corpus.Special},
	} {
		if got := f.State(); got != corpus.Unreadable {
			t.Errorf("%s: %s", what, got)
		}
	}
}

func TestStateWords(t *testing.T) {
	digest := corpus.Facts{Kind: corpus.Directory}.State()
	for s, known := range map[corpus.State]bool{
		digest: true, corpus.Absent: true, corpus.Any: false, corpus.Unreadable: false, "": false, digest[1:]: false,
		digest + "0": false, "A" + digest[1:]: false, "g" + digest[1:]: false,
	} {
		if s.Known() != known || s.Is(s) != known {
			t.Errorf("%q: known %v, is itself %v", s, s.Known(), s.Is(s))
		}
	}
	if corpus.Absent.Is(digest) {
		t.Error("absent is something")
	}
}

// forgets are mutants of Facts.State, each blind for one field.
var forgets = map[string]func(corpus.Facts) corpus.Facts{
	"kind":    func(f corpus.Facts) corpus.Facts { f.Kind = corpus.File; return f },
	"mode":    func(f corpus.Facts) corpus.Facts { f.Mode = 0; return f },
	"setuid":  func(f corpus.Facts) corpus.Facts { f.Mode &= 0o777; return f },
	"uid":     func(f corpus.Facts) corpus.Facts { f.UID = 0; return f },
	"gid":     func(f corpus.Facts) corpus.Facts { f.GID = 0; return f },
	"xattrs":  func(f corpus.Facts) corpus.Facts { f.Xattrs = corpus.Digest{}; return f },
	"content": func(f corpus.Facts) corpus.Facts { f.Content = hash(""); return f },
	"nothing": func(f corpus.Facts) corpus.Facts { return f },
}

// missed is how many of the pairs that differ in what counts have one state.
func missed(forget func(corpus.Facts) corpus.Facts) int {
	base := corpus.Facts{Kind: corpus.File, Mode: 0o644, UID: 1, GID: 2, Xattrs: hash("a"), Content: hash("b")}
	n := 0
	for _, change := range []func(*corpus.Facts){
		func(f *corpus.Facts) { f.Kind = corpus.Special },
		func(f *corpus.Facts) { f.Kind = corpus.Directory },
		func(f *corpus.Facts) { f.Kind = corpus.Link },
		func(f *corpus.Facts) { f.Mode = 0o4644 },
		func(f *corpus.Facts) { f.Mode = 0o640 },
		func(f *corpus.Facts) { f.UID = 2 },
		func(f *corpus.Facts) { f.GID = 1 },
		func(f *corpus.Facts) { f.UID, f.GID = 12, 0 },
		func(f *corpus.Facts) { f.Xattrs = corpus.Digest{} },
		func(f *corpus.Facts) { f.Xattrs = hash("c") },
		func(f *corpus.Facts) { f.Content = hash("a") },
		func(f *corpus.Facts) { f.Xattrs, f.Content = f.Content, f.Xattrs },
	} {
		other := base
		change(&other)
		if forget(base).State().Is(forget(other).State()) {
			n++
		}
	}
	return n
}

// A digest is lower-case hexadecimal in every place.
func TestStateDigits(t *testing.T) {
	for at := range 64 {
		for c := range 256 {
			text := []byte(strings.Repeat("0a", 32))
			text[at] = byte(c)
			if want := strings.IndexByte("0123456789abcdef", byte(c)) >= 0; corpus.State(text).Known() != want {
				t.Errorf("with byte %#02x at %d it is a digest: %v", c, at, !want)
			}
		}
	}
}

func TestStateForgetsNothing(t *testing.T) {
	for field, forget := range forgets {
		if n := missed(forget); (n == 0) != (field == "nothing") {
			t.Errorf("a state that forgets %s: %d changes unnoticed", field, n)
		}
	}
}

func TestStatesOfDifferentFactsDiffer(t *testing.T) {
	digest := rapid.SampledFrom([]corpus.Digest{hash("a"), hash("b")})
	facts := rapid.Custom(func(t *rapid.T) corpus.Facts {
		return corpus.Facts{
			Kind: rapid.SampledFrom([]corpus.Kind{corpus.File, corpus.Special}).Draw(t, "kind"),
			Mode: rapid.Uint32Range(0, 0o7777).Draw(t, "mode"),
			UID:  rapid.Uint32Range(0, 20).Draw(t, "uid"), GID: rapid.Uint32Range(0, 20).Draw(t, "gid"),
			Xattrs: digest.Draw(t, "xattrs"), Content: digest.Draw(t, "content"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := facts.Draw(t, "a"), facts.Draw(t, "b")
		if (a == b) != a.State().Is(b.State()) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

func TestXattrs(t *testing.T) {
	for name, want := range map[string]bool{
		"user.x": true, "system.posix_acl_access": true, "system.posix_acl_default": true, "security.capability": true,
		"security.selinux": false, "security.ima": false, "trusted.overlay.opaque": false, "user": false, "": false, "xuser.": false,
	} {
		if corpus.Counts(name) != want {
			t.Errorf("%s counts: %v", name, !want)
		}
	}
	some := []corpus.Xattr{{"user.a", "1"}, {"user.b", "2"}}
	turned := []corpus.Xattr{some[1], {"trusted.x", "y"}, some[0]}
	before := slices.Clone(turned)
	if corpus.XattrDigest(some) != corpus.XattrDigest(turned) || !slices.Equal(turned, before) {
		t.Error("order, or one that does not count, counts; or the list was sorted in place")
	}
	if corpus.XattrDigest([]corpus.Xattr{{"security.ima", "x"}}) != (corpus.Digest{}) {
		t.Error("none that counts is not none")
	}
	if corpus.XattrDigest([]corpus.Xattr{{"user.a", "1\x00user.b"}}) == corpus.XattrDigest([]corpus.Xattr{{"user.a", "1"}, {"user.b", ""}}) {
		t.Error("a value passes for a name")
	}
}

func TestCopy(t *testing.T) {
	file := corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o600}, "data", []corpus.Xattr{{"user.a", "12"}})
	want := corpus.Facts{Kind: corpus.File, Mode: 0o600, Xattrs: hash("user.a\x002\x0012"), Content: hash("data")}
	if file.Facts != want || file.State() != want.State() || file.Size() != int64(len("data"+"user.a"+"12")) {
		t.Errorf("%+v", file)
	}
	dir := corpus.NewCopy(corpus.Facts{Kind: corpus.Directory, Mode: 0o755}, "", nil)
	if dir.Facts.Content != (corpus.Digest{}) || !dir.State().Known() {
		t.Errorf("%+v", dir)
	}
	if nothing := (corpus.Copy{}); nothing.State() != corpus.Absent || nothing.Size() != 0 {
		t.Error("the zero copy is something")
	}
	if cut := (corpus.Copy{Facts: want, Cut: true}); cut.State() != file.State() {
		t.Error("a cut copy has another state")
	}
}
