package codec_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// hourOfStatements are samples of an instance, a minute apart, of as many statements each.
func hourOfStatements(tb testing.TB, hour time.Time, minutes, statements int) []codec.Sample {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	instance, database := uuid.New(), uuid.New()
	var samples []codec.Sample
	for minute := range minutes {
		s := measurements.StatementSample{
			Instance: instance, Database: database, Engine: fleet.PostgreSQL,
			At: hour.Add(time.Duration(minute)*time.Minute + 17*time.Second + 123*time.Microsecond), Interval: time.Minute,
		}
		for n := range statements {
			calls := 1 + random.Int64N(400)
			s.Statements = append(s.Statements, measurements.Statement{
				Key: fmt.Sprint(n), Calls: calls, TotalMs: float64(calls) * (0.2 + 3*random.Float64()),
			})
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
	for _, minutes := range []int{0, 1, 60} {
		samples := hourOfStatements(t, hour, minutes, 50)
		block := codec.Pack(codec.Statements, hour, samples)
		again, err := codec.Unpack(codec.Statements, hour, block)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) != len(samples) {
			t.Fatalf("%d samples came back as %d", len(samples), len(again))
		}
		for i, s := range again {
			if !s.At.Equal(samples[i].At) || string(s.Body) != string(samples[i].Body) {
				t.Fatalf("sample %d came back as another", i)
			}
		}
		for cut := range block {
			if _, err := codec.Unpack(codec.Statements, hour, block[:cut]); cut > 0 && !errors.Is(err, codec.ErrBytes) {
				t.Fatalf("%d of %d bytes: %v", cut, len(block), err)
			}
		}
	}
}

// BenchmarkPack is an hour of 200 statements a minute.
func BenchmarkPack(b *testing.B) {
	hour := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	samples := hourOfStatements(b, hour, 60, 200)
	plain := 0
	for _, s := range samples {
		plain += len(s.Body)
	}
	block := codec.Pack(codec.Statements, hour, samples)
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			codec.Pack(codec.Statements, hour, samples)
		}
		b.ReportMetric(float64(len(block))/60/200, "B/delta")
		b.ReportMetric(float64(len(block))/float64(plain), "of-plain")
	})
	b.Run("unpack", func(b *testing.B) {
		for b.Loop() {
			if _, err := codec.Unpack(codec.Statements, hour, block); err != nil {
				b.Fatal(err)
			}
		}
	})
}
