package gate

import "github.com/iff-run/iff/corpus"

// leases says who may change which objects now. A lease is exclusive on the
// objects themselves and shared on the directories above them, so that one on a
// directory keeps everybody from what is below it.
type leases struct {
	owner  map[corpus.Object]string // id of the call that holds it
	shared map[corpus.Object]int    // how many hold something below
}

func newLeases() leases {
	return leases{owner: make(map[corpus.Object]string), shared: make(map[corpus.Object]int)}
}

// free says whether nobody is in the way of a lease on the objects.
func (l leases) free(objects []corpus.Object) bool {
	for _, o := range objects {
		if l.owner[o] != "" || l.shared[o] > 0 {
			return false
		}
		for above, ok := o.Parent(); ok; above, ok = above.Parent() {
			if l.owner[above] != "" {
				return false
			}
		}
	}
	return true
}

func (l leases) take(id string, objects []corpus.Object) {
	for _, o := range objects {
		l.owner[o] = id
		for above, ok := o.Parent(); ok; above, ok = above.Parent() {
			l.shared[above]++
		}
	}
}

func (l leases) release(objects []corpus.Object) {
	for _, o := range objects {
		delete(l.owner, o)
		for above, ok := o.Parent(); ok; above, ok = above.Parent() {
			if l.shared[above]--; l.shared[above] <= 0 {
				delete(l.shared, above)
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
