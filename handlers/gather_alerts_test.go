package handlers_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/timegrid"
	"muster/eventstore"
	"muster/handlers"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis/window"
	"muster/projections/alerts"
	"muster/projections/health"
)

// alerted sends alerts about the server of that external id.
func (e *estate) alerted(server string, items ...alerting.Item) {
	e.t.Helper()
	for i := range items {
		items[i].Instance = &server
		if items[i].ExternalID == "" {
			items[i].ExternalID = items[i].Title
		}
	}
	if _, _, err := e.commands.RecordAlerts(e.t.Context(), usecase.Actor{OrganizationID: e.organization, Component: "ingest"}, items); err != nil {
		e.t.Fatal(err)
	}
}

// fleet sends servers with the databases sales and other, and returns their ids.
func (e *estate) fleet(names ...string) map[string]inventory.IDs {
	e.t.Helper()
	var items []inventory.Item
	for _, name := range names {
		items = append(items, inventory.Item{
			ExternalID: name, Name: name, Engine: domain.PostgreSQL, CreatedAt: e.clock.Now().AddDate(-1, 0, 0),
			Databases: []inventory.Database{{ExternalID: "sales", Name: "sales"}, {ExternalID: "other", Name: "other"}},
		})
	}
	ids, mark, err := e.commands.RecordFleet(e.t.Context(), usecase.Actor{OrganizationID: e.organization, Component: "ingest"}, items)
	if err != nil {
		e.t.Fatal(err)
	}
	e.wait(mark)
	out := map[string]inventory.IDs{}
	for _, id := range ids {
		out[id.ExternalID] = id
	}
	return out
}

// item is an alert that was raised so long ago and lasted so long; it is open if the duration
// is 0.
func (e *estate) item(title string, severity alert.Severity, ago, lasted time.Duration) alerting.Item {
	at := e.clock.Now().Add(-ago).UTC().Truncate(time.Microsecond)
	item := alerting.Item{Title: title, Severity: severity, State: alert.Open, CreatedAt: at, FirstTriggeredAt: at, LastTriggeredAt: at}
	if lasted > 0 {
		ends := at.Add(lasted)
		item.State, item.LastTriggeredAt, item.ResolvedAt = alert.AutoResolvedState, ends, &ends
	}
	return item
}

func (e *estate) scorecard(instance uuid.UUID, database *uuid.UUID, ago time.Duration) handlers.Gathering {
	to := e.clock.Now().UTC().Truncate(time.Minute)
	from := to.Add(-ago)
	return e.gathering(report.InstanceScorecard, report.Scope{InstanceIDs: []uuid.UUID{instance}, DatabaseID: database, From: &from, To: &to})
}

func listed(doc snapshot.Document) []string {
	var out []string
	for _, a := range doc.Alerts.Listed {
		out = append(out, a.Title)
	}
	return out
}

const day = 24 * time.Hour

// Only the gathering itself waits for the read model.
func TestGatherTakesInTheAlertsOfTheWindow(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	ids := e.fleet("here", "there")
	sales, yes := "sales", true
	inSales := e.item("sales is slow", alert.Info, 3*day, time.Hour)
	inSales.Database = &sales
	other := "other"
	inOther := e.item("other is slow", alert.Info, 2*day, time.Hour)
	inOther.Database = &other
	muted := e.item("muted", alert.Critical, day, 0)
	muted.Muted = &yes
	e.alerted("here", inSales, inOther, muted,
		e.item("over before", alert.Critical, 9*day, day), e.item("disk", alert.Critical, 8*day, 2*day), e.item("open", alert.Warning, 10*day, 0))
	e.alerted("there", e.item("elsewhere", alert.Critical, day, time.Hour))

	here := ids["here"].ID
	for name, c := range map[string]struct {
		g    handlers.Gathering
		want []string
	}{
		"the instance": {e.scorecard(here, nil, 7*day), []string{"disk", "open", "other is slow", "sales is slow", "muted"}},
		"a database":   {e.scorecard(here, &ids["here"].Databases[0].ID, 7*day), []string{"disk", "open", "sales is slow", "muted"}},
		"an hour":      {e.scorecard(here, nil, time.Hour), []string{"open", "muted"}},
	} {
		doc, err := e.inputs().Gather(t.Context(), c.g)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, listed(doc)); diff != "" || doc.Alerts.Total != len(c.want) {
			t.Errorf("%s: %d (-want +got):\n%s", name, doc.Alerts.Total, diff)
		}
		if i := slices.Index(listed(doc), "sales is slow"); i >= 0 && doc.Alerts.Listed[i].Database != "sales" {
			t.Errorf("%s: %+v", name, doc.Alerts.Listed[i])
		}
	}
	// A server that was removed meanwhile keeps its alerts.
	mark, err := e.commands.RemoveInstance(t.Context(), e.actor(), here)
	if err != nil {
		t.Fatal(err)
	}
	e.wait(mark)
	if doc, err := e.inputs().Gather(t.Context(), e.scorecard(here, nil, time.Hour)); err != nil || len(listed(doc)) != 2 {
		t.Errorf("of a removed server: %+v, %v", doc.Alerts, err)
	}
	foreign := e.scorecard(ids["there"].ID, nil, 7*day)
	foreign.OrganizationID = e.stranger()
	if doc, err := e.inputs().Gather(t.Context(), foreign); err != nil || len(listed(doc)) != 0 {
		t.Errorf("a stranger's scorecard has %+v, %v", doc.Alerts, err)
	}
	if doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); err != nil || doc.Alerts != nil {
		t.Errorf("a Security report has %+v, %v", doc.Alerts, err)
	}
}

// What the scorecard draws is what the tile of the same window shows.
func TestTheScorecardsSeriesIsTheTiles(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	here := e.fleet("here")["here"].ID
	severities := alert.Severities()
	var items []alerting.Item
	for n := range 60 {
		item := e.item("alert", severities[n%3], time.Duration(n*n)*11*time.Minute, time.Duration(n%7)*3*time.Hour)
		item.ExternalID = uuid.NewString()
		if item.ResolvedAt != nil && item.ResolvedAt.After(e.clock.Now()) {
			continue
		}
		items = append(items, item)
	}
	e.alerted("here", items...)
	for size, length := range map[timegrid.Size]time.Duration{timegrid.Hour: 41 * time.Hour, timegrid.Day: 12*day + 7*time.Hour} {
		doc, err := e.inputs().Gather(t.Context(), e.scorecard(here, nil, length))
		if err != nil {
			t.Fatal(err)
		}
		active, resolved, err := e.inputs().Alerts.History(t.Context(), e.organization,
			domain.Scope{Filtered: true, Instances: []uuid.UUID{here}}, timegrid.Window{From: doc.Window.From, To: doc.Window.To, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := window.Alerts(doc)
		var drawnActive, drawnResolved []int64
		for _, b := range s.Series.Buckets {
			drawnActive = append(drawnActive, int64(b.Active[0]+b.Active[1]+b.Active[2]))
			drawnResolved = append(drawnResolved, int64(b.Resolved))
		}
		if diff := cmp.Diff([][]int64{active, resolved}, [][]int64{drawnActive, drawnResolved}); diff != "" || s.Series.Size != size {
			t.Errorf("by %s (-tile +scorecard):\n%s", size, diff)
		}
	}
}

// slowAlerts is a read model that passes nothing of the fleet's log until told to.
type slowAlerts struct{ asked, passAfter int }

func (s *slowAlerts) Wait(_ context.Context, log eventstore.Log, _ int64, only ...string) bool {
	if log != eventstore.Fleet || slices.Equal(only, []string{health.Name}) {
		return true
	}
	s.asked++
	return slices.Equal(only, []string{alerts.Name}) && s.asked > s.passAfter
}

func TestGatherWaitsForTheAlerts(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	here := e.fleet("here")["here"].ID
	inputs, model := e.inputs(), &slowAlerts{passAfter: 3}
	inputs.Waiter = model
	if _, err := inputs.Gather(t.Context(), e.scorecard(here, nil, day)); err != nil || model.asked != 5 {
		t.Errorf("asked %d times, %v", model.asked, err)
	}
	model.passAfter = 1000
	var source *handlers.SourceError
	if _, err := inputs.Gather(t.Context(), e.scorecard(here, nil, day)); !errors.As(err, &source) || source.What != "the open alerts" {
		t.Errorf("a read model that stands still: %v, want *SourceError", err)
	}
	if _, err := inputs.Gather(t.Context(), e.gathering(report.DataInventory, report.Scope{})); errors.As(err, &source) {
		t.Errorf("a report that is not about alerts waits for them: %v", err)
	}
}

// TestAScorecardNamesTheBlockingSession, unless a recipient may not see people's names.
func TestAScorecardNamesTheBlockingSession(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	here := e.fleet("here")["here"].ID
	at := e.clock.Now().Add(-time.Hour)
	_, _, err := e.commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: e.organization, Component: "watch"}, []alert.Firing{{
		Key: "watch/lock_wait/here", Title: "here: session 7 blocks 2 sessions", Severity: alert.Warning, InstanceID: here, StartsAt: at, SeenAt: at,
		Blocking: &alert.Blocking{EpisodeID: uuid.New(), At: at, Sessions: []alert.BlockedSession{{Session: "7", Kind: "client"}}},
		People:   []alert.Person{{Session: "7", User: "bill", Application: "billing"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	role := func(role string) {
		if _, err := e.db.Exec(`UPDATE members SET role = $1 WHERE id = $2`, role, e.bob); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ role, want string }{
		{"member", "here: app billing (user bill) blocks 2 sessions"}, {"viewer", "here: session 7 blocks 2 sessions"}, {"team", "here: session 7 blocks 2 sessions"},
	} {
		role(c.role)
		in := e.scorecard(here, nil, day)
		in.Queued.RecipientIDs = []uuid.UUID{e.ana, e.bob}
		doc, err := e.inputs().Gather(t.Context(), in)
		if err != nil || !slices.Equal(listed(doc), []string{c.want}) {
			t.Errorf("a recipient with the role %s: %q, %v", c.role, listed(doc), err)
		}
	}
}
