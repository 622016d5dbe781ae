package measurementstest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// story is a case that is told by what is done.
type story struct {
	name string
	run  func(t *testing.T, h Harness)
}

// seen is what all engines' tiles of an organization have in a week of the suite's.
func seen(t *testing.T, h Harness, organization uuid.UUID) (hosts int, waits, calls float64, open int64) {
	t.Helper()
	h.roll(t)
	week := from("16T00:00", 1, timegrid.Week)
	u, err := h.Store.Utilization(t.Context(), organization, measurements.HostScope{}, week)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range measurements.Engines() {
		w, err := h.Store.WaitEvents(t.Context(), organization, engine, everything, week)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range w.Waiting {
			if w.Sampled {
				waits += line[0]
			}
		}
		q, err := h.Store.QueryPerformance(t.Context(), organization, engine, everything, week, later)
		if err != nil {
			t.Fatal(err)
		}
		calls += q.Calls[0]
		c, err := h.Store.Connections(t.Context(), organization, engine, []uuid.UUID{shop, invoices, books}, at("18T10:00:30"))
		if err != nil {
			t.Fatal(err)
		}
		open += c.Total()
	}
	return u.HostCount, waits, calls, open
}

// one of each sort, of the same minute.
func oneOfEach(organization uuid.UUID) measurements.Batch {
	sessions := waiting(shop, "18T10:00", waits{"Lock": 2})
	sessions.Idle = 5
	return measurements.Batch{
		Organization: organization,
		Hosts:        []measurements.HostSample{host("db01", "18T10:00", 10)},
		Sessions:     []measurements.SessionSample{sessions},
		Statements:   []measurements.StatementSample{ran(shop, "18T10:00", q("a", 3, 6))},
	}
}

// writeCases: contract §18.3, readings 6 and 19.
func writeCases() []story {
	shows := func(t *testing.T, h Harness, organization uuid.UUID, wantHosts int, wantWaits, wantCalls float64, wantOpen int64) {
		t.Helper()
		if hosts, waits, calls, open := seen(t, h, organization); hosts != wantHosts || waits != wantWaits || calls != wantCalls || open != wantOpen {
			t.Errorf("%d hosts, %g waits, %g calls, %d connections; want %d, %g, %g, %d", hosts, waits, calls, open, wantHosts, wantWaits, wantCalls, wantOpen)
		}
	}
	return []story{
		{"an empty batch is nothing", func(t *testing.T, h Harness) {
			organization := uuid.New()
			h.write(t, measurements.Batch{Organization: organization})
			shows(t, h, organization, 0, 0, 0, 0)
		}},
		{"a batch again changes nothing, and is accepted", func(t *testing.T, h Harness) {
			organization := uuid.New()
			for range 3 {
				h.write(t, oneOfEach(organization))
				shows(t, h, organization, 1, 2, 3, 5)
			}
		}},
		{"organizations do not see each other, whatever is of one name", func(t *testing.T, h Harness) {
			a, b := uuid.New(), uuid.New()
			h.write(t, oneOfEach(a))
			shows(t, h, b, 0, 0, 0, 0)
			h.write(t, measurements.Batch{Organization: b, Statements: []measurements.StatementSample{ran(shop, "18T10:00", q("a", 90, 1))}})
			shows(t, h, b, 0, 0, 90, 0)
			shows(t, h, a, 1, 2, 3, 5)
		}},
		{"the guard's error ends it, and nothing is kept", func(t *testing.T, h Harness) {
			b := oneOfEach(uuid.New())
			fenced := errors.New("fenced")
			b.Guard = func(context.Context, sqlx.ExtContext) error { return fenced }
			if _, err := h.Store.Write(t.Context(), b); !errors.Is(err, fenced) {
				t.Errorf("error %v", err)
			}
			shows(t, h, b.Organization, 0, 0, 0, 0)
			b.Guard = func(context.Context, sqlx.ExtContext) error { return nil }
			h.write(t, b)
			shows(t, h, b.Organization, 1, 2, 3, 5)
		}},
		{"six write the same at once", func(t *testing.T, h Harness) {
			organization := uuid.New()
			var all sync.WaitGroup
			for range 6 {
				all.Go(func() { h.write(t, oneOfEach(organization)) })
			}
			all.Wait()
			shows(t, h, organization, 1, 2, 3, 5)
		}},
		{"what is of other engines is accepted, and shown nowhere", func(t *testing.T, h Harness) {
			organization := uuid.New()
			h.write(t, measurements.Batch{
				Organization: organization,
				Sessions:     []measurements.SessionSample{waiting(posts, "18T10:00", waits{"Lock": 1}), waiting(clicks, "18T10:00", waits{"Lock": 1})},
				Statements:   []measurements.StatementSample{ran(posts, "18T10:00", q("a", 1, 1)), ran(clicks, "18T10:00", q("a", 1, 1))},
			})
			shows(t, h, organization, 0, 0, 0, 0)
		}},
	}
}
