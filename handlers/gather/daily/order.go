package daily

import "sort"

// order sorts stably. The functions of package slices are linked anew for every type: 100 kB of the program for the
// types of this package, where a few rows are sorted.
func order[T any](all []T, compare func(a, b T) int) {
	sort.SliceStable(all, func(i, j int) bool { return compare(all[i], all[j]) < 0 })
}
