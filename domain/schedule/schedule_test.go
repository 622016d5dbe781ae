package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/domain/schedule"
)

type events = []schedule.Event

var (
	ana   = uuid.UUID{15: 0xa}
	ben   = uuid.UUID{15: 0xb}
	first = uuid.UUID{15: 1}
	noon  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) // a Friday
)

// eight is eight o'clock so many days after noon's.
func eight(days int) time.Time { return time.Date(2026, 11, 20+days, 8, 0, 0, 0, time.UTC) }

func terms(change ...func(*schedule.Terms)) schedule.Terms {
	t := schedule.Terms{Name: "Security", Kind: report.Security, Recurrence: daily("08:00", "UTC"), Enabled: true}.Normal()
	for _, c := range change {
		c(&t)
	}
	return t
}

// given folds facts of noon.
func given(facts ...schedule.Event) *schedule.Schedule {
	var s schedule.Schedule
	for _, e := range facts {
		s.Apply(e, noon)
	}
	return &s
}

var created = schedule.Created{OwnerID: ana, Terms: terms()}

func TestDueTimes(t *testing.T) {
	t.Parallel()
	later := func(x *schedule.Terms) { x.At = "11:00" }
	for _, c := range []struct {
		name  string
		facts events
		now   time.Time
		want  []time.Time
		next  time.Time
	}{
		{"nothing that does not exist", nil, eight(9), nil, time.Time{}},
		{"not yet", events{created}, eight(1).Add(-1), nil, eight(1)},
		{"at the instant", events{created}, eight(1), []time.Time{eight(1)}, eight(1)},
		{"after days on which nobody looked", events{created}, eight(3), []time.Time{eight(1), eight(2), eight(3)}, eight(1)},
		{"not again what has a fact", events{created, schedule.Missed{DueAt: eight(1)}, schedule.Requested{DueAt: eight(2)}}, eight(3), []time.Time{eight(3)}, eight(3)},
		{"not again where a clock steps back", events{created, schedule.Paused{DueAt: eight(3)}}, eight(1), nil, eight(4)},
		{"not while it is off", events{created, schedule.Changed{Terms: terms(func(x *schedule.Terms) { x.Enabled = false })}}, eight(9), nil, time.Time{}},
		{"not once it is removed", events{created, schedule.Removed{}}, eight(9), nil, time.Time{}},
		{"at the new time from the change on", events{created, schedule.Changed{Terms: terms(later)}}, eight(1), nil, eight(1).Add(3 * time.Hour)},
		{"not again where it is changed after a clock stepped back", events{created, schedule.Requested{DueAt: eight(2)}, schedule.Changed{Terms: terms(later)}}, eight(2), nil, eight(2).Add(3 * time.Hour)},
		{"though it was renamed", events{created, schedule.Changed{Terms: terms(func(x *schedule.Terms) { x.Name = "S" })}}, eight(1), []time.Time{eight(1)}, eight(1)},
		{"not what passed while it was off", events{
			schedule.Created{OwnerID: ana, Terms: terms(func(x *schedule.Terms) { x.Enabled = false; x.At = "11:00" })},
			schedule.Changed{Terms: terms(later)},
		}, noon, nil, eight(1).Add(3 * time.Hour)},
	} {
		s := given(c.facts...)
		if diff := cmp.Diff(c.want, s.Due(time.UTC, c.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if next := s.Next(time.UTC); !next.Equal(c.next) {
			t.Errorf("%s: next %s, want %s", c.name, next, c.next)
		}
	}
}

// TestADayIsDueOnceWhenTheRulesOfItsZoneChange: the rules change on a day that has been due, so that its time
// of day comes again, and then the zone has its old rules back.
func TestADayIsDueOnceWhenTheRulesOfItsZoneChange(t *testing.T) {
	t.Parallel()
	zones := map[string]*time.Location{"before": time.FixedZone("before", 2*3600), "an hour less": time.FixedZone("less", 3600), "two hours more": time.FixedZone("more", 4*3600)}
	six := func(days int) time.Time { return eight(days).Add(-2 * time.Hour) } // 08:00 by the earlier rules
	ran := given(created, schedule.Requested{DueAt: six(1)})
	for name, want := range map[string]time.Time{"before": six(2), "an hour less": six(2).Add(time.Hour), "two hours more": six(2).Add(-2 * time.Hour)} {
		if next := ran.Next(zones[name]); !next.Equal(want) {
			t.Errorf("%s: next %s, want %s", name, next, want)
		}
		if dues := ran.Due(zones[name], six(1).Add(11*time.Hour)); len(dues) != 0 {
			t.Errorf("%s: due again on the day: %v", name, dues)
		}
		if coming := ran.Coming(zones[name], six(1), 2); len(coming) != 2 || !coming[0].Equal(want) || !coming[1].Equal(want.AddDate(0, 0, 1)) {
			t.Errorf("%s: coming are %v", name, coming)
		}
	}
	ran.Apply(schedule.Requested{DueAt: six(2).Add(time.Hour)}, noon) // by the process that had the new rules
	if next := ran.Next(zones["before"]); !next.Equal(six(3)) {
		t.Errorf("by whoever has the old ones: %s", next)
	}
	retimed := schedule.Changed{Terms: terms(func(x *schedule.Terms) { x.At = "11:00" })}
	if ran = given(created, schedule.Requested{DueAt: noon}, retimed); !ran.Next(time.UTC).Equal(eight(1).Add(3 * time.Hour)) {
		t.Errorf("retimed: next %s", ran.Next(time.UTC))
	}
	if evening := given(schedule.Created{OwnerID: ana, Terms: terms(func(x *schedule.Terms) { x.At = "20:00" })}); !evening.Next(time.UTC).Equal(noon.Add(8 * time.Hour)) {
		t.Errorf("created at noon, and due at %s", evening.Next(time.UTC))
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	off := terms(func(x *schedule.Terms) { x.Enabled = false })
	renamed := terms(func(x *schedule.Terms) { x.Name = "S" })
	why := func(due time.Time) string { return due.Format("2 Jan") }
	for _, c := range []struct {
		name string
		s    *schedule.Schedule
		when func(s *schedule.Schedule) (events, error)
		want events
		err  bool
	}{
		{"created", given(), func(s *schedule.Schedule) (events, error) { return s.Create(ana, terms()) }, events{created}, false},
		{"created twice", given(created), func(s *schedule.Schedule) (events, error) { return s.Create(ana, terms()) }, nil, true},
		{"created by nobody", given(), func(s *schedule.Schedule) (events, error) { return s.Create(uuid.Nil, terms()) }, nil, true},
		{"changed to what it is", given(created), func(s *schedule.Schedule) (events, error) { return s.Change(terms(), time.UTC, eight(1)), nil }, nil, false},
		{"renamed while one waits", given(created), func(s *schedule.Schedule) (events, error) { return s.Change(renamed, time.UTC, eight(1)), nil },
			events{schedule.Changed{Terms: renamed}}, false},
		{"switched off while one waits", given(created), func(s *schedule.Schedule) (events, error) { return s.Change(off, time.UTC, eight(1)), nil },
			events{schedule.Missed{DueAt: eight(1), Reason: schedule.ReasonChanged}, schedule.Changed{Terms: off}}, false},
		{"removed while one waits", given(created), func(s *schedule.Schedule) (events, error) { return s.Remove(time.UTC, eight(1)), nil },
			events{schedule.Missed{DueAt: eight(1), Reason: schedule.ReasonChanged}, schedule.Removed{}}, false},
		{"taken over", given(created), func(s *schedule.Schedule) (events, error) { return s.TakeOver(ben), nil }, events{schedule.TakenOver{OwnerID: ben}}, false},
		{"taken over by its owner", given(created), func(s *schedule.Schedule) (events, error) { return s.TakeOver(ana), nil }, nil, false},
		{"run after days on which nobody looked", given(created), func(s *schedule.Schedule) (events, error) {
			return s.Settle(s.Due(time.UTC, eight(3)), why, schedule.Requested{DueAt: eight(3), ReportID: first})
		}, events{
			schedule.Missed{DueAt: eight(1), Reason: "21 Nov"}, schedule.Missed{DueAt: eight(2), Reason: "22 Nov"},
			schedule.Requested{DueAt: eight(3), ReportID: first},
		}, false},
		{"run twice", given(created, schedule.Requested{DueAt: eight(1)}), func(s *schedule.Schedule) (events, error) {
			return s.Settle([]time.Time{eight(1)}, why, schedule.Requested{DueAt: eight(1)})
		}, nil, true},
		{"run at a time that is not due", given(created), func(s *schedule.Schedule) (events, error) {
			return s.Settle([]time.Time{eight(1)}, why, schedule.Requested{DueAt: noon})
		}, nil, true},
	} {
		got, err := c.when(c.s)
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != c.err {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
}

func TestTheLatestReportsComeFirst(t *testing.T) {
	t.Parallel()
	s := given(created)
	for i := range 25 {
		s.Apply(schedule.Requested{DueAt: eight(i + 1), ReportID: uuid.UUID{15: byte(i)}}, noon)
	}
	s.Apply(schedule.Unchanged{DueAt: eight(30), ReportID: uuid.UUID{15: 24}}, noon)
	got := s.Reports()
	if len(got) != 20 || got[0] != (uuid.UUID{15: 24}) || got[19] != (uuid.UUID{15: 5}) {
		t.Errorf("%d reports: %v", len(got), got)
	}
}

// TestAYearOfClocksThatStep: each due time of a year has one fact, in order, whatever the
// clocks of the processes show.
func TestAYearOfClocksThatStep(t *testing.T) {
	t.Parallel()
	s, z := given(created), zone(t, "Europe/Amsterdam")
	var recorded []time.Time
	now := noon
	for i := range 2000 {
		now = now.Add([]time.Duration{7 * time.Hour, -3 * time.Hour, 26 * time.Hour, -50 * time.Hour, 31 * time.Hour, 13 * time.Hour}[i%6])
		dues := s.Due(z, now)
		if len(dues) == 0 {
			continue
		}
		facts, err := s.Settle(dues, func(time.Time) string { return schedule.ReasonAway }, schedule.Requested{DueAt: dues[len(dues)-1]})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range facts {
			run, _ := schedule.RunOf(e)
			recorded = append(recorded, run.DueAt)
			s.Apply(e, now)
		}
	}
	want := terms().NextOf(z, noon, len(recorded))
	if diff := cmp.Diff(want, recorded); diff != "" || len(recorded) < 300 {
		t.Errorf("%d due times (-want +got):\n%s", len(recorded), diff)
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	db := uuid.UUID{15: 9}
	for _, c := range []struct {
		name   string
		change func(*schedule.Terms)
		want   string // pointer code …
	}{
		{"daily", func(*schedule.Terms) {}, ""},
		{"weekly", func(x *schedule.Terms) { x.Every, x.Weekday = schedule.Week, "monday" }, ""},
		{"weekly on no day", func(x *schedule.Terms) { x.Every = schedule.Week }, "#/weekday weekday_required"},
		{"monthly on no day", func(x *schedule.Terms) { x.Every = schedule.Month }, "#/dayOfMonth day_of_month_required"},
		{"monthly on the 32nd", func(x *schedule.Terms) { x.Every, x.DayOfMonth = schedule.Month, 32 }, "#/dayOfMonth day_of_month_required"},
		{"on the last of the month", func(x *schedule.Terms) { x.Every, x.DayOfMonth = schedule.Month, -1 }, ""},
		{"yearly at 25:00", func(x *schedule.Terms) { x.Every, x.At = "year", "25:00" }, "#/every invalid_parameter #/at invalid_parameter"},
		{"at 8:00", func(x *schedule.Terms) { x.At = "8:00" }, "#/at invalid_parameter"},
		{"a scorecard", func(x *schedule.Terms) {
			x.Kind, x.Scope = report.InstanceScorecard, schedule.Scope{Window: "7d", DatabaseID: &db}
		}, ""},
		{"a scorecard of no window", func(x *schedule.Terms) { x.Kind = report.InstanceScorecard }, "#/scope/window range_required"},
		{"a window that is not a scorecard's", func(x *schedule.Terms) { x.Scope.Window = "7d" }, "#/scope/window range_not_allowed"},
		{"an inventory that changed", func(x *schedule.Terms) { x.Kind, x.OnlyIfChanged = report.DataInventory, true }, "#/onlyIfChanged not_comparable"},
	} {
		var got string
		for i, b := range terms(c.change).Validate() {
			if i > 0 {
				got += " "
			}
			got += b.Pointer + " " + b.Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	scope := schedule.Scope{Window: "7d"}.At(eight(7), time.UTC)
	if !scope.From.Equal(eight(0)) || !scope.To.Equal(eight(7)) {
		t.Errorf("a window of seven days is %s to %s", scope.From, scope.To)
	}
	if scope := (schedule.Scope{}).At(noon, time.UTC); scope.From != nil || scope.To != nil {
		t.Errorf("no window is %s to %s", scope.From, scope.To)
	}
	normal := terms(func(x *schedule.Terms) { x.Weekday, x.DayOfMonth = "monday", 3 }).Normal()
	if diff := cmp.Diff(terms(), normal); diff != "" {
		t.Errorf("what its recurrence does not use (-want +got):\n%s", diff)
	}
}

// TestADayOrMonthWindowFollowsTheTimeZone: a day on which the clocks change has 23 or 25 hours, and the month
// of such a day an hour less or more.
func TestADayOrMonthWindowFollowsTheTimeZone(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		window, due string
		from        string
		hours       float64
	}{
		{"day", "2026-03-30T06:00:00Z", "2026-03-28T23:00:00Z", 23},
		{"day", "2026-10-26T06:00:00Z", "2026-10-24T22:00:00Z", 25},
		{"day", "2026-06-01T22:30:00Z", "2026-05-31T22:00:00Z", 24}, // 00:30 on June 2
		{"month", "2026-11-01T06:00:00Z", "2026-09-30T22:00:00Z", 31*24 + 1},
		{"month", "2026-04-01T06:00:00Z", "2026-02-28T23:00:00Z", 31*24 - 1},
		{"month", "2026-01-15T06:00:00Z", "2025-11-30T23:00:00Z", 31 * 24},
		{"7d", "2026-10-26T06:00:00Z", "2026-10-19T06:00:00Z", 7 * 24},
	} {
		due, err := time.Parse(time.RFC3339, c.due)
		if err != nil {
			t.Fatal(err)
		}
		scope := schedule.Scope{Window: c.window}.At(due, berlin)
		if got := scope.From.Format(time.RFC3339); got != c.from || scope.To.Sub(*scope.From).Hours() != c.hours {
			t.Errorf("%s before %s is from %s, %s; want from %s, %v h", c.window, c.due, got, scope.To.Sub(*scope.From), c.from, c.hours)
		}
		if _, broken := report.Validate(report.AlertsSummary, scope, due); len(broken) > 0 {
			t.Errorf("%s before %s: %v", c.window, c.due, broken)
		}
	}
	terms := schedule.Terms{Kind: report.InstanceScorecard, Scope: schedule.Scope{Window: "month"}, Recurrence: schedule.Recurrence{Every: schedule.Day, At: "07:00", TimeZone: "UTC"}}
	if broken := terms.Validate(); len(broken) != 1 || broken[0].Code != "range_too_wide" {
		t.Errorf("a scorecard of a month: %v", broken)
	}
	if terms.Kind = report.AlertsSummary; len(terms.Validate()) > 0 {
		t.Errorf("a summary of a month: %v", terms.Validate())
	}
}

// TestADigestCoversTheDayBeforeByTheClock: the days of a daily digest follow each other without a gap, through both
// changes of the clocks, also if the time of day does not exist or comes twice.
func TestADigestCoversTheDayBeforeByTheClock(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	for _, at := range []string{"07:00", "02:30", "00:00"} {
		terms := schedule.Terms{Kind: report.DailyDigest, Recurrence: daily(at, "Europe/Berlin")}
		if broken := terms.Validate(); len(broken) > 0 {
			t.Fatalf("%s: %v", at, broken)
		}
		for _, begin := range []string{"2026-03-26T12:00:00Z", "2026-10-22T12:00:00Z"} {
			lengths := map[time.Duration]int{}
			var before time.Time
			for _, due := range terms.NextOf(berlin, instant(t, begin), 6) {
				scope := terms.ScopeAt(due, berlin)
				if !scope.To.Equal(due) || scope.TimeZone != "Europe/Berlin" || !before.IsZero() && !scope.From.Equal(before) {
					t.Errorf("%s: due at %s it covers %s to %s, and the one before ended at %s", at, due, scope.From, scope.To, before)
				}
				if _, broken := report.Validate(report.DailyDigest, scope, due); len(broken) > 0 {
					t.Errorf("%s: %v", at, broken)
				}
				lengths[scope.To.Sub(*scope.From).Truncate(30*time.Minute)]++
				before = due
			}
			if len(lengths) < 2 || lengths[24*time.Hour] < 3 {
				t.Errorf("%s from %s: the days are %v long", at, begin, lengths)
			}
		}
	}
	terms := schedule.Terms{Kind: report.DailyDigest, Scope: schedule.Scope{Window: "7d"}, Recurrence: daily("07:00", "UTC")}
	if broken := terms.Validate(); len(broken) != 1 || broken[0].Code != "range_not_allowed" {
		t.Errorf("a digest of a week: %v", broken)
	}
}
