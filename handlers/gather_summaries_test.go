package handlers_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/alertsum"
	"muster/internal/report/snapshot/companion"
)

// TestLaterEventsDoNotChangeAnAlertsSummary: alerts that are acknowledged, resolved and imported later change
// neither its figures nor its table. A team without servers has an empty summary, and not that of the
// organization.
func TestLaterEventsDoNotChangeAnAlertsSummary(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	ids := e.fleet("here", "there")
	e.alerted("here", e.item("old", alert.Warning, 400*day, 0), e.item("over", alert.Info, 3*day, time.Hour), e.item("disk", alert.Critical, 2*day, 0))
	e.alerted("there", e.item("elsewhere", alert.Critical, day, 0))
	open := e.alertCalled("disk")
	e.acts(open, alerting.Acknowledge)
	to := e.afterAll()
	from := to.AddDate(0, 0, -7)
	summary := func(scope report.Scope) (snapshot.Document, string) {
		t.Helper()
		scope.From, scope.To = &from, &to
		doc, err := e.inputs().Gather(t.Context(), e.gathering(report.AlertsSummary, scope))
		if err != nil {
			t.Fatal(err)
		}
		var table bytes.Buffer
		if err := companion.Write(&table, report.AlertsFile, doc); err != nil {
			t.Fatal(err)
		}
		return snapshot.Normalize(doc), table.String()
	}
	doc, table := summary(report.Scope{InstanceIDs: []uuid.UUID{ids["here"].ID}})
	if got, want := alertsum.BalanceOf(doc).All, (snapshot.AlertSum{Start: 1, Raised: 2, Resolved: 1, End: 2}); got != want {
		t.Errorf("the balance is %+v, want %+v", got, want)
	}
	if by := doc.AlertRecords.Listed[2].AcknowledgedBy; by == nil || by.ID != e.ana || len(doc.People()) == 0 {
		t.Errorf("the alert was acknowledged by %v", by)
	}
	if whole, _ := summary(report.Scope{}); alertsum.BalanceOf(whole).All.End != 3 {
		t.Errorf("the organization has %+v", alertsum.BalanceOf(whole).All)
	}
	team := uuid.New()
	if empty, _ := summary(report.Scope{TeamID: &team}); alertsum.BalanceOf(empty).All != (snapshot.AlertSum{}) || alertsum.Sheet(empty).State != "Nothing" {
		t.Errorf("a team without servers has %+v", alertsum.BalanceOf(empty).All)
	}
	e.acts(e.alertCalled("old"), alerting.Mute)
	e.acts(open, alerting.Resolve)
	e.alerted("here", e.item("imported", alert.Critical, 2*day, time.Hour))
	later, again := summary(report.Scope{InstanceIDs: []uuid.UUID{ids["here"].ID}})
	if sheetOf(t, later) != sheetOf(t, doc) || again != table {
		t.Errorf("later events changed the summary:\n%s\n%s", table, again)
	}
	foreign := e.gathering(report.AlertsSummary, report.Scope{InstanceIDs: []uuid.UUID{ids["here"].ID}, From: &from, To: &to})
	foreign.OrganizationID = e.stranger()
	if doc, err := e.inputs().Gather(t.Context(), foreign); err != nil || len(doc.AlertRecords.Listed)+len(doc.AlertRecords.Servers) > 0 {
		t.Errorf("another organization's report has %+v, %v", doc.AlertRecords, err)
	}
}

// afterAll is a time after everything in the fleet's log, by its clock.
func (e *estate) afterAll() (at time.Time) {
	e.t.Helper()
	if err := e.db.Get(&at, `SELECT max(recorded_at) + interval '1 microsecond' FROM events WHERE log = 'fleet'`); err != nil {
		e.t.Fatal(err)
	}
	return at.UTC()
}

// TestAMonthLaterTheLogGivesTheSamePDF: a summary of a window is gathered at its end and again a month later, after
// much has happened. But for the time and the log's head, which it prints, its PDF has the same bytes.
func TestAMonthLaterTheLogGivesTheSamePDF(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	e.fleet("here", "there")
	e.alerted("here", e.item("old", alert.Warning, 400*day, 0), e.item("over", alert.Info, 3*day, time.Hour), e.item("disk", alert.Critical, day/2, 0))
	e.alerted("there", e.item("elsewhere", alert.Critical, day/2, 0))
	e.acts(e.alertCalled("disk"), alerting.Acknowledge)
	e.acts(e.alertCalled("elsewhere"), alerting.Mute)
	to := e.afterAll()
	renderer := e.renderer()
	days := map[report.Kind]int{report.AlertsSummary: 7, report.PerformanceSLA: 3, report.DailyDigest: 1}
	at := map[report.Kind]snapshot.Document{}
	gather := func(kind report.Kind) (doc snapshot.Document, file string) {
		t.Helper()
		from := to.AddDate(0, 0, -days[kind])
		doc, err := e.inputs().Gather(t.Context(), e.gathering(kind, report.Scope{From: &from, To: &to, TimeZone: "UTC"}))
		if err != nil {
			t.Fatal(err)
		}
		if was, is := at[kind]; is {
			doc.ReportID, doc.RequestedAt, doc.AsOf, doc.Witness = was.ReportID, was.RequestedAt, was.AsOf, was.Witness
			if doc.Day != nil {
				doc.Day.AsOf = was.Day.AsOf
			}
		}
		var out bytes.Buffer
		if _, err := renderer.Render(&out, doc); err != nil {
			t.Fatal(err)
		}
		return doc, out.String()
	}
	files := map[report.Kind]string{}
	for kind := range days {
		at[kind], files[kind] = gather(kind)
	}
	e.acts(e.alertCalled("old"), alerting.Acknowledge)
	e.acts(e.alertCalled("elsewhere"), alerting.Unmute)
	e.acts(e.alertCalled("disk"), alerting.Resolve)
	e.alerted("here", e.item("imported", alert.Critical, day/4, time.Hour), e.item("new", alert.Warning, 0, 0))
	e.clock.Advance(30 * day)
	for kind, was := range files {
		if _, is := gather(kind); is != was {
			t.Errorf("%s: the PDF has other bytes a month later", kind)
		}
	}
	to = e.afterAll()
	for kind, was := range files {
		if _, is := gather(kind); is == was && kind != report.PerformanceSLA { // whose servers were not heard of
			t.Errorf("%s of a later window has the same bytes: the test shows nothing", kind)
		}
	}
}

// sheetOf are the canonical bytes of a document without what tells two documents apart.
func sheetOf(t *testing.T, doc snapshot.Document) string {
	t.Helper()
	text, err := snapshot.Encode(snapshot.Document{Kind: doc.Kind, Window: doc.Window, AlertRecords: doc.AlertRecords})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// alertCalled is the id of an alert.
func (e *estate) alertCalled(title string) (id uuid.UUID) {
	e.t.Helper()
	if err := e.db.Get(&id, `SELECT stream_id FROM events WHERE type = 'alert.raised' AND convert_from(data, 'UTF8')::jsonb ->> 'title' = $1`, title); err != nil {
		e.t.Fatal(err)
	}
	return id
}

// acts has Ana do something about an alert.
func (e *estate) acts(id uuid.UUID, verb alerting.Verb) {
	e.t.Helper()
	mark, err := e.commands.ActOnAlert(e.t.Context(), usecase.Actor{OrganizationID: e.organization, MemberID: e.ana}, id, alerting.Action{Verb: verb})
	if err != nil {
		e.t.Fatal(err)
	}
	e.wait(mark)
}
