package packing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/packing"
	"muster/internal/measurements/pgstore/rowbytes"
)

// hourOfStatements are samples of an instance, a minute apart, of as many statements each.
func hourOfStatements(tb testing.TB, engine fleet.Engine, hour time.Time, minutes, statements int) []codec.Sample {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	instance, database := uuid.New(), uuid.New()
	var samples []codec.Sample
	for minute := range minutes {
		s := measurements.StatementSample{
			Instance: instance, Database: database, Engine: engine,
			At: hour.Add(time.Duration(minute)*time.Minute + 17*time.Second + 123*time.Microsecond), Interval: time.Minute,
		}
		for n := range statements {
			calls := 1 + random.Int64N(400)
			one := measurements.Statement{Key: fmt.Sprint(n), Calls: calls, TotalMs: float64(calls) * (0.2 + 3*random.Float64())}
			if engine == fleet.SQLServer && n%3 != 0 {
				one.MaxMs = new(one.TotalMs / 2)
			}
			if n%7 == 0 && minute%2 == 0 { // some are not in every sample
				continue
			}
			s.Statements = append(s.Statements, one)
		}
		arrived, err := codec.Arrivals(measurements.Batch{Organization: uuid.New(), Statements: []measurements.StatementSample{s}})
		if err != nil {
			tb.Fatal(err)
		}
		for _, a := range arrived {
			samples = append(samples, a.Sample)
		}
	}
	return samples
}

func TestPack(t *testing.T) {
	hour := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	for _, minutes := range []int{0, 1, 10} {
		samples := hourOfStatements(t, fleet.SQLServer, hour, minutes, 50)
		block := packing.Pack(codec.Statements, hour, samples)
		again, err := packing.Unpack(hour, block, hour, hour.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if len(again) != len(samples) {
			t.Fatalf("%d samples came back as %d", len(samples), len(again))
		}
		for i, s := range again {
			if !s.At.Equal(samples[i].At) {
				t.Fatalf("sample %d of %s came back as of %s", i, samples[i].At, s.At)
			}
			was, err := codec.DecodeStatements(samples[i].Body)
			if err != nil {
				t.Fatal(err)
			}
			is, err := codec.DecodeStatements(s.Body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was, is, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-10, 0)); diff != "" {
				t.Fatalf("sample %d (-was +is):\n%s", i, diff)
			}
		}
		some, err := packing.Unpack(hour, block, hour.Add(2*time.Minute), hour.Add(4*time.Minute))
		if err != nil || len(some) != min(2, max(0, minutes-2)) || len(some) > 0 && string(some[0].Body) != string(again[2].Body) {
			t.Fatalf("two of %d minutes: %d, %v", minutes, len(some), err)
		}
		for cut := range block {
			if _, err := packing.Unpack(hour, block[:cut], hour, hour.Add(time.Hour)); cut > 0 && !errors.Is(err, rowbytes.ErrBytes) {
				t.Fatalf("%d of %d bytes: %v", cut, len(block), err)
			}
		}
	}
}

// BenchmarkPack is ten minutes of 200 statements each.
func BenchmarkPack(b *testing.B) {
	hour := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	samples := hourOfStatements(b, fleet.PostgreSQL, hour, 10, 200)
	plain := 0
	for _, s := range samples {
		plain += len(s.Body)
	}
	block := packing.Pack(codec.Statements, hour, samples)
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			packing.Pack(codec.Statements, hour, samples)
		}
		b.ReportMetric(float64(len(block))/10/200, "B/delta")
		b.ReportMetric(float64(len(block))/float64(plain), "of-plain")
	})
	for minutes, name := range map[int]string{1: "unpack-a-minute", 10: "unpack"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := packing.Unpack(hour, block, hour, hour.Add(time.Duration(minutes)*time.Minute)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
