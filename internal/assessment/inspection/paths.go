package inspection

import (
	"slices"
	"strings"
)

// pathsKept limits the membership paths of one role: in a lattice of groups their number grows
// without end, and nobody reads more.
const pathsKept = 20

// Paths are the ways by which a role is a member of groups that give it power, "app → dba",
// and how much power that is, each group counted once.
func Paths(role string, members map[string][]string, gain func(group string) int) (paths []string, power int) {
	paths = []string{}
	reached := make(map[string]bool)
	var walk func(path []string)
	walk = func(path []string) {
		for _, parent := range members[path[len(path)-1]] {
			if slices.Contains(path, parent) || len(paths) >= pathsKept || len(path) > 10 {
				continue
			}
			next := append(slices.Clone(path), parent)
			if gained := gain(parent); gained > 0 {
				paths = append(paths, strings.Join(next, " → "))
				if !reached[parent] {
					reached[parent] = true
					power += gained
				}
			}
			walk(next)
		}
	}
	walk([]string{role})
	return paths, power
}
