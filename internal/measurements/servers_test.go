package measurements

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestServersWithoutPeople keeps the session and what it does, and changes nothing of what it was given.
func TestServersWithoutPeople(t *testing.T) {
	t.Parallel()
	held := Holder{Session: "17", Doing: Doing{State: IdleInTransaction, Statement: "q1", User: "bill", Application: "billing", Client: "::1"}}
	samples := []ServerSample{{Figures: []ServerFigure{{Figure: OldestTransaction, Value: 7, Holder: &held}, {Figure: NewConnections}}}}
	got := ServersWithoutPeople(samples)
	want := Holder{Session: "17", Doing: Doing{State: IdleInTransaction, Statement: "q1"}}
	if diff := cmp.Diff([]ServerSample{{Figures: []ServerFigure{{Figure: OldestTransaction, Value: 7, Holder: &want}, {Figure: NewConnections}}}}, got); diff != "" {
		t.Error(diff)
	}
	if samples[0].Figures[0].Holder.User != "bill" {
		t.Error("it was taken from what it was given")
	}
}
