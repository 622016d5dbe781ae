package handlers_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/alert"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// TestFault10TheInputsCountClosedFindings of the last 30 and 90 days: findings of the report's checks alone, of
// its servers alone, and one that came back where it was there before. The days in which findings are due are
// the organization's.
func TestFault10TheInputsCountClosedFindings(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	high := 20
	if _, _, err := e.commands.ChangeOrganization(t.Context(), e.actor(), commands.ChangeOrganization{ChangeSettings: organization.ChangeSettings{DueHigh: &high}}); err != nil {
		t.Fatal(err)
	}
	orders, other := e.register("pg-orders", true), e.register("pg-other", true)
	for id, fail := range map[uuid.UUID][]string{orders: {"PG-S17", "PG-F05", "PG-S25"}, other: {"PG-S17"}} {
		var results []snapshot.CheckResult
		for _, check := range fail {
			results = append(results, snapshot.CheckResult{CheckID: check, Status: snapshot.StatusFail, Total: 1, Violations: []snapshot.Violation{{Object: "public"}}})
		}
		e.connect(id)
		e.looked(id, snapshot.Assessment{Outcome: snapshot.OutcomeComplete, VersionNum: 150003, Results: results})
	}
	now := e.clock.Now()
	day := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	for _, change := range []string{
		`UPDATE findings SET first_seen_at = $1, gone_at = $2 WHERE check_id IN ('PG-S17', 'PG-F05')`,
		`UPDATE findings SET earlier_first_seen_at = $1, earlier_gone_at = $2 WHERE check_id = 'PG-S25'`,
	} {
		if _, err := e.db.Exec(change, day(60), day(10)); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{orders}}))
	if err != nil {
		t.Fatal(err)
	}
	if d := doc.Organization.DueDays; d == nil || d.High != 20 || d.Critical != 7 {
		t.Errorf("due within %+v", d)
	}
	if h := doc.History; h == nil || h.Since == nil || !h.Since.Equal(day(60).Truncate(time.Microsecond)) || len(h.Past) != 30 {
		t.Fatalf("%+v", h)
	}
	for _, p := range doc.History.Past {
		ago := int(doc.AsOf.Sub(p.At).Hours()) / 24
		want := snapshot.BySeverity{}
		overdue := snapshot.BySeverity{}
		if ago <= 60 && ago > 10 {
			want = snapshot.BySeverity{High: 1, Medium: 1}
		}
		if ago < 40 && ago > 10 {
			overdue.High = 1
		}
		if p.Gone != want || p.Overdue != overdue {
			t.Errorf("%d days ago: %+v overdue %+v, want %+v and %+v", ago, p.Gone, p.Overdue, want, overdue)
		}
	}
}

// TestFault04TheInputsCountOpenAlerts of each server, the critical ones apart, without muted and resolved ones.
func TestFault04TheInputsCountOpenAlerts(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	ids := e.fleet("here", "there")
	yes := true
	muted := e.item("muted", alert.Critical, day, 0)
	muted.Muted = &yes
	e.alerted("here", muted, e.item("open", alert.Critical, day, 0), e.item("warning", alert.Warning, day, 0), e.item("over", alert.Critical, 3*day, day))
	for _, kind := range []report.Kind{report.Security, report.InstanceScorecard} {
		g := e.gathering(kind, report.Scope{})
		if kind == report.InstanceScorecard {
			g = e.scorecard(ids["here"].ID, nil, time.Hour)
		}
		doc, err := e.inputs().Gather(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range doc.Instances {
			want := snapshot.OpenAlerts{}
			if in.Name == "here" {
				want = snapshot.OpenAlerts{Open: 2, Critical: 1}
			}
			if in.OpenAlerts == nil || *in.OpenAlerts != want {
				t.Errorf("%s, %s: %+v, want %+v", kind, in.Name, in.OpenAlerts, want)
			}
		}
	}
}
