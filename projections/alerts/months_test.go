package alerts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/projections/alerts"
)

// TestTotalsOfSomeServers: the total of some servers' alerts is that of the alerts themselves, in windows that begin
// and end at the edges of months, within one, or nowhere. Alerts move between servers and months, are muted and
// resolved, and concern further servers.
func TestTotalsOfSomeServers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, servers := uuid.New(), []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	at := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
	}
	edges := []time.Time{
		{}, at(8, 31, 23), at(9, 1, 0).Add(-time.Microsecond), at(9, 1, 0), at(9, 1, 0).Add(time.Microsecond), at(9, 17, 5), at(10, 1, 0), at(10, 31, 23),
		at(11, 1, 0), at(11, 1, 1), at(11, 19, 0),
	}
	for n, last := range slices.Concat(edges[1:], edges[1:], edges[1:]) {
		details := domain.Details{
			Title: "of some", InstanceID: servers[n%3], Severity: domain.Severities()[n%2], CreatedAt: last, FirstTriggeredAt: last, LastTriggeredAt: last,
		}
		life := []any{domain.Raised{Key: "external/1", Details: details}}
		switch n % 7 {
		case 0:
			life = append(life, domain.Muted{})
		case 1:
			life = append(life, domain.AutoResolved{ResolvedAt: last.Add(time.Hour), LastTriggeredAt: last})
		case 2:
			details.InstanceID, details.OtherInstanceIDs = servers[(n+1)%3], servers[n%3:n%3+1]
			life = append(life, domain.Changed{Details: details})
		case 3:
			life = append(life, domain.StillFiring{LastTriggeredAt: last.AddDate(0, 1, 0)})
		case 4:
			details.InstanceID = uuid.Nil
			life = append(life, domain.Changed{Details: details})
		}
		id := uuid.New()
		s.happens(acme, id, domain.StreamType, life...)
		if n%7 == 5 {
			s.seen(acme, id, at(11, 1, 0))
		}
	}
	s.happens(uuid.New(), uuid.New(), domain.StreamType, domain.Raised{Key: "external/1", Details: domain.Details{
		Title: "of others", InstanceID: servers[0], Severity: domain.Info, CreatedAt: edges[3], FirstTriggeredAt: edges[3], LastTriggeredAt: edges[3],
	}})
	s.stage.Settle()
	all, _, err := s.reader.Page(t.Context(), alerts.Query{Organization: acme, Order: alerts.ByLastTriggered, Page: 1, Size: 1000})
	if err != nil || len(all) != 30 {
		t.Fatalf("%d alerts, %v", len(all), err)
	}
	yes, no := true, false
	for _, scope := range [][]uuid.UUID{servers[:1], servers[1:], servers, {uuid.New()}} {
		for _, from := range edges {
			for _, to := range edges {
				for name, change := range map[string]func(q *alerts.Query){
					"all": func(*alerts.Query) {}, "closed": func(q *alerts.Query) { q.Closed = &yes }, "not muted": func(q *alerts.Query) { q.Muted = &no },
					"critical": func(q *alerts.Query) { q.Severities = []domain.Severity{domain.Critical} },
				} {
					q := alerts.Query{Organization: acme, Scope: fleetScope(scope...), From: from, To: to, Page: 100, Size: 1000}
					change(&q)
					want := int64(0)
					for _, a := range all {
						_, in := a.Within(func(id uuid.UUID) bool { return slices.Contains(scope, id) })
						if in && !a.LastTriggeredAt.Before(from) && (to.IsZero() || a.LastTriggeredAt.Before(to)) &&
							(q.Closed == nil || (a.ResolvedAt != nil) == *q.Closed) && (q.Muted == nil || a.Muted == *q.Muted) &&
							(len(q.Severities) == 0 || slices.Contains(q.Severities, a.Severity)) {
							want++
						}
					}
					if _, total, err := s.reader.Page(t.Context(), q); err != nil || total != want {
						t.Errorf("%s of %d servers from %s to %s: %d, %v, want %d", name, len(scope), from, to, total, err, want)
					}
				}
			}
		}
	}
}

// TestATotalOfManyServersIsCounted: the total of many servers' alerts comes from counters; of a window, only the alerts
// of the months that it cuts are counted.
func TestATotalOfManyServersIsCounted(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, _, instances := s.manyAlerts()
	s.db.MustExec(`UPDATE alerts_v5.alerts SET other_instance_ids = ''`)
	for name, from := range map[string]time.Time{"without a window": {}, "from the first of a month": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)} {
		query, args := alerts.Statement("total", alerts.Query{Organization: acme, Scope: fleetScope(instances[:25]...), From: from})
		var plan []string
		if err := s.db.Select(&plan, `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) `+query, args...); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, "totals_of_instances") || strings.Contains(text, "alerts_of_instance") && !strings.Contains(text, "alerts_of_instance on alerts a (actual rows=0") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
