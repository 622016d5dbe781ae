package projections_test

import (
	"errors"
	"testing"

	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/projections"
)

// TestDecodePage: a page keeps its order however many decode it, and what goes
// wrong in any part of it is the page's error.
func TestDecodePage(t *testing.T) {
	t.Parallel()
	events := make([]eventstore.Event, 1_001) // more than one part
	for i := range events {
		events[i].Position = int64(i)
	}
	got, err := projections.DecodePage(events, func(e eventstore.Event) (int64, error) { return e.Position, nil })
	if err != nil || len(got) != len(events) {
		t.Fatal(len(got), err)
	}
	for i, position := range got {
		if position != int64(i) {
			t.Fatalf("at %d is the event at %d", i, position)
		}
	}
	unknown := errors.New("unknown")
	for _, last := range []int64{0, 1_000} {
		_, err = projections.DecodePage(events, func(e eventstore.Event) (int64, error) {
			if e.Position == last {
				return 0, unknown
			}
			return 0, nil
		})
		if !errors.Is(err, unknown) {
			t.Errorf("the error at %d is %v", last, err)
		}
		_, err = projections.DecodePage(events, func(e eventstore.Event) (int64, error) {
			if e.Position == last {
				panic("a bug")
			}
			return 0, nil
		})
		var bug *topic.PanicError
		if !errors.As(err, &bug) || bug.Value != "a bug" || len(bug.Stack) == 0 {
			t.Errorf("the panic at %d is %v", last, err)
		}
	}
}
