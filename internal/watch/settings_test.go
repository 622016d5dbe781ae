package watch_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/watch"
)

// set replaces the settings of a rule.
func (s *scene) set(rule watch.Rule, settings ...organization.WatchSetting) {
	s.Helper()
	d, _ := watch.Find(string(rule))
	if _, err := s.commands.SetWatchRule(s.Context(), s.admin(), organization.SetWatchRule{Rule: d.WatchRule, All: &settings}); err != nil {
		s.Fatal(err)
	}
}

// about is a setting for servers with env:value; no value: for all.
func about(value string, threshold, forSeconds int, severity alert.Severity) organization.WatchSetting {
	is := organization.WatchSetting{Enabled: true, Threshold: threshold, ForSeconds: forSeconds, Severity: severity}
	if value != "" {
		is.Tags = domain.TagFilter{"env": {value}}
	}
	return is
}

func (s *scene) tag(instance uuid.UUID, value string) {
	s.Helper()
	_, mark, err := s.commands.TagInstances(s.Context(), s.admin(), []uuid.UUID{instance}, domain.ChangeTags{Set: map[string]string{"env": value}})
	s.settle(mark, err)
}

// figure records a figure of a server that was measured just now.
func (s *scene) figure(instance uuid.UUID, rule watch.Rule, value float64) {
	s.Helper()
	s.record(watch.Sign{OrganizationID: s.org, Rule: rule, InstanceID: instance, Value: value, At: s.clock.Now()})
}

// TestSettingsByTag: the first setting that matches a server counts, with its threshold and severity, or with nothing.
func TestSettingsByTag(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	tools := s.register(s.org, "tools")
	s.tag(s.orders, "prod")
	s.tag(tools, "tools")
	off := about("tools", 90, 0, alert.Warning)
	off.Enabled = false
	s.set(watch.Wraparound, about("prod", 50, 0, alert.Info), off, about("", 70, 0, alert.Critical))
	for _, id := range []uuid.UUID{s.orders, s.billing, tools} {
		s.figure(id, watch.Wraparound, 60)
	}
	s.judge()
	s.wantStory("raised wraparound/orders info 0s")
	s.clock.Advance(time.Minute)
	for _, id := range []uuid.UUID{s.orders, s.billing, tools} {
		s.figure(id, watch.Wraparound, 99)
	}
	s.judge()
	s.wantStory("raised wraparound/orders info 0s", "raised wraparound/billing critical 1m0s")
	if e := s.events()[0]; *e.Rule.Threshold != 50 {
		t.Errorf("the alert says the threshold %v", *e.Rule.Threshold)
	}
	s.clock.Advance(time.Minute)
	off.Tags = domain.TagFilter{"env": {"prod", "tools"}}
	s.set(watch.Wraparound, off, about("", 70, 0, alert.Critical))
	s.judge()
	s.wantStory("raised wraparound/orders info 0s", "raised wraparound/billing critical 1m0s", "auto_resolved wraparound/orders 1m0s")
}

// TestAFigureHasToLast for as long as the setting says, without a gap; the alert ends at once.
func TestAFigureHasToLast(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.set(watch.Wraparound, about("", 50, 180, alert.Warning))
	minute := func(value float64) {
		s.figure(s.orders, watch.Wraparound, value)
		s.judge()
		s.clock.Advance(time.Minute)
	}
	for _, v := range []float64{60, 60, 60, 40, 60, 60, 60} { // 0 to 6 minutes: never for three
		minute(v)
	}
	s.wantStory()
	minute(60) // at 7 minutes for three
	s.wantStory("raised wraparound/orders warning 7m0s")
	minute(60)
	minute(50)
	over := []string{"raised wraparound/orders warning 7m0s", "auto_resolved wraparound/orders 9m0s"}
	s.wantStory(over...)
	minute(60)
	minute(60)
	s.clock.Advance(watch.Fresh + time.Minute) // nobody measured
	s.judge()
	for range 3 {
		minute(60)
	}
	s.wantStory(over...)
	minute(60)
	s.wantStory(append(over, "raised wraparound/orders warning 21m0s")...)
}

// TestDownForAsLongAsTheSettingSays: by tag, and never where the rule is off.
func TestDownForAsLongAsTheSettingSays(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.tag(s.orders, "patient")
	s.reach(s.orders, s.billing)
	s.set(watch.Down, about("patient", 0, 300, alert.Warning), about("", 0, 30, alert.Critical))
	s.clock.Advance(time.Second)
	for range 35 {
		s.refuse(s.orders, s.billing)
		s.after(10 * time.Second)
	}
	s.wantStory("raised down/billing critical 1s", "raised down/orders warning 1s")
	s.set(watch.Down, about("patient", 0, 300, alert.Warning), organization.WatchSetting{Severity: alert.Critical})
	s.refuse(s.orders, s.billing)
	s.judge()
	if story := s.story(); len(story) != 3 || !strings.HasPrefix(story[2], "auto_resolved down/billing") {
		t.Errorf("with the rule off: %v", story)
	}
}

// TestSilentByTag: each server for as long as its setting says.
func TestSilentByTag(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.tag(s.orders, "prod")
	s.listened(5 * time.Minute)
	s.set(watch.Silent, about("prod", 10, 0, alert.Critical), about("", 30, 0, alert.Info))
	s.hear(s.orders)
	s.hear(s.billing)
	s.after(10*time.Minute - time.Second)
	s.wantStory()
	s.after(time.Second)
	s.wantStory("raised silent/orders critical 10m0s")
	s.after(20*time.Minute - time.Second)
	s.wantStory("raised silent/orders critical 10m0s")
	s.after(time.Second)
	s.wantStory("raised silent/orders critical 10m0s", "raised silent/billing info 30m0s")
}

// TestNewRules: each is raised once beyond its threshold and resolved once, with a title that says what it is.
func TestNewRules(t *testing.T) {
	t.Parallel()
	minutes := func(n int64) int64 { return n * time.Minute.Milliseconds() }
	server := func(figure measurements.Figure, value int64) func(s *scene) []watch.Sign {
		return func(s *scene) []watch.Sign {
			f := measurements.ServerFigure{Figure: figure, Telling: measurements.Told, Value: value, Holder: &measurements.Holder{Session: "4711"}}
			if figure.Counts() {
				f.Interval = time.Minute
			}
			denied := measurements.ServerFigure{Figure: figure, Telling: measurements.Denied, Value: value, Interval: f.Interval}
			return watch.Figures(measurements.Batch{Organization: s.org, Servers: []measurements.ServerSample{
				{Instance: s.orders, At: s.clock.Now(), Figures: []measurements.ServerFigure{f}}, {Instance: s.billing, At: s.clock.Now(), Figures: []measurements.ServerFigure{denied}},
			}})
		}
	}
	sign := func(is watch.Sign) func(s *scene) []watch.Sign {
		return func(s *scene) []watch.Sign {
			is.OrganizationID, is.InstanceID, is.At = s.org, s.orders, s.clock.Now()
			return []watch.Sign{is}
		}
	}
	wait := func(sessions int) func(s *scene) []watch.Sign {
		return sign(watch.Sign{Rule: watch.LockWait, Value: 1, Details: watch.Details{Sessions: sessions}})
	}
	for _, c := range []struct {
		rule         watch.Rule
		calm, breach func(s *scene) []watch.Sign
		title        string
	}{
		{watch.LongTransaction, server(measurements.OldestTransaction, minutes(60)), server(measurements.OldestTransaction, minutes(61)),
			"orders: a transaction (session 4711) has been open for 1 h 1 min"},
		{watch.IdleInTransaction, server(measurements.OldestIdle, minutes(10)), server(measurements.OldestIdle, minutes(11)),
			"orders: a session (session 4711) has been idle in a transaction for 11 min"},
		{watch.TemporaryFiles, server(measurements.TemporaryBytes, 1024e6), server(measurements.TemporaryBytes, 1025.5e6),
			"orders: 1025.5 MB of temporary files per minute"},
		{watch.Connections, sign(watch.Sign{Rule: watch.Connections, Value: 90, Details: watch.Details{Sessions: 90, Limit: 100}}),
			sign(watch.Sign{Rule: watch.Connections, Value: 95, Details: watch.Details{Sessions: 95, Limit: 100}}), "orders: 95 % of the connections are in use (95 of 100)"},
		{watch.Certificate, sign(watch.Sign{Rule: watch.Certificate, Value: 14}), sign(watch.Sign{Rule: watch.Certificate, Value: 13.5}),
			"orders: its certificate expires in 13 d 12 h"},
		{watch.FailedJobs, sign(watch.Sign{Rule: watch.FailedJobs}), sign(watch.Sign{Rule: watch.FailedJobs, Value: 2}), "orders: 2 runs of jobs failed in the last 24 hours"},
		{watch.Blocking, wait(10), wait(11), "orders: 11 sessions wait for a lock"},
	} {
		t.Run(string(c.rule), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			d, there := watch.Find(string(c.rule))
			if !there || d.Unmeasured != "" {
				t.Fatalf("%s is not measured", c.rule)
			}
			is := d.Default
			is.Enabled, is.ForSeconds = true, 0
			s.set(c.rule, is)
			key := string(c.rule) + "/orders"
			s.record(c.calm(s)...)
			s.judge()
			s.wantStory()
			s.clock.Advance(time.Minute)
			s.record(c.breach(s)...)
			s.judge()
			s.after(10 * time.Second)
			raised := "raised " + key + " " + string(is.Severity) + " 1m0s"
			s.wantStory(raised)
			if got := s.events()[0].Title; got != c.title {
				t.Errorf("title %q, want %q", got, c.title)
			}
			s.clock.Advance(time.Minute)
			s.record(c.calm(s)...)
			s.judge()
			s.after(10 * time.Second)
			s.wantStory(raised, "auto_resolved "+key+" 2m10s")
		})
	}
}

// TestAVolumeCalledAdvisory is no lock: it is judged where waits for advisory locks are left out, and previewed.
func TestAVolumeCalledAdvisory(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	off := organization.WatchOff
	s.settings(organization.ChangeSettings{AdvisoryLocks: &off})
	s.record(watch.Sign{OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.orders, Mount: watch.Advisory, Value: 93, At: s.clock.Now()})
	s.judge()
	if all := s.events(); len(all) != 1 || all[0].Title != "orders: volume /advisory is 93 % full" {
		t.Errorf("raised: %+v", all)
	}
	if p := s.preview(watch.Volume, about("", 90, 0, alert.Warning)); p.Alerts != 1 {
		t.Errorf("previewed: %+v", p)
	}
}

// TestDeadlocksOfTenMinutes are counted together, however many batches and looks bring them, and each once.
func TestDeadlocksOfTenMinutes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	look := func(at time.Time, n int64) measurements.SessionSample {
		return measurements.SessionSample{Instance: s.orders, Database: uuid.New(), At: at, Deadlocks: &n}
	}
	batch := func(samples ...measurements.SessionSample) {
		signs := watch.Figures(measurements.Batch{Organization: s.org, Sessions: samples})
		s.record(signs...)
		s.record(signs...) // sent again
		s.judge()
	}
	batch(look(s.clock.Now(), 2))
	s.clock.Advance(4 * time.Minute)
	batch(look(s.clock.Now().Add(-time.Minute), 1), look(s.clock.Now(), 1))
	s.wantStory()
	s.clock.Advance(time.Minute)
	batch(look(s.clock.Now(), 0))
	s.wantStory()
	s.clock.Advance(time.Minute)
	batch(look(s.clock.Now(), 1))
	s.wantStory("raised deadlocks/orders warning 6m0s")
	if got := s.events()[0].Title; got != "orders: 5 deadlocks in ten minutes" {
		t.Errorf("title %q", got)
	}
	s.clock.Advance(4*time.Minute - time.Second)
	batch(look(s.clock.Now(), 0))
	s.wantStory("raised deadlocks/orders warning 6m0s")
	s.clock.Advance(time.Second)
	batch(look(s.clock.Now(), 0))
	s.wantStory("raised deadlocks/orders warning 6m0s", "auto_resolved deadlocks/orders 10m0s")
}

// TestDeadlocksOfEveryEngine: those that samples of sessions count by database (PostgreSQL, Oracle, SQL Server), and those
// that SQL Server counts without a database count together. The sides of a deadlock that is counted are none more.
func TestDeadlocksOfEveryEngine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		looks   []measurements.Batch // a minute apart
		counted string
	}{
		{"PostgreSQL", []measurements.Batch{{Sessions: counting(2, 1)}, {Sessions: counting(2)}}, "5"},
		{"Oracle", []measurements.Batch{{Sessions: counting(0, 4), Blocking: sides(true)}, {Sessions: counting(1, 0)}}, "5"},
		{"SQL Server with reports", []measurements.Batch{{Sessions: counting(4, 0), Blocking: sides(false)}, {Sessions: counting(1)}}, "5"},
		{"SQL Server without reports", []measurements.Batch{{Blocking: bare(3)}, {Blocking: append(sides(false), bare(2)...)}}, "5"},
		{"SQL Server in part", []measurements.Batch{{Sessions: counting(2), Blocking: bare(2)}, {Sessions: counting(1), Blocking: bare(1)}}, "6"},
	} {
		for how, twice := range map[string]int{"at once": 0, "in parts": 2} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				for _, b := range c.looks {
					if twice == 0 {
						s.look(b)
					}
					for range twice { // a message for each sample, at one time, and then all once more
						for _, one := range b.Sessions {
							s.look(measurements.Batch{Sessions: []measurements.SessionSample{one}})
						}
						s.look(measurements.Batch{Blocking: b.Blocking})
					}
					s.judge()
					s.clock.Advance(time.Minute)
				}
				if all := s.events(); len(all) != 1 || all[0].Title != "orders: "+c.counted+" deadlocks in ten minutes" {
					t.Errorf("%+v, want one of %s", all, c.counted)
				}
			})
		}
	}
}

// counting are samples of databases with so many deadlocks.
func counting(deadlocks ...int64) (samples []measurements.SessionSample) {
	for n := range deadlocks {
		samples = append(samples, measurements.SessionSample{Database: uuid.UUID{byte(n + 1)}, Deadlocks: &deadlocks[n]})
	}
	return samples
}

// bare are so many deadlocks of which the server tells no more.
func bare(n int) []blocking.Sample {
	return []blocking.Sample{{Deadlock: &blocking.Deadlock{Count: n}}}
}

// sides are those of a deadlock, which the server reports or a look saw.
func sides(seen bool) []blocking.Sample {
	return []blocking.Sample{{Deadlock: &blocking.Deadlock{Database: "app", Count: 1, Seen: seen}, Nodes: []blocking.Node{{Session: "51", For: []string{"52"}}, {Session: "52", For: []string{"51"}}}}}
}

// look records what follows from the samples of a look at orders.
func (s *scene) look(b measurements.Batch) {
	b.Organization, b.Sessions, b.Blocking = s.org, slices.Clone(b.Sessions), slices.Clone(b.Blocking)
	for i := range b.Sessions {
		b.Sessions[i].Instance, b.Sessions[i].At = s.orders, s.clock.Now()
	}
	for i := range b.Blocking {
		b.Blocking[i].Instance, b.Blocking[i].At = s.orders, s.clock.Now()
	}
	s.record(watch.Figures(b)...)
}
