package measurementstest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/engine"
	"muster/internal/measurements"
)

// seen is what all engines' tiles of an organization have in a week of the suite's.
type seen struct {
	hosts        int
	waits, calls float64
	open         int64
}

func (h Harness) shows(t *testing.T, organization uuid.UUID, want seen) {
	t.Helper()
	h.roll(t)
	week := weeks("16T00:00", 1)
	got := seen{hosts: h.utilization(t, organization, measurements.HostScope{}, week).besides.(int)}
	for _, engine := range engine.Measured() {
		if w := h.waits(t, organization, engine, everything, week); w.besides == true {
			for _, line := range w.lines {
				got.waits += line[0]
			}
		}
		got.calls += h.queries(t, organization, engine, everything, week, later).lines["calls"][0]
		open := h.connections(t, organization, engine, []uuid.UUID{shop, invoices, books}, at("10:00:30"))
		got.open += open.Total()
	}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// one of each sort, of the same minute.
func oneOfEach(organization uuid.UUID) measurements.Batch {
	sessions := locked(shop, "10:00", 2)
	sessions.Idle = 5
	return measurements.Batch{
		Organization: organization,
		Hosts:        []measurements.HostSample{host("db01", "10:00", 10)},
		Sessions:     []measurements.SessionSample{sessions},
		Statements:   []measurements.StatementSample{ran(shop, "10:00", q("a", 3, 6))},
	}
}

// writeCases: contract §18.3, readings 6 and 19.
func writeCases() []story {
	return []story{
		{"an empty batch is nothing", func(t *testing.T, h Harness) {
			organization := uuid.New()
			h.write(t, measurements.Batch{Organization: organization})
			h.shows(t, organization, seen{})
		}},
		{"a batch again changes nothing, and is accepted", func(t *testing.T, h Harness) {
			organization := uuid.New()
			for range 3 {
				h.write(t, oneOfEach(organization))
				h.shows(t, organization, seen{1, 2, 3, 5})
			}
		}},
		{"organizations do not see each other, whatever is of one name", func(t *testing.T, h Harness) {
			a, b := uuid.New(), uuid.New()
			h.write(t, oneOfEach(a))
			h.shows(t, b, seen{})
			h.write(t, measurements.Batch{Organization: b, Statements: []measurements.StatementSample{ran(shop, "10:00", q("a", 90, 1))}})
			h.shows(t, b, seen{calls: 90})
			h.shows(t, a, seen{1, 2, 3, 5})
		}},
		{"the guard's error ends it, and nothing is kept", func(t *testing.T, h Harness) {
			b := oneOfEach(uuid.New())
			fenced := errors.New("fenced")
			b.Guard = func(context.Context, sqlx.ExtContext) error { return fenced }
			if _, err := h.Store.Write(t.Context(), b); !errors.Is(err, fenced) {
				t.Errorf("error %v", err)
			}
			h.shows(t, b.Organization, seen{})
			b.Guard = func(context.Context, sqlx.ExtContext) error { return nil }
			h.write(t, b)
			h.shows(t, b.Organization, seen{1, 2, 3, 5})
		}},
		{"six write the same at once", func(t *testing.T, h Harness) {
			organization := uuid.New()
			var all sync.WaitGroup
			for range 6 {
				all.Go(func() { h.write(t, oneOfEach(organization)) })
			}
			all.Wait()
			h.shows(t, organization, seen{1, 2, 3, 5})
		}},
		{"what is of other engines is accepted, and shown nowhere", func(t *testing.T, h Harness) {
			organization := uuid.New()
			h.write(t, measurements.Batch{
				Organization: organization,
				Sessions:     []measurements.SessionSample{locked(posts, "10:00", 1), locked(clicks, "10:00", 1)},
				Statements:   []measurements.StatementSample{ran(posts, "10:00", q("a", 1, 1)), ran(clicks, "10:00", q("a", 1, 1))},
			})
			h.shows(t, organization, seen{})
		}},
	}
}
