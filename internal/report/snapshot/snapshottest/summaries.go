package snapshottest

import (
	"fmt"
	"time"

	"muster/domain/alert"
	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// summaries fill in the inputs of kinds that are summaries, by their verdicts.
func summaries() map[report.Verdict]func(*snapshot.Document) {
	return map[report.Verdict]func(*snapshot.Document){
		report.VerdictOnAlerts:  alertRecords,
		report.VerdictOnService: serviceRecords,
	}
}

// alertRecords is a month of six servers: alerts of every severity, open, closed by people and by themselves, muted,
// acknowledged, told and not told.
func alertRecords(doc *snapshot.Document) {
	doc.ScopeLabel = "Whole organization · 21 Oct – 20 Nov 2026 (UTC)"
	doc.Checks = nil
	r := &snapshot.AlertRecords{}
	for i, name := range []string{"pg-orders-01", "pg-orders-02", "pg-legacy-01", "mssql-erp-02", "ora-core-01", "mongo-events-01"} {
		r.Servers = append(r.Servers, snapshot.AlertServer{ID: ID(100 + i), Name: name})
	}
	rules := []string{"Replication lag", "Checkpoints on request", "Temporary files", "Slow operations", "Session waits for a lock", "Volume is full", "Down"}
	told := []string{snapshot.AlertTold, snapshot.AlertTold, snapshot.AlertTold, snapshot.AlertFailed, snapshot.AlertUnmatched, snapshot.AlertMuted, snapshot.AlertSuppressed}
	ana := &snapshot.Person{ID: ID(3), Name: "Ana Ruiz"}
	for i := range 180 {
		raised := doc.Window.From.Add(time.Duration(i*4-8) * time.Hour).Add(time.Duration(i*7%60) * time.Minute)
		a := snapshot.AlertRecord{
			ID: ID(5000 + i), InstanceID: ID(100 + i*i%6), Rule: rules[i%len(rules)], Severity: string(alert.Severities()[(i*5)%3]), RaisedAt: raised,
			Title: fmt.Sprintf("%s, %d of 20", rules[i%len(rules)], 1+i%20), ByItself: i%4 > 0,
		}
		if i%23 != 5 && i < 176 {
			closed := raised.Add(time.Duration(3+i*i%900) * time.Minute)
			a.ClosedAt = &closed
		}
		if i%3 == 0 {
			seen := raised.Add(time.Duration(1+i%90) * time.Minute)
			if a.ClosedAt == nil || seen.Before(*a.ClosedAt) {
				a.AcknowledgedAt, a.AcknowledgedBy = &seen, ana
			}
		}
		if i%40 == 11 {
			until := raised.AddDate(0, 1, 0)
			a.Mutes = []snapshot.AlertMute{{By: ana, From: raised.Add(time.Minute), Until: &until}}
		}
		if i%50 == 9 {
			a.Maintenance = &snapshot.Maintenance{ID: ID(900), Until: raised.Add(3 * time.Hour), By: ana}
		}
		a.Reopened = i % 13 / 11
		if !raised.Before(doc.Window.From) {
			at := raised.Add(time.Duration(20+i) * time.Second)
			a.Told = told[i%len(told)]
			if a.Told == snapshot.AlertTold {
				a.ToldAt, a.Grouped = &at, i%5 == 0
			}
		}
		r.Listed = append(r.Listed, a)
	}
	revoked := doc.Window.From.AddDate(0, 0, 20)
	r.Accepted = []snapshot.AlertConsent{
		{ID: ID(910), CheckID: "PG-S18", InstanceID: ID(102), GrantedBy: *ana, GrantedAt: doc.Window.From.AddDate(0, 0, 3), Until: doc.Window.To.AddDate(0, 0, 40)},
		{ID: ID(911), CheckID: "PG-C02", GrantedBy: *ana, GrantedAt: doc.Window.From.AddDate(0, 0, -30), Until: doc.Window.To.AddDate(0, 0, 90), RevokedAt: &revoked},
	}
	r.Channels = []snapshot.AlertChannel{{ID: ID(920), Name: "On call", Kind: "email", Sent: 101, Failed: 2}, {ID: ID(921), Name: "Chat", Kind: "chat", Sent: 98}}
	doc.AlertRecords = r
}
