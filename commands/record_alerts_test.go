package commands_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/testing/longtest"
)

func TestThousandsOfAlertsTwice(t *testing.T) {
	t.Parallel()
	comeTwice(t, 1_000)
}

func TestLongTenThousandAlertsTwice(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	comeTwice(t, 10_000)
}

func comeTwice(t *testing.T, alerts int) {
	t.Helper()
	h := newHouse(t)
	items := make([]alerting.Item, alerts)
	for i := range items {
		items[i] = alertItem(fmt.Sprintf("a-%05d", i))
		if i%2 == 0 {
			resolvedAt(start)(&items[i])
		}
	}
	first := h.alerts(items...)
	events := alerts / 2 * 3 // two of an alert that is closed
	if n := h.alertEvents(); n != events {
		t.Errorf("%d events of %d open and %d closed alerts", n, alerts/2, alerts/2)
	}
	slices.Reverse(items)
	got, mark, err := h.RecordAlerts(t.Context(), h.actor, items)
	if err != nil || mark.Position != 0 {
		t.Errorf("the second time: position %d, %v", mark.Position, err)
	}
	for i, id := range got {
		if id.ID != first[len(first)-1-i] {
			t.Fatalf("%s has another id the second time", id.ExternalID)
		}
	}
	if n := h.alertEvents(); n != events {
		t.Errorf("%d events after the second time", n)
	}
	if n := h.count("alert_last_seen"); n != 0 {
		t.Errorf("%d rows say what the log says already", n)
	}
}

func TestABatchOfAlertsHasABound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if diff := cmp.Diff([]string{"too_many_items", "#/alerts too_many_items"}, h.refused(h.actor, slices.Repeat([]alerting.Item{alertItem("a")}, 10_001)...)); diff != "" {
		t.Errorf("10,001 (-want +got):\n%s", diff)
	}
}

// TestAFeedThatReportsAnAlertEveryMinute: the log follows once an hour, and has the
// last word when it is over.
func TestAFeedThatReportsAnAlertEveryMinute(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	seenNow := func(i *alerting.Item) { i.LastTriggeredAt = h.clock.Now() }
	id := h.alerts(alertItem("a-1"))[0]
	for minute := 1; minute <= 150; minute++ {
		h.clock.Advance(time.Minute)
		h.alerts(alertItem("a-1", seenNow))
		if n, want := len(h.types(id)), 1+minute/60; n != want {
			t.Fatalf("minute %d: %d events, want %d", minute, n, want)
		}
		if n := h.count("alert_last_seen WHERE alert_id = $1 AND last_triggered_at = $2", id, h.clock.Now()); n != 1 && minute%60 != 0 {
			t.Fatalf("minute %d: what is beside the log stands still", minute)
		}
	}
	h.wantTypes("two and a half hours", id, "raised", "still_firing", "still_firing")
	h.alerts(alertItem("a-1", resolvedAt(h.clock.Now()))) // which was sent with an older time
	var closed alert.Resolved
	h.last(id, &closed)
	if !closed.LastTriggeredAt.Equal(start.Add(150*time.Minute)) || h.count("alert_last_seen") != 0 {
		t.Errorf("it ended as %+v", closed)
	}
	h.wantKeysTold()
}

// TestConcurrentOverlappingAlertsGetTheSameIDs: each writer sends the same alerts in another order, some of
// them worse than before.
func TestConcurrentOverlappingAlertsGetTheSameIDs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const writers, alerts = 8, 60
	for round, set := range []func(*alerting.Item){
		func(*alerting.Item) {},
		func(i *alerting.Item) { i.LastTriggeredAt = start.Add(time.Minute) },
		func(i *alerting.Item) { i.Severity = alert.Warning },
		func(i *alerting.Item) { i.Severity = alert.Warning; resolvedAt(start.Add(time.Minute))(i) },
	} {
		got := make([]map[string]uuid.UUID, writers)
		together(writers, func(w int) error {
			var items []alerting.Item
			for i := range alerts {
				items = append(items, alertItem(fmt.Sprintf("a-%d", (i*7+w*13)%alerts), set))
			}
			if w%2 == 1 {
				slices.Reverse(items)
			}
			ids, _, err := h.RecordAlerts(t.Context(), h.actor, items)
			got[w] = make(map[string]uuid.UUID)
			for _, i := range ids {
				got[w][i.ExternalID] = i.ID
			}
			return err
		}, t)
		for _, ids := range got {
			if diff := cmp.Diff(got[0], ids); diff != "" {
				t.Errorf("two writers, two ids:\n%s", diff)
			}
		}
		if n, want := h.alertEvents(), []int{alerts, alerts, 2 * alerts, 3 * alerts}[round]; n != want {
			t.Errorf("round %d: %d events, want %d", round, n, want)
		}
		if n, want := h.count("alert_last_seen"), []int{0, alerts, alerts, 0}[round]; n != want {
			t.Errorf("round %d: %d rows of what was seen beside the log, want %d", round, n, want)
		}
	}
	h.wantKeysTold()
}

func TestABatchOfAlertsIsAllOrNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fleet(item("pg-1", "sales", "crm"), item("pg-2", "billing", "crm"))
	future, nul, long := start.Add(5*time.Minute+time.Microsecond), "a\x00b", strings.Repeat("ä", 501)
	items := []alerting.Item{
		alertItem("good", on("pg-1"), in("sales")),
		alertItem("good", in("sales")), // which is at pg-1, too
		alertItem("", func(i *alerting.Item) { i.Title, i.Severity, i.State = "", "fatal", "Firing" }),
		alertItem(long[:2*201], func(i *alerting.Item) { i.Title = long }),
		alertItem("nul"+nul, on(nul), func(i *alerting.Item) { i.Title = nul }),
		alertItem("closed", func(i *alerting.Item) { i.State = alert.AutoResolvedState }),
		alertItem("open", func(i *alerting.Item) { i.ResolvedAt = &future }),
		alertItem("ahead", resolvedAt(future), func(i *alerting.Item) {
			i.CreatedAt, i.FirstTriggeredAt, i.LastTriggeredAt = future, future, future
		}),
		alertItem("backwards", func(i *alerting.Item) { i.LastTriggeredAt = i.FirstTriggeredAt.Add(-1) }),
		alertItem("nowhere", on("pg-3"), in("sales")),
		alertItem("another's", on("pg-1"), in("billing")),
		alertItem("which", in("crm")),
		alertItem("none", in("hr"+nul)),
		alertItem("nothing", on("")),
		alertItem("ancient", func(i *alerting.Item) { i.CreatedAt = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) }),
	}
	want := []string{
		"duplicate_external_id",
		"#/alerts/1/externalId duplicate_external_id",
		"#/alerts/2/externalId out_of_range", "#/alerts/2/title out_of_range",
		"#/alerts/2/severity invalid_parameter", "#/alerts/2/state invalid_parameter",
		"#/alerts/3/externalId out_of_range", "#/alerts/3/title out_of_range",
		"#/alerts/4/externalId out_of_range", "#/alerts/4/title out_of_range", "#/alerts/4/instance unknown_instance",
		"#/alerts/5/resolvedAt resolved_at_required",
		"#/alerts/6/resolvedAt resolved_at_not_allowed",
		"#/alerts/7/createdAt time_in_future", "#/alerts/7/firstTriggeredAt time_in_future",
		"#/alerts/7/lastTriggeredAt time_in_future", "#/alerts/7/resolvedAt time_in_future",
		"#/alerts/8/lastTriggeredAt invalid_firing_window",
		"#/alerts/9/instance unknown_instance",
		"#/alerts/10/database unknown_database",
		"#/alerts/11/database unknown_database",
		"#/alerts/12/database unknown_database",
		"#/alerts/13/instance unknown_instance",
		"#/alerts/14/createdAt out_of_range",
	}
	if diff := cmp.Diff(want, h.refused(h.actor, items...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := h.alertEvents() + h.count("stream_keys WHERE stream_type = 'alert'") + h.count("alert_last_seen"); n != 0 {
		t.Errorf("%d events, keys and rows of a batch that was refused", n)
	}
	ahead := start.Add(5 * time.Minute)
	h.alerts(alertItem("just", func(i *alerting.Item) { i.LastTriggeredAt = ahead }))
}

func TestABadItemIsNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, _, err := h.RecordAlerts(t.Context(), h.actor, []alerting.Item{alertItem("a", on("nowhere"))})
	var rule *usecase.RuleError
	if !errors.As(err, &rule) || !strings.Contains(rule.Detail, "#/alerts/0/instance") {
		t.Errorf("%+v", rule)
	}
}

// TestAMementoOfAnotherRelease: an alert with an unknown memento is folded anew.
func TestAMementoOfAnotherRelease(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.alerts(alertItem("a-1"))[0]
	if _, err := h.db.ExecContext(t.Context(), `UPDATE stream_keys SET state_digest = '\x09' WHERE stream_type = 'alert'`); err != nil {
		t.Fatal(err)
	}
	h.alerts(alertItem("a-1"))
	h.wantTypes("the same again", id, "raised")
	h.alerts(alertItem("a-1", resolvedAt(start)))
	h.wantTypes("closed", id, "raised", "resolved")
	h.wantKeysTold()
}
