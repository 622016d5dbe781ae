package measurementstest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// aging is a store with samples around the beginning of a past week that is recent enough for
// nothing of it to be forgotten: retention uses the clock.
type aging struct {
	*testing.T
	Harness
	organization uuid.UUID
	monday       time.Time
}

// newAging takes the week before last.
func newAging(t *testing.T, h Harness) *aging {
	return &aging{t, h, uuid.New(), timegrid.Week.Floor(time.Now().Add(-14 * 24 * time.Hour))}
}

// at is so long after the week's beginning.
func (a *aging) at(d time.Duration) time.Time { return a.monday.Add(d) }

// in is the n buckets from so long after the week's beginning.
func (a *aging) in(d time.Duration, n int, size timegrid.Size) timegrid.Window {
	return timegrid.Window{From: a.at(d), To: a.at(d).Add(time.Duration(n) * size.Width()), Size: size}
}

// sent writes a sample of each sort of a time, of an instance's database, and compares
// the receipt. Each says the same number: percent, waiting sessions, and ms.
func (a *aging) sent(when time.Duration, number float64, want measurements.Receipt) {
	a.Helper()
	got, err := a.Store.Write(a.Context(), measurements.Batch{
		Organization: a.organization,
		Hosts:        []measurements.HostSample{{Host: "db01", At: a.at(when), CPUPercent: &number}},
		Sessions:     []measurements.SessionSample{{Instance: orders, Engine: pg, Database: shop, At: a.at(when), Waits: waits{"Lock": int64(number)}}},
		Statements:   []measurements.StatementSample{{Instance: orders, Engine: pg, Database: shop, At: a.at(when), Statements: []measurements.Statement{q("a", 1, number)}}},
	})
	if err != nil || got != want {
		a.Errorf("%+v (%v), want %+v", got, err, want)
	}
	a.roll(a)
}

var each = measurements.SampleCounts{Hosts: 1, Sessions: 1, Statements: 1}

// accepted and refused send a sample with that expected result.
func (a *aging) accepted(when time.Duration, number float64) {
	a.Helper()
	a.sent(when, number, measurements.Receipt{Accepted: each})
}

func (a *aging) refused(when time.Duration, number float64) {
	a.Helper()
	a.sent(when, number, measurements.Receipt{TooLate: each})
}

// pass lets time pass and seals what is due then.
func (a *aging) pass(by time.Duration) {
	a.Helper()
	if err := a.Age(a.Context(), by); err != nil {
		a.Fatal(err)
	}
	if err := a.Seal(a.Context()); err != nil {
		a.Fatal(err)
	}
}

// shows compares a window: each sample has the same number, so each tile has their
// mean. calls are the samples of each bucket. Maxima are for the cases to compare: of a
// week that is over, queries are forgotten one by one, and what is imported into it
// after that is another query to its days.
func (a *aging) shows(w timegrid.Window, mean, calls line) {
	a.Helper()
	u := a.utilization(a, a.organization, measurements.HostScope{}, w)
	equals(a, "CPU", mean, u.lines["CPU"])
	equals(a, "locks", mean, a.waits(a, a.organization, pg, everything, w).lines["locks"])
	q := a.queries(a, a.organization, pg, everything, w, time.Now()).lines
	equals(a, "calls", calls, q["calls"])
	for i := range calls {
		if ms := q["time"][i] / q["calls"][i]; calls[i] > 0 && !near(line{mean[i]}, line{ms}) {
			a.Errorf("bucket %d: %g ms, want %g", i, ms, mean[i])
		}
	}
}

// maxima compares those of a window.
func (a *aging) maxima(w timegrid.Window, want ...float64) {
	a.Helper()
	equals(a, "maximum", want, a.queries(a, a.organization, pg, everything, w, time.Now()).lines["maximum"])
}

func equals(t tester, name string, want, got line) {
	t.Helper()
	if !near(want, got) {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

// lateCases: contract §18.3 (the unit of lateness), design §7.
func lateCases() []story {
	const hour, day = time.Hour, 24 * time.Hour
	return []story{
		{"an hour of which nothing has arrived for 72 hours takes no more", func(t *testing.T, h Harness) {
			a := newAging(t, h)
			a.accepted(2*day, 10)
			a.pass(71 * hour)
			a.accepted(2*day+time.Minute, 20)
			a.pass(71 * hour) // the hour began anew
			a.accepted(2*day+2*time.Minute, 30)
			a.pass(73 * hour)
			a.refused(2*day+3*time.Minute, 990)
			a.refused(2*day, 990) // not even what it has
			a.shows(a.in(2*day, 4, timegrid.Minute), line{10, 20, 30, gap}, line{1, 1, 1, 0})
			a.shows(a.in(2*day, 1, timegrid.Hour), line{20}, line{3})
			a.maxima(a.in(2*day, 1, timegrid.Hour), 20)
			a.maxima(a.in(2*day, 1, timegrid.Day), 20)
			a.maxima(a.in(0, 1, timegrid.Week), 20)
		}},
		{"any other hour does, however old", func(t *testing.T, h Harness) {
			a := newAging(t, h)
			a.accepted(2*day, 10)
			a.pass(80 * hour)
			a.accepted(2*day+hour, 20)
			a.accepted(2*day-1, 30) // the last of the day before
			a.refused(2*day+59*time.Minute, 990)
			a.accepted(5*day, 60)
			a.shows(a.in(2*day-hour, 3, timegrid.Hour), line{30, 10, 20}, line{1, 1, 1})
			a.maxima(a.in(2*day-hour, 3, timegrid.Hour), 30, 10, 20)
			a.shows(a.in(day, 5, timegrid.Day), line{30, 15, gap, gap, 60}, line{1, 2, 0, 0, 1})
			a.shows(a.in(0, 1, timegrid.Week), line{30}, line{4})
		}},
		{"a week that is sealed, and nothing came late", func(t *testing.T, h Harness) {
			a := newAging(t, h)
			for i := range 7 {
				a.accepted(time.Duration(i)*day+hour, float64(10*(i+1)))
			}
			a.pass(80 * hour)
			a.pass(80 * hour)
			a.shows(a.in(0, 7, timegrid.Day), line{10, 20, 30, 40, 50, 60, 70}, line{1, 1, 1, 1, 1, 1, 1})
			a.shows(a.in(0, 1, timegrid.Week), line{40}, line{7})
			a.maxima(a.in(0, 7, timegrid.Day), 10, 20, 30, 40, 50, 60, 70)
			a.maxima(a.in(0, 1, timegrid.Week), 40)
		}},
		{"one series is too late, another is not", func(t *testing.T, h Harness) {
			a := newAging(t, h)
			a.accepted(2*day, 10)
			a.pass(80 * hour)
			for _, other := range []measurements.HostSample{{Host: "db02", At: a.at(2 * day), CPUPercent: p(1)}, {Host: "DB01", At: a.at(2 * day), CPUPercent: p(1)}} {
				h.write(t, measurements.Batch{Organization: a.organization, Hosts: []measurements.HostSample{other}})
			}
			h.write(t, measurements.Batch{Organization: uuid.New(), Hosts: []measurements.HostSample{{Host: "db01", At: a.at(2 * day), CPUPercent: p(1)}}})
			h.write(t, measurements.Batch{Organization: a.organization, Sessions: []measurements.SessionSample{{Instance: crm, Engine: pg, Database: contacts, At: a.at(2 * day)}}})
		}},
		{"a batch of both is kept as far as it can be", func(t *testing.T, h Harness) {
			a := newAging(t, h)
			a.accepted(2*day, 10)
			a.pass(80 * hour)
			receipt, err := h.Store.Write(t.Context(), measurements.Batch{
				Organization: a.organization,
				Hosts:        []measurements.HostSample{{Host: "db01", At: a.at(2 * day), CPUPercent: p(1)}, {Host: "db01", At: a.at(3 * day), CPUPercent: p(50)}},
			})
			if want := (measurements.Receipt{Accepted: measurements.SampleCounts{Hosts: 1}, TooLate: measurements.SampleCounts{Hosts: 1}}); err != nil || receipt != want {
				t.Errorf("%+v (%v), want %+v", receipt, err, want)
			}
		}},
		{"the last scrape of an hour that is sealed is where an interval of the next may begin", func(t *testing.T, h Harness) {
			a := newAging(t, h)
			counters := func(when time.Duration, user, idle float64) {
				s := scrape("10:00", user, idle)
				s.At = a.at(when)
				h.write(t, measurements.Batch{Organization: a.organization, Hosts: []measurements.HostSample{s}})
				h.roll(t)
			}
			counters(2*day+58*time.Minute, 0, 0)
			counters(2*day+59*time.Minute, 30, 30)
			if err := h.Age(t.Context(), 80*hour); err != nil {
				t.Fatal(err)
			}
			counters(2*day+62*time.Minute, 180, 60)
			a.pass(0) // of the two hours the first
			counters(2*day+61*time.Minute, 150, 30)
			u := h.utilization(t, a.organization, measurements.HostScope{}, a.in(2*day, 2, timegrid.Hour))
			equals(t, "CPU", line{50, (100*120 + 50*60) / 180.0}, u.lines["CPU"])
		}},
	}
}
