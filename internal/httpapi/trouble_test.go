package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/assessment/changes"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/watch"
)

// TestInstancesByTrouble: what a list says of how servers fare, and its order by that.
func TestInstancesByTrouble(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders, billing, quiet, theirs := w.instance(w.ours, "orders"), w.instance(w.ours, "Billing"), w.instance(w.ours, "quiet"), w.instance(w.theirs, "theirs")
	databases := map[uuid.UUID]uuid.UUID{}
	for _, id := range []uuid.UUID{orders, billing} {
		databases[id] = uuid.MustParse(w.databases(w.ours, id, "app")[0])
	}
	theirDatabase := uuid.MustParse(w.databases(w.theirs, theirs, "app")[0])
	passes := snapshot.CheckResult{CheckID: "PG-S01", Status: snapshot.StatusPass}
	fails := snapshot.CheckResult{CheckID: "PG-S01", Status: snapshot.StatusFail, Total: 1, Violations: []snapshot.Violation{{Object: "o"}}}
	now := w.clock.Now()
	w.looked(w.ours, orders, now.AddDate(0, 0, -31), changes.State{}, fails)
	w.looked(w.ours, orders, now.AddDate(0, 0, -29), changes.State{}, fails)
	w.looked(w.ours, orders, now.AddDate(0, 0, -1), changes.State{}, passes)
	w.looked(w.ours, billing, now, changes.State{}, fails)
	w.looked(w.theirs, theirs, now, changes.State{}, fails)

	host := func(name string, cpu, memory, disk float64, at time.Time, on ...uuid.UUID) measurements.HostSample {
		return measurements.HostSample{Host: name, Instances: on, At: at, CPUPercent: &cpu, MemoryPercent: &memory,
			Volumes: []measurements.Volume{{Mount: "/", UsedPercent: &disk}, {Mount: "/boot", UsedPercent: to(1.0)}}}
	}
	sessions := func(id, database uuid.UUID, active int64) measurements.SessionSample {
		return measurements.SessionSample{Instance: id, Engine: domain.PostgreSQL, Database: database, At: w.ago(time.Second), Interval: 10 * time.Second, Active: active, Idle: 1}
	}
	w.measured(w.ours, measurements.Batch{
		Hosts: []measurements.HostSample{
			host("a", 20, 30, 91.7, w.ago(2*time.Minute), orders), host("a", 40.0004, 30, 91.7, w.ago(3*time.Minute), orders), host("a2", 10, 60, 5, w.ago(2*time.Minute), orders),
			host("b", 99, 10, 20, w.ago(2*time.Minute), billing), host("old", 100, 100, 100, w.ago(2*time.Hour), quiet),
		},
		Sessions: []measurements.SessionSample{sessions(orders, databases[orders], 6), sessions(billing, databases[billing], 2)},
	})
	w.measured(w.theirs, measurements.Batch{Hosts: []measurements.HostSample{host("db01", 77, 77, 77, w.ago(time.Minute), theirs)}, Sessions: []measurements.SessionSample{sessions(theirs, theirDatabase, 50)}})
	hour := w.ago(time.Hour)
	w.raised(w.ours,
		alerting.Item{ExternalID: "1", Instance: to(orders.String()), CreatedAt: hour}, alerting.Item{ExternalID: "2", Instance: to(orders.String()), CreatedAt: hour},
		alerting.Item{ExternalID: "3", Instance: to(billing.String()), CreatedAt: hour, Severity: alert.Critical},
		alerting.Item{ExternalID: "4", Instance: to(billing.String()), CreatedAt: hour, Muted: to(true)},
		alerting.Item{ExternalID: "5", Instance: to(quiet.String()), CreatedAt: hour, ResolvedAt: to(w.ago(time.Minute))})
	w.raised(w.theirs, alerting.Item{ExternalID: "1", Instance: to(theirs.String()), CreatedAt: hour, Severity: alert.Critical})

	list := func(as person, query string) (names []string, items map[string]map[string]any) {
		t.Helper()
		items = map[string]map[string]any{}
		for _, item := range w.get(as, "/api/v1/instances?"+query).is(200).object()["items"].([]any) {
			i := item.(map[string]any)
			names = append(names, i["name"].(string))
			items[i["name"].(string)], _ = i["health"].(map[string]any)
		}
		return names, items
	}
	for query, want := range map[string]string{
		"": "Billing orders quiet", "sort=-name": "quiet orders Billing",
		"sort=-alerts": "Billing orders quiet", "sort=alerts": "quiet orders Billing",
		"sort=score": "Billing orders quiet", "sort=-score": "orders Billing quiet",
		"sort=-cpu": "Billing orders quiet", "sort=cpu": "orders Billing quiet",
		"sort=-disk": "orders Billing quiet", "sort=disk": "Billing orders quiet",
		"sort=-connections": "orders Billing quiet", "sort=connections": "Billing orders quiet",
		"sort=-disk&q=BILL": "Billing", "sort=-disk&pageSize=1&page=2": "Billing", "sort=-disk&pageSize=2&page=9": "", "sort=-disk&q=nobody": "",
		"sort=-cpu&id=" + orders.String() + "&id=" + theirs.String(): "orders",
	} {
		if got, _ := list(w.ours.viewer, query); strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	_, items := list(w.ours.viewer, "")
	_, sorted := list(w.ours.viewer, "sort=-alerts")
	days := func(at map[int]any) string {
		all := make([]any, 30)
		for day, score := range at {
			all[29+day] = score
		}
		return fmt.Sprint(all)
	}
	for name, want := range map[string]map[string]any{
		"orders": {"score": 100, "failedChecks": 0, "openAlerts": 2, "criticalAlerts": 0, "cpuPercent": 30.0, "memoryPercent": 60, "diskPercent": 91.7,
			"connections": 7, "scoreHistory": days(map[int]any{-29: 0, -1: 100})},
		"Billing": {"score": 0, "failedChecks": 1, "openAlerts": 1, "criticalAlerts": 1, "cpuPercent": 99, "memoryPercent": 10, "diskPercent": 20,
			"connections": 3, "scoreHistory": days(map[int]any{0: 0})},
		"quiet": {"score": nil, "failedChecks": nil, "openAlerts": 0, "criticalAlerts": 0, "cpuPercent": nil, "memoryPercent": nil, "diskPercent": nil,
			"connections": nil, "sampledAt": nil, "scoreHistory": days(nil)},
	} {
		for member, value := range want {
			if got := fmt.Sprint(items[name][member]); got != fmt.Sprint(value) {
				t.Errorf("%s of %s is %s, want %v", member, name, got, value)
			}
			if fmt.Sprint(items[name][member]) != fmt.Sprint(sorted[name][member]) {
				t.Errorf("%s of %s differs where the list is sorted by alerts: %v", member, name, sorted[name][member])
			}
		}
	}
	one := w.get(w.ours.viewer, "/api/v1/instances/"+orders.String()).is(200).object()["health"].(map[string]any)
	if fmt.Sprint(one) != fmt.Sprint(items["orders"]) {
		t.Errorf("alone %v, in the list %v", one, items["orders"])
	}
	// Nobody is connected to a server that says so: that is known.
	none := sessions(quiet, uuid.MustParse(w.databases(w.ours, quiet, "app")[0]), 0)
	none.Idle = 0
	w.measured(w.ours, measurements.Batch{Sessions: []measurements.SessionSample{none}})
	if names, items := list(w.ours.viewer, "sort=connections"); strings.Join(names, " ") != "quiet Billing orders" || items["quiet"]["connections"] != 0.0 {
		t.Errorf("%v, nobody is connected to the first: %v", names, items["quiet"])
	}
	// F6. A volume that is unmounted is not in the figure any more, though it was the fullest of the last minutes.
	w.measured(w.ours, measurements.Batch{Hosts: []measurements.HostSample{
		{Host: "a", Instances: []uuid.UUID{orders}, At: w.ago(90 * time.Second), Volumes: []measurements.Volume{{Mount: "/mnt/backup", UsedPercent: to(100.0)}}},
		{Host: "a", Instances: []uuid.UUID{orders}, At: w.ago(time.Minute), Volumes: []measurements.Volume{{Mount: "/", UsedPercent: to(41.0)}}},
		{Host: "a", Instances: []uuid.UUID{orders}, At: w.ago(30 * time.Second), CPUPercent: to(30.0)}, // its volumes come in messages of their own
	}})
	if names, items := list(w.ours.viewer, "sort=-disk"); names[0] != "orders" || items["orders"]["diskPercent"] != 91.7 {
		t.Errorf("%v, of the first %v", names, items["orders"])
	}
	// A token that may not read metrics sees who is there, and not how they fare.
	answered := w.do(request{method: "GET", path: "/api/v1/instances?sort=-disk", token: w.token(w.ours.member, organization.ScopeReportsRead)}).is(200).object()["items"].([]any)
	if first := answered[0].(map[string]any); first["health"] != nil || first["name"] != "Billing" {
		t.Errorf("%v", first)
	}
}

// TestInstancesByReplicationBackupsAndRoom: the worst of the figures that the watch keeps of each server, as long as they are fresh.
func TestInstancesByReplicationBackupsAndRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	standby, primary, quiet, theirs := w.instance(w.ours, "a standby"), w.instance(w.ours, "b primary"), w.instance(w.ours, "c quiet"), w.instance(w.theirs, "theirs")
	now := w.clock.Now()
	record := func(in tenant, at time.Time, signs ...watch.Sign) {
		t.Helper()
		for i := range signs {
			signs[i].OrganizationID, signs[i].At = in.organization.ID, at
		}
		_, err := watch.Record(t.Context(), w.deps.DB, at, signs)
		must(t, err)
	}
	sign := func(rule watch.Rule, of uuid.UUID, mount string, value float64) watch.Sign {
		return watch.Sign{Rule: rule, InstanceID: of, Mount: mount, Value: value}
	}
	room := func(in tenant, host string, days map[string]float64, on ...uuid.UUID) {
		t.Helper()
		signs := []watch.Sign{watch.VolumesTold(in.organization.ID, host, on, now)}
		for mount, n := range days {
			signs = append(signs, watch.VolumeFullIn(in.organization.ID, mount, n, now, watch.Details{Host: host, Mounts: []string{mount}}))
		}
		record(in, now, signs...)
	}
	record(w.ours, now,
		sign(watch.ReplicationLag, standby, "", 12.5), sign(watch.ReplicationLag, primary, "", 0),
		sign(watch.BackupRPO, standby, "", 10), sign(watch.BackupRPO, standby, uuid.NewString(), 0), // of a database that is gone
		sign(watch.BackupRPO, primary, uuid.NewString(), 30), sign(watch.BackupRPO, primary, uuid.NewString(), 90))
	record(w.ours, now.Add(-20*time.Minute), sign(watch.ReplicationLag, quiet, "", 9000), sign(watch.BackupRPO, quiet, uuid.NewString(), 9000))
	record(w.theirs, now, sign(watch.ReplicationLag, theirs, "", 5000))
	// Another one has a database whose backups nobody knows, beside one with a backup of an hour ago: that is not young. Beside
	// a backup that is too old, that one counts.
	unknown, late := w.instance(w.ours, "d unknown"), w.instance(w.ours, "e late")
	for of, minutes := range map[uuid.UUID]float64{unknown: 60, late: 2000} {
		s := sign(watch.BackupRPO, of, uuid.NewString(), minutes)
		s.Details.Unknown = 1
		record(w.ours, now, s)
	}
	room(w.ours, "db01", map[string]float64{"/data": 12.25, "/wal": 3.5, "/": watch.NotFull}, standby)
	room(w.ours, "db02", map[string]float64{"/data": 8, "/": watch.NotFull}, standby, primary)
	room(w.ours, "db03", map[string]float64{"/": watch.NotFull}, quiet)
	room(w.theirs, "db01", map[string]float64{"/data": 1}, theirs, standby)

	for query, want := range map[string]string{
		"sort=-lag": "a standby b primary c quiet d unknown e late", "sort=lag": "b primary a standby c quiet d unknown e late",
		"sort=-backup": "e late b primary a standby c quiet d unknown", "sort=backup": "a standby b primary e late c quiet d unknown",
		"sort=full": "a standby b primary c quiet d unknown e late", "sort=-full": "b primary a standby c quiet d unknown e late",
		"sort=-lag&pageSize=1&page=2": "b primary",
	} {
		if got := w.get(w.ours.viewer, "/api/v1/instances?"+query).called(); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	want := map[string]any{"a standby": []any{12.5, 600.0, 3.5}, "b primary": []any{0.0, 5400.0, 8.0}, "c quiet": []any{nil, nil, nil}, "d unknown": []any{nil, nil, nil}, "e late": []any{nil, 120000.0, nil}}
	got := map[string]any{}
	for _, item := range w.get(w.ours.viewer, "/api/v1/instances").is(200).object()["items"].([]any) {
		i := item.(map[string]any)
		health := i["health"].(map[string]any)
		got[i["name"].(string)] = []any{health["lagSeconds"], health["backupAgeSeconds"], health["daysUntilFull"]}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
