package beneath

import (
	"encoding/binary"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func dirent(name string, kind byte) string {
	b := make([]byte, (19+len(name)+1+7)/8*8)
	binary.NativeEndian.PutUint16(b[16:], uint16(len(b)))
	b[18] = kind
	copy(b[19:], name)
	return string(b)
}

func TestNextEntry(t *testing.T) {
	block := dirent("first", unix.DT_LNK) + dirent("x", unix.DT_UNKNOWN)
	name, kind, rest, ok := NextEntry(block)
	if name != "first" || kind != Link || !ok {
		t.Errorf("%q %v %v", name, kind, ok)
	}
	name, kind, rest, ok = NextEntry(rest)
	if name != "x" || kind != Unknown || len(rest) != 0 || !ok {
		t.Errorf("%q %v %v", name, kind, ok)
	}
	for _, bad := range []string{"", block[:18], block[:20], dirent("", 8), dirent("a/b", 8)} {
		if name, _, _, ok := NextEntry(bad); ok {
			t.Errorf("%q taken from %x", name, bad)
		}
	}
}

func FuzzNextEntry(f *testing.F) {
	f.Add([]byte(dirent("name", 8)))
	f.Add([]byte(dirent("a", 4) + dirent("bb", 10)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for block := string(data); ; {
			name, _, rest, ok := NextEntry(block)
			if !ok {
				return
			}
			if name == "" || strings.ContainsAny(name, "/\x00") || len(rest) >= len(block) {
				t.Fatalf("%q, %d of %d bytes left", name, len(rest), len(block))
			}
			block = rest
		}
	})
}
