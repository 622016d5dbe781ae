package codec

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/measurements"
)

// monday is a week's start some time ago.
var monday = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

// kindNames are the kinds that there are.
func kindNames() []string { return []string{Hosts, Sessions, Activity, Servers, Statements, Busy} }

// drawn is a batch of one kind, of one series, from a short time.
func drawn(r *rapid.T, kind string, engine fleet.Engine, size int) (b measurements.Batch) {
	instance := uuid.UUID{1}
	at := rapid.Custom(func(r *rapid.T) time.Time {
		seconds := rapid.IntRange(-10*60, 60*60-1).Draw(r, "second")
		if kind != Hosts {
			seconds = max(0, seconds)
		}
		return monday.Add(time.Duration(seconds-seconds%20) * time.Second)
	})
	database := rapid.Map(rapid.ByteRange(1, 3), func(n byte) uuid.UUID { return uuid.UUID{15: n} })
	for range rapid.IntRange(0, size).Draw(r, "samples") {
		switch kind {
		case Hosts:
			b.Hosts = append(b.Hosts, drawnHost(r, at.Draw(r, "at")))
		case Sessions:
			waits := rapid.MapOfN(rapid.SampledFrom([]string{"Lock", "LWLock", "IO", "Client", "Activity"}), rapid.Int64Range(0, 9), 0, 3).Draw(r, "waits")
			b.Sessions = append(b.Sessions, measurements.SessionSample{Instance: instance, Engine: engine, Database: database.Draw(r, "database"), At: at.Draw(r, "at"), Waits: waits})
		case Activity:
			b.Sessions = append(b.Sessions, drawnActivity(r, engine, instance, database.Draw(r, "database"), at.Draw(r, "at")))
		case Servers:
			b.Servers = append(b.Servers, measurements.ServerSample{Instance: instance, Engine: engine, At: at.Draw(r, "at"), Figures: drawnFigures(r)})
		case Statements:
			s := measurements.StatementSample{Instance: instance, Engine: engine, Database: database.Draw(r, "database"), At: at.Draw(r, "at")}
			for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID).Draw(r, "keys") {
				s.Statements = append(s.Statements, measurements.Statement{
					Key: key, Calls: rapid.Int64Range(0, 1e6).Draw(r, "calls"), TotalMs: rapid.Float64Range(0, 1e9).Draw(r, "time"),
					MaxMs: rapid.Ptr(rapid.Float64Range(0, 1e6), true).Draw(r, "max"),
				})
			}
			b.Statements = append(b.Statements, s)
		case Busy:
			busy := rapid.Float64Range(0, 1e9).Draw(r, "busy")
			b.Statements = append(b.Statements, measurements.StatementSample{
				Instance: instance, Engine: engine, Database: database.Draw(r, "database"), At: at.Draw(r, "at"), BusyMs: &busy,
				Statements: []measurements.Statement{{Key: "a", Calls: rapid.Int64Range(0, 2).Draw(r, "calls"), TotalMs: rapid.Float64Range(0, 1e9).Draw(r, "time")}},
			})
		}
	}
	return b
}

// drawnActivity has sessions that do something, and sometimes more kinds of them than are kept.
func drawnActivity(r *rapid.T, engine fleet.Engine, instance, database uuid.UUID, at time.Time) measurements.SessionSample {
	s := measurements.SessionSample{
		Instance: instance, Engine: engine, Database: database, At: at, Active: rapid.Int64Range(0, 400).Draw(r, "active"),
		Waits:   rapid.MapOfN(rapid.SampledFrom([]string{"Lock", "LWLock", "IO", "Client", "Activity"}), rapid.Int64Range(0, 9), 0, 3).Draw(r, "waits"),
		Partial: rapid.Bool().Draw(r, "partial"), Part: rapid.SampledFrom([]measurements.SessionPart{measurements.WholeSessions, measurements.OnlyWaits}).Draw(r, "part"),
		Deadlocks: rapid.Ptr(rapid.Int64Range(-1, 5), true).Draw(r, "deadlocks"),
	}
	if rapid.IntRange(0, 20).Draw(r, "crowd") == 0 {
		for i := range 300 {
			s.Doing = append(s.Doing, measurements.Doing{State: measurements.OnCPU, User: fmt.Sprint(i), Sessions: int64(i%3 + 1)})
		}
		return s
	}
	name := func(what string) string { return rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, what) }
	for range rapid.IntRange(0, 5).Draw(r, "kinds") {
		d := measurements.Doing{State: measurements.OnCPU, Statement: name("statement"), User: name("user"), Application: name("application"), Client: name("client"), Sessions: rapid.Int64Range(0, 5).Draw(r, "sessions")}
		if wait := rapid.SampledFrom([]string{"", "Lock", "IO"}).Draw(r, "wait"); wait != "" {
			d.State, d.Wait, d.Event = rapid.SampledFrom(measurements.States()[1:]).Draw(r, "state"), wait, name("event")
		}
		s.Doing = append(s.Doing, d)
	}
	return s
}

// drawnFigures are some of a server, at least one.
func drawnFigures(r *rapid.T) (all []measurements.ServerFigure) {
	for _, of := range rapid.SliceOfNDistinct(rapid.SampledFrom(measurements.Figures()), 1, 5, rapid.ID).Draw(r, "figures") {
		f := measurements.ServerFigure{
			Figure: of, Telling: rapid.SampledFrom(tellings[:]).Draw(r, "told"), Value: rapid.Int64Range(0, 1<<40).Draw(r, "value"),
			Interval: time.Duration(rapid.Int64Range(0, 60).Draw(r, "seconds")) * time.Second,
		}
		if of.ByDatabase() {
			f.Database = uuid.UUID{15: rapid.ByteRange(0, 3).Draw(r, "database")}
		}
		if !of.Counts() && rapid.Bool().Draw(r, "held") {
			f.Holder = &measurements.Holder{Session: "17", Database: uuid.UUID{15: 1}, Doing: measurements.Doing{State: measurements.IdleInTransaction, User: "a", Statement: "q"}}
		}
		all = append(all, f)
	}
	return all
}

func drawnHost(r *rapid.T, at time.Time) measurements.HostSample {
	percent := rapid.Ptr(rapid.Float64Range(0, 100), true)
	size := rapid.OneOf(rapid.Just(-1.0), rapid.Map(rapid.Int64Range(0, 1e15), func(n int64) float64 { return float64(n) }), rapid.Float64Range(0, 1e18))
	h := measurements.HostSample{Host: "db", At: at, CPUPercent: percent.Draw(r, "cpu"), MemoryPercent: percent.Draw(r, "memory"), Stale: rapid.IntRange(0, 9).Draw(r, "stale") == 0}
	for range rapid.IntRange(0, 3).Draw(r, "volumes") {
		h.Volumes = append(h.Volumes, measurements.Volume{
			Mount:       rapid.SampledFrom([]string{"/", "/data", "/boot", "/snap/core/1"}).Draw(r, "mount"),
			UsedPercent: percent.Draw(r, "used"), Size: size.Draw(r, "size"), Free: size.Draw(r, "free"), Available: size.Draw(r, "available"),
		})
	}
	if rapid.Bool().Draw(r, "has memory") {
		h.Memory = &measurements.MemoryBytes{Total: size.Draw(r, "total"), Available: size.Draw(r, "available"), Used: size.Draw(r, "used")}
	}
	codes := rapid.SliceOfDistinct(rapid.Int32Range(0, 20), rapid.ID).Draw(r, "codes")
	slices.Sort(codes)
	for _, code := range codes {
		seconds := rapid.OneOf(rapid.Float64Range(0, 1e9), rapid.Map(rapid.Int64Range(0, 1e9), func(n int64) float64 { return float64(n) / 100 })).Draw(r, "seconds")
		h.CPU = append(h.CPU, measurements.CPUCounter{Code: code, Seconds: seconds})
	}
	return h
}

// each checks a property of every kind.
func each(t *testing.T, property func(r *rapid.T, name string, engine fleet.Engine)) {
	t.Parallel()
	for _, name := range kindNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) {
				engine := rapid.SampledFrom(engine.Measured()).Draw(r, "engine")
				property(r, name, engine)
			})
		})
	}
}

func arrive(r *rapid.T, kind string, b measurements.Batch) []Arrival {
	all, err := Arrivals(b)
	if err != nil {
		r.Fatal(err)
	}
	// Busy time comes with statements, and activity with sessions.
	return slices.DeleteFunc(all, func(a Arrival) bool { return a.Kind != kind })
}

// TestTheFirstContentStays: repeated data changes nothing. Only the order of parts matters, and
// not the messages in which they came.
func TestTheFirstContentStays(t *testing.T) {
	each(t, func(r *rapid.T, name string, engine fleet.Engine) {
		k := KindOf(name)
		merge := func(stored, arrived []byte) []byte {
			merged, changed, err := k.Merge(stored, arrived)
			if err != nil {
				r.Fatal(err)
			}
			if changed == bytes.Equal(merged, stored) {
				r.Fatalf("changed is %t from %x to %x", changed, stored, merged)
			}
			return merged
		}
		var bodies [][]byte // of one time
		for range 3 {
			b := drawn(r, name, engine, 3)
			for i := range b.Hosts {
				b.Hosts[i].At = monday
			}
			for i := range b.Sessions {
				b.Sessions[i].At = monday
			}
			for i := range b.Statements {
				b.Statements[i].At = monday
			}
			for i := range b.Servers {
				b.Servers[i].At = monday
			}
			all := arrive(r, name, b)
			if len(all) == 0 {
				return
			}
			if len(all) != 1 || name != Busy && all[0].Count != b.Len() { // busy time is of the first samples alone
				r.Fatalf("%d samples of one time are %d arrivals, the first of %d", b.Len(), len(all), all[0].Count)
			}
			bodies = append(bodies, all[0].Body)
		}
		once := merge(merge(bodies[0], bodies[1]), bodies[2])
		if other := merge(bodies[0], merge(bodies[1], bodies[2])); !bytes.Equal(once, other) {
			r.Fatalf("%x, the other way %x", once, other)
		}
		for _, b := range bodies {
			merge(once, b) // changes nothing: merge says so
			if again, _, _ := k.Merge(once, b); !bytes.Equal(again, once) {
				r.Fatalf("%x again: %x", once, again)
			}
		}
	})
}

// TestMinutesAreRolledUpInAnyOrder: some of them at a time, from the samples that they need,
// any number of times: the row is the one that rolling all at once makes.
func TestMinutesAreRolledUpInAnyOrder(t *testing.T) {
	each(t, func(r *rapid.T, name string, engine fleet.Engine) {
		k := KindOf(name)
		var samples []Sample
		for _, a := range arrive(r, name, drawn(r, name, engine, 30)) {
			samples = append(samples, a.Sample)
		}
		roll := func(dirty uint64, row, known []byte) ([]byte, []byte) {
			needed := samples
			if !k.Whole() {
				needed = nil
				for _, span := range Spans(monday, dirty, k.Reach()) {
					for _, s := range samples {
						if !s.At.Before(span.From) && s.At.Before(span.To) {
							needed = append(needed, s)
						}
					}
				}
			}
			row, detail, err := k.Roll(engine, monday, dirty, needed, row, known)
			if err != nil {
				r.Fatal(err)
			}
			if detail == nil {
				detail = known
			}
			return row, detail
		}
		wantRow, wantDetail := roll(AllMinutes, nil, nil)
		var row, detail []byte
		left := AllMinutes
		for range 3 {
			some := rapid.Uint64Range(0, AllMinutes).Draw(r, "dirty")
			row, detail = roll(some, row, detail)
			left &^= some
		}
		row, detail = roll(left, row, detail)
		if !bytes.Equal(row, wantRow) || !bytes.Equal(detail, wantDetail) {
			r.Fatalf("the row is %x, at once it is %x; the detail is %x and %x", row, wantRow, detail, wantDetail)
		}
	})
}

// TestSettingASlotChangesNoOther, and a removed one is gone.
func TestSettingASlotChangesNoOther(t *testing.T) {
	each(t, func(r *rapid.T, name string, engine fleet.Engine) {
		k := KindOf(name)
		var samples []Sample
		for _, a := range arrive(r, name, drawn(r, name, engine, 20)) {
			samples = append(samples, a.Sample)
		}
		row, _, err := k.Roll(engine, monday, AllMinutes, samples, nil, nil)
		if err != nil {
			r.Fatal(err)
		}
		slot := func(row []byte, i int) []byte {
			s, err := k.Slot(row, i)
			if err != nil {
				r.Fatal(err)
			}
			return s
		}
		var again []byte // the row of its slots, each set where it was
		for i := range MinutesOfHour {
			if again, err = k.Set(again, i, slot(row, i)); err != nil {
				r.Fatal(err)
			}
		}
		if !bytes.Equal(again, row) {
			r.Fatalf("%x, of its slots %x", row, again)
		}
		from, to := rapid.IntRange(0, 59).Draw(r, "from"), rapid.IntRange(0, 70).Draw(r, "to")
		changed, err := k.Set(row, to, slot(row, from))
		if err != nil {
			r.Fatal(err)
		}
		for i := range 75 {
			want := slot(row, i)
			if i == to {
				want = slot(row, from)
			}
			if got := slot(changed, i); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				r.Fatalf("slot %d is %x, want %x", i, got, want)
			}
		}
		for i := range 75 {
			if changed, err = k.Set(changed, i, nil); err != nil {
				r.Fatal(err)
			}
		}
		if changed != nil {
			r.Fatalf("without slots it is %x", changed)
		}
	})
}

// TestPartsAddUpToTheWhole: the hour is the sum of its minutes or its detail, whichever way they are grouped.
func TestPartsAddUpToTheWhole(t *testing.T) {
	each(t, func(r *rapid.T, name string, engine fleet.Engine) {
		k := KindOf(name)
		var samples []Sample
		for _, a := range arrive(r, name, drawn(r, name, engine, 30)) {
			samples = append(samples, a.Sample)
		}
		total := func(row []byte, n int, detail []byte) []byte {
			slot, err := k.Total(engine, row, n, detail)
			if err != nil {
				r.Fatal(err)
			}
			return slot
		}
		row, detail, err := k.Roll(engine, monday, AllMinutes, samples, nil, nil)
		if err != nil {
			r.Fatal(err)
		}
		whole := total(row, MinutesOfHour, detail)
		cut := rapid.IntRange(0, len(samples)).Draw(r, "cut")
		var parts []byte
		var details [][]byte
		for i, some := range [][]Sample{samples[:cut], samples[cut:]} {
			dirty := uint64(0) // so that each part has minutes of its own
			for _, s := range some {
				if minute, ok := minuteOf(monday, s.At); ok && (i == 0 || cut == 0 || s.At.Sub(samples[cut-1].At.Truncate(time.Minute)) >= time.Minute) {
					dirty |= 1 << minute
				}
			}
			part := row
			for minute := range MinutesOfHour {
				if dirty>>minute&1 == 0 {
					if part, err = k.Set(part, minute, nil); err != nil {
						r.Fatal(err)
					}
				}
			}
			if parts, err = k.Set(parts, i, total(part, MinutesOfHour, nil)); err != nil {
				r.Fatal(err)
			}
			if _, detail, err = k.Roll(engine, monday, AllMinutes, some, nil, nil); err != nil {
				r.Fatal(err)
			}
			details = append(details, detail)
		}
		got := total(parts, 2, nil)
		if k.Whole() {
			joined, err := k.Join(details)
			if err != nil {
				r.Fatal(err)
			}
			got = total(nil, 0, joined)
		}
		if want := numbersOf(r, name, whole); !near(want, numbersOf(r, name, got)) {
			r.Fatalf("the parts come to %v, the whole is %v", numbersOf(r, name, got), want)
		}
	})
}

// numbersOf are the numbers of a slot that stands by itself.
func numbersOf(r *rapid.T, name string, slot []byte) (numbers []float64) {
	switch name {
	case Hosts:
		s, err := DecodeHostSlot(slot)
		if err != nil {
			r.Fatal(err)
		}
		return []float64{s.cpu, float64(s.weight), s.memory, float64(s.n), s.disk}
	case Activity:
		slots, err := decodeActivity(slot, 1)
		if err != nil {
			r.Fatal(err)
		}
		if slots[0] == nil {
			return nil
		}
		sums := map[Combination]uint64{} // which combinations were the rest depends on the parts
		for c, n := range slots[0].sums {
			sums[Combination{Database: c.Database, State: c.State, Category: c.Category}] += n
		}
		for _, c := range doing(sums).combinations() {
			numbers = append(numbers, float64(sums[c]))
		}
		for _, id := range []byte{1, 2, 3} {
			n := slots[0].databases[uuid.UUID{15: id}]
			numbers = append(numbers, float64(n.Waiting), float64(n.Told), float64(n.Counting), float64(n.Deadlocks))
		}
		return numbers
	case Servers:
		s, err := decodeFigures(slot)
		if err != nil {
			r.Fatal(err)
		}
		for _, key := range s.keys() {
			of := s[key]
			numbers = append(numbers, float64(key.figure), float64(of.samples[0]), float64(of.samples[1]), float64(of.samples[2]), float64(of.value), float64(of.over))
		}
		return numbers
	case Sessions:
		s, err := decodeKnown(slot, 1)
		if err != nil {
			r.Fatal(err)
		}
		for _, id := range s[0].Databases() {
			numbers = append(numbers, float64(id[15]), float64(s[0][id].Samples))
			for _, n := range s[0][id].Sums {
				numbers = append(numbers, float64(n))
			}
		}
		return numbers
	case Busy:
		s, err := DecodeBusySlot(slot)
		if err != nil {
			r.Fatal(err)
		}
		return []float64{s.Attributed, s.Busy}
	}
	s, err := DecodeQuerySlot(slot)
	if err != nil {
		r.Fatal(err)
	}
	return []float64{s.Total, float64(s.Calls), s.Max}
}

// near compares numbers to nine digits; NaN is NaN.
func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
	})
}
