package clickhouse_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/packing"
	"muster/internal/testing/pgtest"
)

func instance(organization uuid.UUID, n int, engine fleet.Engine) blocks.Series {
	return blocks.Series{Organization: organization, Kind: codec.Statements, Subject: uuid.UUID{byte(n >> 8), byte(n), 15: 1}.String(), Engine: engine}
}

func put(t testing.TB, s blocks.Store, table blocks.Table, list ...blocks.Block) {
	t.Helper()
	if err := s.Put(t.Context(), nil, table, list); err != nil {
		t.Fatal(err)
	}
}

// byBodies adds up the results of Each, as a store without columns would.
func byBodies(t testing.TB, s blocks.Store, ranges []blocks.StatementRange) map[string]codec.Detail {
	t.Helper()
	details := make(map[string][]codec.Detail)
	for _, r := range ranges {
		wide := r.Range
		if r.Table == blocks.Raw {
			wide.From = wide.From.Truncate(blocks.RawWidth)
		}
		err := s.Each(t.Context(), nil, r.Table, []blocks.Range{wide}, func(_ int, start time.Time, body []byte) error {
			if r.Table != blocks.Raw {
				detail, err := codec.DecodeDetail(body)
				details[r.Series.Subject] = append(details[r.Series.Subject], detail)
				return err
			}
			samples, err := packing.Unpack(start, body, start, start.Add(time.Hour))
			for _, sample := range samples {
				if sample.At.Before(r.From) || !sample.At.Before(r.To) {
					continue
				}
				detail, err := codec.DecodeStatements(sample.Body)
				if err != nil {
					return err
				}
				details[r.Series.Subject] = append(details[r.Series.Subject], detail)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sums := make(map[string]codec.Detail)
	for subject, list := range details {
		sums[subject] = codec.AddUpDetails(list)
	}
	return sums
}

func sameSums(t testing.TB, s *clickhouse.Store, ranges []blocks.StatementRange) (order []string) {
	t.Helper()
	want := byBodies(t, s, ranges)
	err := s.SumStatements(t.Context(), ranges, func(of blocks.Series, sum codec.Detail) error {
		order = append(order, of.Subject)
		other := want[of.Subject]
		if len(sum) != len(other) {
			t.Fatalf("%s: %d databases, not %d", of.Subject, len(sum), len(other))
		}
		for i, is := range sum {
			if is.Database != other[i].Database || !slices.EqualFunc(is.Statements, other[i].Statements, func(a, b codec.Delta) bool {
				return a.Hash == b.Hash && a.Calls == b.Calls && a.Samples == b.Samples && blockstest.Close(a.Total, b.Total) && blockstest.Close(a.Max, b.Max)
			}) {
				t.Fatalf("%s, database %s:\n%v\nbodies:\n%v", of.Subject, is.Database, is.Statements, other[i].Statements)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(order) != len(want) {
		t.Fatalf("%d of %d series", len(order), len(want))
	}
	return order
}

func TestServersComputeTheSumsOfTheBodies(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	s := open(t, c.URL(c.Database(t)), pgtest.DB(t), clickhouse.Limits{})
	organization := uuid.New()
	var list []blocks.Series
	var ranges []blocks.StatementRange
	hour := blockstest.Hour
	for n, engine := range []fleet.Engine{fleet.PostgreSQL, fleet.SQLServer, fleet.Oracle, fleet.PostgreSQL, fleet.PostgreSQL} {
		is := instance(organization, n, engine)
		list = append(list, is)
		seed := uint64(n)
		for block := range 4 {
			start := hour.Add(time.Duration(block) * blocks.RawWidth)
			for again := range 2 { // the first revision must not count
				put(t, s, blocks.Raw, blocks.Block{Series: is, Start: start, Body: blockstest.Samples(t, start, 10-again, 30, engine, seed)})
			}
		}
		for h := range 6 {
			for again := range uint64(2) {
				put(t, s, blocks.HourDetails, blocks.Block{Series: is, Start: hour.Add(time.Duration(h) * time.Hour), Body: blockstest.Detail(t, 30+h, engine, seed+again)})
			}
		}
		put(t, s, blocks.HourDetails, blocks.Block{Series: is, Start: hour.Add(2 * time.Hour)}) // gone
		put(t, s, blocks.ClosedHourDetails, blocks.Block{Series: is, Start: hour.Add(time.Hour), Body: blockstest.Detail(t, 3, engine, 77)})
		put(t, s, blocks.DayDetails, blocks.Block{Series: is, Start: hour.AddDate(0, 0, 1), Body: blockstest.Detail(t, 50, engine, 78)})
	}
	// Raw of each in another span, so that a sample that one asks for is not another's.
	for n, is := range list {
		from := hour.Add(time.Duration(3+2*n) * time.Minute)
		ranges = append(ranges,
			blocks.StatementRange{Table: blocks.Raw, Range: blocks.Range{Series: is, From: from, To: from.Add(time.Duration(5+3*n) * time.Minute)}},
			blocks.StatementRange{Table: blocks.HourDetails, Range: blocks.Range{Series: is, From: hour.Add(time.Hour), To: hour.Add(5 * time.Hour)}},
			blocks.StatementRange{Table: blocks.ClosedHourDetails, Range: blocks.Range{Series: is, From: hour.Add(time.Hour), To: hour.Add(5 * time.Hour)}},
			blocks.StatementRange{Table: blocks.DayDetails, Range: blocks.Range{Series: is, From: hour.AddDate(0, 0, 1), To: hour.AddDate(0, 0, 2)}},
		)
	}
	ranges = append(ranges, blocks.StatementRange{Table: blocks.HourDetails, Range: blocks.Range{Series: instance(organization, 99, fleet.PostgreSQL), From: hour, To: hour.Add(time.Hour)}})
	order := sameSums(t, s, ranges)
	for i, subject := range order {
		if subject != list[i].Subject {
			t.Fatalf("%s came as number %d", subject, i)
		}
	}
	only := slices.Clone(ranges[:1])
	only[0].To = only[0].From // of nobody
	if order := sameSums(t, s, only); len(order) != 0 {
		t.Fatalf("%d series have a sample in no time", len(order))
	}
}

func TestStatementsWithoutADatabaseGetOne(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Shared(t)
	s := open(t, c.URL(c.Database(t)), pgtest.DB(t), clickhouse.Limits{})
	is := instance(uuid.New(), 1, fleet.PostgreSQL)
	known := blockstest.Detail(t, 5, fleet.PostgreSQL, 1)
	detail, err := codec.DecodeDetail(known)
	if err != nil {
		t.Fatal(err)
	}
	old := codec.Detail{{Statements: detail[len(detail)-1].Statements}}.Encode() // from before databases were noted
	put(t, s, blocks.HourDetails, blocks.Block{Series: is, Start: blockstest.Hour, Body: known},
		blocks.Block{Series: is, Start: blockstest.Hour.Add(time.Hour), Body: old})
	sameSums(t, s, []blocks.StatementRange{{Table: blocks.HourDetails, Range: blocks.Range{Series: is, From: blockstest.Hour, To: blockstest.Hour.Add(2 * time.Hour)}}})
}

// BenchmarkStatements is what a delta takes, and what 24 hours of 1,000 instances come to
// beside their bodies, added up here.
func BenchmarkStatements(b *testing.B) {
	const instances, statements = 1000, 200
	c := clickhousetest.Start(b, clickhousetest.Options{Shards: 2})
	s := open(b, c.URL("bench"), pgtest.DB(b), clickhouse.Limits{})
	organization, hour := uuid.New(), blockstest.Hour
	b.Run("put", func(b *testing.B) {
		var list []blocks.Block
		for n := range 100 {
			for block := range 6 {
				start := hour.Add(time.Duration(block) * blocks.RawWidth)
				list = append(list, blocks.Block{Series: instance(organization, n, fleet.PostgreSQL), Start: start, Body: blockstest.Samples(b, start, 10, statements, fleet.PostgreSQL, uint64(6*n+block))})
			}
		}
		for b.Loop() {
			put(b, s, blocks.Raw, list...)
		}
		deltas := float64(len(list) * 10 * statements)
		b.ReportMetric(deltas*float64(b.N)/b.Elapsed().Seconds(), "deltas/s")
		disk := uint64(0)
		for _, server := range c.Servers {
			server.Exec(b, "OPTIMIZE TABLE bench.statement_samples_local FINAL")
			disk += server.Number(b, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'bench' AND table = 'statement_samples_local'")
		}
		b.ReportMetric(float64(disk)/deltas, "bytes/delta")
	})
	var ranges []blocks.StatementRange
	var plain []blocks.Range
	detail := make([][]byte, 50)
	for i := range detail {
		detail[i] = blockstest.Detail(b, statements, fleet.PostgreSQL, uint64(i))
	}
	for h := range 24 {
		var list []blocks.Block
		for n := range instances {
			list = append(list, blocks.Block{Series: instance(organization, n, fleet.PostgreSQL), Start: hour.Add(time.Duration(h) * time.Hour), Body: detail[(n+h)%len(detail)]})
		}
		put(b, s, blocks.HourDetails, list...)
	}
	for n := range instances {
		r := blocks.Range{Series: instance(organization, n, fleet.PostgreSQL), From: hour, To: hour.Add(24 * time.Hour)}
		ranges, plain = append(ranges, blocks.StatementRange{Table: blocks.HourDetails, Range: r}), append(plain, r)
	}
	for round := range 3 {
		b.Run(fmt.Sprint("servers add up ", round), func(b *testing.B) {
			before := c.CPU(b)
			defer func() { b.ReportMetric(float64((c.CPU(b)-before).Milliseconds())/float64(b.N), "servers-cpu-ms/op") }()
			for b.Loop() {
				n := 0
				err := s.SumStatements(b.Context(), ranges, func(_ blocks.Series, sum codec.Detail) error {
					n += len(sum[len(sum)-1].Statements)
					return nil
				})
				if err != nil || n != instances*statements {
					b.Fatal(n, err)
				}
			}
		})
		b.Run(fmt.Sprint("bodies are read ", round), func(b *testing.B) {
			for b.Loop() {
				if err := s.Each(b.Context(), nil, blocks.HourDetails, plain, func(int, time.Time, []byte) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("bodies in memory are added up here ", round), func(b *testing.B) {
			for b.Loop() {
				var sum codec.Adder
				for n := range instances {
					for h := range 24 {
						if err := sum.Add(detail[(n+h)%len(detail)], true); err != nil {
							b.Fatal(err)
						}
					}
					sum.Sum()
					sum.Reset()
				}
			}
		})
	}
}
