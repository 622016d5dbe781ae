package watch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/maintenance"
	"muster/domain/alert"
	"muster/domain/fleet"
	held "muster/domain/maintenance"
	"muster/domain/organization"
	"muster/domain/team"
	"muster/internal/watch"
)

// month draws figures of 30 days, ten minutes of each, and does at each minute what is to be done.
func (s *scene) month(seed uint64, rule watch.Rule, at func(minute int)) {
	s.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	value := map[string]float64{}
	for minute := range 30 * 10 {
		at(minute)
		for _, name := range []string{"billing", "gone", "orders"} {
			value[name] = float64(float32(min(max(value[name]+(random.Float64()-0.5)*60, 0), 100)))
			for id, is := range s.names {
				if is == name {
					s.figure(id, rule, value[name])
				}
			}
		}
		s.after(10 * time.Second)
		s.clock.Advance(50 * time.Second)
		if minute%10 == 9 {
			s.after(8 * time.Minute) // somebody judges meanwhile
			s.clock.Advance(24*time.Hour - 18*time.Minute)
		}
	}
}

// window announces a maintenance window from now on, for the servers with env:prod.
func (s *scene) window(lasts time.Duration) {
	s.Helper()
	from, to := s.clock.Now(), s.clock.Now().Add(lasts)
	_, _, err := s.commands.CreateWindow(s.Context(), s.admin(), maintenance.Window{Name: "Patch day", Terms: held.Terms{
		Selector: team.Selector{Tags: fleet.TagFilter{"env": {"prod"}}}, From: &from, To: &to, TimeZone: "UTC",
	}})
	s.must(err)
}

// inWindows are the alerts that were raised in a maintenance window.
func (s *scene) inWindows() (lines []string) {
	s.Helper()
	for _, e := range s.events() {
		if e.Type != "alert.raised" {
			continue
		}
		marked, err := maintenance.OfAlerts(s.Context(), s.db, s.org, []uuid.UUID{e.Stream})
		s.must(err)
		if _, in := marked[e.Stream]; in {
			lines = append(lines, fmt.Sprintf("%s %s", s.names[e.Instance], e.First.Sub(noon)))
		}
	}
	slices.Sort(lines)
	return lines
}

// TestAPreviewOfAMonthWithEdges: within the 30 days of drawn figures the rule is changed, a server gets another tag, one is
// removed and there are maintenance windows. The preview is what happens in the same month to the servers of today with the
// tags of today if the settings are in force from its beginning. It also says what is raised in a window.
func TestAPreviewOfAMonthWithEdges(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 3))
	days := func() int { return (1 + random.IntN(28)) * 10 }
	tagged, changed, removed := days()+random.IntN(10), days()+random.IntN(10), days()+random.IntN(10)
	first, second, lasts := random.IntN(140), 150+random.IntN(140), time.Duration(1+random.IntN(96))*time.Hour
	settings := []organization.WatchSetting{about("prod", 60, 0, alert.Critical), about("", 80, 120, alert.Info)}
	windows := func(s *scene, minute int) {
		if minute == first || minute == second {
			s.window(lasts)
		}
	}

	var p watch.Preview
	var foretold, want, marked []string
	t.Run("before", func(t *testing.T) {
		s := newScene(t)
		gone := s.register(s.org, "gone")
		s.tag(s.orders, "stage")
		s.tag(gone, "prod")
		s.set(watch.Connections, about("stage", 30, 60, alert.Info), about("", 50, 0, alert.Warning))
		s.month(seed, watch.Connections, func(minute int) {
			windows(s, minute)
			switch minute {
			case tagged:
				s.tag(s.orders, "prod")
			case changed:
				s.set(watch.Connections, about("", 97, 300, alert.Critical))
			}
			if minute == removed {
				delete(s.names, gone)
				s.remove(gone)
			}
		})
		p = s.preview(watch.Connections, settings...)
		foretold = s.foretold(p)
	})
	t.Run("live", func(t *testing.T) {
		s := newScene(t)
		s.tag(s.orders, "prod")
		s.set(watch.Connections, settings...)
		s.month(seed, watch.Connections, func(minute int) { windows(s, minute) })
		want, marked = s.happened(), s.inWindows()
	})
	if diff := cmp.Diff(want, foretold); diff != "" || len(want) < 5 || p.Alerts != len(want) {
		t.Errorf("%d alerts; what happened and what the preview said (-want +got):\n%s", len(want), diff)
	}
	var in []string
	for _, item := range p.Items {
		for _, r := range item.Raised {
			if r.InWindow {
				in = append(in, fmt.Sprintf("%s %s", item.Name, r.At.Sub(noon)))
			}
		}
	}
	slices.Sort(in)
	if diff := cmp.Diff(marked, in); diff != "" || p.InWindow != len(in) {
		t.Errorf("%d are raised in a window; those that were and those that the preview says (-want +got):\n%s", p.InWindow, diff)
	}
	t.Logf("%d alerts, %d in windows", len(want), len(in))
}
