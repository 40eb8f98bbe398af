package gate

import (
	"strings"

	"github.com/iff-run/iff/corpus"
)

// leases says who may change which objects now. A lease is exclusive on the
// objects themselves and shared on the directories above them, so that one on a
// directory keeps everybody from what is below it. Places stand for objects: see
// [placeOf].
type leases struct {
	owner  map[place]string // id of the call that holds it
	shared map[place]int    // how many hold something below
}

func newLeases() leases {
	return leases{owner: make(map[place]string), shared: make(map[place]int)}
}

// place is the name of an object, but that the root of a corpus has no dot: so
// every directory above is a part of the text, and none has to be made.
type place string

func placeOf(o corpus.Object) place {
	if o.IsRoot() {
		o = o[:len(o)-1]
	}
	return place(o)
}

// above is the directory above; false for the root of a corpus.
func (p place) above() (place, bool) {
	root := strings.IndexByte(string(p), '/') + 1
	if root == 0 || root == len(p) {
		return "", false
	}
	return p[:max(root, strings.LastIndexByte(string(p), '/'))], true
}

// free says whether nobody is in the way of a lease on the objects.
func (l leases) free(objects []corpus.Object) bool {
	for _, o := range objects {
		p := placeOf(o)
		if l.owner[p] != "" || l.shared[p] > 0 {
			return false
		}
		for up, ok := p.above(); ok; up, ok = up.above() {
			if l.owner[up] != "" {
				return false
			}
		}
	}
	return true
}

func (l leases) take(id string, objects []corpus.Object) {
	for _, o := range objects {
		p := placeOf(o)
		l.owner[p] = id
		for up, ok := p.above(); ok; up, ok = up.above() {
			l.shared[up]++
		}
	}
}

func (l leases) release(objects []corpus.Object) {
	for _, o := range objects {
		p := placeOf(o)
		delete(l.owner, p)
		for up, ok := p.above(); ok; up, ok = up.above() {
			if l.shared[up]--; l.shared[up] <= 0 {
				delete(l.shared, up)
			}
		}
	}
}

// overlap says whether leases on a and b would be in each other's way.
func overlap(a, b []corpus.Object) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y || x.Below(y) || y.Below(x) {
				return true
			}
		}
	}
	return false
}
