package approval

// edit is one line of a diff: ' ' both have it, '-' only the text before, '+'
// only the text after.
type edit struct {
	op   byte
	line string
}

const (
	context  = 3       // lines around a change
	maxTable = 1 << 20 // cells for a longest common subsequence
)

// diff says how one list of lines becomes another: the lines that both have
// once are lined up in their longest common order (patience), and so on between
// them; where there is none, the longest common subsequence counts, or, if that
// would take long, everything is replaced. Keeping the lines ' ' and '-' gives
// a, the lines ' ' and '+' give b.
func diff(a, b []string) []edit {
	d := differ{}
	d.between(a, b)
	return d.out
}

type differ struct{ out []edit }

func (d *differ) add(op byte, lines []string) {
	for _, l := range lines {
		d.out = append(d.out, edit{op, l})
	}
}

// between works on the lines between two that were lined up.
func (d *differ) between(a, b []string) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	d.add(' ', a[:head])
	a, b = a[head:], b[head:]
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	same := a[len(a)-tail:]
	d.middle(a[:len(a)-tail], b[:len(b)-tail])
	d.add(' ', same)
}

// middle works on lists that neither begin nor end alike.
func (d *differ) middle(a, b []string) {
	anchors := increasing(unique(a, b))
	switch {
	case len(a) == 0 || len(b) == 0:
		d.add('-', a)
		d.add('+', b)
	case len(anchors) > 0:
		x, y := 0, 0
		for _, m := range anchors {
			d.between(a[x:m.a], b[y:m.b])
			d.add(' ', a[m.a:m.a+1])
			x, y = m.a+1, m.b+1
		}
		d.between(a[x:], b[y:])
	case len(a)*len(b) <= maxTable:
		d.common(a, b)
	default:
		d.add('-', a)
		d.add('+', b)
	}
}

// pair is one line's place in both lists.
type pair struct{ a, b int }

// unique pairs the lines that each list has once, in the order of a.
func unique(a, b []string) []pair {
	type seen struct{ inA, inB, at int }
	all := make(map[string]*seen, len(b))
	for i, l := range b {
		s := all[l]
		if s == nil {
			s = new(seen)
			all[l] = s
		}
		s.inB++
		s.at = i
	}
	for _, l := range a {
		if s := all[l]; s != nil {
			s.inA++
		}
	}
	var out []pair
	for i, l := range a {
		if s := all[l]; s != nil && s.inA == 1 && s.inB == 1 {
			out = append(out, pair{i, s.at})
		}
	}
	return out
}

// increasing is a longest part of pairs that is in the order of b too.
func increasing(pairs []pair) []pair {
	var ends []int // pairs that end the best run of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		low, high := 0, len(ends)
		for low < high {
			if mid := (low + high) / 2; pairs[ends[mid]].b < p.b {
				low = mid + 1
			} else {
				high = mid
			}
		}
		before[i] = -1
		if low > 0 {
			before[i] = ends[low-1]
		}
		if low == len(ends) {
			ends = append(ends, i)
		}
		ends[low] = i
	}
	out := make([]pair, len(ends))
	if len(ends) == 0 {
		return out
	}
	for n, i := len(ends)-1, ends[len(ends)-1]; n >= 0; n, i = n-1, before[i] {
		out[n] = pairs[i]
	}
	return out
}

// common lines the lists up by a longest common subsequence.
func (d *differ) common(a, b []string) {
	columns := len(b) + 1
	longest := make([]int32, (len(a)+1)*columns) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*columns+j] = longest[(i+1)*columns+j+1] + 1
			} else {
				longest[i*columns+j] = max(longest[(i+1)*columns+j], longest[i*columns+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			d.add(' ', a[i:i+1])
			i, j = i+1, j+1
		case longest[(i+1)*columns+j] >= longest[i*columns+j+1]:
			d.add('-', a[i:i+1])
			i++
		default:
			d.add('+', b[j:j+1])
			j++
		}
	}
	d.add('-', a[i:])
	d.add('+', b[j:])
}

// hunk is a part of a diff, with the numbers of its first lines, from 1.
type hunk struct {
	before, after int
	edits         []edit
}

// cutHunks leaves out what is far from any change.
func cutHunks(edits []edit) []hunk {
	near := make([]bool, len(edits))
	for i, e := range edits {
		if e.op != ' ' {
			for j := max(0, i-context); j <= min(len(edits)-1, i+context); j++ {
				near[j] = true
			}
		}
	}
	var out []hunk
	before, after := 1, 1
	for i, e := range edits {
		if near[i] {
			if i == 0 || !near[i-1] {
				out = append(out, hunk{before: before, after: after})
			}
			h := &out[len(out)-1]
			h.edits = append(h.edits, e)
		}
		if e.op != '+' {
			before++
		}
		if e.op != '-' {
			after++
		}
	}
	return out
}
