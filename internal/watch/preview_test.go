package watch_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/organization"
	"muster/internal/testing/longtest"
	"muster/internal/watch"
	"muster/projections/fleet"
)

func (s *scene) preview(rule watch.Rule, settings ...organization.WatchSetting) watch.Preview {
	s.Helper()
	d, _ := watch.Find(string(rule))
	h := &watch.History{DB: s.db, Fleet: fleet.NewReader(s.db), Now: s.clock.Now}
	stored, err := s.commands.Accounts.WatchRulesOf(s.Context(), s.org)
	if err != nil {
		s.Fatal(err)
	}
	o, _, err := s.commands.Accounts.Organization(s.Context(), s.org)
	if err != nil {
		s.Fatal(err)
	}
	p, err := h.Preview(s.Context(), s.org, d, settings, watch.SettingsOf(stored, o.Settings().Watch)[rule], o.AdvisoryLocks)
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// foretold are the alerts of a preview, as a story tells those that were raised.
func (s *scene) foretold(p watch.Preview) (lines []string) {
	for _, item := range p.Items {
		for _, r := range item.Raised {
			line := fmt.Sprintf("%s %s %s to", item.Name, r.Severity, r.At.Sub(noon))
			if r.Until != nil {
				line += " " + r.Until.Sub(noon).String()
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// happened are the alerts that were raised, in the same words.
func (s *scene) happened() (lines []string) {
	severity := map[uuid.UUID]string{}
	first := map[uuid.UUID]string{}
	until := map[uuid.UUID]string{}
	for _, e := range s.events() {
		switch e.Type {
		case "alert.raised":
			severity[e.Stream], first[e.Stream] = e.Severity, s.names[e.Instance]+" %s "+e.First.Sub(noon).String()+" to"
		case "alert.changed":
			if e.Severity == string(alert.Critical) {
				severity[e.Stream] = e.Severity
			}
		case "alert.auto_resolved":
			until[e.Stream] = " " + e.ResolvedAt.Sub(noon).String()
		}
	}
	for id := range first {
		lines = append(lines, fmt.Sprintf(first[id], severity[id])+until[id])
	}
	slices.Sort(lines)
	return lines
}

// foretoldRule is a rule whose figures of hours are drawn.
type foretoldRule struct {
	rule     watch.Rule
	mount    string
	span     float64 // figures are 0 to so much
	settings []organization.WatchSetting
}

// TestAPreviewMatchesTheLaterAlerts: figures of hours, drawn at random, raise live what the preview of the same
// figures said before the settings were in force, with the same times and severities.
func TestAPreviewMatchesTheLaterAlerts(t *testing.T) {
	t.Parallel()
	happensAsForetold(t, []foretoldRule{
		{watch.Connections, "", 100, []organization.WatchSetting{about("prod", 60, 300, alert.Critical), about("", 80, 120, alert.Info)}},
		{watch.FullIn, "/data", 60, []organization.WatchSetting{about("prod", 14, 0, alert.Warning), about("", 7, 120, alert.Info)}},
	})
}

// TestLongAPreviewMatchesTheLaterAlerts has rules that are judged by the same code.
func TestLongAPreviewMatchesTheLaterAlerts(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	happensAsForetold(t, []foretoldRule{
		{watch.LockWait, "", 10, []organization.WatchSetting{about("", 6, 0, alert.Warning)}},
		{watch.Wraparound, "", 100, []organization.WatchSetting{about("", 70, 0, alert.Warning)}},
		{watch.Volume, "/data", 100, []organization.WatchSetting{about("prod", 60, 0, alert.Warning), about("", 96, 60, alert.Info)}},
		{watch.Certificate, "", 30, []organization.WatchSetting{about("prod", 10, 0, alert.Warning), about("", 20, 180, alert.Info)}},
	})
}

func happensAsForetold(t *testing.T, rules []foretoldRule) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	for _, c := range rules {
		t.Run(string(c.rule), func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d", seed)
			feed := func(s *scene) {
				s.tag(s.orders, "prod")
				random := rand.New(rand.NewPCG(seed, 1))
				value := map[uuid.UUID]float64{}
				s.clock.Advance(17 * time.Second) // servers are measured at a time of the minute
				for range 180 {
					gap := random.IntN(40) == 0 // nobody measures for a while
					var measured []watch.Sign
					for _, id := range []uuid.UUID{s.orders, s.billing} {
						v := min(max(value[id]+(random.Float64()-0.5)*c.span/2, 0), c.span)
						if random.IntN(30) == 0 {
							v = random.Float64() * c.span
						}
						value[id] = float64(float32(v))
						sessions := random.IntN(20)
						measured = append(measured, watch.Sign{OrganizationID: s.org, Rule: c.rule, InstanceID: id, Mount: c.mount, Value: value[id], At: s.clock.Now(), Details: watch.Details{Sessions: sessions}})
					}
					if !gap {
						s.record(measured...)
					}
					s.after(10 * time.Second)
					if gap {
						s.after(8 * time.Minute) // somebody judges meanwhile
					}
					s.clock.Advance(50 * time.Second)
				}
			}
			never := slices.Clone(c.settings)
			for i := range never {
				never[i].Enabled = false
			}
			before := newScene(t)
			before.set(c.rule, never...)
			feed(before)
			before.wantStory()
			p := before.preview(c.rule, c.settings...)
			live := newScene(t)
			live.set(c.rule, c.settings...)
			feed(live)
			want := live.happened()
			if diff := cmp.Diff(want, before.foretold(p)); diff != "" || len(want) < 3 {
				t.Errorf("%d alerts; what happened and what the preview said (-want +got):\n%s", len(want), diff)
			}
			if p.Alerts != len(want) || p.Servers > 2 || p.Now.Alerts != 0 || p.Unmeasured != 0 {
				t.Errorf("the preview counts %+v", p)
			}
			after := live.preview(c.rule, never...)
			if after.Alerts != 0 || after.Now.Alerts != len(want) {
				t.Errorf("when it happened, the preview says %d now and %d without the rule", after.Now.Alerts, after.Alerts)
			}
		})
	}
}

// TestAPreviewOfLooks: of several looks a minute, a preview of waits for locks is what then happens, to the minute. Many
// sessions and a long wait count together only if one look saw both.
func TestAPreviewOfLooks(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	long, short, few, some := 6.5, 1.6, 2, 12 // minutes, and sessions
	feed := func(s *scene) {
		random := rand.New(rand.NewPCG(seed, 1))
		s.clock.Advance(3 * time.Second)
		minutes := [][]watch.Sign{
			{{}}, {{}}, // nobody waits
			{{Value: short, Details: watch.Details{Sessions: few}}},
			{{Value: 0.5, Details: watch.Details{Sessions: some}}},
			{{Value: short, Details: watch.Details{Sessions: few}}, {Value: 0.5, Details: watch.Details{Sessions: some}}}, // one after the other
			{{Value: short, Details: watch.Details{Sessions: some}}},
			{{Value: long, Details: watch.Details{Sessions: few}}},
		}
		for range 5 {
			for _, n := range random.Perm(len(minutes)) {
				looks := minutes[n]
				for i := range 6 {
					one, other := looks[i%len(looks)], looks[i%len(looks)]
					one.Mount, other.Mount = "", watch.Advisory
					for _, at := range []*watch.Sign{&one, &other} {
						at.OrganizationID, at.Rule, at.InstanceID, at.At = s.org, watch.LockWait, s.orders, s.clock.Now()
					}
					s.record(one, other)
					s.after(10 * time.Second)
				}
			}
		}
	}
	setting := about("", 5, 0, alert.Warning)
	never := setting
	never.Enabled = false
	for _, locks := range []string{organization.WatchOn, organization.WatchOff} {
		t.Run("advisory locks "+locks, func(t *testing.T) {
			t.Parallel()
			before, live := newScene(t), newScene(t)
			for _, s := range []*scene{before, live} {
				s.settings(organization.ChangeSettings{AdvisoryLocks: &locks})
			}
			before.set(watch.LockWait, never)
			feed(before)
			p := before.preview(watch.LockWait, setting)
			feed(live)
			got, want := toTheMinute(before.foretold(p)), toTheMinute(live.happened())
			if diff := cmp.Diff(want, got); diff != "" || len(want) < 3 || p.Alerts != len(want) {
				t.Errorf("%d alerts; what happened and what the preview said (-want +got):\n%s", len(want), diff)
			}
			if kinds := map[string]int{organization.WatchOn: 2, organization.WatchOff: 1}[locks]; len(slices.Compact(slices.Clone(want)))*kinds != len(want) {
				t.Errorf("waits for advisory locks %s: %v", locks, want)
			}
		})
	}
}

// toTheMinute leaves the seconds out of lines.
func toTheMinute(lines []string) []string {
	for i := range lines {
		lines[i] = regexp.MustCompile(`\d+s( |$)`).ReplaceAllString(lines[i], "$1")
	}
	slices.Sort(lines)
	return lines
}

// TestAPreviewOfOutages counts each, and only those that last for as long as the setting says.
func TestAPreviewOfOutages(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, minutes := range []int{1, 5, 2} {
		s.reach(s.orders, s.billing)
		s.after(10 * time.Second)
		for range 6 * minutes {
			s.refuse(s.orders)
			s.reach(s.billing)
			s.after(10 * time.Second)
		}
		s.reach(s.orders, s.billing)
		for range 60 {
			s.after(10 * time.Second)
			s.reach(s.orders, s.billing)
		}
	}
	if got := len(s.happened()); got != 3 {
		t.Fatalf("%d outages", got)
	}
	for seconds, want := range map[int]int{10: 3, 90: 2, 200: 1, 600: 0} {
		if p := s.preview(watch.Down, about("", 0, seconds, alert.Critical)); p.Alerts != want || p.Now.Alerts != 3 || p.Unmeasured != 0 {
			t.Errorf("for %d seconds: %d alerts, want %d; now %d", seconds, p.Alerts, want, p.Now.Alerts)
		}
	}
}

// TestAPreviewNamesItsGaps: since when there are figures, and of how many servers there are none. Servers of
// others and removed ones do not count, and what is older than 30 days is deleted.
func TestAPreviewNamesItsGaps(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	setting := about("", 50, 0, alert.Warning)
	if p := s.preview(watch.Wraparound, setting); p.Since != nil || p.Alerts != 0 || p.Unmeasured != 2 {
		t.Errorf("without figures: %+v", p)
	}
	s.clock.Advance(50 * time.Minute)
	s.figure(s.orders, watch.Wraparound, 60)
	for range 3 { // an hour without an alert in between, and one after
		s.clock.Advance(40 * time.Minute)
		s.figure(s.orders, watch.Wraparound, 10)
	}
	s.judge()
	p := s.preview(watch.Wraparound, setting)
	if p.Since == nil || !p.Since.Equal(noon) || p.Alerts != 1 || p.Servers != 1 || p.Unmeasured != 1 || len(p.Items) != 1 || p.Items[0].Name != "orders" || len(p.Items[0].Figures) != 3 || p.Items[0].Longest != 40*time.Minute {
		t.Errorf("%+v", p)
	}
	other, _, _, err := s.commands.CreateOrganization(t.Context(), "Other", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &watch.History{DB: s.db, Fleet: fleet.NewReader(s.db), Now: s.clock.Now}
	d, _ := watch.Find(string(watch.Wraparound))
	if p, err := h.Preview(t.Context(), other.ID, d, []organization.WatchSetting{setting}, []organization.WatchSetting{setting}, organization.WatchOn); err != nil || p.Alerts != 0 || p.Since != nil {
		t.Errorf("another organization: %+v, %v", p, err)
	}
	s.remove(s.orders)
	if p := s.preview(watch.Wraparound, setting); p.Alerts != 0 || p.Unmeasured != 1 {
		t.Errorf("removed: %+v", p)
	}
	s.clock.Advance(32 * 24 * time.Hour)
	s.judge()
	var left int
	if err := s.db.Get(&left, `SELECT count(*) FROM sign_hours`); err != nil || left != 0 {
		t.Errorf("%d hours are left, %v", left, err)
	}
}

// TestAPreviewOfAFigureThatFlaps counts every alert of a month, and lists the newest.
func TestAPreviewOfAFigureThatFlaps(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.clock.Advance(31 * 24 * time.Hour)
	s.exec(`INSERT INTO sign_hours (organization_id, rule, instance_id, mount, hour, at, minutes)
		SELECT $1, 'connections', i, '', h, h + interval '59 minutes 7 seconds', (SELECT array_agg((n % 2 * 99)::real) FROM generate_series(0, 59) AS n)
		FROM unnest($2::uuid[]) AS i, generate_series($3::timestamptz, $4, '1 hour') AS h`,
		s.org, []string{s.orders.String(), s.billing.String()}, s.clock.Now().Add(-watch.Past), s.clock.Now().Add(-time.Hour))
	p := s.preview(watch.Connections, about("", 50, 0, alert.Warning))
	if want := 2 * 30 * 24 * 30; p.Alerts != want || p.Now.Alerts != 0 || p.Servers != 2 || len(p.Items) != 2 {
		t.Fatalf("%d alerts on %d servers, want %d", p.Alerts, p.Servers, want)
	}
	if item := p.Items[0]; len(item.Raised) != 100 || item.Alerts != 30*24*30 || !item.Raised[99].At.Equal(s.clock.Now().Add(-53*time.Second)) || item.Longest != time.Minute {
		t.Errorf("%d listed of %d, the last at %s, the longest for %s", len(item.Raised), item.Alerts, item.Raised[99].At, item.Longest)
	}
}

// TestAFigureAtItsThresholdIsNotRead: a rule about more than nothing does not read all zeros of a month.
func TestAFigureAtItsThresholdIsNotRead(t *testing.T) {
	t.Parallel()
	for _, d := range watch.Catalogue() {
		if d.Below || d.Unmeasured != "" {
			continue
		}
		setting := d.Default
		setting.Enabled = true
		at := watch.Sign{Value: float64(setting.Threshold)}
		if read := at.Value >= watch.Above(d, setting); read != d.Beyond(at, setting) && d.ID != string(watch.LockWait) {
			t.Errorf("%s: %g is read: %t", d.ID, at.Value, read)
		}
	}
}

// TestAFigureTooLargeIsKept: one that no real can hold does not keep those beside it from being recorded.
func TestAFigureTooLargeIsKept(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.figure(s.orders, watch.Wraparound, 1e300)
	s.clock.Advance(time.Minute)
	s.figure(s.orders, watch.Wraparound, 1e-300)
	if p := s.preview(watch.Wraparound, about("", 50, 0, alert.Warning)); p.Alerts != 1 {
		t.Errorf("%+v", p)
	}
}
