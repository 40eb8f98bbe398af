package record

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// codec writes or reads one object, field by field in canonical order: one
// description of a body serves both directions. Reading accepts the bytes that
// writing produces and no others. After the first error nothing more happens.
type codec struct {
	writing bool
	// skimming leaves escapes in strings as they are: nobody will look.
	skimming bool
	out      []byte // what was written
	altered  bool   // a string was not UTF-8 and was written as its escaped form
	in       string // what is read
	at       int    // the next byte of in
	first    bool   // no field of the current object or array has been seen
	err      error
}

const maxInt = 1 << 53

func (c *codec) fail(what string) {
	if c.err != nil {
		return
	}
	if c.writing {
		c.err = fmt.Errorf("%w: %s", ErrLine, what)
		return
	}
	c.err = fmt.Errorf("%w: %s at byte %d", ErrLine, what, c.at)
}

// lit writes or expects exact bytes.
func (c *codec) lit(b byte) {
	if c.writing {
		c.out = append(c.out, b)
		return
	}
	if c.err == nil && c.at < len(c.in) && c.in[c.at] == b {
		c.at++
		return
	}
	c.fail("expected " + strconv.QuoteRune(rune(b)))
}

func (c *codec) open() { c.lit('{'); c.first = true }

func (c *codec) close() { c.lit('}'); c.first = false }

// end expects the end of the input.
func (c *codec) end() {
	if c.err == nil && c.at != len(c.in) {
		c.fail("expected the end")
	}
}

// key begins a field.
func (c *codec) key(name string) {
	if c.writing {
		if !c.first {
			c.out = append(c.out, ',')
		}
		c.out = append(append(append(c.out, '"'), name...), '"', ':')
		c.first = false
		return
	}
	if !c.found(name) {
		c.fail("expected the field " + name)
	}
}

// found goes past the name of the next field, if it is this one.
func (c *codec) found(name string) bool {
	if c.err != nil {
		return false
	}
	s := c.in[c.at:]
	comma := 0
	if !c.first {
		if s == "" || s[0] != ',' {
			return false
		}
		comma, s = 1, s[1:]
	}
	n := len(name) + 3
	if len(s) <= n || s[0] != '"' || s[n-1] != ':' || s[n-2] != '"' || s[1:n-2] != name {
		return false
	}
	c.at += comma + n
	c.first = false
	return true
}

// has begins a field that is left out when it is empty, and says whether it is
// there.
func (c *codec) has(name string, empty bool) bool {
	if !c.writing {
		return c.found(name)
	}
	if !empty {
		c.key(name)
	}
	return !empty
}

func (c *codec) string() string {
	if c.err != nil {
		return ""
	}
	n, escaped := scanText(c.in[c.at:])
	if n == 0 {
		c.fail("expected a string in its canonical spelling")
		return ""
	}
	s := c.in[c.at+1 : c.at+n-1]
	c.at += n
	if escaped && !c.skimming {
		return unescape(s)
	}
	return s
}

func (c *codec) text(name string, v *string) {
	c.key(name)
	textElement(v, c)
}

func (c *codec) write(s string) {
	out, altered := appendText(c.out, s)
	c.out, c.altered = out, c.altered || altered
}

func (c *codec) optText(name string, v *string) {
	if !c.has(name, *v == "") {
		*v = ""
		return
	}
	if textElement(v, c); *v == "" {
		c.fail(name + " is there and empty")
	}
}

func (c *codec) int(name string, v *int64) {
	c.key(name)
	if c.writing {
		if *v > maxInt || *v < -maxInt {
			c.fail(name + " is beyond 2^53")
		}
		c.out = appendInt(c.out, *v)
		return
	}
	if c.err != nil {
		return
	}
	n, size := readInt(c.in[c.at:])
	if size == 0 {
		c.fail("expected a whole number")
		return
	}
	*v = n
	c.at += size
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// readInt reads a whole number without leading zeros, up to 2^53.
func readInt(s string) (n int64, size int) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	start := i
	for i < len(s) && i-start < 17 && s[i]-'0' <= 9 {
		n = n*10 + int64(s[i]-'0')
		i++
	}
	switch {
	case i == start, n > maxInt, s[start] == '0' && (i-start > 1 || start > 0), i < len(s) && s[i]-'0' <= 9:
		return 0, 0
	case start > 0:
		return -n, i
	}
	return n, i
}

func (c *codec) bool(name string, v *bool) {
	c.key(name)
	if c.writing {
		c.out = strconv.AppendBool(c.out, *v)
		return
	}
	if c.err != nil {
		return
	}
	switch rest := c.in[c.at:]; {
	case strings.HasPrefix(rest, "true"):
		*v = true
		c.at += 4
	case strings.HasPrefix(rest, "false"):
		*v = false
		c.at += 5
	default:
		c.fail("expected true or false")
	}
}

func (c *codec) hash(name string, v *Hash) {
	c.key(name)
	hashElement(v, c)
}

func hashElement(v *Hash, c *codec) {
	if c.writing {
		c.out = append(hex.AppendEncode(append(c.out, '"'), v[:]), '"')
		return
	}
	if c.err != nil {
		return
	}
	s := c.in[c.at:]
	if len(s) < 66 || s[0] != '"' || s[65] != '"' || !readHex(v, s[1:65]) {
		c.fail("expected 64 hexadecimal digits")
		return
	}
	c.at += 66
}

func (c *codec) optHash(name string, v *Hash) {
	if !c.has(name, *v == Hash{}) {
		*v = Hash{}
		return
	}
	if hashElement(v, c); *v == (Hash{}) {
		c.fail(name + " is there and empty")
	}
}

// readHex reads 64 lower-case digits, eight at a time. What a digit stands for are
// its low four bits, and 9 more where it is a letter; it is a digit if that, written
// as one, is the same byte.
func readHex(v *Hash, s string) bool {
	const ones = 0x0101010101010101
	bad := uint64(0)
	for i := range len(v) / 4 {
		x := binary.LittleEndian.Uint64([]byte(s[8*i : 8*i+8]))
		n := x&(ones*15) + 9*(x>>6&ones)
		letters := (n + ones*6) >> 4 & ones
		bad |= n&(ones*0xf0) | (x ^ (n + ones*'0' + letters*('a'-10-'0')))
		n = n<<4 | n>>8 // in every other byte a pair
		v[4*i], v[4*i+1], v[4*i+2], v[4*i+3] = byte(n), byte(n>>16), byte(n>>32), byte(n>>48)
	}
	return bad == 0
}

// optTime leaves the zero time out.
func (c *codec) optTime(name string, v *time.Time) {
	if !c.has(name, v.IsZero()) {
		*v = time.Time{}
		return
	}
	var s string
	if c.writing {
		s = string(StampOf(*v))
	}
	textElement(&s, c)
	t, ok := parseStamp(s)
	if !ok {
		c.fail(name + " is not a time")
	}
	*v = t
}

// token is a string out of a closed set.
func token[T ~string](c *codec, name string, v *T, allowed []T) {
	s := string(*v)
	c.text(name, &s)
	i := slices.Index(allowed, T(s))
	if i < 0 {
		c.fail(fmt.Sprintf("%s: %q is not one of its tokens", name, s))
		return
	}
	*v = allowed[i]
}

// array is a list of any type. An empty one is written as [].
func array[T any](c *codec, name string, v *[]T, element func(*T, *codec)) {
	c.key(name)
	elements(c, v, element)
}

// elements is an array without the name before it.
func elements[T any](c *codec, v *[]T, element func(*T, *codec)) {
	c.lit('[')
	if c.writing {
		for i := range *v {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			element(&(*v)[i], c)
		}
	} else {
		if *v = (*v)[:0]; *v == nil {
			*v = []T{}
		}
		for c.err == nil && !(c.at < len(c.in) && c.in[c.at] == ']') {
			if len(*v) > 0 {
				c.lit(',')
			}
			var empty T
			*v = append(*v, empty)
			element(&(*v)[len(*v)-1], c)
		}
	}
	c.lit(']')
	c.first = false
}

func (c *codec) texts(name string, v *[]string) { array(c, name, v, textElement) }

func (c *codec) optTexts(name string, v *[]string) { optArray(c, name, v, textElement) }

// optArray is an array that is left out when it is empty.
func optArray[T any](c *codec, name string, v *[]T, element func(*T, *codec)) {
	if !c.has(name, len(*v) == 0) {
		*v = nil
		return
	}
	elements(c, v, element)
	if !c.writing && len(*v) == 0 {
		c.fail(name + " is there and empty")
	}
}

func textElement(v *string, c *codec) {
	if c.writing {
		c.write(*v)
		return
	}
	*v = c.string()
}

// optHashes is a list that is left out when it is empty.
func (c *codec) optHashes(name string, v *[]Hash) { optArray(c, name, v, hashElement) }
