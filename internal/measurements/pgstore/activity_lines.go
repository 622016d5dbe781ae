package pgstore

import (
	"cmp"
	"hash/maphash"
	"slices"

	"muster/internal/measurements"
)

// mostNumbers is how many numbers the lines of an engine have while they are read or made, 32 MB.
const mostNumbers = 4 << 20

// lineSet adds up lines by their keys. Of too many lines, the smaller half becomes the rest, and
// so does what comes of them later.
type lineSet[K comparable] struct {
	buckets, most int       // values of a line; of all lines
	rest          func(K) K // the key of the line that a key becomes a part of
	place         map[K]int
	keys          []K
	values        []measurements.Values
	seed          maphash.Seed
	folded        map[uint64]struct{} // hashes of keys that are in the rest
}

func newLineSet[K comparable](buckets, most int, rest func(K) K) *lineSet[K] {
	return &lineSet[K]{buckets: buckets, most: most, rest: rest, place: make(map[K]int), seed: maphash.MakeSeed()}
}

// line is the place of a key's line, until fold is called.
func (l *lineSet[K]) line(key K) int {
	at, known := l.place[key]
	if known {
		return at
	}
	if len(l.folded) > 0 {
		if _, folded := l.folded[maphash.Comparable(l.seed, key)]; folded {
			key = l.rest(key)
			if at, known = l.place[key]; known {
				return at
			}
		}
	}
	at = len(l.keys)
	l.place[key], l.keys, l.values = at, append(l.keys, key), append(l.values, make(measurements.Values, l.buckets))
	return at
}

// fold makes the smaller half of too many lines the rest.
func (l *lineSet[K]) fold() {
	if len(l.keys)*l.buckets <= l.most || len(l.keys) < 3 {
		return
	}
	order, sums := make([]int, len(l.keys)), make([]float64, len(l.keys))
	for i, values := range l.values {
		order[i] = i
		for _, v := range values {
			sums[i] += v
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	keys, values := l.keys, l.values
	l.place, l.keys, l.values = make(map[K]int), nil, nil
	if l.folded == nil {
		l.folded = make(map[uint64]struct{})
	}
	for rank, i := range order {
		if key := keys[i]; rank < len(order)/2 || l.rest(key) == key {
			l.place[key], l.keys, l.values = len(l.keys), append(l.keys, key), append(l.values, values[i])
		} else {
			l.folded[maphash.Comparable(l.seed, key)] = struct{}{}
		}
	}
	for rank, i := range order {
		if key := keys[i]; rank >= len(order)/2 && l.rest(key) != key {
			to := l.values[l.line(l.rest(key))]
			for bucket, v := range values[i] {
				to[bucket] += v
			}
		}
	}
}
