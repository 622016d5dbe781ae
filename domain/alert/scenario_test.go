package alert_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/alert"
)

type events = []alert.Event

const key = "external/a-1"

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// at is that many minutes after noon.
func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// lasting are the details of an alert that fires from one minute to another.
func lasting(from, to int) alert.Details {
	return alert.Details{
		Title: "Disk full", Severity: alert.Warning, InstanceID: uuid.UUID{1},
		CreatedAt: at(from), FirstTriggeredAt: at(from), LastTriggeredAt: at(to),
	}
}

func raised(from, to int) alert.Event { return alert.Raised{Key: key, Details: lasting(from, to)} }

func folded(given events) *alert.Alert {
	a := new(alert.Alert)
	for _, e := range given {
		a.Apply(e)
	}
	return a
}

// wantOutcome holds an outcome, and that the table allows every event of it.
func wantOutcome(t *testing.T, given events, want, got alert.Outcome) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	state := folded(given).State()
	if got.Anew {
		state = ""
	}
	for _, e := range got.Events {
		next, ok := alert.Next(state, e)
		if !ok {
			t.Errorf("%s may not happen to an alert that is %q", alert.Name(e), state)
		}
		state = next
	}
}
