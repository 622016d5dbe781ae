package blockstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/packing"
)

// arrivals are samples of an instance, a minute apart, with a number of statements each: of two
// databases, the second of which executes nothing.
func arrivals(t testing.TB, start time.Time, minutes, statements int, engine fleet.Engine, seed uint64) (all []codec.Sample) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	instance := uuid.UUID{15: 7}
	var b measurements.Batch
	for minute := range minutes {
		at := start.Add(time.Duration(minute)*time.Minute + 17*time.Second + 123*time.Microsecond)
		s := measurements.StatementSample{Instance: instance, Database: uuid.UUID{15: 9}, Engine: engine, At: at, Interval: time.Minute}
		for n := range statements {
			calls := 1 + random.Int64N(400)
			if random.IntN(50) == 0 {
				calls = 1 << (16 + random.IntN(30))
			}
			one := measurements.Statement{Key: fmt.Sprint(n), Calls: calls, TotalMs: float64(calls) * (0.2 + 3*random.Float64())}
			if random.IntN(3) > 0 {
				most := one.TotalMs * random.Float64()
				one.MaxMs = &most
			}
			s.Statements = append(s.Statements, one)
		}
		idle := s
		idle.Database, idle.Statements = uuid.UUID{15: 3}, nil
		b.Statements = append(b.Statements, s, idle)
	}
	arrived, err := codec.Arrivals(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arrived {
		if a.Kind == codec.Statements {
			all = append(all, a.Sample)
		}
	}
	return all
}

// Samples is a block of Raw of statements, a sample a minute.
func Samples(t testing.TB, start time.Time, minutes, statements int, engine fleet.Engine, seed uint64) []byte {
	t.Helper()
	return packing.Pack(codec.Statements, start, arrivals(t, start, minutes, statements, engine, seed))
}

// Detail is what an hour of statements comes to.
func Detail(t testing.TB, statements int, engine fleet.Engine, seed uint64) []byte {
	t.Helper()
	_, body, err := codec.KindOf(codec.Statements).Roll(engine, Hour, 1, arrivals(t, Hour, 2, statements, engine, seed), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func testStatements(t *testing.T, b backend) {
	organization := uuid.New()
	for n, engine := range []fleet.Engine{fleet.PostgreSQL, fleet.SQLServer, fleet.Oracle} {
		s := b.series(organization, codec.Statements, uuid.UUID{byte(n), 15: 1}.String(), engine)
		for i, statements := range []int{0, 1, 200} {
			start := Hour.Add(time.Duration(i) * blocks.RawWidth)
			block := Samples(t, start, 10, statements, engine, 5)
			b.put(blocks.Raw, blocks.Block{Series: s, Start: start, Body: block})
			same(t, sampled(t, start, block), sampled(t, start, []byte(b.each(blocks.Raw, blocks.Range{Series: s, From: start, To: start.Add(time.Microsecond)})[0].Body)))
			hour := Hour.Add(time.Duration(i) * time.Hour)
			detail := Detail(t, statements, engine, 6)
			b.put(blocks.HourDetails, blocks.Block{Series: s, Start: hour, Body: detail})
			same(t, decoded(t, detail), decoded(t, []byte(b.each(blocks.HourDetails, blocks.Range{Series: s, From: hour, To: hour.Add(time.Microsecond)})[0].Body)))
		}
		empty := packing.Pack(codec.Statements, Hour, nil)
		b.put(blocks.Raw, blocks.Block{Series: s, Start: Hour, Body: empty})
		same(t, "", sampled(t, Hour, []byte(b.each(blocks.Raw, all(s))[0].Body)))
	}
}

func same(t testing.TB, want, is string) {
	t.Helper()
	if want != is {
		t.Fatalf("statements came back as others:\n%.300s\nwere\n%.300s", is, want)
	}
}

func sampled(t testing.TB, start time.Time, block []byte) (text string) {
	t.Helper()
	samples, err := packing.Unpack(start, block, start, start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		detail, err := codec.DecodeStatements(s.Body)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintln(s.At, detail)
	}
	return text
}

func decoded(t testing.TB, body []byte) string {
	t.Helper()
	detail, err := codec.DecodeDetail(body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(detail)
}

// Close says whether two figures are the same but for the order in which they were added.
func Close(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}
