package measure

import (
	"fmt"
	"slices"
	"testing"
)

// TestARotationReachesEveryDatabase: those that had their turn longest ago are next, new ones first, and
// removed ones never.
func TestARotationReachesEveryDatabase(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 1000 {
		names = append(names, fmt.Sprint(n))
	}
	var r Rotation
	turns := map[string]int{}
	for range 20 {
		for _, name := range r.Next(names, 50) {
			turns[name]++
		}
	}
	for _, name := range names {
		if turns[name] != 1 {
			t.Fatalf("%s had %d turns of 20", name, turns[name])
		}
	}
	if next := r.Next(append([]string{"new"}, names[10:]...), 3); !slices.Equal(next, []string{"new", "10", "11"}) {
		t.Errorf("next are %q", next)
	}
	r.Again("11")
	if next := r.Next(append([]string{"new"}, names[10:]...), 2); !slices.Equal(next, []string{"11", "12"}) {
		t.Errorf("next are %q", next)
	}
	if next := r.Next(names[995:], 50); len(next) != 5 {
		t.Errorf("next are %q", next)
	}
	if next := r.Next(nil, 50); len(next) != 0 {
		t.Errorf("next are %q", next)
	}
}
