package connect

import (
	"fmt"
	"strings"
)

// Diff is the unified difference of two texts, a line each, empty if there is none.
// Values that look like secrets are printed as ***, changed or not.
func Diff(path string, before, after []byte) []string {
	a, b := lines(string(before)), lines(string(after))
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	if head == len(a) && head == len(b) {
		return nil
	}
	out := []string{"--- " + path, "+++ " + path}
	return append(out, hunks(script(a, b, head, tail, masked(a), masked(b)))...)
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	out := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range out {
		out[i] = strings.TrimSuffix(out[i], "\r")
	}
	return out
}

const (
	context3    = 3
	maxCompared = 4 << 20 // pairs of lines; beyond them all lines count as changed
)

// script is every line of both texts, with a space, minus or plus before it; the
// lines are compared as they are, and written as shownA and shownB have them.
func script(a, b []string, head, tail int, shownA, shownB []string) []string {
	var out []string
	for _, l := range shownA[:head] {
		out = append(out, " "+l)
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	common := longest(x, y)
	i, j := 0, 0
	for _, c := range append(common, [2]int{len(x), len(y)}) {
		for ; i < c[0]; i++ {
			out = append(out, "-"+shownA[head+i])
		}
		for ; j < c[1]; j++ {
			out = append(out, "+"+shownB[head+j])
		}
		if i < len(x) {
			out = append(out, " "+shownA[head+i])
		}
		i, j = i+1, j+1
	}
	for _, l := range shownA[len(a)-tail:] {
		out = append(out, " "+l)
	}
	return out
}

// longest are the pairs of lines of a longest common subsequence.
func longest(x, y []string) [][2]int {
	if len(x)*len(y) > maxCompared {
		return nil
	}
	table := make([][]int, len(x)+1)
	for i := range table {
		table[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if table[i][j] = max(table[i+1][j], table[i][j+1]); x[i] == y[j] {
				table[i][j] = table[i+1][j+1] + 1
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case table[i+1][j] >= table[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// hunks keeps what changed and a few lines around it.
func hunks(script []string) []string {
	var out []string
	near := func(i int) bool {
		for k := max(0, i-context3); k <= min(len(script)-1, i+context3); k++ {
			if script[k][0] != ' ' {
				return true
			}
		}
		return false
	}
	a, b := 1, 1
	for i := 0; i < len(script); {
		if !near(i) {
			i, a, b = i+1, a+1, b+1
			continue
		}
		end, na, nb := i, 0, 0
		for ; end < len(script) && near(end); end++ {
			na += btoi(script[end][0] != '+')
			nb += btoi(script[end][0] != '-')
		}
		out = append(out, fmt.Sprintf("@@ -%d,%d +%d,%d @@", a-btoi(na == 0), na, b-btoi(nb == 0), nb))
		out = append(out, script[i:end]...)
		i, a, b = end, a+na, b+nb
	}
	return out
}
