package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var (
	ours   = uuid.MustParse("0199f0d2-0000-7000-8000-000000000001")
	theirs = uuid.MustParse("0199f0d2-0000-7000-8000-000000000002")
	noon   = time.Date(2026, 11, 20, 12, 0, 0, 123456000, time.UTC)
)

// batch is n events of one stream, told apart by their data.
func batch(organization, stream uuid.UUID, expected int64, n int) eventstore.Append {
	a := eventstore.Append{
		Organization: organization, StreamType: "report", Stream: stream, Expected: expected,
		Metadata: eventstore.Metadata{ActorID: "system:test"},
	}
	for i := range n {
		a.Events = append(a.Events, eventstore.NewEvent{
			Type: "report.step", OccurredAt: noon, Data: fmt.Appendf(nil, `{"stream":%q,"n":%d}`, stream, i),
		})
	}
	return a
}

func keyed(a eventstore.Append, key string, state []byte) eventstore.Append {
	a.Key = &eventstore.KeyState{Key: key, StateDigest: state}
	return a
}

func mustAppend(t testing.TB, s *eventstore.Store, log eventstore.Log, batches ...eventstore.Append) int64 {
	t.Helper()
	position, err := s.Append(context.Background(), log, batches...)
	if err != nil {
		t.Fatal(err)
	}
	return position
}

func collect(t testing.TB, events iter.Seq2[eventstore.Event, error]) []eventstore.Event {
	t.Helper()
	var all []eventstore.Event
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func positions(events []eventstore.Event) []int64 {
	at := make([]int64, len(events))
	for i, e := range events {
		at[i] = e.Position
	}
	return at
}

func wantEqual[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func wantError[E error](t testing.TB, err error) E {
	t.Helper()
	var target E
	if !errors.As(err, &target) {
		t.Fatalf("got error %v, want a %T", err, target)
	}
	return target
}

// wantWhole verifies a log and fails on the first thing that does not fit.
func wantWhole(t testing.TB, s *eventstore.Store, log eventstore.Log) eventstore.Verification {
	t.Helper()
	report, err := s.Verify(context.Background(), log, eventstore.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if first, broken := report.First(); broken {
		t.Fatalf("log %s does not verify: %s", log, first)
	}
	return report
}
