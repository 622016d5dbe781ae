package demo

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestDeadlocksOfTheDemo: each is counted by the samples of its database, fine or coarse, and has both sides, which waited for
// each other. The last one is there when somebody first looks.
func TestDeadlocksOfTheDemo(t *testing.T) {
	t.Parallel()
	server, agents := uuid.UUID{1}, newAgents(madeAt, onPaper())
	all := deadlocksAt(madeAt)
	if last := madeAt.Sub(all[len(all)-1]); len(all) < 5 || last < 30*time.Minute || last > time.Hour {
		t.Errorf("%d deadlocks, the last %s before", len(all), last)
	}
	for _, at := range all {
		from, to := at.Add(-coarse).Truncate(coarse), at.Add(coarse+time.Minute).Truncate(coarse)
		for _, atOnce := range []time.Duration{agentInterval, coarse} {
			counted, told := int64(0), 0
			for _, s := range agents.samples(from, to, atOnce).Sessions {
				if s.Deadlocks != nil {
					counted, told = counted+*s.Deadlocks, told+1
				}
			}
			if counted != 1 || told < 2 {
				t.Errorf("%s, every %s: %d deadlocks in %d samples", at, atOnce, counted, told)
			}
		}
		for _, texts := range []bool{true, false} {
			found := deadlocked(madeAt, server, texts, from, to)
			if len(found) != 1 || found[0].Instance != server || len(found[0].Nodes) != 2 || !found[0].Deadlock.Seen {
				t.Fatalf("%s: %+v", at, found)
			}
			a, b := found[0].Nodes[0], found[0].Nodes[1]
			if a.For[0] != b.Session || b.For[0] != a.Session || (a.Statement != "") != texts || (b.Statement != "") != texts || a.Waits.After(at) {
				t.Errorf("%s: %+v", at, found[0].Nodes)
			}
		}
	}
}
