package httpapi

import (
	"testing"
	"time"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/projections/alerts"
	"muster/projections/fleet"
)

// threeCounts are instances, databases and open unmuted alerts.
type threeCounts [3]int64

func (c threeCounts) and(instances, databases, alerts int64) threeCounts {
	return threeCounts{c[0] + instances, c[1] + databases, c[2] + alerts}
}

// overviewed is what the overview says of now and of seven days ago.
func (w *world) overviewed(token string) (current, previous threeCounts) {
	w.t.Helper()
	shown := w.do(request{method: "GET", path: "/api/v1/health-checks/overview", token: token}).is(200).object()
	for i, name := range []string{"instances", "databases", "alerts"} {
		count := shown[name].(map[string]any)
		current[i], previous[i] = int64(count["current"].(float64)), int64(count["previous"].(float64))
	}
	return current, previous
}

// replayed is what `muster events replay` counts.
func (w *world) replayed(of tenant, at time.Time) (c threeCounts) {
	w.t.Helper()
	var err error
	c[0], c[1], err = fleet.AsOf(w.t.Context(), w.deps.Events, usecase.Registry().Decode, of.organization.ID, at)
	must(w.t, err)
	c[2], err = alerts.OpenAsOf(w.t.Context(), w.deps.Events, of.organization.ID, at)
	must(w.t, err)
	return c
}

// TestSevenDaysAgoByRowsAndByLog is reading 35: the day according to today's rows, and according to the log of
// that day. They are one as long as nothing is imported, muted or removed afterwards, and each of those moves
// the first only.
func TestSevenDaysAgoByRowsAndByLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	feed, token := w.ingestToken(w.ours.admin), w.token(w.ours.member, organization.ScopeMetricsRead, organization.ScopeAlertsWrite) // outlive a week
	server := func(name string, created time.Time, more map[string]any) {
		t.Helper()
		item := map[string]any{"externalId": name, "name": name, "engine": "postgresql", "createdAt": created, "databases": []any{
			map[string]any{"externalId": "a", "name": "a", "createdAt": created}, map[string]any{"externalId": "b", "name": "b", "createdAt": created},
		}}
		for name, value := range more {
			item[name] = value
		}
		w.do(request{method: "POST", path: "/ingest/v1/fleet", token: feed, json: map[string]any{"instances": []any{item}}}).is(200)
	}
	tell := func(name, state string, created time.Time, more map[string]any) (id string) {
		t.Helper()
		item := map[string]any{
			"externalId": name, "title": name, "severity": "warning", "state": state,
			"createdAt": created, "firstTriggeredAt": created, "lastTriggeredAt": created,
		}
		for name, value := range more {
			item[name] = value
		}
		told := w.do(request{method: "POST", path: "/ingest/v1/alerts", token: feed, json: map[string]any{"alerts": []any{item}}}).is(200).object()
		return told["alerts"].([]any)[0].(map[string]any)["id"].(string)
	}
	act := func(id, what string) {
		t.Helper()
		w.do(request{method: "POST", path: "/api/v1/alerts/" + id + "/" + what, token: token}).is(200)
	}

	began := w.clock.Now()
	server("orders", began, nil)
	server("billing", began, nil)
	server("gone", began, nil)
	server("gone", began, map[string]any{"removed": true})
	cpu, disk := tell("cpu", "Open", began, nil), tell("disk", "Open", began, nil)
	silenced := tell("silenced", "Open", began, map[string]any{"isMuted": true})
	tell("over", "Resolved", began, map[string]any{"resolvedAt": began})
	act(tell("known", "Open", began, nil), "acknowledge")

	var that time.Time // by the database's clock, which records
	must(t, w.deps.DB.Get(&that, `SELECT clock_timestamp()`))
	w.clock.Advance(that.Sub(began))
	then := threeCounts{2, 4, 3}
	if current, _ := w.overviewed(token); current != then {
		t.Fatalf("that day's overview said %v", current)
	}

	// A week in which nothing of that day is touched but by what happens later.
	w.clock.Advance(24 * time.Hour)
	server("later", w.clock.Now(), nil)
	tell("later", "Open", w.clock.Now(), nil)
	act(cpu, "resolve")
	w.clock.Advance(6 * 24 * time.Hour)
	if _, previous := w.overviewed(token); previous != then || w.replayed(w.ours, that) != then {
		t.Fatalf("seven days later the overview says %v, the replay %v, want %v", previous, w.replayed(w.ours, that), then)
	}

	before := then
	for _, c := range []struct {
		what                         string
		happens                      func()
		instances, databases, alerts int64 // by how much the overview's answer moves
	}{
		{"a server is imported with a time before then", func() { server("old", that.Add(-time.Hour), nil) }, 1, 2, 0},
		{"an alert is imported that began before then", func() { tell("old", "Open", that.Add(-time.Hour), nil) }, 0, 0, 1},
		{"and one that was over by then", func() {
			tell("older", "Resolved", that.Add(-time.Hour), map[string]any{"resolvedAt": that.Add(-time.Minute)})
		}, 0, 0, 0},
		{"an alert of then is muted", func() { act(disk, "mute") }, 0, 0, -1},
		{"and unmuted", func() { act(disk, "unmute") }, 0, 0, 1},
		{"one that was muted is unmuted", func() { act(silenced, "unmute") }, 0, 0, 1},
		{"one is said to have been over by then", func() { tell("disk", "AutoResolved", began, map[string]any{"resolvedAt": that.Add(-time.Microsecond)}) }, 0, 0, -1},
		{"a server is removed", func() { server("billing", began, map[string]any{"removed": true}) }, -1, -2, 0},
	} {
		c.happens()
		before = before.and(c.instances, c.databases, c.alerts)
		if _, previous := w.overviewed(token); previous != before {
			t.Errorf("%s: the overview says %v of that day, want %v", c.what, previous, before)
		}
		if got := w.replayed(w.ours, that); got != then {
			t.Errorf("%s: the replay of that day says %v, want %v", c.what, got, then)
		}
	}
	if got := w.replayed(w.ours, that.Add(-time.Hour)); got != (threeCounts{}) {
		t.Errorf("before the first event the replay says %v", got)
	}
	if got := w.replayed(w.theirs, that); got != (threeCounts{}) {
		t.Errorf("the other organization's replay says %v", got)
	}
}
