package sqlserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

// costly is a session to a server whose queries take some time, by a clock that only they move.
type costly struct {
	servers.Session
	*fake
	costs   map[string]time.Duration // by the names of queries; another one takes a millisecond
	timeout time.Duration
	spent   time.Duration
	asked   map[string]int
}

func (c *costly) Each(ctx context.Context, statement servers.Statement, take func([][]byte) error) error {
	cost := time.Millisecond
	for name, of := range c.costs {
		if name != "all plans" && tdstest.FirstLine(query(name)) == tdstest.FirstLine(statement.Text) {
			cost = of
			c.asked[name]++
		}
	}
	if whole, is := c.costs["all plans"]; is && strings.Contains(statement.Text, "(0 = 0 OR") {
		cost = whole
	}
	took := min(cost, c.timeout)
	c.spent += took
	c.clock.Advance(took)
	if cost > c.timeout {
		return &servers.Refusal{Engine: fleet.SQLServer, Code: late, Reason: servers.TimedOut}
	}
	return c.Session.Each(ctx, statement, take)
}

func (c *costly) SetTimeout(timeout time.Duration) { c.timeout = timeout }

// TestARoundIsBounded to five seconds of the server's time a minute, whatever its statements take: the lists and their texts.
// What that leaves out counts by the plan cache, or from the second look on that lists it.
func TestARoundIsBounded(t *testing.T) {
	t.Parallel()
	hour := time.Hour
	for name, test := range map[string]struct {
		databases int
		plans     int
		costs     map[string]time.Duration
		counts    bool // plans of the cache, at the last look
	}{
		"80,000 plans": {databases: 1, plans: 80_000, counts: true, costs: map[string]time.Duration{
			"query_store": 81 * time.Millisecond, "query_store_queries": 100 * time.Millisecond, "query_store_plans": 100 * time.Millisecond,
			"query_store_texts": 80 * time.Millisecond,
		}},
		"1,000 databases": {databases: 1000, plans: 1, counts: true, costs: map[string]time.Duration{
			"query_store_state": 5 * time.Millisecond, "query_store": 81 * time.Millisecond, "query_store_texts": 81 * time.Millisecond,
			"plan_cache": 300 * time.Millisecond, "plan_cache_texts": 100 * time.Millisecond,
		}},
		"a query store that hangs":   {databases: 3, plans: 1, counts: true, costs: map[string]time.Duration{"query_store": hour}},
		"texts that hang":            {databases: 3, plans: 1, counts: true, costs: map[string]time.Duration{"query_store_texts": hour, "plan_cache_texts": hour}},
		"a plan cache that hangs":    {databases: 3, plans: 1, counts: true, costs: map[string]time.Duration{"plan_cache": hour, "own_statements": hour}},
		"all query stores hang":      {databases: 1000, plans: 1, counts: true, costs: map[string]time.Duration{"query_store_state": hour, "query_store_texts": hour}},
		"200,000 plans in the cache": {databases: 1, plans: 1, counts: true, costs: map[string]time.Duration{"all plans": 12 * time.Second, "plan_cache": 300 * time.Millisecond}},
		"everything hangs":           {databases: 1000, plans: 1, costs: map[string]time.Duration{"clocks": hour, "query_store_state": hour, "plan_cache": hour}},
		"everything takes a second":  {databases: 1000, plans: 1, costs: map[string]time.Duration{"clocks": time.Second, "query_store_state": time.Second, "query_store": time.Second, "plan_cache": time.Second, "own_statements": time.Second, "query_store_texts": time.Second, "plan_cache_texts": time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for _, database := range f.holdStores(test.databases) {
				f.counters[database] = nil
				for i := range test.plans {
					f.counters[database] = append(f.counters[database], inStore(i+1, 9, fmt.Sprintf("%x", i+1000), 1, 1, 1, -1800, -100))
				}
			}
			f.plans = []row{f.inCache(1, "1", "c", 5, 50, -900)}
			line := f.line(t)
			session := &costly{Session: line.Session, fake: f, costs: test.costs, timeout: measure.StatementTimeout, asked: map[string]int{}}
			line = measure.NewLine(session, nil)
			r := newReader(f.clock.Now)
			if _, err := r.Activity(t.Context(), line); err != nil {
				t.Fatal(err)
			}
			counted := false
			for look := range 3 {
				session.spent = 0
				list, err := r.Statements(t.Context(), line)
				var of []measure.Ref
				if list != nil {
					of = refsOf(list)
					_, _ = r.Texts(t.Context(), line, of)
				}
				const clocks = 2 * time.Second // in front of the list and behind it, where these are as slow
				if bound := lookBudget + min(2*test.costs["clocks"], clocks) + 10*time.Millisecond; session.spent > bound {
					t.Errorf("look %d takes %s of the server's time, asking %v", look, session.spent, session.asked)
				}
				counted = list != nil && list.Sources[1] == fromPlanCache || test.costs["plan_cache"] == hour
				t.Logf("look %d: %s, %d entries, %v", look, session.spent, len(of), err)
				f.clock.Advance(time.Minute - session.spent)
			}
			if test.counts && !counted {
				t.Error("the plan cache is not counted")
			}
		})
	}
}
