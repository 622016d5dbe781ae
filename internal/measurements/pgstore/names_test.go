package pgstore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/postgres/statement"
)

// keepsPeople is a store whose organizations keep people.
func keepsPeople(t *testing.T) *Store {
	s := newStore(t)
	s.KeepsPeople = func(context.Context, uuid.UUID) (bool, error) { return true, nil }
	s.HoldsPeople = func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) { return true, nil }
	return s
}

// usersOf are samples of so many users, each with more sessions than the next one.
func usersOf(organization uuid.UUID, at time.Time, name string, users int) measurements.Batch {
	sample := measurements.SessionSample{
		Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.UUID{2}, At: at, Interval: time.Minute, Waits: map[string]int64{"Lock": 0},
	}
	for i := range users {
		n := int64(users - i)
		sample.Waits["Lock"] += n
		sample.Doing = append(sample.Doing, measurements.Doing{State: measurements.Waits, Wait: "Lock", User: fmt.Sprintf("%s%03d", name, i), Sessions: n})
	}
	return measurements.Batch{Organization: organization, Sessions: []measurements.SessionSample{sample}}
}

func (s *Store) wantNames(t *testing.T, organization uuid.UUID, what string, want ...string) {
	t.Helper()
	names, err := statement.All[string](t.Context(), s.db, "list names", `SELECT name FROM measured_names WHERE organization_id = $1 ORDER BY 1`, organization)
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%s: %v are kept, want %v; %v", what, names, want, err)
	}
}

// TestNamesOfStoredSamplesAreKept, and no others: not of a sample that comes too late, nor of a sample
// whose time has another content, nor of combinations that are too many.
func TestNamesOfStoredSamplesAreKept(t *testing.T) {
	t.Parallel()
	s, organization, now := keepsPeople(t), uuid.New(), time.Now().Truncate(time.Minute)
	write(t, s, usersOf(organization, now, "first", 1))
	write(t, s, usersOf(organization, now, "second", 1))
	s.wantNames(t, organization, "the first content of a time stays", "first000")

	old := now.Add(-80 * time.Hour)
	write(t, s, usersOf(organization, old, "old", 1))
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	(&stage{TB: t, Store: s}).quieten(s.ledger.Retention.Raw + time.Minute)
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Seal(t.Context()); err != nil || n == 0 {
		t.Fatalf("%d hours are sealed, %v", n, err)
	}
	if receipt := write(t, s, usersOf(organization, old.Add(time.Second), "late", 1)); receipt.TooLate.Sessions != 1 {
		t.Fatalf("%+v", receipt)
	}
	s.wantNames(t, organization, "a sample that is too late", "first000", "old000")

	many := uuid.New()
	write(t, s, usersOf(many, now, "user", measurements.MaxDoings+5))
	var want []string
	for i := range measurements.MaxDoings {
		want = append(want, fmt.Sprintf("user%03d", i))
	}
	s.wantNames(t, many, "those with most sessions", want...)
}

// TestNamesOfAnOrganizationAreLimited: beyond them, sessions are not reported by name.
func TestNamesOfAnOrganizationAreLimited(t *testing.T) {
	t.Parallel()
	s, organization, now := keepsPeople(t), uuid.New(), time.Now().Truncate(time.Minute)
	s.MostNames = 2
	for minute, name := range []string{"a", "b", "c"} {
		write(t, s, usersOf(organization, now.Add(time.Duration(minute)*time.Minute), name, 1))
	}
	s.wantNames(t, organization, "of three", "a000", "b000")
	another := uuid.New()
	write(t, s, usersOf(another, now, "c", 1))
	s.wantNames(t, another, "of another organization", "c000")
}
