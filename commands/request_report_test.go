package commands_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/accounts"
)

func TestRequestReportQueues(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ben := h.member("ben@example.org")
	out := h.request(h.actor, ben.ID, h.ana.ID)
	if out.Reused || len(out.RecipientsNotAdded) != 0 || out.Mark.Log != eventstore.Reports || out.Mark.Position != 1 {
		t.Errorf("outcome %+v", out)
	}
	var queued report.Queued
	h.last(out.ReportID, &queued)
	if queued.ScopeLabel != "All active instances" || !slices.Equal(queued.RecipientIDs, []uuid.UUID{h.ana.ID, ben.ID}) || queued.RequesterID != h.ana.ID {
		t.Errorf("event %+v", queued)
	}
	if n := h.count("jobs WHERE subject = $1 AND kind = 'build'", out.ReportID); n != 1 {
		t.Errorf("%d build jobs", n)
	}
}

// TestASecondAttemptLeadsToTheFirst, with where that has written: the answer to it was
// lost, and lists may not show it yet.
func TestASecondAttemptLeadsToTheFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := uuid.Must(uuid.NewV7())
	var requested [2]commands.RequestedReport
	for i := range requested {
		var err error
		if requested[i], err = h.RequestReport(t.Context(), h.actor, commands.RequestReport{ID: id, Kind: report.Security}); err != nil {
			t.Fatal(err)
		}
	}
	if different := cmp.Diff(requested[0], requested[1]); different != "" || requested[0].Mark.Position == 0 {
		t.Errorf("%+v, and then otherwise: %s", requested[0], different)
	}
	var registered [2]usecase.Mark
	id = uuid.Must(uuid.NewV7())
	for i := range registered {
		h.tx(func(tx *sqlx.Tx) (err error) {
			_, registered[i], err = h.RegisterInstanceTx(t.Context(), tx, h.actor, id, inventory.Registration{Name: "orders", Engine: fleet.PostgreSQL, Active: true})
			return err
		})
	}
	if registered[0] != registered[1] || registered[0].Position == 0 {
		t.Errorf("%+v, and then %+v", registered[0], registered[1])
	}
}

// TestConcurrentIdenticalRequestsMakeOneReport: the database makes 32 requests one, and not luck.
func TestConcurrentIdenticalRequestsMakeOneReport(t *testing.T) {
	t.Parallel()
	const callers = 32
	h := newHouse(t)
	other, eve := h.organization("Other")
	people := []accounts.Member{h.ana}
	for i := range callers - 1 {
		people = append(people, h.member(fmt.Sprintf("p%d@example.org", i)))
	}
	outcomes := make([]commands.RequestedReport, callers)
	var foreign commands.RequestedReport
	together(callers+1, func(i int) error {
		if i == callers {
			var err error
			foreign, err = h.RequestReport(t.Context(), h.as(eve), commands.RequestReport{Kind: report.Security})
			return err
		}
		var err error
		outcomes[i], err = h.RequestReport(t.Context(), h.as(people[i]), commands.RequestReport{Kind: report.Security})
		return err
	}, t)
	created, reused, left := 0, 0, 0
	for _, o := range outcomes {
		if o.ReportID != outcomes[0].ReportID {
			t.Errorf("two reports: %s and %s", o.ReportID, outcomes[0].ReportID)
		}
		if o.Reused {
			reused++
		} else {
			created++
		}
		left += len(o.RecipientsNotAdded)
	}
	if created != 1 || reused != callers-1 || left != callers-report.MaxRecipients {
		t.Errorf("%d created, %d reused, %d recipients left out", created, reused, left)
	}
	if foreign.Reused || foreign.ReportID == outcomes[0].ReportID {
		t.Errorf("two organizations met: %+v", foreign)
	}
	id := outcomes[0].ReportID
	if n := h.count("report_claims WHERE organization_id = $1", h.org.ID); n != 1 {
		t.Errorf("%d claims", n)
	}
	if n := h.count("jobs WHERE organization_id = $1", h.org.ID); n != 1 {
		t.Errorf("%d jobs", n)
	}
	types := h.types(id)
	if n := len(types); n != callers || types[0] != "report.queued" || slices.Index(types[1:], "report.queued") >= 0 {
		t.Errorf("the stream holds %v", types)
	}
	if got := h.ready(id).RecipientIDs; len(got) != report.MaxRecipients {
		t.Errorf("%d recipients", len(got))
	}
	if n := h.count("report_claims WHERE organization_id = $1", other.ID); n != 1 {
		t.Errorf("%d claims of the other organization", n)
	}
}

// together runs f for 0 to n-1 at once.
func together(n int, f func(i int) error, t *testing.T) {
	t.Helper()
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	errs := make([]error, n)
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			errs[i] = f(i)
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestARepeatedRequestReusesTheReport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.request(h.actor)
	again := h.request(h.actor)
	if !again.Reused || again.ReportID != first.ReportID || again.RecipientsNotAdded == nil {
		t.Errorf("again: %+v", again)
	}
	if diff := cmp.Diff([]string{"report.queued", "report.reused"}, h.types(first.ReportID)); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
}

// TestARequestDuringReadyMakesItsOwnReport: it waits while Ready is being committed.
func TestARequestDuringReadyMakesItsOwnReport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ben := h.member("ben@example.org")
	first := h.request(h.actor)
	tx, err := h.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := h.StartBuild(t.Context(), tx, h.org.ID, first.ReportID, "w1", 1, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := h.MarkReady(t.Context(), tx, h.org.ID, first.ReportID, built(first.ReportID), nil); err != nil {
		t.Fatal(err)
	}
	second := make(chan commands.RequestedReport, 1)
	go func() {
		out, err := h.RequestReport(t.Context(), h.as(ben), commands.RequestReport{Kind: report.Security})
		if err != nil {
			t.Error(err)
		}
		second <- out
	}()
	h.waitForLock()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	out := <-second
	if out.Reused || out.ReportID == first.ReportID {
		t.Errorf("joined a report that is Ready: %+v", out)
	}
}

// TestACallerWhoJoinsBeforeReadyIsARecipient: the other order.
func TestACallerWhoJoinsBeforeReadyIsARecipient(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ben := h.member("ben@example.org")
	first := h.request(h.actor)
	var wg sync.WaitGroup
	for range 2 { // in either order, no caller who got "reused" is left out
		wg.Go(func() {
			_, err := h.RequestReport(t.Context(), h.as(ben), commands.RequestReport{Kind: report.Security})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := h.ready(first.ReportID).RecipientIDs; !slices.Equal(got, []uuid.UUID{h.ana.ID, ben.ID}) {
		t.Errorf("recipients %v", got)
	}
}

// waitForLock returns once a session waits for a lock in the test's database.
func (h *house) waitForLock() {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 30*time.Second)
	defer cancel()
	for {
		var waiting bool
		err := h.db.GetContext(ctx, &waiting, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`)
		if err != nil {
			h.Fatal(err)
		}
		if waiting {
			return
		}
	}
}

// TestAnInterruptedRequestLeavesNothing: the queue that refuses stands for a process that dies between the
// claim and the commit.
func TestAnInterruptedRequestLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	died := errors.New("died")
	dying := h.parts()
	dying.Jobs = dyingJobs{Jobs: dying.Jobs, err: died}
	if _, err := dying.RequestReport(t.Context(), h.actor, commands.RequestReport{Kind: report.Security}); !errors.Is(err, died) {
		t.Fatalf("error %v", err)
	}
	for _, table := range []string{"report_claims", "report_creations", "jobs", "events WHERE log = 'reports'"} {
		if n := h.count(table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	if out := h.request(h.actor); out.Reused {
		t.Error("the next request joins one that never was")
	}
}

type dyingJobs struct {
	commands.Jobs
	err error
}

func (d dyingJobs) InsertBuild(context.Context, *sqlx.Tx, uuid.UUID, uuid.UUID) error { return d.err }

// parts is a second service on the same database.
func (h *house) parts() *commands.Service {
	return commands.New(usecase.Base{DB: h.db, Events: h.Events, Accounts: h.Accounts, Now: h.Now}, commands.Needs{
		Instances: h.Instances, Jobs: h.Jobs, Limits: h.Limits,
	})
}

func TestRequestReportNamesEveryBrokenRule(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, eve := h.organization("Other")
	ours, databases := h.known.addInstance(h.org.ID, "orders", "sales")
	_, elsewhere := h.known.addInstance(h.org.ID, "billing", "ledger")
	foreign, _ := h.known.addInstance(eve.OrganizationID, "theirs")
	from, to, late := start.Add(-24*time.Hour), start, start.Add(6*time.Minute)
	crowd := make([]uuid.UUID, 0, report.MaxRecipients)
	for i := range report.MaxRecipients {
		crowd = append(crowd, h.member(fmt.Sprintf("c%d@example.org", i)).ID)
	}
	for _, c := range []struct {
		name string
		in   commands.RequestReport
		want []string
	}{
		{"foreign and unknown instances are alike", commands.RequestReport{Kind: report.Security, InstanceIDs: []uuid.UUID{ours, foreign, uuid.New()}},
			[]string{"instance_not_in_organization", "#/scope/instanceIds/1 instance_not_in_organization", "#/scope/instanceIds/2 instance_not_in_organization"}},
		{"a database of another instance", commands.RequestReport{Kind: report.InstanceScorecard, InstanceIDs: []uuid.UUID{ours}, DatabaseID: &elsewhere[0], From: &from, To: &to},
			[]string{"database_not_on_instance", "#/scope/databaseId database_not_on_instance"}},
		{"everything at once", commands.RequestReport{Kind: report.InstanceScorecard, InstanceIDs: []uuid.UUID{foreign}, From: &from, To: &late, RecipientIDs: []uuid.UUID{eve.ID}},
			[]string{"window_in_future", "#/scope/to window_in_future", "#/scope/instanceIds/0 instance_not_in_organization", "#/recipientIds/0 recipient_not_member"}},
		{"a database on a Security report", commands.RequestReport{Kind: report.Security, DatabaseID: &databases[0]},
			[]string{"database_not_allowed", "#/scope/databaseId database_not_allowed"}},
		{"21 recipients with the requester", commands.RequestReport{Kind: report.Security, RecipientIDs: crowd},
			[]string{"too_many_recipients", "#/recipientIds too_many_recipients"}},
	} {
		_, err := h.RequestReport(t.Context(), h.actor, c.in)
		var rule *usecase.RuleError
		if !errors.As(err, &rule) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, codes(rule)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if rule.Detail == "" {
			t.Errorf("%s: no title or detail", c.name)
		}
	}
	if n := h.count("events WHERE log = 'reports'") + h.count("report_claims"); n != 0 {
		t.Errorf("refused requests left %d rows", n)
	}
	// The crowd is refused on reuse too.
	h.request(h.actor)
	if _, err := h.RequestReport(t.Context(), h.actor, commands.RequestReport{Kind: report.Security, RecipientIDs: crowd}); err == nil {
		t.Error("21 recipients were accepted on reuse")
	}
}

func TestScorecardOfADatabase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	instance, databases := h.known.addInstance(h.org.ID, "demo-pg-orders-01", "sales")
	from, to := start.Add(-30*24*time.Hour), start.Add(4*time.Minute)
	in := commands.RequestReport{Kind: report.InstanceScorecard, InstanceIDs: []uuid.UUID{instance}, DatabaseID: &databases[0], From: &from, To: &to}
	first, err := h.RequestReport(t.Context(), h.actor, in)
	if err != nil {
		t.Fatal(err)
	}
	var queued report.Queued
	h.last(first.ReportID, &queued)
	if want := "demo-pg-orders-01 / sales · 21 Oct – 20 Nov 2026 (UTC)"; queued.ScopeLabel != want {
		t.Errorf("label %q, want %q", queued.ScopeLabel, want)
	}
	if want := start.Truncate(time.Minute); !queued.Scope.To.Equal(want) {
		t.Errorf("to %s, want now, floored", queued.Scope.To)
	}
	h.clock.Advance(10 * time.Second) // still the same minute: the same request
	again, err := h.RequestReport(t.Context(), h.actor, in)
	if err != nil || !again.Reused {
		t.Errorf("again: %+v, %v", again, err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Limits = commands.Limits{CreatesPerHour: 3, BuildingAtOnce: 2}
	request := func() (commands.RequestedReport, string) {
		instance, _ := h.known.addInstance(h.org.ID, "x")
		out, err := h.RequestReport(t.Context(), h.actor, commands.RequestReport{Kind: report.Security, InstanceIDs: []uuid.UUID{instance}})
		var rule *usecase.RuleError
		if errors.As(err, &rule) {
			if rule.RetryAfter <= 0 {
				t.Errorf("%s says not when to come back", rule.Code)
			}
			return out, rule.Code
		}
		if err != nil {
			t.Fatal(err)
		}
		return out, ""
	}
	first, code := request()
	if code != "" {
		t.Fatal(code)
	}
	h.clock.Advance(time.Minute)
	if _, code := request(); code != "" {
		t.Fatal(code)
	}
	if _, code := request(); code != "too_many_building" {
		t.Errorf("third at once: %q", code)
	}
	h.ready(first.ReportID)
	third, code := request()
	if code != "" {
		t.Fatalf("one is ready, and the next: %q", code)
	}
	h.ready(third.ReportID)
	if _, code := request(); code != "rate_limited" {
		t.Errorf("fourth in the hour: %q", code)
	}
	h.clock.Advance(59 * time.Minute)
	if _, code := request(); code != "" {
		t.Errorf("an hour after the first: %q", code)
	}
	if n := h.count("report_creations"); n != 3 {
		t.Errorf("%d creations are remembered, want those of the hour", n)
	}
}

// TestLimitsAreExactUnderConcurrentRequests: ten at once, two may build.
func TestLimitsAreExactUnderConcurrentRequests(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Limits = commands.Limits{BuildingAtOnce: 2}
	var mu sync.Mutex
	refused := 0
	together(10, func(i int) error {
		instance, _ := h.known.addInstance(h.org.ID, fmt.Sprint(i))
		_, err := h.RequestReport(t.Context(), h.actor, commands.RequestReport{Kind: report.Security, InstanceIDs: []uuid.UUID{instance}})
		var rule *usecase.RuleError
		if errors.As(err, &rule) && rule.Code == "too_many_building" {
			mu.Lock()
			refused++
			mu.Unlock()
			return nil
		}
		return err
	}, t)
	if n := h.count("report_claims"); n != 2 || refused != 8 {
		t.Errorf("%d build, %d were refused", n, refused)
	}
}
