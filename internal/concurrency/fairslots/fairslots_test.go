package fairslots_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"muster/internal/concurrency/fairslots"
)

// TestTheOrderOfTurns: an organization at its half gets no slot, and of the others the one
// with the fewest comes first, then the one whose turn is longest ago.
func TestTheOrderOfTurns(t *testing.T) {
	t.Parallel()
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	s := fairslots.NewSlots(2)
	s.Take(a)
	s.Take(b)
	s.Take(c)
	s.Free(c)
	s.Take(a)
	if o := s.Order(); !slices.Equal(o.Full, []uuid.UUID{a}) || !slices.Equal(o.Later, []uuid.UUID{c, b}) {
		t.Errorf("%+v", o)
	}
	s.Free(a)
	if o := s.Order(); len(o.Full) != 0 || !slices.Equal(o.Later, []uuid.UUID{c, b, a}) {
		t.Errorf("%+v", o)
	}
}

// TestAThousandOrganizationsAreRemembered, and none that holds a slot is forgotten.
func TestAThousandOrganizationsAreRemembered(t *testing.T) {
	t.Parallel()
	s := fairslots.NewSlots(1)
	holds := uuid.New()
	s.Take(holds)
	for range 1500 {
		one := uuid.New()
		s.Take(one)
		s.Free(one)
	}
	if o := s.Order(); len(o.Later) != 999 || !slices.Equal(o.Full, []uuid.UUID{holds}) {
		t.Errorf("%d later, %d full", len(o.Later), len(o.Full))
	}
}

// TestHangingWorkLeavesHalfOfTheGate: work of one organization waits at the gate, and that of another passes. A
// caller that gives up waiting leaves no slot behind.
func TestHangingWorkLeavesHalfOfTheGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hostile, other := uuid.New(), uuid.New()
		g := fairslots.NewGate(2)
		var leave []func()
		passed := make(chan func(), 10)
		ctx, giveUp := context.WithCancel(t.Context())
		for range 10 {
			go func() {
				if l, err := g.Pass(ctx, hostile); err == nil {
					passed <- l
				}
			}()
		}
		synctest.Wait()
		if len(passed) != 2 {
			t.Fatalf("%d of one organization passed", len(passed))
		}
		for range 2 {
			l, err := g.Pass(t.Context(), other)
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, l)
		}
		(<-passed)()
		synctest.Wait()
		if len(passed) != 2 {
			t.Errorf("a slot that was given back let %d through", len(passed)-1)
		}
		giveUp()
		synctest.Wait()
		for range 2 {
			(<-passed)()
		}
		for _, l := range leave {
			l()
			l() // a second time gives nothing back
		}
		for range 2 {
			if _, err := g.Pass(t.Context(), hostile); err != nil {
				t.Fatal(err)
			}
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Pass(over, hostile); err == nil {
			t.Error("a third slot of one organization")
		}
	})
}

// TestOneOrganizationHasAllOfASharedGate until another one comes, which is next.
func TestOneOrganizationHasAllOfASharedGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		alone, other := uuid.New(), uuid.New()
		g := fairslots.NewSharedGate(2)
		passed := make(chan uuid.UUID, 4)
		leave := make(chan struct{})
		pass := func(organization uuid.UUID) {
			l, err := g.Pass(t.Context(), organization)
			if err != nil {
				t.Error(err)
				return
			}
			passed <- organization
			<-leave
			l()
		}
		for _, organization := range []uuid.UUID{alone, alone, alone, other} { // in this order
			go pass(organization)
			synctest.Wait()
		}
		if len(passed) != 2 {
			t.Fatalf("%d passed", len(passed))
		}
		leave <- struct{}{}
		synctest.Wait()
		close(leave)
		synctest.Wait()
		want := []uuid.UUID{alone, alone, other, alone}
		for i, organization := range want {
			if got := <-passed; got != organization {
				t.Errorf("number %d is of %s, want %s", i, got, organization)
			}
		}
	})
}
