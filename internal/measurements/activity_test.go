package measurements

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/fleet"
)

// TestHashesOfPeopleNeedTheKey: the same name has another hash with another key, and names of waits
// have the same with any.
func TestHashesOfPeopleNeedTheKey(t *testing.T) {
	t.Parallel()
	ours, theirs := NameKey{1}, NameKey{2}
	for _, of := range []Dimension{DimUser, DimApplication, DimClient} {
		if ours.Hash(of, "ada") == theirs.Hash(of, "ada") || ours.Hash(of, "ada") == ours.Hash(of, "eve") {
			t.Errorf("%s: %x and %x", of, ours.Hash(of, "ada"), theirs.Hash(of, "ada"))
		}
		if ours.Hash(of, "") != 0 {
			t.Errorf("%s: no name has a hash", of)
		}
	}
	if ours.Hash(DimUser, "ada") == ours.Hash(DimClient, "ada") {
		t.Error("a user is a client")
	}
	if ours.Hash(DimWaitEvent, "relation") != theirs.Hash(DimWaitEvent, "relation") {
		t.Error("a wait is another one for another organization")
	}
}

// waiters are who waits on PostgreSQL and SQL Server, and the names of some of them.
type waiters struct {
	Store
	names map[uint64]string
	fails error
}

func (w waiters) WaitContributors(_ context.Context, _ uuid.UUID, engine fleet.Engine, _ fleet.Scope, _ Span, b Breakdown) (Ranking, error) {
	r := Ranking{Breakdown: b}
	if engine == fleet.PostgreSQL || engine == fleet.SQLServer {
		for name := range uint64(5) {
			r.Add(Contributor{Name: name + 1, Value: float64(name) + 1})
		}
	}
	return r, nil
}

func (w waiters) Names(context.Context, uuid.UUID, Dimension, []uint64) (map[uint64]string, error) {
	return w.names, w.fails
}

// TestUnnamedContributorsAreOne, before their number is limited: together they may be the
// greatest. Two engines have the same names.
func TestUnnamedContributorsAreOne(t *testing.T) {
	t.Parallel()
	failed := errors.New("away")
	for what, c := range map[string]struct {
		names map[uint64]string
		fails error
		want  []Contributor
	}{
		"all have names": {map[uint64]string{1: "a", 2: "b", 3: "c", 4: "d", 5: "e"}, nil, []Contributor{{Name: 5, Value: 10}, {Name: 4, Value: 8}}},
		"two have none":  {map[uint64]string{1: "a", 3: "c", 5: "e"}, nil, []Contributor{{Value: 12}, {Name: 5, Value: 10}}},
		"names are away": {nil, failed, []Contributor{{Value: 30}}},
	} {
		got, err := (&Tiles{Store: waiters{names: c.names, fails: c.fails}}).WaitContributors(t.Context(), uuid.New(), fleet.Scope{}, Span{}, Breakdown{Series: WaitingForAnything, By: ByUser, Limit: 2})
		if err != nil || !errors.Is(got.Unnamed, c.fails) {
			t.Errorf("%s: %v, %v", what, err, got.Unnamed)
		}
		if diff := cmp.Diff(c.want, got.Items); diff != "" || got.Total() != 30 {
			t.Errorf("%s: %v (-want +got)\n%s", what, got.Total(), diff)
		}
	}
}

// TestNamesOfSessionsAreCut: whoever connects to a server chooses them, and of each one is kept.
func TestNamesOfSessionsAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 1000)
	s := SessionSample{Engine: fleet.PostgreSQL, Active: 1, Doing: []Doing{{State: OnCPU, Statement: "q1", User: long, Application: long, Client: long, Sessions: 1}}}
	all, _ := s.Activity()
	for _, of := range []Dimension{DimUser, DimApplication, DimClient} {
		if name := all[0].Name(of); utf8.RuneCountInString(name) > 200 || !strings.HasPrefix(name, "üü") {
			t.Errorf("the %s has %d characters", of, utf8.RuneCountInString(name))
		}
	}
}
