package durabletest

import (
	"math"
	"math/rand/v2"
)

// Pending is a change that no sync has put on the platter.
type Pending struct {
	Path  string
	Names bool // it gives or takes a name; otherwise it changes content
	Bytes int  // written; 0 for a truncation and for names
}

// Survival says which pending changes had reached the platter when the machine stopped. Keep is asked for each in
// order and gives the part [From, To) of its bytes; for names and truncations To > 0 is all of it.
type Survival struct {
	Name string
	Keep func(i int, p Pending) (from, to int)
}

const all = math.MaxInt

// Survivals are the ones [Matrix] tries.
func Survivals() []Survival {
	list := []Survival{
		{"lost", func(int, Pending) (int, int) { return 0, 0 }},
		{"kept", func(int, Pending) (int, int) { return 0, all }},
		{"torn", func(_ int, p Pending) (int, int) {
			if p.Bytes > 0 {
				return 0, p.Bytes / 2
			}
			return 0, all
		}},
		{"reordered pages", func(_ int, p Pending) (int, int) { return p.Bytes / 2, all }},
		{"names without data", func(_ int, p Pending) (int, int) {
			if p.Names {
				return 0, all
			}
			return 0, 0
		}},
		{"data without names", func(_ int, p Pending) (int, int) {
			if p.Names {
				return 0, 0
			}
			return 0, all
		}},
	}
	for seed := range uint64(4) {
		list = append(list, Random(seed))
	}
	return list
}

// Random keeps each change whole, in part or not at all, by seed.
func Random(seed uint64) Survival {
	return Survival{"random", func(i int, p Pending) (int, int) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		if p.Bytes == 0 || r.IntN(2) == 0 {
			return 0, all * r.IntN(2)
		}
		from := r.IntN(p.Bytes)
		return from, from + r.IntN(p.Bytes-from+1)
	}}
}

// FirstBytes keeps all names and truncations, and of all unsynced bytes the first n: for cutting at every byte.
func FirstBytes(n int) Survival {
	var left int
	return Survival{"first bytes", func(i int, p Pending) (int, int) {
		if i == 0 {
			left = n
		}
		if p.Bytes == 0 {
			return 0, all
		}
		part := min(left, p.Bytes)
		left -= part
		return 0, part
	}}
}

// Restart is the disk that the next start finds when the machine stops now: d itself is left as it is.
func (d *Disk) Restart(s Survival) *Disk {
	next := d.copy()
	for i, c := range next.pending {
		p := Pending{Path: c.path, Names: c.names != nil, Bytes: len(c.bytes)}
		from, to := s.Keep(i, p)
		if to > 0 {
			c.toDisk(min(max(from, 0), p.Bytes), min(to, p.Bytes))
		}
	}
	next.pending = nil
	next.forget(next.root, map[*inode]bool{})
	return next
}

// forget makes what the kernel holds what is on the platter.
func (d *Disk) forget(f *inode, seen map[*inode]bool) {
	if seen[f] {
		return
	}
	seen[f] = true
	f.data = f.onDisk
	f.names = nil
	if f.mode.IsDir() {
		f.names = map[string]*inode{}
	}
	for name, child := range f.namesOn {
		f.names[name] = child
		d.forget(child, seen)
	}
}

// Reopen is the disk that the next process finds when this one is killed and the machine runs on: nothing is lost, and
// what was pending still is.
func (d *Disk) Reopen() *Disk { return d.copy() }

// copy copies the disk without its faults and calls.
func (d *Disk) copy() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := copier{}
	next := &Disk{root: c.inode(d.root)}
	for _, p := range d.pending {
		p.file = c.inode(p.file)
		var names []binding
		for _, b := range p.names {
			names = append(names, binding{c.inode(b.dir), b.name, c.inode(b.target)})
		}
		p.names = names
		next.pending = append(next.pending, p)
	}
	return next
}

// copier maps each inode to its copy. Contents are never changed in place and can be shared.
type copier map[*inode]*inode

func (c copier) inode(f *inode) *inode {
	if f == nil || c[f] != nil {
		return c[f]
	}
	n := &inode{mode: f.mode, data: f.data, onDisk: f.onDisk}
	c[f] = n
	if f.mode.IsDir() {
		n.names, n.namesOn = c.names(f.names), c.names(f.namesOn)
	}
	return n
}

func (c copier) names(names map[string]*inode) map[string]*inode {
	next := make(map[string]*inode, len(names))
	for name, f := range names {
		next[name] = c.inode(f)
	}
	return next
}
