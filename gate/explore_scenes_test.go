package gate

// The objects that calls are on: two files beside each other, the directory above
// the first, and both of the first two.
var (
	onFirst  = []int{0}
	onSecond = []int{1}
	onAbove  = []int{2}
	onBoth   = []int{0, 1}
)

// ones are the scenarios of a call alone, on one object and on two.
func ones(stage *stageSet, max int, inert bool) []*explorer {
	var out []*explorer
	for i := range kinds {
		for _, on := range [][]int{onFirst, onBoth} {
			out = append(out, &explorer{stage: stage, roles: []role{{&kinds[i], on}}, max: max, inert: inert})
		}
	}
	return out
}

// openings are sessions that begin while the call is asked for.
func openings(stage *stageSet, max int) []*explorer {
	var out []*explorer
	for _, name := range []string{"auto", "commit", "staged"} {
		out = append(out, &explorer{stage: stage, roles: []role{{kindOf(name), onFirst}}, max: max, opening: true, inert: true})
	}
	return out
}

// pairs are the scenarios of two calls of all kinds, on the same object and on one
// above the other.
func pairs(stage *stageSet, max int) []*explorer {
	var out []*explorer
	for i := range kinds {
		for j := i; j < len(kinds); j++ {
			for _, on := range [][]int{onFirst, onAbove, onSecond} {
				out = append(out, &explorer{stage: stage, roles: []role{{&kinds[i], onFirst}, {&kinds[j], on}}, max: max})
			}
		}
	}
	return out
}

// triples are the scenarios of three calls: on the same object, and on two with
// the directory above.
func triples(stage *stageSet, of []kind, max int) []*explorer {
	var out []*explorer
	for i := range of {
		for j := i; j < len(of); j++ {
			for k := j; k < len(of); k++ {
				for _, on := range [][2][]int{{onFirst, onFirst}, {onSecond, onAbove}} {
					roles := []role{{kindOf(of[i].name), onFirst}, {kindOf(of[j].name), on[0]}, {kindOf(of[k].name), on[1]}}
					out = append(out, &explorer{stage: stage, roles: roles, max: max})
				}
			}
		}
	}
	return out
}

// leading are the kinds of which three are explored with disturbances, too.
func leading() []kind {
	var out []kind
	for _, name := range []string{"auto", "asked", "commit", "staged"} {
		out = append(out, *kindOf(name))
	}
	return out
}

// sample is every so many'th scenario.
func sample(of []*explorer, every int) []*explorer {
	var out []*explorer
	for i := 0; i < len(of); i += every {
		out = append(out, of[i])
	}
	return out
}
