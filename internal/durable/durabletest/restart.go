package durabletest

// Restart is the disk that the next start finds when the machine stops now: d itself is left as it is.
func (d *Disk) Restart(s Survival) *Disk {
	next := d.copy()
	for i, c := range next.pending {
		p := Pending{Path: c.path, Names: c.names != nil, Off: c.off, Bytes: len(c.bytes)}
		for _, span := range s.Keep(i, p) {
			c.toDisk(max(span.From, 0), min(span.To, p.Bytes))
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
	f.data = f.onDisk.share()
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
	next := New()
	next.root, next.process, next.made = c.inode(d.root), d.process+1, d.made
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

// copier maps each inode to its copy.
type copier map[*inode]*inode

func (c copier) inode(f *inode) *inode {
	if f == nil || c[f] != nil {
		return c[f]
	}
	n := &inode{mode: f.mode, data: f.data.share(), onDisk: f.onDisk.share()}
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
