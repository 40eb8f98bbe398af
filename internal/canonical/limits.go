package canonical

// Limits bounds what is read. The zero value, and any field that is not
// positive, means the default.
type Limits struct {
	// Bytes is the largest document in bytes, 1 MiB by default. A document of
	// exactly this size is read.
	Bytes int
	// Depth is how deep arrays and objects may nest, 32 by default; [[1]] has
	// depth 2. It cannot be raised above 1000.
	Depth int
}

const (
	defaultBytes = 1 << 20
	defaultDepth = 32
	mostDepth    = 1000
)

func (l Limits) bytes() int {
	if l.Bytes <= 0 {
		return defaultBytes
	}
	return l.Bytes
}

func (l Limits) depth() int {
	if l.Depth <= 0 {
		return defaultDepth
	}
	return min(l.Depth, mostDepth)
}
