package push_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/intake/push"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/room"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/watch"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Servers, and the registered instances on hosts.
var (
	orders  = uuid.MustParse("00000000-0000-7000-8000-0000000000a1")
	billing = uuid.MustParse("00000000-0000-7000-8000-0000000000b2")
	names   = strings.NewReplacer(orders.String(), "orders", billing.String(), "billing")
)

// scene is an intake at noon.
type scene struct {
	*testing.T
	*push.Intake
	org   uuid.UUID
	asked [][]string // hosts that the registry was asked for
	fault error      // of the registry
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, org: uuid.New()}
	db := pgtest.DB(t)
	store := pgstore.New(db, slog.New(slog.DiscardHandler))
	s.Intake = &push.Intake{DB: db, Store: store, InstancesOn: []push.InstancesOn{store.InstancesOn, s.registered}, Now: func() time.Time { return noon }}
	return s
}

func (s *scene) registered(_ context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error) {
	if organization != s.org {
		return nil, fmt.Errorf("asked for organization %s", organization)
	}
	s.asked = append(s.asked, slices.Clone(hosts))
	return map[string][]uuid.UUID{"db01": {orders}, "both": {orders, billing}}, s.fault
}

func (s *scene) record(b measurements.Batch, signs ...watch.Sign) measurements.Receipt {
	s.Helper()
	b.Organization = s.org
	receipt, err := s.Record(s.Context(), b, signs...)
	if err != nil {
		s.Fatal(err)
	}
	return receipt
}

// signs are those that the watch has: server, rule, figure, age; behind them the volumes:
// host, its servers, volume, figure, age.
func (s *scene) signs() []string {
	s.Helper()
	var rows []struct {
		Instance uuid.UUID `db:"instance_id"`
		Rule     string    `db:"rule"`
		Mount    string    `db:"mount"`
		Value    float64   `db:"value"`
		At       time.Time `db:"at"`
		Details  watch.Details
	}
	err := s.DB.SelectContext(s.Context(), &rows, `SELECT instance_id, rule, mount, value, at,
			details || coalesce((SELECT h.details FROM signs h WHERE h.organization_id = $1 AND h.instance_id = signs.instance_id AND h.rule = 'host'), '{}') AS details
		FROM signs WHERE organization_id = $1 AND rule NOT IN ('host', 'days_until_full')
		ORDER BY rule = 'host_volume', coalesce(details->>'host', instance_id::text), rule, mount`, s.org)
	if err != nil {
		s.Fatal(err)
	}
	out := []string{}
	for _, r := range rows {
		if d := r.Details; d.Host != "" {
			out = append(out, names.Replace(fmt.Sprintf("%s %v %s %s %.4g %s", d.Host, d.Instances, r.Mount, strings.Join(d.Mounts, "+"), r.Value, noon.Sub(r.At))))
			continue
		}
		out = append(out, names.Replace(strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %.4g %s", r.Instance, r.Rule, r.Mount, r.Value, noon.Sub(r.At))), " ")))
	}
	var seen []struct {
		Instance uuid.UUID `db:"instance_id"`
		Source   string    `db:"source"`
		Part     string    `db:"part"`
		OK       bool      `db:"ok"`
		At       time.Time `db:"tried_at"`
	}
	err = s.DB.SelectContext(s.Context(), &seen, `SELECT instance_id, source, part, ok, tried_at FROM observations WHERE organization_id = $1 ORDER BY 1, 2, 3`, s.org)
	if err != nil {
		s.Fatal(err)
	}
	for _, r := range seen {
		out = append(out, names.Replace(fmt.Sprintf("%s by %s: %s %t %s", r.Instance, r.Source, r.Part, r.OK, noon.Sub(r.At))))
	}
	return out
}

func to[T any](v T) *T { return &v }

func host(name string, age time.Duration, volumes ...measurements.Volume) measurements.HostSample {
	return measurements.HostSample{Host: name, At: noon.Add(-age), CPUPercent: to(5.0), Volumes: volumes}
}

// on is the host with what it says runs on it, be it nothing.
func on(h measurements.HostSample, instances ...uuid.UUID) measurements.HostSample {
	h.Instances = append([]uuid.UUID{}, instances...)
	return h
}

func filled(mount string, percent float64) measurements.Volume {
	return measurements.Volume{Mount: mount, UsedPercent: &percent}
}

func sized(mount string, size, free, available float64) measurements.Volume {
	return measurements.Volume{Mount: mount, Size: size, Free: free, Available: available}
}

// of is a volume in a pool.
func of(pool string, v measurements.Volume) measurements.Volume {
	v.Pool = pool
	return v
}

// TestSigns: the signals of a batch for the watch.
func TestSigns(t *testing.T) {
	t.Parallel()
	session := func(instance uuid.UUID, age time.Duration) measurements.SessionSample {
		return measurements.SessionSample{Instance: instance, Engine: fleet.PostgreSQL, Database: uuid.New(), At: noon.Add(-age), Interval: 10 * time.Second}
	}
	for name, c := range map[string]struct {
		earlier measurements.Batch
		batch   measurements.Batch
		extra   []watch.Sign
		want    []string
		asked   []string // of the registry
	}{
		"nothing": {want: []string{}},
		"sessions and statements are signs of life, when they come": {
			batch: measurements.Batch{
				Sessions: []measurements.SessionSample{session(orders, time.Minute), session(orders, 2*time.Minute)},
				Statements: []measurements.StatementSample{{Instance: billing, Engine: fleet.MySQL, Database: uuid.New(), At: noon.Add(-time.Minute), Interval: time.Minute,
					Statements: []measurements.Statement{{Key: "q", Calls: 1, TotalMs: 2}}}},
			},
			want: []string{"orders by muster: sessions true 1m0s", "billing by muster: statements true 1m0s"},
		},
		"a host has its volumes once, whatever is on it, and the newest counts": {
			batch: measurements.Batch{Hosts: []measurements.HostSample{
				on(host("db07", time.Minute, filled("/data", 91), filled("/", 0)), orders, billing),
				on(host("db07", 2*time.Minute, filled("/data", 20), filled("/old", 30)), orders),
			}},
			want: []string{
				"db07 [orders billing] / / 0 1m0s", "db07 [orders billing] /data /data 91 1m0s", "db07 [orders billing] /old /old 30 2m0s", "orders by muster: host true 1m0s", "billing by muster: host true 1m0s"},
		},
		"sizes make the percentage that df prints; of a part there is none": {
			batch: measurements.Batch{Hosts: []measurements.HostSample{on(host("db07", 0,
				sized("/data", 1000, 200, 150), sized("/part", 1000, -1, 150), sized("/none", 0, 0, 0), sized("/odd", 10, 50, 50)), orders)}},
			want: []string{"db07 [orders] /data /data 84.21 0s", "db07 [orders] /odd /odd 0 0s", "orders by muster: host true 0s"},
		},
		"sizes that come apart make one, whatever else comes with them": {
			earlier: measurements.Batch{Hosts: []measurements.HostSample{host("db01", time.Minute, sized("/data", 1000, 200, -1), sized("/logs", -1, -1, 5)),
				host("db01", 2*time.Minute, sized("/old", -1, 5, 5))}},
			batch: measurements.Batch{Hosts: []measurements.HostSample{
				host("db01", time.Minute, sized("/data", -1, -1, 150), sized("/tmp", 100, 40, 40)), host("db01", time.Minute, sized("/logs", 10, 5, -1)),
				host("db01", 2*time.Minute, sized("/data", 1000, -1, -1)), host("db01", 0, sized("/data", -1, -1, 1)), host("unknown", 0, sized("/data", -1, -1, 1)),
			}},
			want:  []string{"db01 [orders] /data /data 84.21 1m0s", "db01 [orders] /logs /logs 50 1m0s", "db01 [orders] /tmp /tmp 60 1m0s", "orders by muster: host true 0s"},
			asked: []string{"db01", "db01", "unknown"},
		},
		"a host that names nobody is its registered instances'": {
			batch: measurements.Batch{Hosts: []measurements.HostSample{
				host("both", 0, filled("/data", 50)), on(host("db01", 0, filled("/x", 60))), host("unknown", 0, filled("/y", 70)),
			}},
			want:  []string{"both [orders billing] /data /data 50 0s", "db01 [orders] /x /x 60 0s", "orders by muster: host true 0s", "billing by muster: host true 0s"},
			asked: []string{"both", "db01", "unknown"},
		},
		"or those that an earlier sample of it named": {
			earlier: measurements.Batch{Hosts: []measurements.HostSample{on(host("db01", time.Hour), billing)}},
			batch:   measurements.Batch{Hosts: []measurements.HostSample{host("db01", 0, filled("/x", 60))}},
			want:    []string{"db01 [billing] /x /x 60 0s", "billing by muster: host true 0s"},
		},
		"until one says that it runs none of them": {
			earlier: measurements.Batch{Hosts: []measurements.HostSample{on(host("db01", time.Hour), billing)}},
			batch:   measurements.Batch{Hosts: []measurements.HostSample{on(host("db01", 0, filled("/x", 60)))}},
			want:    []string{"db01 [orders] /x /x 60 0s", "orders by muster: host true 0s"},
			asked:   []string{"db01"},
		},
		"of an imported past nothing, and nobody is asked": {
			batch: measurements.Batch{
				Sessions: []measurements.SessionSample{session(orders, time.Hour)},
				Hosts:    []measurements.HostSample{host("both", watch.Fresh+time.Second, filled("/data", 99)), on(host("db01", time.Hour, filled("/x", 60)), orders)},
			},
			want: []string{},
		},
		// C13: one full volume, and not three.
		"what shares its space is one volume": {
			batch: measurements.Batch{Hosts: []measurements.HostSample{on(host("db07", 0,
				of("zfs:tank", sized("/tank", 100, 10, 10)), of("zfs:tank", sized("/tank/a", 200, 10, 10)), of("zfs:tank", sized("/tank/quota", 100, 1, 1)),
				of("zfs:tank", sized("/tank/b", 710, 10, 10)), of("/dev/sdb1", sized("/data", 50, 5, 5)), of("/dev/sdb1", sized("/var/lib/docker", 50, 5, 5)),
				of("/dev/sdc1", sized("/twin", 50, 5, 5)), sized("/overlay/1", 70, 7, 6), sized("/overlay/2", 70, 7, 6),
				of("nas:/a", sized("/nas/a", 90, 0, 0)), of("nas:/b", sized("/nas/b", 90, 0, 0)),
			), orders)}},
			want: []string{
				"db07 [orders] /dev/sdb1 /data+/var/lib/docker 90 0s", "db07 [orders] /dev/sdc1 /twin 90 0s",
				"db07 [orders] /overlay/1 /overlay/1+/overlay/2 91.3 0s", "db07 [orders] /tank/quota /tank/quota 99 0s",
				"db07 [orders] nas:/a /nas/a+/nas/b 100 0s", "db07 [orders] zfs:tank /tank+/tank/a+/tank/b 98.99 0s",
				"orders by muster: host true 0s",
			},
		},
		"and what the sender knows besides": {
			extra: []watch.Sign{{Rule: watch.LockWait, InstanceID: orders, Value: 2.5, At: noon}},
			want:  []string{"orders lock_wait 2.5 0s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.record(c.earlier)
			for i := range c.extra {
				c.extra[i].OrganizationID = s.org
			}
			n := c.batch.Len()
			receipt := s.record(c.batch, c.extra...)
			if got := receipt.Accepted.Hosts + receipt.Accepted.Sessions + receipt.Accepted.Statements; got != n {
				t.Errorf("%d of %d samples are accepted", got, n)
			}
			want := s.signs()
			if diff := cmp.Diff(c.want, want); diff != "" {
				t.Errorf("signs (-want +got):\n%s", diff)
			}
			var asked []string
			for _, hosts := range s.asked {
				asked = append(asked, hosts...)
			}
			if diff := cmp.Diff(c.asked, asked); diff != "" {
				t.Errorf("hosts that were looked up (-want +got):\n%s", diff)
			}
			s.record(c.batch, c.extra...) // sent again
			if diff := cmp.Diff(want, s.signs()); diff != "" {
				t.Errorf("sent again (-first +second):\n%s", diff)
			}
		})
	}
}

// TestSamplesOutliveTheirSigns: samples stay if their signals cannot be stored, and the signals
// are made when the samples come again.
func TestSamplesOutliveTheirSigns(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.fault = errors.New("the registry is away")
	batch := measurements.Batch{Organization: s.org, Hosts: []measurements.HostSample{host("db01", 0, filled("/data", 50))}}
	receipt, err := s.Record(t.Context(), batch)
	if !errors.Is(err, s.fault) || receipt.Accepted.Hosts != 1 {
		t.Fatalf("%+v, %v", receipt, err)
	}
	raw := func() (n int) {
		if err := s.DB.Get(&n, `SELECT count(*) FROM raw_samples`); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n, signs := raw(), s.signs(); n != 1 || len(signs) != 0 {
		t.Fatalf("%d samples, and signs %v", n, signs)
	}
	s.fault = nil
	s.record(batch)
	if n, signs := raw(), s.signs(); n != 1 || len(signs) != 2 {
		t.Errorf("sent again: %d samples, and signs %v", n, signs)
	}
}

// TestGuard: a process that has lost the right to write stores nothing, not even a signal.
func TestGuard(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	lost := errors.New("lost")
	_, err := s.Record(t.Context(), measurements.Batch{
		Organization: s.org, Guard: func(context.Context, sqlx.ExtContext) error { return lost },
		Hosts: []measurements.HostSample{on(host("db01", 0, filled("/data", 50)), orders)},
	}, watch.Sign{OrganizationID: s.org, Rule: watch.LockWait, InstanceID: orders, At: noon})
	if err != lost { //nolint:errorlint // as it is
		t.Errorf("got %v", err)
	}
	if signs := s.signs(); len(signs) != 0 {
		t.Errorf("there are signs %v", signs)
	}
}

// TestManySigns: a message of a few KiB does not make millions of rows.
func TestManySigns(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.MaxVolumes = 100
	s.keepsOf(t, 101, 3, 100)
}

// TestLongManySigns is TestManySigns with the limit that the program has.
func TestLongManySigns(t *testing.T) {
	longtest.Only(t)
	newScene(t).keepsOf(t, 101, 1000, 100_000)
}

// keepsOf records hosts that each have volumes, and counts the volumes that are kept.
func (s *scene) keepsOf(t *testing.T, hosts, volumes, kept int) {
	t.Helper()
	var b measurements.Batch
	for i := range hosts {
		h := on(host(fmt.Sprint("h", i), 0), orders)
		for j := range volumes {
			h.Volumes = append(h.Volumes, filled(fmt.Sprint("/", j), 1))
		}
		b.Hosts = append(b.Hosts, h)
	}
	s.record(b)
	var n int
	if err := s.DB.Get(&n, `SELECT count(*) FROM signs`); err != nil {
		t.Fatal(err)
	}
	if n != kept+hosts { // each host is a sign, too
		t.Errorf("%d signs", n)
	}
}

// TestSpellingsOfAHost are one host: its samples, the figures for the watch, and the instances
// known to run there. C14.
func TestSpellingsOfAHost(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.InstancesNear = func(_ context.Context, _ uuid.UUID, hosts []string) (map[string][]uuid.UUID, error) {
		if !slices.Contains(hosts, "db7.example.org") {
			return nil, nil
		}
		return map[string][]uuid.UUID{"db7.example.org": {billing}}, nil
	}
	got := s.record(measurements.Batch{Hosts: []measurements.HostSample{host("DB01.", time.Minute, filled("/", 71)), host("db01", 2*time.Minute)}})
	if got.Accepted.Hosts != 2 {
		t.Errorf("%+v", got)
	}
	s.record(measurements.Batch{Hosts: []measurements.HostSample{host("DB7.Example.ORG", time.Minute, filled("/data", 72))}})
	want := []string{"db01 [orders] / / 71 1m0s", "db7.example.org [billing] /data /data 72 1m0s", "orders by muster: host true 1m0s", "billing by muster: host true 1m0s"}
	if diff := cmp.Diff(want, s.signs()); diff != "" {
		t.Error(diff)
	}
	known, err := s.KnownOn(t.Context(), s.org, []string{"db7.EXAMPLE.org.", "db01", "Db01"})
	if diff := cmp.Diff(map[string][]uuid.UUID{"db7.EXAMPLE.org.": {billing}, "db01": {orders}, "Db01": {orders}}, known); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	var series []string
	if err := s.DB.Select(&series, `SELECT subject FROM measured_series WHERE organization_id = $1 ORDER BY subject`, s.org); err != nil || !slices.Equal(series, []string{"db01", "db7.example.org"}) {
		t.Errorf("%q, %v", series, err)
	}
	// A host from before hosts had keys is still in the scope of its server.
	if _, err := s.DB.Exec(`UPDATE measured_series SET subject = 'DB01.' WHERE organization_id = $1 AND subject = 'db01'`, s.org); err != nil {
		t.Fatal(err)
	}
	scope := measurements.HostScope{Scope: fleet.Scope{Filtered: true, Instances: []uuid.UUID{orders}}, Names: []string{"Db01"}}
	machines, err := s.Store.(*pgstore.Store).Machines(t.Context(), s.org, scope, noon.Add(-time.Hour), 1)
	if err != nil || len(machines) != 1 {
		t.Errorf("%+v, %v", machines, err)
	}
}

// TestReadOnlyVolumes are never full, in whichever message and order it comes that they are
// read-only. C13.
func TestReadOnlyVolumes(t *testing.T) {
	t.Parallel()
	readOnly := measurements.Volume{Mount: "/dvd", Size: -1, Free: -1, Available: -1, ReadOnly: true}
	full := sized("/dvd", 100, 0, 0)
	whole := full
	whole.ReadOnly = true
	for name, messages := range map[string][][]measurements.Volume{
		"in one message": {{whole}}, "before": {{readOnly}, {full}}, "behind": {{full}, {readOnly}},
		"sizes apart": {{sized("/dvd", 100, -1, -1)}, {readOnly}, {sized("/dvd", -1, 0, 0)}},
	} {
		s := newScene(t)
		for _, age := range []time.Duration{2 * time.Minute, time.Minute} {
			for _, volumes := range messages {
				s.record(measurements.Batch{Hosts: []measurements.HostSample{{Host: "db01", At: noon.Add(-age), Volumes: append(volumes, filled("/data", 60))}}})
			}
		}
		for _, sign := range s.signs() {
			if strings.Contains(sign, "/dvd") && (name == "in one message" || name == "before" || !strings.Contains(sign, "2m0s")) { // see below
				t.Errorf("%s: %s", name, sign)
			}
		}
		if _, err := s.Store.(*pgstore.Store).Roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := timegrid.Window{From: noon.Add(-3 * time.Minute), To: noon, Size: timegrid.Minute}
		u, err := s.Store.Utilization(t.Context(), s.org, measurements.HostScope{}, w)
		if err != nil || !slices.Contains(u.DiskPercent, 60) || slices.ContainsFunc(u.DiskPercent, func(percent float64) bool { return percent > 60 }) {
			t.Errorf("%s: %v, %v", name, u.DiskPercent, err)
		}
	}
	// Where the very first message knew the sizes only, the watch has them, until the host told
	// its volumes without this one for two minutes.
}

// TestHourlyLooksReachTheWatchEveryMinute: when volumes are full.
func TestHourlyLooksReachTheWatchEveryMinute(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	now := noon
	s.Now = func() time.Time { return now }
	for hour := 20 * 24; hour > 0; hour -= 3 {
		size := room.Size{Kind: room.Volume, Name: "/data", Used: 800 - 10*float64(hour)/24, Limit: 1000}
		if err := room.RecordSizes(t.Context(), s.DB, s.org, room.HostSubject("db01"), noon.Add(-time.Duration(hour)*time.Hour), []room.Size{size}); err != nil {
			t.Fatal(err)
		}
	}
	figure := func(rule watch.Rule) (value float64, at time.Time) {
		var row struct {
			Value float64
			At    time.Time
		}
		if err := s.DB.Get(&row, `SELECT value, at FROM signs WHERE organization_id = $1 AND rule = $2`, s.org, string(rule)); err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		return row.Value, row.At.UTC()
	}
	for minute := range 3 {
		now = noon.Add(time.Duration(minute) * time.Minute)
		b := measurements.Batch{
			Hosts: []measurements.HostSample{{Host: "db01", At: now, Volumes: []measurements.Volume{{Mount: "/data", Size: 1000, Free: 200, Available: 200}}}},
		}
		s.record(b)
		if days, at := figure(watch.FullIn); days < 19 || days > 21 || !at.Equal(now) {
			t.Errorf("minute %d: full in %v days, at %s", minute, days, at)
		}
	}
}

// TestLongNamesOfVolumes that are cut alike, as those of a machine with many containers, are one and refuse no message.
func TestLongNamesOfVolumes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	mount := "/var/lib/containers/" + strings.Repeat("x", 200)
	s.record(measurements.Batch{Hosts: []measurements.HostSample{{Host: "db01", At: noon, Volumes: []measurements.Volume{
		{Mount: mount + "/1", Size: 1000, Free: 200, Available: 200}, {Mount: mount + "/2", Size: 2000, Free: 200, Available: 200},
	}}}})
	kept, err := room.Histories(t.Context(), s.DB, s.org, []string{room.HostSubject("db01")}, noon.Add(-time.Hour), 10)
	if err != nil || len(kept) != 1 || !strings.HasPrefix(kept[0].Name, "/var/lib/containers/") {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestTheWatchHearsOfFailedJobs with every sample, until the look that they are of says nothing of now.
func TestTheWatchHearsOfFailedJobs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	now, database := noon, uuid.New()
	s.Now = func() time.Time { return now }
	failed := 2
	look := []room.State{{Instance: orders, Engine: fleet.SQLServer, At: noon, Failed: &failed}}
	heard := func() (signs []string) {
		t.Helper()
		s.record(measurements.Batch{Room: look, Sessions: []measurements.SessionSample{{Instance: orders, Engine: fleet.SQLServer, Database: database, At: now, Interval: time.Minute}}})
		look = nil
		var rows []struct {
			Value float64
			At    time.Time
		}
		if err := s.DB.Select(&rows, `SELECT value, at FROM signs WHERE organization_id = $1 AND rule = 'failed_jobs'`, s.org); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			signs = append(signs, fmt.Sprintf("%g at %s", r.Value, r.At.Sub(noon)))
		}
		return signs
	}
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{0, "2 at 0s"}, {time.Minute, "2 at 1m0s"}, {room.Fresh, "2 at 3h0m0s"}, {room.Fresh + time.Minute, "2 at 3h0m0s"}} {
		now = noon.Add(c.at)
		if got := heard(); !slices.Equal(got, []string{c.want}) {
			t.Errorf("after %s the watch heard %v, want %s", c.at, got, c.want)
		}
	}
	none := 0
	look = []room.State{{Instance: orders, Engine: fleet.SQLServer, At: now, Failed: &none}}
	if got := heard(); !slices.Equal(got, []string{"0 at 3h1m0s"}) {
		t.Errorf("a look later the watch heard %v", got)
	}
}
