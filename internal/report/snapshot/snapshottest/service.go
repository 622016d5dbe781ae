package snapshottest

import (
	"fmt"
	"time"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

// serviceRecords is a month of seven servers: one missed its objective, three cannot be told, one is new, one was never
// heard, and one has no objective.
func serviceRecords(doc *snapshot.Document) {
	doc.ScopeLabel = "Whole organization · 21 Oct – 20 Nov 2026 (UTC)"
	doc.Checks = nil
	w := *doc.Window
	most, rest, fast, slow := 99.9, 99.5, 10.0, 50.0
	r := &snapshot.ServiceRecords{BudgetTo: w.To, Changed: []time.Time{w.From.AddDate(0, 0, 9)}}
	for i, one := range []struct {
		name                string
		down, unknown, work time.Duration
		percent, limit      *float64
		mean, coverage      float64
	}{
		{"demo-pg-orders-01", 97 * time.Minute, 61 * time.Minute, 0, &most, &fast, 12.25, 0.917},
		{"demo-ora-core-01", 9 * time.Minute, 80 * time.Minute, 0, &most, nil, 4, 0.2},
		{"demo-pg-billing-01", 7 * time.Minute, 42 * time.Minute, 4 * time.Hour, &most, &slow, 18.5, 0.956},
		{"demo-mongo-events-01", 0, 19*time.Hour + 48*time.Minute, 0, &rest, &slow, 0, 0},
		{"demo-mssql-erp-01", 4 * time.Minute, 6 * time.Minute, 0, &rest, nil, 0, 0},
		{"demo-pg-legacy-01", 0, 0, 0, nil, nil, 0.4, 1},
		{"demo-mssql-hr-01", 0, w.To.Sub(w.From) / 2, 0, &rest, nil, 0, 0},
	} {
		s := snapshot.ServiceServer{ID: ID(100 + i), Name: one.name, Engine: string(fleet.PostgreSQL), From: w.From, To: w.To,
			Down: one.down, Unknown: one.unknown, Maintenance: one.work, ObjectivePercent: one.percent, ObjectiveMs: one.limit}
		if i == 6 {
			s.From = w.From.Add(w.To.Sub(w.From) / 2)
			s.Joined = &s.From
		}
		s.Up = s.To.Sub(s.From) - s.Down - s.Unknown - s.Maintenance
		if one.coverage > 0 {
			s.MeanMs, s.Coverage = &one.mean, one.coverage
		}
		at := w.From.AddDate(0, 0, 3+i).Add(11 * time.Minute)
		if one.work > 0 {
			s.Covered, s.CoveredN = []snapshot.Window{{From: at.Add(-9 * time.Hour), To: at.Add(one.work - 9*time.Hour)}}, 1
		}
		if one.unknown > 0 {
			s.Gaps, s.GapN = []snapshot.Window{{From: s.To.Add(-one.unknown), To: s.To}}, 1
		}
		if one.down > 0 {
			seen, taken := at.Add(time.Minute), at.Add(6*time.Minute)
			s.Outages, s.OutageN = []snapshot.ServiceOutage{{From: at, To: at.Add(one.down), SeenAt: &seen}}, 1
			if i == 0 {
				s.Outages[0].TakenAt = &taken
			}
		}
		r.Servers = append(r.Servers, s)
	}
	r.Statements = snapshot.ServiceStatements{From: w.From, To: w.To, TotalMs: 9.4e7, Count: 1204}
	for i := range 10 {
		text := fmt.Sprintf("SELECT o.id, o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.state = $1 AND o.placed > $2 ORDER BY o.placed LIMIT %d", 10+i)
		r.Statements.Listed = append(r.Statements.Listed, snapshot.ServiceStatement{ID: ID(7000 + i), InstanceID: ID(100 + i%3), Text: text, Calls: float64(900_000 / (i + 1)), TotalMs: 2.1e7 / float64(i+1)})
	}
	days, soonest, latest := 12.3, 9.5, 17.8
	r.Rooms, r.RoomsSeen = []snapshot.ServiceRoom{
		{InstanceID: ID(100), Host: "db-01.example", Kind: "volume", Name: "/var/lib/postgresql", First: w.From, Last: w.To.Add(-time.Hour), FirstUsed: 6e11, LastUsed: 9.1e11, Limit: 1e12, Days: &days, Soonest: &soonest, Latest: &latest},
		{InstanceID: ID(101), Kind: "tablespace", Name: "USERS", First: w.From, Last: w.To.Add(-time.Hour), FirstUsed: 4e9, LastUsed: 3.9e9, Limit: 3.2e10, Reason: "notGrowing"},
		{InstanceID: ID(102), Kind: "database", Name: "billing", First: w.From, Last: w.To.Add(-time.Hour), FirstUsed: 2e10, LastUsed: 2.4e10, Reason: "noLimit"},
	}, 14
	doc.ServiceRecords = r
}
