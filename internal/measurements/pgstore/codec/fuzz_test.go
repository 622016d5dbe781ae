package codec

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

// FuzzKinds gives each kind bytes that it never wrote, as a failing disk might: an error is a
// valid answer and a panic is not, and the kind itself can read every result without an error.
func FuzzKinds(f *testing.F) {
	used, total := 42.5, 3.25
	batch := measurements.Batch{
		Hosts: []measurements.HostSample{{
			Host: "db", At: monday, CPUPercent: &used, Volumes: []measurements.Volume{{Mount: "/data", Size: 1 << 40, Free: 1 << 39, Available: 1 << 38}},
			CPU: []measurements.CPUCounter{{Code: 0, Seconds: 1.5}, {Code: 3, Seconds: 2.25}, {Code: 16, Seconds: 1e12 / 3}, {Code: 19, Seconds: 0}}, Memory: &measurements.MemoryBytes{Total: 8, Available: 2, Used: -1},
		}},
		Sessions: []measurements.SessionSample{{Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.UUID{2}, At: monday, Waits: map[string]int64{"Lock": 3, "IO": 300}}},
		Servers: []measurements.ServerSample{{Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, At: monday, Figures: []measurements.ServerFigure{
			{Figure: measurements.OldestTransaction, Telling: measurements.Told, Value: 70_000, Holder: &measurements.Holder{Session: "17", Database: uuid.UUID{2}, Doing: measurements.Doing{User: "bill"}}},
			{Figure: measurements.TemporaryBytes, Database: uuid.UUID{2}, Telling: measurements.Told, Value: 1 << 30, Interval: time.Minute}, {Figure: measurements.NewConnections, Telling: measurements.Denied},
		}}},
		Statements: []measurements.StatementSample{{
			Instance: uuid.UUID{1}, Engine: fleet.SQLServer, Database: uuid.UUID{2}, At: monday, BusyMs: &used,
			Statements: []measurements.Statement{{Key: "a", Calls: 500, TotalMs: 12}, {Key: "b", Calls: 1, TotalMs: 3, MaxMs: &total}},
		}},
	}
	all, err := Arrivals(batch)
	if err != nil {
		f.Fatal(err)
	}
	for _, a := range all {
		k := KindOf(a.Kind)
		row, detail, err := k.Roll(fleet.SQLServer, monday, AllMinutes, []Sample{a.Sample}, nil, nil)
		if err != nil {
			f.Fatal(err)
		}
		slot, err := k.Total(fleet.SQLServer, row, MinutesOfHour, detail)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Body, row)
		f.Add(slot, row)
		f.Add(a.Body, detail)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, name := range kindNames() {
			fuzzKind(t, KindOf(name), a, b)
		}
		for _, inDetail := range []bool{false, true} {
			var sum Adder
			_, _ = sum.Add(a, inDetail), sum.Add(b, inDetail)
			_ = sum.Sum()
		}
		fuzzReads(a)
		if shown, _, err := shownPart(a); err == nil {
			fuzzReads(shown)
		}
	})
}

func fuzzKind(t *testing.T, k Kind, a, b []byte) {
	if merged, _, err := k.Merge(a, b); err == nil {
		if again, changed, err := k.Merge(merged, b); err != nil || changed {
			t.Errorf("%T: merged %x and %x to %x, and then %t %v to %x", k, a, b, merged, changed, err, again)
		}
	}
	samples := []Sample{{monday.Add(-time.Minute), a}, {monday, b}, {monday.Add(time.Minute), a}}
	for _, engine := range engine.Measured() {
		row, detail, err := k.Roll(engine, monday, 3, samples, b, nil)
		if err != nil {
			continue
		}
		if slot, err := k.Total(engine, row, 2, detail); err != nil {
			t.Errorf("%T: rolled %x and %x up to %x and %x, of which is %x %v", k, a, b, row, detail, slot, err)
		}
	}
	if detail, err := k.Join([][]byte{a, b}); err == nil && k.Whole() {
		if again, err := k.Join([][]byte{detail}); err != nil || !bytes.Equal(again, detail) {
			t.Errorf("%T: joined %x and %x to %x, and that to %x %v", k, a, b, detail, again, err)
		}
	}
	_, _ = k.Total(fleet.Oracle, a, 24, nil)
	slot, err := k.Slot(a, 1)
	if err != nil {
		return
	}
	if row, err := k.Set(a, 2, slot); err == nil {
		if same, err := k.Slot(row, 2); err != nil || !bytes.Equal(same, slot) {
			t.Errorf("%T: set %x in %x and found %x %v", k, slot, a, same, err)
		}
	}
}

// fuzzReads reads a row as each tile does, of a window that begins with its 31st slot.
func fuzzReads(row []byte) {
	const buckets = 90
	fuzzAverages(row)
	part, err := rowbytes.Cut(row, -30, 0, 30)
	if err != nil {
		return
	}
	_, _ = NewUtilization(buckets).Take(part)
	_ = NewQueryPerformance(buckets, 0).Take(part)
	_ = NewWaitEvents(buckets).Take(part)
}

// fuzzAverages: what is read of a slot in two ways is the same.
func fuzzAverages(row []byte) {
	a, err := ReadActivityRow(row)
	if err != nil {
		return
	}
	averages := a.Averages()
	for i := range len(a.slots) + 1 {
		found, sampled, _, err := averages.Of(i)
		slot, failed := a.Slot(i)
		if (err == nil) != (failed == nil) {
			panic("one reads what the other one cannot")
		}
		if err == nil && sampled != (slot != nil) {
			panic("a slot is sampled for one reader")
		}
		for _, one := range found {
			_ = a.Combinations[one.Combination]
		}
	}
}
