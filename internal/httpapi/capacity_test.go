package httpapi

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/httpapi/api"
	"muster/internal/intake/push"
	"muster/internal/measurements"
	rooms "muster/internal/measurements/room"
	"muster/internal/watch"
)

func (w *world) capacity(as person, of uuid.UUID) (c api.Capacity) {
	w.t.Helper()
	w.get(as, "/api/v1/instances/"+of.String()+"/capacity").is(200).decode(&c)
	return c
}

func (w *world) maintenance(as person, of uuid.UUID) (m api.Maintenance) {
	w.t.Helper()
	w.get(as, "/api/v1/instances/"+of.String()+"/maintenance").is(200).decode(&m)
	return m
}

// tellRoom keeps a batch of ours, with figures of a server that the watch judges.
func (w *world) tellRoom(b measurements.Batch, signs ...watch.Sign) {
	w.t.Helper()
	b.Organization = w.ours.organization.ID
	for i := range signs {
		signs[i].OrganizationID, signs[i].At = b.Organization, w.clock.Now()
	}
	in := &push.Intake{DB: w.deps.DB, Store: w.samples, Now: w.clock.Now}
	if _, err := in.Record(w.t.Context(), b, signs...); err != nil {
		w.t.Fatal(err)
	}
}

// TestCapacityIsShown: a volume that fills says when, one that rises and falls says why not, and the peak of the
// connections, ids and sequences are shown beside.
func TestCapacityIsShown(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	orders := ids["orders"]
	if c := w.capacity(w.ours.viewer, orders); c.MeasuredAt != nil || c.Connections != nil || c.TransactionIds != nil || len(c.Sizes)+len(c.Ages)+len(c.Sequences) != 0 {
		t.Errorf("nobody has looked: %+v", c)
	}
	for hour := 30 * 24; hour >= 3; hour -= 3 {
		at := w.clock.Now().Add(-time.Duration(hour) * time.Hour)
		day := 30 - float64(hour)/24
		for subject, sizes := range map[string][]rooms.Size{
			rooms.HostSubject("db01"): {
				{Kind: rooms.Volume, Name: "/data", Used: 500e9 + day*10e9, Limit: 1000e9},
				{Kind: rooms.Volume, Name: "/wal", Used: 20 + 5*math.Mod(day, 8), Limit: 100},
			},
			rooms.InstanceSubject(orders): {{Kind: rooms.Database, Name: "shop", Used: 100e9 + day*1e9}},
		} {
			if err := rooms.RecordSizes(t.Context(), w.deps.DB, w.ours.organization.ID, subject, at, sizes); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.tellRoom(measurements.Batch{
		Hosts: []measurements.HostSample{{Host: "db01", Instances: []uuid.UUID{orders}, At: w.clock.Now(), Volumes: []measurements.Volume{
			{Mount: "/data", Size: 1000e9, Free: 200e9, Available: 200e9}, {Mount: "/wal", Size: -1, Free: -1, Available: -1, UsedPercent: new(float64)},
		}}},
		Room: []rooms.State{{
			Instance: orders, At: w.clock.Now(), Looked: 1, Databases: 2, Hidden: 3, Denied: []string{"GRANT …;"}, Failed: new(int),
			Ages:      []rooms.Age{{Database: "shop", Transactions: rooms.WrapAt / 2, Multixacts: 5, FreezeAt: 200e6}},
			Sequences: []rooms.Sequence{{Database: "shop", Name: "public.s", Column: "public.t.id", Type: "integer", Last: 1e9, Max: 2e9, Used: 50}},
		}},
	}, watch.Sign{Rule: watch.Connections, InstanceID: orders, Value: 94, Details: watch.Details{Sessions: 188, Limit: 200}},
		watch.Sign{Rule: watch.Wraparound, InstanceID: orders, Value: 50, Details: watch.Details{Database: "shop"}})
	w.tellRoom(measurements.Batch{}, watch.Sign{Rule: watch.Connections, InstanceID: orders, Value: 94, Details: watch.Details{Sessions: 188, Limit: 200}})
	c := w.capacity(w.ours.viewer, orders)
	if len(c.Sizes) != 3 || c.Sizes[0].Name != "/data" || c.Sizes[1].Name != "/wal" || c.Sizes[2].Name != "shop" {
		t.Fatalf("%+v", c.Sizes)
	}
	if d := c.Sizes[0]; d.Reason != nil || math.Abs(*d.DaysUntilFull-20) > 0.5 || *d.SoonestDays > *d.DaysUntilFull || *d.LatestDays < *d.DaysUntilFull ||
		math.Abs(*d.PerDayBytes-10e9) > 1e8 || *d.LimitBytes != 1000e9 || *d.UsedPercent != 80 || *d.Host != "db01" || len(d.History) < 30 {
		t.Errorf("%+v", d)
	}
	if d := c.Sizes[1]; d.DaysUntilFull != nil || *d.Reason != api.ReasonSawTooth || d.UsedBytes != nil || d.LimitBytes != nil {
		t.Errorf("%+v", d)
	}
	if d := c.Sizes[2]; *d.Reason != api.ReasonNoLimit || math.Abs(*d.PerDayBytes-1e9) > 1e7 || d.UsedPercent != nil || d.Kind != api.CapacityDatabase {
		t.Errorf("%+v", d)
	}
	if p := c.Connections; p == nil || p.Used != 188 || p.Limit != 200 || p.PeakPercent == nil || *p.PeakPercent != 94 {
		t.Errorf("%+v", p)
	}
	if c.TransactionIds == nil || c.TransactionIds.UsedPercent != 50 || len(c.Ages) != 1 || c.Ages[0].UsedPercent != 50 || len(c.Sequences) != 1 || *c.Sequences[0].Column != "public.t.id" || c.HiddenSequences != 3 {
		t.Errorf("%+v", c)
	}
	var days float64
	if err := w.deps.DB.Get(&days, `SELECT value FROM signs WHERE organization_id = $1 AND rule = 'days_until_full' AND mount = '/data'`, w.ours.organization.ID); err != nil || math.Abs(days-20) > 0.5 {
		t.Errorf("the watch hears of %v days, %v", days, err)
	}
	for _, path := range []string{"/capacity", "/maintenance"} {
		w.get(w.ours.viewer, "/api/v1/instances/"+uuid.NewString()+path).problem(404, "not_found")
		w.get(w.theirs.viewer, "/api/v1/instances/"+orders.String()+path).problem(404, "not_found")
		w.get(w.person(w.ours.organization, organization.Team, w.ours.address(path[1:])), "/api/v1/instances/"+orders.String()+path).problem(404, "not_found")
	}
}

// TestMaintenanceIsShown: tables with their dead rows, and jobs that failed.
func TestMaintenanceIsShown(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders := w.fleetOfThree(w.ours)["orders"]
	if m := w.maintenance(w.ours.viewer, orders); m.MeasuredAt != nil || m.FailedJobs != nil || m.CertificateEndsInDays != nil || len(m.Tables)+len(m.Jobs) != 0 {
		t.Errorf("nobody has looked: %+v", m)
	}
	failed, live, dead, bloat, vacuumed := 2, int64(100), int64(50), int64(1<<20), w.clock.Now().Add(-time.Hour)
	w.tellRoom(measurements.Batch{Room: []rooms.State{{
		Instance: orders, At: w.clock.Now(), Failed: &failed, Jobs: []rooms.Job{{Name: "nightly", At: w.clock.Now().Add(-2 * time.Hour), Step: "backup", Why: "disk\x00 full"}, {Name: "weekly", At: w.clock.Now().Add(-time.Hour)}},
		Tables: []rooms.Table{
			{Name: "public.small", Bytes: 1 << 20}, {Database: "shop", Name: "public.big", Bytes: 1 << 30, Live: &live, Dead: &dead, Vacuumed: &vacuumed, Due: true, Off: true, Bloat: &bloat, Method: rooms.DeadRowShare},
		},
	}}}, watch.Sign{Rule: watch.Certificate, InstanceID: orders, Value: 13.5})
	m := w.maintenance(w.ours.viewer, orders)
	if len(m.Tables) != 2 || m.Tables[0].Name != "public.big" || *m.Tables[0].DeadRows != 50 || !m.Tables[0].VacuumDue || !m.Tables[0].AutovacuumOff || *m.Tables[0].BloatMethod != "deadRowShare" || m.Tables[1].DeadRows != nil {
		t.Errorf("%+v", m.Tables)
	}
	if *m.FailedJobs != 2 || len(m.Jobs) != 2 || m.Jobs[0].Name != "weekly" || m.Jobs[1].Step == nil || *m.CertificateEndsInDays != 13.5 {
		t.Errorf("%+v", m)
	}
}

// TestRoomReportsOfAgentsAreShown like those of a collector, and a limited token may not send them.
func TestRoomReportsOfAgentsAreShown(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	failed, rows, at := 1, int64(100), w.clock.Now().Add(-time.Minute)
	sent := rooms.Sent{Server: "orders", At: at, State: rooms.State{
		Sizes:     []rooms.Size{{Kind: rooms.Tablespace, Name: "ERP.USERS", Used: 60, Limit: 100}, {Kind: rooms.Database, Name: "ERP", Used: 1e9}},
		Ages:      []rooms.Age{{Database: "shop", Transactions: 7, Multixacts: 5, FreezeAt: 200e6}},
		Sequences: []rooms.Sequence{{Database: "shop", Name: "public.s", Column: "public.t.id", Type: "integer", Last: 1e9, Max: 2e9, Used: 50}},
		Tables: []rooms.Table{{
			Database: "shop", Name: "public.t", Bytes: 1 << 30, Live: &rows, Dead: &rows, Changed: &rows, Vacuumed: &at, Autovacuum: &at, Analyzed: &at,
			Autoanalyze: &at, Due: true, Off: true, Bloat: &rows, Method: rooms.DeadRowShare,
		}},
		Jobs: []rooms.Job{{Name: "nightly", At: at, Step: "1", Why: "ORA-01653"}}, Failed: &failed, Looked: 1, Databases: 2, Hidden: 3,
		Denied: []string{"GRANT …;"}, Left: []string{"1,001 databases: the first 1,000 are considered."},
	}}
	in.send(samplesPath, members{"room": []rooms.Sent{sent}}).is(202)
	c, m := w.capacity(w.ours.viewer, ids["orders"]), w.maintenance(w.ours.viewer, ids["orders"])
	if len(c.Sizes) != 2 || c.Sizes[0].Name != "ERP.USERS" || *c.Sizes[0].UsedPercent != 60 || *c.Sizes[0].Reason != api.ReasonTooShort || len(c.Ages) != 1 ||
		len(c.Sequences) != 1 || !c.MeasuredAt.Equal(at) || c.Databases != 2 || c.LookedDatabases != 1 || c.HiddenSequences != 3 || len(c.MissingGrants) != 1 || len(c.LeftOut) != 1 {
		t.Errorf("%+v", c)
	}
	if len(m.Tables) != 1 || *m.Tables[0].ChangedRows != 100 || !m.Tables[0].LastAutoanalyze.Equal(at) || *m.FailedJobs != 1 || *m.Jobs[0].Why != "ORA-01653" || m.LeftOut[0] != sent.Left[0] {
		t.Errorf("%+v", m)
	}
	for name, c := range map[string]struct {
		change   rooms.Sent
		at, code string
	}{
		"an unknown instance": {rooms.Sent{Server: "nobody", At: at}, "#/room/0/instance", "unknown_instance"},
		"of the future":       {rooms.Sent{Server: "orders", At: at.Add(time.Hour)}, "#/room/0/at", "time_in_future"},
	} {
		if got := in.send(samplesPath, members{"room": []rooms.Sent{c.change}}).problem(422, c.code).places(); !slices.Equal(got, bodyPlaces("", c.at, c.code)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	limited := sender{w, w.ingestToken(w.ours.admin, ids["billing"])}
	if got := limited.send(samplesPath, members{"room": []rooms.Sent{sent}}).problem(403, "outside_token").places(); !slices.Equal(got, bodyPlaces("", "#/room/0/instance", "outside_token")) {
		t.Errorf("%v", got)
	}
}

// TestRoomReportedByServersIsForecastAndJudged like volumes of hosts: tablespaces and volumes that a server
// reports have a date, and the watch judges them. A volume that its host reports, too, is the host's.
func TestRoomReportedByServersIsForecastAndJudged(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders := w.fleetOfThree(w.ours)["orders"]
	now := w.clock.Now()
	sizes := func(day float64) (own, of []rooms.Size) {
		return []rooms.Size{
			{Kind: rooms.Tablespace, Name: "ERP.USERS", Used: 500e9 + day*10e9, Limit: 1000e9}, {Kind: rooms.Tablespace, Name: "ERP.OLD", Used: 5, Limit: 10},
			{Kind: rooms.Volume, Name: `C:\`, Used: 100e9 + day*1e9, Limit: 1000e9}, {Kind: rooms.Volume, Name: `d:\`, Used: 700e9 + day*8e9, Limit: 1000e9},
			{Kind: rooms.Database, Name: "ERP", Used: 1e9 + day},
		}, []rooms.Size{{Kind: rooms.Volume, Name: "C:", Used: 100e9 + day*1e9, Limit: 990e9}}
	}
	for hour := 30 * 24; hour >= 3; hour -= 3 {
		own, of := sizes(30 - float64(hour)/24)
		for subject, told := range map[string][]rooms.Size{rooms.InstanceSubject(orders): own, rooms.HostSubject("db01"): of} {
			if err := rooms.RecordSizes(t.Context(), w.deps.DB, w.ours.organization.ID, subject, now.Add(-time.Duration(hour)*time.Hour), told); err != nil {
				t.Fatal(err)
			}
		}
	}
	own, _ := sizes(30)
	host := measurements.HostSample{Host: "db01", Instances: []uuid.UUID{orders}, At: now, Volumes: []measurements.Volume{{Mount: "C:", Size: 990e9, Free: 860e9, Available: 860e9}}}
	w.tellRoom(measurements.Batch{Hosts: []measurements.HostSample{host}})
	w.tellRoom(measurements.Batch{
		Room:    []rooms.State{{Instance: orders, At: now, Sizes: own}},
		Servers: []measurements.ServerSample{{Instance: orders, At: now}},
	})
	dates := map[string]float64{}
	for _, s := range w.capacity(w.ours.viewer, orders).Sizes {
		if s.Name == `C:\` {
			t.Error("the host tells this volume, too")
		}
		if s.DaysUntilFull != nil {
			dates[s.Name] = *s.DaysUntilFull
		}
	}
	if len(dates) != 2 || math.Abs(dates[`d:\`]-7.5) > 0.5 || math.Abs(dates["ERP.USERS"]-20) > 0.5 {
		t.Errorf("%v", dates)
	}
	var signs []struct {
		Mount string
		Value float64
	}
	if err := w.deps.DB.Select(&signs, `SELECT mount, value FROM signs WHERE organization_id = $1 AND rule = 'days_until_full' AND instance_id = $2 ORDER BY mount`, w.ours.organization.ID, orders); err != nil {
		t.Fatal(err)
	}
	if len(signs) != 3 || signs[0].Mount != "tablespace ERP.OLD" || signs[0].Value != watch.NotFull || signs[1].Mount != "tablespace ERP.USERS" || math.Abs(signs[1].Value-20) > 0.5 ||
		signs[2].Mount != `volume d:\` || math.Abs(signs[2].Value-7.5) > 0.5 {
		t.Errorf("the watch hears of %+v", signs)
	}
	worst, err := watch.WorstOf(t.Context(), w.deps.DB, w.ours.organization.ID, []uuid.UUID{orders}, watch.FullIn, now.Add(-time.Hour))
	if err != nil || math.Abs(worst[orders].Value-7.5) > 0.5 {
		t.Errorf("%v, %v", worst, err)
	}
}
