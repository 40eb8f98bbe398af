package durabletest

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// SectorSize is in bytes what a disk writes whole or not at all.
const SectorSize = 512

// Pending is a change that no sync has put on the platter.
type Pending struct {
	Path  string
	Names bool  // it gives or takes a name; otherwise it changes content
	Off   int64 // where in the file its bytes begin, or where it is truncated
	Bytes int   // written; 0 for a truncation and for names
}

// Span is the bytes from From up to and without To, counted from the first of a change.
type Span struct{ From, To int }

// Survival says which pending changes had reached the platter when the machine stopped. Keep is asked for each in
// order and gives the parts of its bytes that had; a change without bytes had if there is any part.
type Survival struct {
	Name string
	Keep func(i int, p Pending) []Span
}

func whole() []Span { return []Span{{0, math.MaxInt}} }

func wholeIf(kept bool) []Span {
	if kept {
		return whole()
	}
	return nil
}

// Survivals are the ones [Matrix] tries.
func Survivals() []Survival {
	list := []Survival{
		{"lost", func(int, Pending) []Span { return nil }},
		{"kept", func(int, Pending) []Span { return whole() }},
		{"torn", func(_ int, p Pending) []Span {
			if p.Bytes > 0 {
				return []Span{{0, p.Bytes / 2}}
			}
			return whole()
		}},
		{"reordered pages", func(_ int, p Pending) []Span { return []Span{{p.Bytes / 2, math.MaxInt}} }},
		{"names without data", func(_ int, p Pending) []Span { return wholeIf(p.Names) }},
		{"data without names", func(_ int, p Pending) []Span { return wholeIf(!p.Names) }},
		bySector("even sectors", func(_ int, sector, _ int64) bool { return sector%2 == 0 }),
		bySector("odd sectors", func(_ int, sector, _ int64) bool { return sector%2 == 1 }),
		bySector("last sectors", func(_ int, sector, last int64) bool { return sector == last }),
	}
	for seed := range uint64(4) {
		list = append(list, Random(seed))
	}
	for seed := range uint64(2) {
		list = append(list, RandomSectors(seed))
	}
	return list
}

// Random keeps each change whole, in one part or not at all, by seed.
func Random(seed uint64) Survival {
	return Survival{fmt.Sprintf("random %d", seed), func(i int, p Pending) []Span {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		if p.Bytes == 0 || r.IntN(2) == 0 {
			return wholeIf(r.IntN(2) == 0)
		}
		from := r.IntN(p.Bytes)
		return []Span{{from, from + r.IntN(p.Bytes-from+1)}}
	}}
}

// RandomSectors keeps names and truncations, and of each change of content any sectors, by seed.
func RandomSectors(seed uint64) Survival {
	return bySector(fmt.Sprintf("random sectors %d", seed), func(i int, sector, _ int64) bool {
		return rand.New(rand.NewPCG(seed, uint64(i)<<32^uint64(sector))).IntN(2) == 0
	})
}

// bySector keeps names and truncations, and of each change of content the sectors of the file that keep says; last is
// the last one that the change touches.
func bySector(name string, keep func(i int, sector, last int64) bool) Survival {
	return Survival{name, func(i int, p Pending) []Span {
		if p.Bytes == 0 {
			return whole()
		}
		var kept []Span
		last := (p.Off + int64(p.Bytes) - 1) / SectorSize
		for sector := p.Off / SectorSize; sector <= last; sector++ {
			if keep(i, sector, last) {
				from := int(sector*SectorSize - p.Off)
				kept = append(kept, Span{from, from + SectorSize})
			}
		}
		return kept
	}}
}

// FirstBytes keeps all names and truncations, and of all unsynced bytes the first n: for cutting at every byte.
func FirstBytes(n int) Survival {
	var left int
	return Survival{"first bytes", func(i int, p Pending) []Span {
		if i == 0 {
			left = n
		}
		if p.Bytes == 0 {
			return whole()
		}
		part := min(left, p.Bytes)
		left -= part
		return []Span{{0, part}}
	}}
}
