package bench_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// dayServers are measured in the simulated day; its figures are scaled to 1,000.
const dayServers = 50

// BenchmarkDayOfMeasuring: servers of two databases are measured for a day as the
// agents do, hosts every 15 s, sessions every 10 s, 50 statements a database every
// minute, rolled up every minute. Reported is what a thousand of them leave on disk
// and write ahead, table by table: before and after a VACUUM, and packed as VACUUM FULL
// does it an hour later. A simulated day is over in minutes, in which hardly a checkpoint
// falls; so one more hour has one every five minutes, and what it writes ahead is scaled
// to a day.
// Goals: WAL ≤ 15 GB, raw ≤ 2.3 GB.
func BenchmarkDayOfMeasuring(b *testing.B) {
	for b.Loop() {
		url := pgtest.Cluster(b, pgtest.Options{Fsync: true, Settings: map[string]string{"wal_keep_size": "1GB"}}).Superuser()
		db := pgtest.Connect(b, url)
		if err := postgres.Migrate(b.Context(), db, slog.New(slog.DiscardHandler)); err != nil {
			b.Fatal(err)
		}
		db.MustExec(simulatedClock)
		d := newMeasuringDay(b, pgtest.Connect(b, url))
		hours, before := hours(b), total(disk(b, db))
		scale := 1000 / float64(dayServers) * 24 / float64(hours)
		written, begin := newWAL(b, db), time.Now()
		var took time.Duration
		for range hours {
			for range 60 {
				d.minute()
			}
			d.vacuum()
			took += time.Since(begin)
			written.look()
			begin = time.Now()
		}
		written.report(scale)
		written.tell("Written ahead in a day of 1,000 servers, by table and kind of record", scale)
		after := disk(b, db)
		db.MustExec(`VACUUM`)
		vacuumed := disk(b, db)
		checkpointed := newWAL(b, db)
		for n := range 60 {
			if n%5 == 0 {
				checkpointed.look() // a checkpoint throws away what was written before
				db.MustExec(`CHECKPOINT`)
			}
			d.minute()
		}
		checkpointed.look()
		b.ReportMetric(float64(checkpointed.total().Bytes)*scale*float64(hours)/1e6, "wal-checkpoints-MB")
		checkpointed.tell("The same with a checkpoint every five minutes", scale*float64(hours))
		db.MustExec(`VACUUM FULL`)
		packed := disk(b, db)
		reportDisk(b, scale, float64(hours)/float64(hours+1), after, vacuumed, packed)

		mb := scale / 1e6
		b.ReportMetric(float64(written.total().Bytes)*mb, "wal-MB")
		b.ReportMetric(float64(total(after)-before)*mb, "disk-MB")
		for name, tables := range map[string]kept{"raw": rawTables, "rolled": rolledTables, "details": detailTables} {
			b.ReportMetric(tables.day(after, hours), name+"-MB")
		}
		b.ReportMetric(took.Seconds()/float64(60*hours)/float64(dayServers)*1000/60, "cores")
		b.ReportMetric(took.Seconds(), "seconds")
	}
}

// simulatedClock has now() be what the simulated day says, in whatever connects from now on:
// what the store does by the database's clock, it does as in a day that takes a day.
const simulatedClock = `
CREATE SCHEMA simulated;
CREATE TABLE simulated.clock AS SELECT now() AS at;
CREATE FUNCTION simulated.now() RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT at FROM simulated.clock';
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = simulated, public, pg_catalog', current_database()); END $$`

// kept are tables of what is measured: those that have what is over, and those of what is
// open, which have as much after an hour as after a day. Tables that a version does not
// have take nothing.
type kept struct{ over, open []string }

func (k kept) all() []string { return slices.Concat(k.over, k.open) }

var (
	rawTables    = kept{over: []string{"block_raw"}, open: []string{"raw_samples"}}
	rolledTables = kept{over: []string{"block_minutes", "block_hours", "block_days"}, open: []string{"head_minutes", "head_hours", "head_days"}}
	detailTables = kept{over: []string{"block_hour_details", "block_day_details"}, open: []string{"head_hour_details", "head_day_details", "head_rests"}}
)

// day is what 1,000 servers have of them after a day, in MB. Of the hours that were
// simulated the last one is open.
func (k kept) day(tables map[string]map[string]int64, hours int) float64 {
	servers := 1000 / float64(dayServers) / 1e6
	return servers * (float64(total(only(tables, k.over)))*24/float64(max(1, hours-1)) + float64(total(only(tables, k.open))))
}

// only leaves the tables of names.
func only(tables map[string]map[string]int64, names []string) map[string]map[string]int64 {
	some := make(map[string]map[string]int64)
	for _, name := range names {
		some[name] = tables[name]
	}
	return some
}

func total(tables map[string]map[string]int64) (all int64) {
	for _, parts := range tables {
		for _, bytes := range parts {
			all += bytes
		}
	}
	return all
}

// reportDisk prints what each table takes, and makes those of more than half a percent a
// metric. share is that of the day in what was packed.
func reportDisk(b *testing.B, scale, share float64, after, vacuumed, packed map[string]map[string]int64) {
	b.Helper()
	mb := scale / 1e6
	of := func(tables map[string]map[string]int64, table string) float64 {
		return float64(total(only(tables, []string{table}))) * mb
	}
	var out strings.Builder
	fmt.Fprintf(&out, "| table | in all | rows | indexes | toast | after VACUUM | packed (VACUUM FULL) |\n|---|---|---|---|---|---|---|\n")
	names := slices.SortedFunc(maps.Keys(after), func(x, y string) int { return cmp.Compare(of(after, y), of(after, x)) })
	for _, name := range names {
		if 200*of(after, name) < float64(total(after))*mb {
			break
		}
		fmt.Fprintf(&out, "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", name, of(after, name),
			float64(after[name]["rows"])*mb, float64(after[name]["indexes"])*mb, float64(after[name]["toast"])*mb,
			of(vacuumed, name), share*of(packed, name))
		b.ReportMetric(of(after, name), "disk:"+name+"-MB")
		b.ReportMetric(share*of(packed, name), "packed:"+name+"-MB")
	}
	tell(b, "On disk after a day of 1,000 servers, by table, MB", out.String())
}

type measuringDay struct {
	b            *testing.B
	db           *sqlx.DB
	store        *pgstore.Store
	organization uuid.UUID
	servers      []measuredServer
	at           time.Time
}

func newMeasuringDay(b *testing.B, db *sqlx.DB) *measuringDay {
	b.Helper()
	store := openStore(b, db, "")
	d := &measuringDay{b: b, db: db, store: store, organization: uuid.New(), at: time.Now().UTC().Truncate(time.Hour).Add(time.Hour)}
	for n := range dayServers {
		d.servers = append(d.servers, measuredServer{
			host: fmt.Sprintf("host-%04d", n), engine: fleet.PostgreSQL, id: uuid.New(), databases: []uuid.UUID{uuid.New(), uuid.New()},
		})
	}
	return d
}

// vacuum does what autovacuum would have done in an hour.
func (d *measuringDay) vacuum() {
	d.b.Helper()
	var tables []string
	if err := d.db.SelectContext(d.b.Context(), &tables, `SELECT relname FROM pg_stat_user_tables WHERE n_dead_tup > 0`); err != nil {
		d.b.Fatal(err)
	}
	for _, table := range tables {
		d.db.MustExec(`VACUUM ` + table)
	}
}

// minute writes each server's samples as they come, in batches of one time, and
// rolls up and compacts.
func (d *measuringDay) minute() {
	d.b.Helper()
	d.db.MustExec(`UPDATE simulated.clock SET at = $1`, d.at)
	for second := 0; second < 60; second += 5 {
		batch := measurements.Batch{Organization: d.organization}
		at := d.at.Add(time.Duration(second) * time.Second)
		for _, s := range d.servers {
			v := s.values(at)
			if second%15 == 0 {
				batch.Hosts = append(batch.Hosts, measurements.HostSample{
					Host: s.host, At: at, CPUPercent: &v.cpu, MemoryPercent: &v.memory, Volumes: []measurements.Volume{{Mount: "/data", UsedPercent: &v.disk}},
				})
			}
			for n, database := range s.databases {
				if second%10 == 0 {
					batch.Sessions = append(batch.Sessions, measurements.SessionSample{
						Instance: s.id, Engine: s.engine, Database: database, At: at, Interval: 10 * time.Second, Active: 3, Idle: 20, Waits: s.waits(v.waits[n]),
					})
				}
				if second == 0 {
					batch.Statements = append(batch.Statements, d.statements(s, database, at))
				}
			}
		}
		if batch.Len() > 0 {
			if _, err := d.store.Write(d.b.Context(), batch); err != nil {
				d.b.Fatal(err)
			}
		}
	}
	for {
		rolled, err := d.store.Roll(d.b.Context())
		if err != nil {
			d.b.Fatal(err)
		}
		if rolled == 0 {
			break
		}
	}
	if _, err := d.store.Compact(d.b.Context()); err != nil {
		d.b.Fatal(err)
	}
	d.at = d.at.Add(time.Minute)
}

func (d *measuringDay) statements(s measuredServer, database uuid.UUID, at time.Time) measurements.StatementSample {
	sample := measurements.StatementSample{Instance: s.id, Engine: s.engine, Database: database, At: at, Interval: time.Minute}
	for k := range 50 {
		calls := 1 + rand.Int64N(1000)
		sample.Statements = append(sample.Statements, measurements.Statement{Key: strconv.Itoa(k), Calls: calls, TotalMs: float64(calls) * rand.Float64()})
	}
	return sample
}
