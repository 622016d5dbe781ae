package oracle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/internal/measurements"
)

// deadlocked says of a batch how many deadlocks the pluggable databases had; "?": they do not tell.
func (s *scene) deadlocked(b measurements.Batch) string {
	var out []string
	for _, name := range []string{"ERP", "Łódź \"2\" 😀"} {
		said := "?"
		if sample := s.sampled(b, name); sample != nil && sample.Deadlocks != nil {
			said = fmt.Sprint(*sample.Deadlocks)
		}
		out = append(out, said)
	}
	return strings.Join(out, ", ")
}

// TestDeadlocksAreCountedByContainer: a counter that is new is a basis, and one that fell was reset.
func TestDeadlocksAreCountedByContainer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for i, step := range []struct {
		after time.Duration
		rows  [][]string
		want  string
	}{
		{0, [][]string{{"0", "0", "90"}, {"0", "3", "5"}, {"0", "4", "7"}}, "?, ?"},
		{time.Minute, [][]string{{"0", "0", "95"}, {"0", "3", "8"}, {"0", "4", "7"}}, "3, 0"},
		{time.Minute, [][]string{{"0", "3", "8"}}, "0, ?"},
		{time.Minute, [][]string{{"0", "3", "2"}, {"0", "4", "9"}}, "2, ?"},
		{time.Minute, nil, "?, ?"},
	} {
		s.on(deadlocksQuery, step.rows...)
		if got := s.deadlocked(s.pass(step.after)); got != step.want {
			t.Errorf("look %d: %s, want %s", i, got, step.want)
		}
	}
}

// TestDeadlocksOfAClusterAreSummedOverItsInstances: one that was started again begins anew, and one that is new
// is a basis.
func TestDeadlocksOfAClusterAreSummedOverItsInstances(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.inCluster()
	for i, step := range []struct {
		rows [][]string
		want string
	}{
		{[][]string{{"1", "3", "5"}, {"2", "3", "100"}}, "?, ?"},
		{[][]string{{"1", "3", "6"}, {"2", "3", "102"}}, "3, ?"},
		{[][]string{{"1", "3", "6"}, {"2", "3", "1"}}, "1, ?"},
		{[][]string{{"1", "3", "7"}, {"2", "3", "1"}, {"3", "3", "50"}}, "1, ?"},
	} {
		s.on(clusterDeadlocksQuery, step.rows...)
		if got := s.deadlocked(s.pass(time.Minute)); got != step.want {
			t.Errorf("look %d: %s, want %s", i, got, step.want)
		}
	}
}
