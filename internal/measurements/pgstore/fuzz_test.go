package pgstore

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// FuzzKinds gives each kind bytes that it never wrote, as a disk that rots might: an
// error is an answer, a panic is none, and what comes without an error is what the kind
// itself can read.
func FuzzKinds(f *testing.F) {
	used, total := 42.5, 3.25
	batch := measurements.Batch{
		Hosts: []measurements.HostSample{{
			Host: "db", At: monday, CPUPercent: &used, Volumes: []measurements.Volume{{Mount: "/data", Size: 1 << 40, Free: 1 << 39, Available: 1 << 38}},
			CPU: []measurements.CPUCounter{{Code: 0, Seconds: 1.5}, {Code: 3, Seconds: 2.25}, {Code: 16, Seconds: 1e12 / 3}, {Code: 19, Seconds: 0}}, Memory: &measurements.MemoryBytes{Total: 8, Available: 2, Used: -1},
		}},
		Sessions: []measurements.SessionSample{{Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.UUID{2}, At: monday, Waits: map[string]int64{"Lock": 3, "IO": 300}}},
		Statements: []measurements.StatementSample{{
			Instance: uuid.UUID{1}, Engine: fleet.SQLServer, Database: uuid.UUID{2}, At: monday,
			Statements: []measurements.Statement{{Key: "a", Calls: 500, TotalMs: 12}, {Key: "b", Calls: 1, TotalMs: 3, MaxMs: &total}},
		}},
	}
	all, err := arrivals(batch)
	if err != nil {
		f.Fatal(err)
	}
	for _, a := range all {
		k := kindOf(a.kind)
		row, detail, err := k.roll(fleet.SQLServer, monday, allMinutes, []sample{a.sample}, nil, nil)
		if err != nil {
			f.Fatal(err)
		}
		slot, err := k.total(fleet.SQLServer, row, minutesOfHour, detail)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.body, row)
		f.Add(slot, row)
		f.Add(a.body, detail)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, name := range kindNames() {
			fuzzKind(t, kindOf(name), a, b)
		}
		w := windowOf(timegrid.Window{From: monday, To: monday.Add(90 * time.Minute), Size: timegrid.Minute})
		fuzzReads(w, a)
		if shown, _, err := shownPart(a); err == nil {
			fuzzReads(w, shown)
		}
	})
}

func fuzzKind(t *testing.T, k kind, a, b []byte) {
	if merged, _, err := k.merge(a, b); err == nil {
		if again, changed, err := k.merge(merged, b); err != nil || changed {
			t.Errorf("%T: merged %x and %x to %x, and then %t %v to %x", k, a, b, merged, changed, err, again)
		}
	}
	samples := []sample{{monday.Add(-time.Minute), a}, {monday, b}, {monday.Add(time.Minute), a}}
	for _, engine := range measurements.Engines() {
		row, detail, err := k.roll(engine, monday, 3, samples, b, nil)
		if err != nil {
			continue
		}
		if slot, err := k.total(engine, row, 2, detail); err != nil {
			t.Errorf("%T: rolled %x and %x up to %x and %x, of which is %x %v", k, a, b, row, detail, slot, err)
		}
	}
	if detail, err := k.join([][]byte{a, b}); err == nil && k.whole() {
		if again, err := k.join([][]byte{detail}); err != nil || !bytes.Equal(again, detail) {
			t.Errorf("%T: joined %x and %x to %x, and that to %x %v", k, a, b, detail, again, err)
		}
	}
	_, _ = k.total(fleet.Oracle, a, 24, nil)
	slot, err := k.slot(a, 1)
	if err != nil {
		return
	}
	if row, err := k.set(a, 2, slot); err == nil {
		if same, err := k.slot(row, 2); err != nil || !bytes.Equal(same, slot) {
			t.Errorf("%T: set %x in %x and found %x %v", k, slot, a, same, err)
		}
	}
}

// fuzzReads reads a row as each tile does.
func fuzzReads(w window, row []byte) {
	part, err := w.stretch(monday.Add(30*time.Minute), row)
	if err != nil {
		return
	}
	u := utilization{cpu: newMeans(w.buckets), memory: newMeans(w.buckets), disk: measurements.Gaps(w.buckets)}
	_, _ = u.take(part)
	p := queryPerformance{QuerySums: measurements.QuerySums{TotalMs: measurements.Gaps(w.buckets), Calls: measurements.Gaps(w.buckets), MaxMs: measurements.Gaps(w.buckets)}}
	_ = p.take(part)
	e := waitEvents{sampled: make([]bool, w.buckets)}
	for c := range e.Waiting {
		e.Waiting[c] = measurements.Gaps(w.buckets)
	}
	_ = e.take(part)
}
