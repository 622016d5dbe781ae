package clickhouse_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// TestLongAMillionStatementsOfAnInstance in one hour are written, rolled up, put away and
// added up, in PostgreSQL and in ClickHouse. What that costs is in docs/scale.md.
func TestLongAMillionStatementsOfAnInstance(t *testing.T) {
	longtest.Only(t)
	for _, place := range []string{"PostgreSQL", "ClickHouse"} {
		t.Run(place, func(t *testing.T) {
			db := pgtest.DB(t)
			s := pgstore.New(db, quiet())
			bytes := func() (n uint64) {
				if err := db.Get(&n, `SELECT sum(pg_column_size(body)) FROM (SELECT body FROM block_raw UNION ALL SELECT body FROM block_minutes UNION ALL SELECT body FROM block_hour_details) AS of`); err != nil {
					t.Fatal(err)
				}
				return n
			}
			if place == "ClickHouse" {
				c := clickhousetest.Shared(t)
				name := c.Database(t)
				s = pgstore.NewOn(db, open(t, c.URL(name), db, clickhouse.Limits{}), quiet())
				bytes = func() (n uint64) {
					for _, server := range c.Servers {
						n += server.Number(t, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '"+name+"'")
					}
					return n
				}
			}
			took := func(what string, begun time.Time) {
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				t.Logf("%s took %s; %d MiB are from the system", what, time.Since(begun).Round(time.Millisecond), memory.Sys>>20)
			}
			organization, instance, database := uuid.New(), uuid.New(), uuid.New()
			hour := time.Now().UTC().Truncate(time.Hour).Add(-4 * time.Hour)
			const minutes, each = 20, 50_000
			begun := time.Now()
			for minute := range minutes {
				sample := measurements.StatementSample{Instance: instance, Engine: fleet.PostgreSQL, Database: database, At: hour.Add(time.Duration(minute+1) * time.Minute), Interval: time.Minute}
				for n := range each {
					sample.Statements = append(sample.Statements, measurements.Statement{Key: fmt.Sprint(minute, " ", n), Calls: 2, TotalMs: 3})
				}
				if _, err := s.Write(t.Context(), measurements.Batch{Organization: organization, Statements: []measurements.StatementSample{sample}}); err != nil {
					t.Fatal(err)
				}
			}
			took("to write a million", begun)
			begun = time.Now()
			if _, err := s.Roll(t.Context()); err != nil {
				t.Fatal(err)
			}
			took("to roll them up", begun)
			if _, err := db.Exec(`UPDATE measured_hours SET arrived_at = arrived_at - interval '1 hour'`); err != nil {
				t.Fatal(err)
			}
			begun = time.Now()
			if n, err := s.Compact(t.Context()); err != nil || n == 0 {
				t.Fatal(n, err)
			}
			took("to put them away", begun)
			begun = time.Now()
			statements, calls := 0, 0.0
			span := measurements.Span{From: hour, To: hour.Add(time.Hour), Size: "1h"}
			_, _, err := s.Statements(t.Context(), organization, fleet.PostgreSQL, measurements.StatementScope{}, span, time.Now(), func(one measurements.StatementSums) {
				statements++
				calls += one.Calls
			})
			if err != nil || statements != minutes*each || calls != 2*minutes*each {
				t.Fatalf("%d statements of %g calls: %v", statements, calls, err)
			}
			took("to add them up", begun)
			t.Logf("blocks have %d bytes", bytes())
		})
	}
}
