package truth_test

import (
	"context"
	"sync"
	"testing"

	"muster/internal/testing/truth"
)

// playedSessions is the table of sessions, for all tests.
var playedSessions = sync.OnceValues(func() ([]truth.SessionCell, error) { return truth.RunSessions(context.Background(), reference) })

// TestReportedSessionsMatchTheSimulation: on simulated servers of SQL Server and Oracle, Muster names whoever
// holds others up, as soon as two seconds after it begins and a look allow, and nobody else; its average
// sessions differ by no more than so few samples may; deadlocks, sign-ins and temporary space are what they
// were.
func TestReportedSessionsMatchTheSimulation(t *testing.T) {
	t.Parallel()
	cells, err := playedSessions()
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 22 {
		t.Errorf("%d scenes on engines, want eleven on two", len(cells))
	}
	for _, c := range cells {
		for _, wrong := range c.Wrong {
			t.Errorf("%s on %s: %s", c.Scene, c.Engine, wrong)
		}
		if len(c.Lines) == 0 {
			t.Errorf("%s on %s: nothing was compared", c.Scene, c.Engine)
		}
	}
}
