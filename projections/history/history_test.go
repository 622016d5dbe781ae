package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/domain/team"
	"muster/projections"
	"muster/projections/history"
)

var (
	acme, other = id(1), id(2)
	ana, ben    = id(11), id(12)
)

func TestRowFollowsTheEvents(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	expires := minute(1000)
	stream := id(100)
	base := history.ReportRow{
		ID: stream, OrganizationID: acme, Kind: report.Security, Status: report.StatusQueued,
		Scope: report.Scope{InstanceIDs: []uuid.UUID{}}, ScopeLabel: "All active instances",
		RequesterID: ana, RecipientIDs: []uuid.UUID{ana}, CreatedAt: minute(0), Version: 1,
	}
	at := func(n int) *time.Time { m := minute(n); return &m }
	steps := []struct {
		fact   report.Event
		change func(*history.ReportRow)
	}{
		{queued(report.Security, ana), func(*history.ReportRow) {}},
		{report.Reused{RequesterID: ben, Added: []uuid.UUID{ben}}, func(r *history.ReportRow) { r.RecipientIDs = []uuid.UUID{ana, ben} }},
		{started, func(r *history.ReportRow) { r.Status, r.StartedAt = report.StatusBuilding, at(2) }},
		{report.StepCompleted{Step: 1, TotalSteps: 3, Label: "inputs"}, func(*history.ReportRow) {}},
		{ready(expires, ana, ben), func(r *history.ReportRow) {
			r.Status, r.FinishedAt, r.ExpiresAt = report.StatusReady, at(4), &expires
			r.File = &history.ReportFile{
				Name: "security.pdf", Key: "pdf/1", SizeBytes: 412331, SHA256: "9f2c", Pages: 14, InputsSHA256: "ab",
				InputsKey: "inputs/1", Renderer: report.Renderer{Version: "1"}, Witness: report.Witness{Log: "reports", Position: 1, Hash: "00"},
			}
		}},
		{report.EmailSent{MemberID: ana, MessageID: "<a@muster>", SMTPCode: 250}, func(*history.ReportRow) {}},
		{report.EmailFailed{MemberID: ben, MessageID: "<b@muster>", SMTPCode: 550}, func(*history.ReportRow) {}},
		{report.Expired{ExpiredAt: expires}, func(r *history.ReportRow) { r.Status = report.StatusExpired }},
		{report.InputsErased{Rule: "retention"}, func(r *history.ReportRow) { r.InputsErasedAt, r.InputsRule = at(8), "retention" }},
	}
	want := base
	for i, step := range steps {
		s.happens(acme, stream, step.fact)
		s.stage.Settle()
		step.change(&want)
		want.Version = int64(i + 1)
		got, ok, err := s.reader.Get(t.Context(), acme, stream, minute(500))
		if err != nil || !ok {
			t.Fatalf("after %T: %v %v", step.fact, ok, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %T (-want +got):\n%s", step.fact, diff)
		}
	}
	recipients, err := s.reader.Recipients(t.Context(), acme, stream)
	if err != nil {
		t.Fatal(err)
	}
	wantRecipients := []history.Recipient{
		{MemberID: ana, Delivery: history.DeliverySent, SMTPCode: 250, MessageID: "<a@muster>", At: at(5)},
		{MemberID: ben, Delivery: history.DeliveryFailed, SMTPCode: 550, MessageID: "<b@muster>", At: at(6)},
	}
	if diff := cmp.Diff(wantRecipients, recipients, cmpopts.IgnoreUnexported(history.Recipient{})); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
}

func TestFailedShowsItsSentence(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.happens(acme, id(100), queued(report.DataInventory, ana), started,
		report.Failed{Code: report.CodeNoCompletedClassification, Message: "Classify a database first."})
	s.stage.Settle()
	row, _, err := s.reader.Get(t.Context(), acme, id(100), minute(10))
	if err != nil || row.Status != report.StatusFailed || row.ErrorCode != report.CodeNoCompletedClassification ||
		row.ErrorMessage != "Classify a database first." || !row.FinishedAt.Equal(minute(2)) {
		t.Errorf("row is %+v, %v", row, err)
	}
}

// story fills the history of two organizations: in Acme's Security reports are,
// oldest first, two Ready (due at minutes 100 and 200), one Expired, one Failed,
// one Building, one Queued.
func (s *scene) story() {
	for i, expires := range []time.Time{minute(100), minute(200)} {
		s.happens(acme, id(uint32(100+i)), queued(report.Security, ana), started, ready(expires, ana))
	}
	s.happens(acme, id(102), queued(report.Security, ana), started, ready(minute(50), ana), report.Expired{ExpiredAt: minute(50)})
	s.happens(acme, id(103), queued(report.Security, ben, ana), started, report.Failed{Code: report.CodeRenderFailed})
	s.happens(acme, id(104), queued(report.Security, ben), started)
	s.happens(acme, id(105), queued(report.Security, ana))
	s.happens(acme, id(106), queued(report.DataInventory, ana))
	s.happens(other, id(200), queued(report.Security, ana), started, ready(minute(200), ana))
	s.stage.Settle()
}

func numbers(rows []history.ReportRow) string {
	var all []string
	for _, r := range rows {
		all = append(all, fmt.Sprintf("%d %s", uint32(r.ID[14])<<8|uint32(r.ID[15]), r.Status))
	}
	return strings.Join(all, ", ")
}

func TestPagesAndTotalsFollowTheClock(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.story()
	one := func(st ...report.Status) []report.Status { return st }
	tests := []struct {
		name     string
		statuses []report.Status
		at       time.Time
		page     int
		size     int
		want     string
		total    int64
	}{
		{"all, newest first", nil, minute(60), 1, 20, "105 Queued, 104 Building, 103 Failed, 102 Expired, 101 Ready, 100 Ready", 6},
		{"a page in between", nil, minute(60), 2, 2, "103 Failed, 102 Expired", 6},
		{"behind the end", nil, minute(60), 4, 2, "", 6},
		{"an instant before the first is due", nil, minute(100).Add(-1), 1, 20, "105 Queued, 104 Building, 103 Failed, 102 Expired, 101 Ready, 100 Ready", 6},
		{"exactly when it is due", nil, minute(100), 1, 20, "105 Queued, 104 Building, 103 Failed, 102 Expired, 101 Ready, 100 Expired", 6},
		{"ready", one(report.StatusReady), minute(60), 1, 20, "101 Ready, 100 Ready", 2},
		{"ready, one is due", one(report.StatusReady), minute(100), 1, 20, "101 Ready", 1},
		{"expired, one is due", one(report.StatusExpired), minute(100), 1, 20, "102 Expired, 100 Expired", 2},
		{"expired, both are due", one(report.StatusExpired), minute(200), 1, 20, "102 Expired, 101 Expired, 100 Expired", 3},
		{"expired, second page", one(report.StatusExpired), minute(200), 2, 2, "100 Expired", 3},
		{"ready or expired", one(report.StatusReady, report.StatusExpired), minute(100), 1, 20, "102 Expired, 101 Ready, 100 Expired", 3},
		{"named twice", one(report.StatusReady, report.StatusReady), minute(60), 1, 20, "101 Ready, 100 Ready", 2},
		{"queued or failed", one(report.StatusQueued, report.StatusFailed), minute(60), 1, 20, "105 Queued, 103 Failed", 2},
		{"none", one(report.StatusReady), minute(300), 1, 20, "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q := history.Query{Organization: acme, Kinds: []report.Kind{report.Security}, Statuses: test.statuses, Page: test.page, Size: test.size}
			rows, total, err := s.reader.Page(t.Context(), q, test.at)
			if err != nil {
				t.Fatal(err)
			}
			if got := numbers(rows); got != test.want || total != test.total {
				t.Errorf("page is %q of %d, want %q of %d", got, total, test.want, test.total)
			}
		})
	}
}

func TestSeveralKindsAreOneList(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.story()
	for name, test := range map[string]struct {
		statuses []report.Status
		page     int
		want     string
		total    int64
	}{
		"all":       {nil, 1, "106 Queued, 105 Queued, 104 Building", 7},
		"next page": {nil, 2, "103 Failed, 102 Expired, 101 Ready", 7},
		"queued":    {[]report.Status{report.StatusQueued, report.StatusReady}, 1, "106 Queued, 105 Queued, 101 Ready", 4},
	} {
		q := history.Query{Organization: acme, Kinds: []report.Kind{report.Security, report.DataInventory, report.Security}, Statuses: test.statuses, Page: test.page, Size: 3}
		rows, total, err := s.reader.Page(t.Context(), q, minute(60))
		if got := numbers(rows); err != nil || got != test.want || total != test.total {
			t.Errorf("%s: %q of %d, want %q of %d, %v", name, got, total, test.want, test.total, err)
		}
	}
}

// TestReportsThatNameAnInstance: whatever their kind and status, by the clock.
func TestReportsThatNameAnInstance(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.story() // names no instance
	orders, billing := id(31), id(32)
	about := func(kind report.Kind, instances ...uuid.UUID) report.Queued {
		q := queued(kind, ana)
		q.Scope.InstanceIDs = instances
		return q
	}
	s.happens(acme, id(301), about(report.Security, orders, billing), started, ready(minute(100), ana))
	s.happens(acme, id(302), about(report.InstanceScorecard, orders))
	s.happens(acme, id(303), about(report.InstanceScorecard, billing))
	s.happens(other, id(304), about(report.Security, orders))
	s.stage.Settle()
	kinds := []report.Kind{report.Security, report.InstanceScorecard}
	for name, test := range map[string]struct {
		query history.Query
		want  string
		total int64
	}{
		"of one":            {history.Query{Kinds: kinds, Instances: []uuid.UUID{orders}}, "302 Queued, 301 Expired", 2},
		"of several":        {history.Query{Kinds: kinds, Instances: []uuid.UUID{billing, orders}}, "303 Queued, 302 Queued", 3},
		"of several, rest":  {history.Query{Kinds: kinds, Instances: []uuid.UUID{billing, orders}, Page: 2}, "301 Expired", 3},
		"behind the end":    {history.Query{Kinds: kinds, Instances: []uuid.UUID{orders}, Page: 2}, "", 2},
		"of a kind":         {history.Query{Kinds: kinds[:1], Instances: []uuid.UUID{orders}}, "301 Expired", 1},
		"expired just now":  {history.Query{Kinds: kinds, Instances: []uuid.UUID{orders}, Statuses: []report.Status{report.StatusExpired}}, "301 Expired", 1},
		"no longer ready":   {history.Query{Kinds: kinds, Instances: []uuid.UUID{orders}, Statuses: []report.Status{report.StatusReady}}, "", 0},
		"within one":        {history.Query{Kinds: kinds, Within: team.World{orders: false}}, "302 Queued", 1},
		"within several":    {history.Query{Kinds: kinds, Within: team.World{orders: false, billing: true, id(33): true}}, "303 Queued, 302 Queued", 3},
		"of one and within": {history.Query{Kinds: kinds, Instances: []uuid.UUID{orders}, Within: team.World{orders: false}}, "302 Queued", 1},
		"within nothing":    {history.Query{Kinds: kinds, Within: team.World{}}, "", 0},
		"of one nobody has": {history.Query{Kinds: kinds, Instances: []uuid.UUID{id(33)}}, "", 0},
	} {
		test.query.Organization, test.query.Page, test.query.Size = acme, max(test.query.Page, 1), 2
		rows, total, err := s.reader.Page(t.Context(), test.query, minute(100))
		if got := numbers(rows); err != nil || got != test.want || total != test.total {
			t.Errorf("%s: %q of %d, want %q of %d, %v", name, got, total, test.want, test.total, err)
		}
	}
}

func TestOneOrganizationSeesNothingOfAnother(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.story()
	ctx, at := t.Context(), minute(60)
	rows, total, err := s.reader.Page(ctx, history.Query{Organization: other, Kinds: []report.Kind{report.Security}, Page: 1, Size: 20}, at)
	if err != nil || numbers(rows) != "200 Ready" || total != 1 {
		t.Errorf("page is %q of %d, %v", numbers(rows), total, err)
	}
	for _, organization := range []uuid.UUID{other, id(3)} { // a foreign id is exactly like an unknown one
		if _, ok, err := s.reader.Get(ctx, organization, id(100), at); ok || err != nil {
			t.Errorf("get: %v %v", ok, err)
		}
		if r, err := s.reader.Recipients(ctx, organization, id(100)); len(r) != 0 || err != nil {
			t.Errorf("recipients: %v %v", r, err)
		}
		if ok, err := s.reader.MarkSeen(ctx, organization, ana, id(100)); ok || err != nil {
			t.Errorf("mark seen: %v %v", ok, err)
		}
		if rows, _, err := s.reader.Exports(ctx, history.Tray{Organization: organization, Member: ana, Before: id(100), Limit: 20}, at); len(rows) != 0 || err != nil {
			t.Errorf("exports behind a foreign report: %v %v", rows, err)
		}
	}
	if row, ok, err := s.reader.FindPDF(ctx, other, "9F2C", at); !ok || row.ID != id(200) || err != nil {
		t.Errorf("find PDF: %v %v %v", row.ID, ok, err)
	}
	if _, ok, err := s.reader.FindPDF(ctx, id(3), "9f2c", at); ok || err != nil {
		t.Errorf("find a foreign PDF: %v %v", ok, err)
	}
}

func TestExportTray(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.story()
	tray := func(member, before uuid.UUID, limit int, at time.Time) (string, int64) {
		t.Helper()
		rows, unseen, err := s.reader.Exports(t.Context(), history.Tray{Organization: acme, Member: member, Before: before, Limit: limit}, at)
		if err != nil {
			t.Fatal(err)
		}
		return numbers(rows), unseen
	}
	if got, unseen := tray(ana, uuid.Nil, 20, minute(60)); got != "106 Queued, 105 Queued, 101 Ready, 100 Ready" || unseen != 2 {
		t.Errorf("ana's tray is %q, %d unseen", got, unseen)
	}
	if got, _ := tray(ana, id(105), 1, minute(60)); got != "101 Ready" {
		t.Errorf("the second page is %q", got)
	}
	if got, unseen := tray(ana, uuid.Nil, 20, minute(100)); got != "106 Queued, 105 Queued, 101 Ready" || unseen != 1 {
		t.Errorf("once one is due it is %q, %d unseen", got, unseen)
	}
	if ok, err := s.reader.MarkSeen(t.Context(), acme, ana, id(106)); !ok || err != nil {
		t.Fatalf("mark seen: %v %v", ok, err)
	}
	if _, unseen := tray(ana, uuid.Nil, 20, minute(60)); unseen != 0 {
		t.Errorf("%d unseen after all were marked", unseen)
	}
	// Asked for before the mark, Ready after it: new to her.
	s.happens(acme, id(105), started, ready(minute(200), ana))
	s.stage.Settle()
	if _, unseen := tray(ana, uuid.Nil, 20, minute(60)); unseen != 1 {
		t.Errorf("%d unseen after one became Ready, want 1", unseen)
	}
	// An older mark takes nothing back.
	if ok, err := s.reader.MarkSeen(t.Context(), acme, ana, id(100)); !ok || err != nil {
		t.Fatalf("mark seen: %v %v", ok, err)
	}
	if _, unseen := tray(ana, uuid.Nil, 20, minute(60)); unseen != 1 {
		t.Errorf("%d unseen after an older mark, want 1", unseen)
	}
	// Who asked when all places were taken sees it in the tray, and is no recipient.
	s.happens(acme, id(104), report.Reused{RequesterID: ana, NotAdded: []uuid.UUID{ana}})
	s.stage.Settle()
	if got, _ := tray(ana, uuid.Nil, 2, minute(60)); got != "106 Queued, 105 Ready" {
		t.Errorf("newest two are %q", got)
	}
	if got, _ := tray(ana, id(105), 1, minute(60)); got != "104 Building" {
		t.Errorf("behind them comes %q", got)
	}
	if row, _, err := s.reader.Get(t.Context(), acme, id(104), minute(60)); err != nil || len(row.RecipientIDs) != 1 {
		t.Errorf("recipients are %v, %v", row.RecipientIDs, err)
	}
}

func TestARebuildEqualsTheLiveRows(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.happens(acme, id(300), queued(report.InstanceScorecard, ana))
	s.stage.Settle() // a page of its own: live there was a counter of it, which a rebuild never has
	s.happens(acme, id(300), started, report.Failed{Code: report.CodeRenderFailed})
	s.story()
	difference, err := s.stage.Rebuild(t.Context(), history.Name, projections.RebuildOptions{StopOnDifference: true}, nil)
	if err != nil || !difference.Empty() || len(difference.Tables) != 3 {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}

func TestAsOfEqualsTheRowsOfThatTime(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.story()
	s.happens(acme, id(108), queued(report.Security, ana), started, ready(time.Now().AddDate(1, 0, 0), ana, ben))
	s.stage.Settle()
	at := s.clock()
	live := map[report.Kind][]history.ReportRow{}
	for _, kind := range []report.Kind{report.Security, report.DataInventory} {
		rows, _, err := s.reader.Page(t.Context(), history.Query{Organization: acme, Kinds: []report.Kind{kind}, Page: 1, Size: 20}, at)
		if err != nil {
			t.Fatal(err)
		}
		live[kind] = rows
	}
	// What is recorded from that instant on changes nothing about it.
	s.happens(acme, id(100), report.Expired{ExpiredAt: at}, report.InputsErased{Rule: "retention"})
	s.happens(acme, id(107), queued(report.Security, ana))

	for kind, want := range live {
		got, err := history.AsOf(t.Context(), s.store, s.registry.Decode, acme, kind, at)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s as of %v (-live +replayed):\n%s", kind, at, diff)
		}
	}
	if rows, err := history.AsOf(t.Context(), s.store, s.registry.Decode, acme, "", noon.AddDate(-10, 0, 0)); err != nil || len(rows) != 0 {
		t.Errorf("before everything there are %v, %v", rows, err)
	}
}

// clock is the database's, by which events are recorded.
func (s *scene) clock() (now time.Time) {
	s.t.Helper()
	if err := s.db.Get(&now, `SELECT clock_timestamp()`); err != nil {
		s.t.Fatal(err)
	}
	return now.UTC()
}
