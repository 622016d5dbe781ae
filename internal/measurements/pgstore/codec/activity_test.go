package codec

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// TestTheGreatestCombinationsStay of each database, whatever the others have: the first samples, a
// slot that is rolled up and one that is written again keep those with most sessions.
func TestTheGreatestCombinationsStay(t *testing.T) {
	t.Parallel()
	const extra = 30
	sample := func(database byte, of func(i int) int64) measurements.SessionSample {
		s := measurements.SessionSample{Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.UUID{database}, At: monday, Waits: map[string]int64{"Lock": 0}}
		for i := range measurements.MaxDoings + extra {
			n := of(i)
			s.Waits["Lock"] += n
			s.Doing = append(s.Doing, measurements.Doing{State: measurements.Waits, Wait: "Lock", Client: fmt.Sprint("client", i), Sessions: n})
		}
		return s
	}
	busy := sample(1, func(i int) int64 { return 1000 + int64(i) })
	quiet := sample(2, func(i int) int64 { return 1 + int64(i) })
	arrived, err := Arrivals(measurements.Batch{Sessions: []measurements.SessionSample{busy, quiet}})
	if err != nil {
		t.Fatal(err)
	}
	var row []byte
	for _, a := range arrived { // the databases are in one
		if a.Kind == Activity {
			if row, _, err = KindOf(Activity).Roll(fleet.PostgreSQL, monday.Truncate(time.Hour), AllMinutes, []Sample{a.Sample}, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if row, err = KindOf(Activity).Set(row, 59, nil); err != nil {
		t.Fatal(err)
	}
	slots, err := decodeActivity(row, MinutesOfHour)
	if err != nil {
		t.Fatal(err)
	}
	slot := slots[monday.Minute()]
	for _, s := range []measurements.SessionSample{busy, quiet} {
		rest := uint64(0)
		for i, d := range s.Doing {
			c := CombinationOf(&s, d, measurements.NameKey{})
			if got, kept := slot.sums[c]; kept != (i >= extra) || kept && got != uint64(d.Sessions) {
				t.Errorf("database %d: %d sessions of client %d are kept: %t, %d", s.Database[0], d.Sessions, i, kept, got)
			}
			if i < extra {
				rest += uint64(d.Sessions)
			}
		}
		of := CombinationOf(&s, measurements.Doing{State: measurements.Waits, Wait: "Lock"}, measurements.NameKey{})
		if got := slot.sums[of.rest()]; got != rest {
			t.Errorf("database %d: the others are %d sessions, want %d", s.Database[0], got, rest)
		}
	}
}

// TestACombinationTakesSixtyBytesAtMost of those that are kept by the minute (issue 38), also where the names of all
// of them are new in each minute.
func TestACombinationTakesSixtyBytesAtMost(t *testing.T) {
	t.Parallel()
	hour := monday.Truncate(time.Hour)
	for _, test := range []struct {
		what         string
		combinations int // a minute
		names        int // of each dimension; 0: new ones each time
	}{
		{"of a quiet server", 6, 6}, {"of a busy one", 60, 20}, {"as many as are kept", measurements.MaxDoings, 50},
		{"with new names each minute", measurements.MaxDoings, 0}, {"one, with new names each minute", 1, 0},
	} {
		var samples []Sample
		kept := 0
		for minute := range MinutesOfHour {
			s := measurements.SessionSample{Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.UUID{1}, At: hour.Add(time.Duration(minute) * time.Minute), Waits: map[string]int64{}}
			for i := range test.combinations {
				name := func(prime int) string {
					if test.names == 0 {
						return fmt.Sprint(minute, ".", i)
					}
					return fmt.Sprint((minute + i*prime) % test.names)
				}
				s.Waits["Lock"]++
				s.Doing = append(s.Doing, measurements.Doing{State: measurements.Waits, Wait: "Lock", Event: "e" + name(3), Statement: name(5),
					User: name(7), Application: name(11), Client: fmt.Sprint(i, name(13)), Sessions: 1})
			}
			arrived, err := Arrivals(measurements.Batch{Sessions: []measurements.SessionSample{s}})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range arrived {
				if a.Kind == Activity {
					samples, kept = append(samples, a.Sample), kept+test.combinations
				}
			}
		}
		row, _, err := KindOf(Activity).Roll(fleet.PostgreSQL, hour, AllMinutes, samples, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		slots, err := decodeActivity(row, MinutesOfHour)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, slot := range slots {
			read += len(slot.sums)
		}
		each := float64(len(row)) / float64(kept)
		t.Logf("%s: a combination takes %.1f bytes", test.what, each)
		if each > 60 || read != kept {
			t.Errorf("%s: more than 60 bytes, or only %d of %d were kept", test.what, read, kept)
		}
	}
}
