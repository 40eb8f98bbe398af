package home

import (
	"slices"
	"testing"
)

func TestMountsAreRead(t *testing.T) {
	got := parseMounts([]byte("22 27 0:21 / /proc rw,relatime - proc proc rw\n" +
		`30 27 8:1 /a\040b/c /mnt/with\040blank\134 rw shared:1 - ext4 /dev/sda1 rw` + "\nnonsense\n\n"))
	want := []mount{{"22", "0:21", "/", "/proc"}, {"30", "8:1", "/a b/c", `/mnt/with blank\`}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestWithinAFileSystem(t *testing.T) {
	for _, c := range []struct {
		a, b fileSystem
		want bool
	}{
		{fileSystem{"8:1", "/a/b"}, fileSystem{"8:1", "/a"}, true},
		{fileSystem{"8:1", "/a"}, fileSystem{"8:1", "/a"}, true},
		{fileSystem{"8:1", "/a"}, fileSystem{"8:1", "/"}, true},
		{fileSystem{"8:1", "/a"}, fileSystem{"8:1", ""}, true},
		{fileSystem{"8:1", "/ab"}, fileSystem{"8:1", "/a"}, false},
		{fileSystem{"8:1", "/a"}, fileSystem{"8:1", "/a/b"}, false},
		{fileSystem{"8:1", "/a/b"}, fileSystem{"8:2", "/a"}, false},
		{fileSystem{}, fileSystem{}, false},
	} {
		if c.a.within(c.b) != c.want {
			t.Errorf("%+v in %+v: %v", c.a, c.b, !c.want)
		}
	}
}
