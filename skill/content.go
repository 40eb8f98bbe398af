package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
)

// Hash is a SHA-256. Its text form is 64 lower-case hexadecimal digits.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) {
	return hex.AppendEncode(make([]byte, 0, 2*len(h)), h[:]), nil
}

// UnmarshalText implements encoding.TextUnmarshaler: one spelling per hash.
func (h *Hash) UnmarshalText(text []byte) error {
	var b Hash
	if n, err := hex.Decode(b[:], text[:min(len(text), 2*len(b))]); err != nil || n != len(b) || len(text) != 2*len(b) || b.String() != string(text) {
		return &FormatError{Reason: SignatureMalformed, Detail: "a hash is 64 lower-case hexadecimal digits"}
	}
	*h = b
	return nil
}

// File is one line of the content list.
type File struct {
	// Path is relative to the skill's directory, with '/' between segments.
	Path string `json:"path"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// Executable is whether any execute bit is set.
	Executable bool `json:"executable"`
	// SHA256 is the hash of the bytes.
	SHA256 Hash `json:"sha256"`
}

// Content is every regular file of a skill but the three that iff keeps beside
// it, as they were when the directory was read: held in memory, never read
// again. It does not change. The zero value has no files.
type Content struct {
	files []File
	data  map[string][]byte
	root  Hash
}

// newContent takes ownership of data, which is hashed.
func newContent(files []File, data map[string][]byte) (*Content, error) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	root, err := rootOf(files)
	if err != nil {
		return nil, err
	}
	return &Content{files: files, data: data, root: root}, nil
}

// rootOf is the content root: the SHA-256 of the list's canonical form.
func rootOf(files []File) (Hash, error) {
	form, err := canonical.Marshal(files)
	if err != nil {
		return Hash{}, err
	}
	return sha256.Sum256(form), nil
}

// Root is the content root.
func (c *Content) Root() Hash { return c.root }

// Files returns a copy of the content list, sorted by path, bytewise.
func (c *Content) Files() []File { return slices.Clone(c.files) }

// Bytes is the sum of all sizes.
func (c *Content) Bytes() int64 {
	var n int64
	for _, f := range c.files {
		n += f.Size
	}
	return n
}

// ReadFile returns a copy of a file's bytes as they were hashed.
func (c *Content) ReadFile(path string) ([]byte, bool) {
	b, ok := c.data[path]
	return slices.Clone(b), ok
}

// Text returns a file's bytes as a string.
func (c *Content) Text(path string) (string, bool) {
	b, ok := c.data[path]
	return string(b), ok
}

// source reads a file for whoever only looks at it.
func (c *Content) source(path string) ([]byte, bool) {
	b, ok := c.data[path]
	return b, ok
}
