package pgstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// BenchmarkWhole reads the tiles of all servers, of 1,000 and of 10,000, from the rows of
// the whole and, beside it, from those of the series; and says what it takes to make what
// is dirty after a minute in which all of them were measured.
func BenchmarkWhole(b *testing.B) {
	for _, servers := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(servers), func(b *testing.B) {
			end := timegrid.Hour.Floor(time.Now()).Add(-time.Hour)
			s, organization := copies(b, servers, end)
			began := time.Now()
			settle(b, s)
			b.Logf("%d servers: a month of rows of the whole took %s", servers, time.Since(began).Round(time.Millisecond))
			for name, w := range map[string]timegrid.Window{
				"24h@1m": {From: end.Add(-24*time.Hour - 30*time.Minute), To: end.Add(-30 * time.Minute), Size: timegrid.Minute},
				"30d@1h": {From: end.AddDate(0, 0, -30), To: end, Size: timegrid.Hour},
			} {
				(&company{Store: s, id: organization, onlyTiles: true}).same(b, w, "before it is measured")
				for tile, read := range s.tiles(b, organization, w, end) {
					b.Run(tile+"/"+name+"/whole", func(b *testing.B) { quantiles(b, read.whole) })
					b.Run(tile+"/"+name+"/series", func(b *testing.B) { quantiles(b, read.series) })
				}
			}
			for _, kind := range []string{codec.Hosts, codec.Sessions, codec.Statements, codec.Activity} {
				b.Run("make/"+kind+"/whole", func(b *testing.B) {
					quantiles(b, func() {
						s.dirty(b, organization, kind, end)
						settle(b, s)
					})
				})
			}
		})
	}
}

// tileReads reads a tile in two ways.
type tileReads struct{ whole, series func() }

func (s *Store) tiles(b *testing.B, organization uuid.UUID, asked timegrid.Window, now time.Time) map[string]tileReads {
	all := s.allTiles(b, organization, asked, now)
	for _, by := range measurements.Dimensions() {
		q := measurements.ActivityQuery{By: by}
		if !by.Named() {
			q.Limit = 10
		}
		all["activity-by-"+string(by)] = tileReads{func() {
			if _, err := s.Activity(b.Context(), organization, fleet.PostgreSQL, fleet.Scope{}, asked, q); err != nil {
				b.Fatal(err)
			}
		}, func() {
			if _, err := s.activityOf(b.Context(), organization, fleet.PostgreSQL, fleet.Scope{}, windowOf(asked), q); err != nil {
				b.Fatal(err)
			}
		}}
	}
	return all
}

func (s *Store) allTiles(b *testing.B, organization uuid.UUID, asked timegrid.Window, now time.Time) map[string]tileReads {
	ctx, w, pg := b.Context(), windowOf(asked), fleet.PostgreSQL
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	return map[string]tileReads{
		"utilization": {func() {
			_, err := s.Utilization(ctx, organization, measurements.HostScope{}, asked)
			must(err)
		}, func() {
			_, err := s.seriesUtilization(ctx, organization, measurements.HostScope{}, w)
			must(err)
		}},
		"query-performance": {func() {
			_, err := s.QueryPerformance(ctx, organization, pg, fleet.Scope{}, asked, now)
			must(err)
		}, func() {
			_, err := s.readInstances(ctx, organization, codec.Statements, pg, fleet.Scope{}, w, codec.NewQueryPerformance(w.buckets, 0).Take)
			must(err)
		}},
		"wait-events": {func() {
			_, err := s.WaitEvents(ctx, organization, pg, fleet.Scope{}, asked)
			must(err)
		}, func() {
			_, err := s.readInstances(ctx, organization, codec.Sessions, pg, fleet.Scope{}, w, codec.NewWaitEvents(w.buckets).Take)
			must(err)
		}},
	}
}

// quantiles reports how long something takes; the first time is not counted.
func quantiles(b *testing.B, do func()) {
	do()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		do()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// copies measures one server for a month, the last day by the minute, and copies the rows
// that this was rolled up to, so that there are as many servers.
func copies(b *testing.B, servers int, end time.Time) (*Store, uuid.UUID) {
	b.Helper()
	s, organization, instance := newStore(b), uuid.New(), uuid.New()
	databases := []uuid.UUID{uuid.New(), uuid.New()}
	day := end.Add(-24 * time.Hour)
	for at := end.AddDate(0, 0, -30); at.Before(end); {
		var batch measurements.Batch
		for range 500 {
			one := lookAt(organization, instance, "host", databases, at)
			memory := 40 + float64(at.Minute())/7
			one.Hosts[0].MemoryPercent = &memory
			one.Hosts[0].Volumes = []measurements.Volume{{Mount: "/", UsedPercent: &memory}}
			batch.Organization = organization
			for d := range one.Sessions {
				one.Sessions[d].Active, one.Sessions[d].Doing = 3, doingAt(at, d)
			}
			batch.Hosts, batch.Sessions, batch.Statements = append(batch.Hosts, one.Hosts...), append(batch.Sessions, one.Sessions...), append(batch.Statements, one.Statements...)
			if at = at.Add(time.Minute); at.Before(day) {
				at = at.Add(59 * time.Minute)
			}
		}
		write(b, s, batch)
	}
	if _, err := s.Roll(b.Context()); err != nil {
		b.Fatal(err)
	}
	exec := func(query string, args ...any) {
		if _, err := s.db.ExecContext(b.Context(), query, args...); err != nil {
			b.Fatal(err)
		}
	}
	exec(`UPDATE measured_hours SET arrived_at = arrived_at - interval '11 minutes' WHERE hour < $1`, end.Add(-time.Hour))
	if _, err := s.Compact(b.Context()); err != nil {
		b.Fatal(err)
	}
	exec(`INSERT INTO measured_series (organization_id, kind, subject, engine)
		SELECT organization_id, kind, CASE kind WHEN 'host' THEN 'host-' || n ELSE gen_random_uuid()::text END, engine
		FROM measured_series, generate_series(2, $1::integer) AS n WHERE kind <> 'busy'`, servers)
	for _, table := range []string{"head_minutes", "head_hours", "head_days", "block_minutes", "block_hours", "block_days"} {
		exec(`ALTER TABLE ` + table + ` SET UNLOGGED`)
		exec(`INSERT INTO `+table+` SELECT s.id, r.start, r.body
			FROM `+table+` r JOIN measured_series m ON m.id = r.series_id JOIN measured_series s ON s.kind = m.kind AND s.id > 5
			WHERE $1 <> 'block_minutes' OR r.start >= $2`, table, day)
	}
	exec(`VACUUM ANALYZE`)
	if _, err := s.findWholes(b.Context()); err != nil {
		b.Fatal(err)
	}
	return s, organization
}

// doingAt is what six sessions of a database do, of which another statement and client is there at
// each look.
func doingAt(at time.Time, database int) (all []measurements.Doing) {
	for i := range 6 {
		n := int(at.Unix()/60)*7 + 31*database + 5*i
		one := measurements.Doing{
			State: measurements.OnCPU, Statement: fmt.Sprint(n % 20), User: fmt.Sprint("user", n%3), Application: fmt.Sprint("app", n%4),
			Client: fmt.Sprintf("10.0.%d.%d", n%4, n%7), Sessions: 1,
		}
		if i%2 == 1 {
			one.State, one.Wait, one.Event = measurements.Waits, "Lock", []string{"relation", "tuple", "transactionid"}[n%3]
		}
		all = append(all, one)
	}
	return all
}

// dirty marks what a minute of samples of all hosts, or instances, leaves behind.
func (s *Store) dirty(b *testing.B, organization uuid.UUID, kind string, end time.Time) {
	engine, minutes := string(fleet.PostgreSQL), int64(0b11<<58)
	if kind == codec.Hosts {
		engine, minutes = "", 1<<codec.MinutesOfHour-1<<49
	}
	if _, err := s.db.ExecContext(b.Context(), `INSERT INTO whole_marks (organization_id, kind, engine, hour, minutes, since) VALUES ($1, $2, $3, $4, $5, now())`,
		organization, kind, engine, end.Add(-time.Hour), minutes); err != nil {
		b.Fatal(err)
	}
}

// settle makes the rows of wholes until nothing is left to make.
func settle(t testing.TB, s *Store) {
	t.Helper()
	for {
		if n, err := s.Whole(t.Context()); err != nil {
			t.Fatal(err)
		} else if n == 0 {
			return
		}
	}
}
