package bench_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/testing/pgtest"
)

const (
	databasesEach  = 2 // of an instance
	statementsEach = 2 // of a database
	// tilesDays is how much history there is, an hour apart before the last day.
	tilesDays = 30
)

// tilesInstances is how many instances the tiles are read of; MUSTER_BENCH_INSTANCES
// makes it fewer for a quick look.
func tilesInstances() int {
	if n, err := strconv.Atoi(os.Getenv("MUSTER_BENCH_INSTANCES")); err == nil && n > 0 {
		return n
	}
	return 1000
}

// measured is an organization whose servers are measured, one on each host.
type measured struct {
	p            *program
	db           *sqlx.DB
	store        *pgstore.Store
	organization uuid.UUID
	databases    int // of an instance
	servers      []measuredServer
	whole        int       // of them, those first ones that are measured at every step; 0: all
	end          time.Time // of what is measured, on the hour
	onlySessions bool      // neither hosts nor statements are measured
}

type measuredServer struct {
	name, host string
	engine     fleet.Engine
	id         uuid.UUID
	databases  []uuid.UUID
}

// newMeasured registers servers of the three engines: of twenty thirteen are
// PostgreSQL, six SQL Server and one Oracle.
func newMeasured(p *program, count int) *measured {
	p.b.Helper()
	return newMeasuredWith(p, count, databasesEach)
}

func newMeasuredWith(p *program, count, databases int) *measured {
	p.b.Helper()
	db := pgtest.Connect(p.b, p.url)
	m := &measured{
		p: p, db: db, store: openStore(p.b, db, p.measurements),
		end: time.Now().UTC().Truncate(time.Hour), databases: databases, servers: make([]measuredServer, count),
	}
	var organization struct{ ID uuid.UUID }
	p.get("/organization", &organization)
	m.organization = organization.ID
	feed := p.agent(p.tokenOf("ingest", admin))
	for first := 0; first < count; first += 1000 {
		m.register(feed, first, min(first+1000, count))
	}
	return m
}

func (m *measured) register(feed agent, first, end int) {
	m.p.b.Helper()
	created := m.end.AddDate(0, 0, -tilesDays-1)
	var items []map[string]any
	for n := first; n < end; n++ {
		s := &m.servers[n]
		s.name, s.host, s.engine = fmt.Sprintf("db-%04d", n), fmt.Sprintf("host-%04d", n), fleet.PostgreSQL
		if n%20 >= 13 {
			s.engine = fleet.SQLServer
		}
		if n%20 == 19 {
			s.engine = fleet.Oracle
		}
		var databases []map[string]any
		for d := range m.databases {
			databases = append(databases, map[string]any{"externalId": fmt.Sprint(d), "name": fmt.Sprint("shop_", d), "createdAt": created})
		}
		items = append(items, map[string]any{
			"externalId": s.name, "name": s.name, "engine": s.engine, "host": s.host, "createdAt": created, "databases": databases,
		})
	}
	body, err := json.Marshal(map[string]any{"instances": items})
	if err != nil {
		m.p.b.Fatal(err)
	}
	content, _, err := feed.ask(m.p.b.Context(), "/ingest/v1/fleet", body)
	if err != nil {
		m.p.b.Fatal(err)
	}
	var answer struct {
		Instances []struct {
			ID        uuid.UUID
			Databases []struct{ ID uuid.UUID }
		}
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		m.p.b.Fatal(err)
	}
	for i, registered := range answer.Instances {
		s := &m.servers[first+i]
		s.id = registered.ID
		for _, d := range registered.Databases {
			s.databases = append(s.databases, d.ID)
		}
	}
}

// load writes a sample of everything every step of a time, an hour of a few servers in a
// batch, and returns how long that took.
func (m *measured) load(from, to time.Time, step time.Duration) time.Duration {
	m.p.b.Helper()
	return m.loadOf(m.servers, from, to, step)
}

// fill loads servers of one database each: the first ones every step, the others every
// so many steps, as many of them at each. So every row of a large fleet is there that the
// fleet would have, with fewer samples in most, in a fraction of the time.
func (m *measured) fill(whole, sparse int, from, to time.Time, step time.Duration) time.Duration {
	m.p.b.Helper()
	m.whole = whole
	parts := make([][]measuredServer, 1+sparse)
	for n, s := range m.servers {
		s.databases = s.databases[:1]
		part := 0
		if n >= whole {
			part = 1 + n%sparse
		}
		parts[part] = append(parts[part], s)
	}
	took := m.loadOf(parts[0], from, to, step)
	for n, part := range parts[1:] {
		took += m.loadOf(part, from.Add(time.Duration(n)*step), to, time.Duration(sparse)*step)
	}
	return took
}

func (m *measured) loadOf(all []measuredServer, from, to time.Time, step time.Duration) time.Duration {
	m.p.b.Helper()
	const together = 25 // servers in a batch of an hour of minutes: 7,500 samples
	chunk := time.Hour * time.Duration(max(1, int(step/time.Minute)))
	begin := time.Now()
	group, ctx := errgroup.WithContext(m.p.b.Context())
	group.SetLimit(2)
	for start := from; start.Before(to); start = start.Add(chunk) {
		end := start.Add(chunk)
		if end.After(to) {
			end = to
		}
		for first := 0; first < len(all); first += together {
			servers := all[first:min(first+together, len(all))]
			group.Go(func() error {
				b := measurements.Batch{Organization: m.organization}
				for at := start; at.Before(end); at = at.Add(step) {
					for _, s := range servers {
						s.sample(&b, at)
						if m.onlySessions {
							b.Hosts, b.Statements = nil, nil
						}
					}
				}
				_, err := m.store.Write(ctx, b)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		m.p.b.Fatal(err)
	}
	return time.Since(begin)
}

// compact puts hours before a time into blocks of which everything has just come, as
// serve does after ten minutes.
func compact(b *testing.B, db *sqlx.DB, store *pgstore.Store, before time.Time) {
	b.Helper()
	db.MustExec(`UPDATE measured_hours SET arrived_at = now() - interval '11 minutes'
		WHERE NOT compacted AND hour < $1 AND arrived_at > now() - interval '11 minutes'`, before)
	for {
		hours, err := store.Compact(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if hours == 0 {
			return
		}
	}
}

// roll helps the server roll up until nothing is left, and put into blocks what is over.
func (m *measured) roll() time.Duration {
	m.p.b.Helper()
	begin := time.Now()
	m.p.until("everything is rolled up", 100*time.Millisecond, 20*time.Minute, func() bool {
		if _, err := m.store.Roll(m.p.b.Context()); err != nil {
			m.p.b.Fatal(err)
		}
		behind, err := m.store.Behind(m.p.b.Context())
		if err != nil {
			m.p.b.Fatal(err)
		}
		return behind == 0
	})
	compact(m.p.b, m.db, m.store, m.end)
	m.db.MustExec(`VACUUM ANALYZE`) // as autovacuum has, once a load is over
	return time.Since(begin)
}

// sample adds what is measured of a server at a time, which decides it.
func (s measuredServer) sample(b *measurements.Batch, at time.Time) {
	v := s.values(at)
	b.Hosts = append(b.Hosts, measurements.HostSample{
		Host: s.host, Instances: []uuid.UUID{s.id}, At: at, CPUPercent: &v.cpu, MemoryPercent: &v.memory,
		Volumes: []measurements.Volume{{Mount: "/data", UsedPercent: &v.disk}},
	})
	for d, database := range s.databases {
		w := v.waits[d]
		waits := s.waits(w)
		b.Sessions = append(b.Sessions, measurements.SessionSample{
			Instance: s.id, Engine: s.engine, Database: database, At: at, Interval: time.Minute,
			Active: 3, Idle: 20, Waiting: w[0] + w[1] + w[2], Waits: waits,
			Doing: s.doing(d, at, 3, waits),
		})
		sample := measurements.StatementSample{Instance: s.id, Engine: s.engine, Database: database, At: at, Interval: time.Minute}
		for n, done := range v.statements[d] {
			sample.Statements = append(sample.Statements, measurements.Statement{Key: strconv.Itoa(n), Calls: done.calls, TotalMs: done.total})
		}
		b.Statements = append(b.Statements, sample)
		if s.engine == fleet.Oracle { // a statement of one sample in a bucket counts for nothing
			again := sample
			again.At = at.Add(20 * time.Second)
			b.Statements = append(b.Statements, again)
		}
	}
}

// waits are the engine's own names of the first three categories and the last.
func (s measuredServer) waits(w [4]int64) map[string]int64 {
	names := map[fleet.Engine][4]string{
		fleet.PostgreSQL: {"Lock", "LWLock", "IO", "Client"},
		fleet.SQLServer:  {"LCK_M_X", "LATCH_EX", "WRITELOG", "ASYNC_NETWORK_IO"},
		fleet.Oracle:     {"Application", "Configuration", "User I/O", "Network"},
	}[s.engine]
	of := make(map[string]int64, len(w))
	for i, n := range w {
		if n > 0 {
			of[names[i]] = n
		}
	}
	return of
}

// values are what is measured of a server at a time.
type values struct {
	cpu, memory, disk float64
	waits             [databasesEach][4]int64 // locks, lightweight locks, I/O, client
	statements        [databasesEach][statementsEach]struct {
		calls int64
		total float64
	}
}

func (s measuredServer) values(at time.Time) (v values) {
	seed := uint64(at.Unix())
	for _, c := range s.host {
		seed = seed*31 + uint64(c)
	}
	r := rand.New(rand.NewPCG(seed, 5))
	v.cpu, v.memory, v.disk = 100*r.Float64(), 100*r.Float64(), 60+30*r.Float64()
	for d := range databasesEach {
		v.waits[d] = [4]int64{max(0, r.Int64N(12)-9), max(0, r.Int64N(8)-6), r.Int64N(3), r.Int64N(20)}
		for n := range statementsEach {
			v.statements[d][n].calls = 1 + r.Int64N(1000)
			v.statements[d][n].total = float64(v.statements[d][n].calls) * 20 * r.Float64()
		}
	}
	return v
}
