package watch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/watch/status"
)

// TestServerGoesDown: an alert within a minute that says why, and its end as soon as a
// connection succeeds. A restart that takes less than ten seconds raises none (F1).
func TestServerGoesDown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.reach(s.orders, s.billing)
	s.judge()
	s.clock.Advance(10 * time.Second)
	s.refuse(s.orders)
	s.reach(s.billing)
	s.after(5 * time.Second)
	s.wantStory()
	s.clock.Advance(5 * time.Second)
	s.refuse(s.orders)
	s.judge()
	raised := "raised down/orders critical 10s"
	s.wantStory(raised)
	if got := s.events()[0].Title; got != "orders is down: connection refused" {
		t.Errorf("the title is %q", got)
	}
	if threshold := s.events()[0].Rule.Threshold; threshold != nil {
		t.Errorf("its threshold is %g, and nobody set one", *threshold)
	}
	s.clock.Advance(30 * time.Second)
	s.observe(status.Observation{Instance: s.orders, Source: status.Muster, Part: status.Host, OK: true}) // its host lives on
	s.refuse(s.orders)
	s.judge()
	s.wantStory(raised)
	s.clock.Advance(30 * time.Second)
	s.reach(s.orders)
	s.judge()
	s.wantStory(raised, "auto_resolved down/orders 1m20s")
}

// TestNoServerIsDownWhileMusterSleeps: a server without a look is neither down nor back again.
func TestNoServerIsDownWhileMusterSleeps(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.reach(s.orders)
	s.hear(s.billing)
	s.judge()
	s.exec(`UPDATE watch_state SET listening_since = $1, listened_at = $1`, noon.Add(10*time.Minute))
	s.after(10 * time.Minute)
	s.wantStory()
	s.after(20 * time.Second)
	s.wantStory()
	s.refuse(s.orders)
	s.after(10 * time.Second)
	s.refuse(s.orders)
	s.judge()
	s.wantStory("raised down/orders critical 10m20s")
	s.after(10 * time.Minute) // Muster stops again: the alert stays
	s.wantStory("raised down/orders critical 10m20s")
}

// TestTheNetworkOfAllServersFails: one alert for many, and one each for those that stay away.
func TestTheNetworkOfAllServersFails(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	all := []uuid.UUID{s.orders, s.billing}
	for i := range 38 {
		all = append(all, s.register(s.org, fmt.Sprintf("db%02d", i)))
	}
	s.reach(all...)
	s.judge()
	for wave := range 4 { // each server is tried at its own time
		s.clock.Advance(5 * time.Second)
		s.refuse(all[:10*(wave+1)]...)
		s.judge()
	}
	s.clock.Advance(10 * time.Second)
	s.refuse(all...)
	s.judge()
	many := "raised down/" + uuid.Nil.String() + " critical 5s"
	s.wantStory(many)
	if got := s.events()[0].Title; got != "40 of 40 servers are down" {
		t.Errorf("the title is %q", got)
	}
	s.clock.Advance(20 * time.Second)
	s.reach(all[1:]...)
	s.refuse(s.orders)
	s.judge()
	s.judge()
	story := strings.Join(s.story(), "; ")
	if !strings.Contains(story, "auto_resolved down/"+uuid.Nil.String()) || strings.Count(story, "raised down/") != 2 || !strings.Contains(story, "raised down/orders") {
		t.Errorf("the story is %s", story)
	}
}

// TestAServerThatKeepsRestarting is reported, although it is up at nearly every look: one
// alert, until it has been quiet for a while. Two restarts raise none.
func TestAServerThatKeepsRestarting(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.reach(s.orders)
	restarts := func(n int) {
		for range n {
			s.clock.Advance(8 * time.Second)
			s.refuse(s.orders)
			s.clock.Advance(2 * time.Second)
			s.reach(s.orders)
			s.judge()
			s.clock.Advance(10 * time.Second)
			s.reach(s.orders)
			s.judge()
		}
	}
	restarts(2)
	s.wantStory()
	restarts(6)
	raised := "raised down/orders critical 8s"
	s.wantStory(raised)
	if e := s.events()[0]; e.Title != "orders keeps going down: 3 times within 5 minutes" || !strings.HasPrefix(e.Description, "It went down 3 times within 5 minutes, and is up in between.") {
		t.Errorf("it is called %q: %s", e.Title, e.Description)
	}
	for range 31 {
		s.clock.Advance(10 * time.Second)
		s.reach(s.orders)
		s.judge()
	}
	s.wantStory(raised, "auto_resolved down/orders 2m30s")
}

// TestServerNotMeasured: a part that fails for ten minutes raises an alert that names it, and so does one of a
// single database. A server without statement statistics raises none, and neither does one that is down.
func TestServerNotMeasured(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	minute := func(observations ...status.Observation) {
		s.clock.Advance(time.Minute)
		s.reach(s.orders)
		for _, o := range observations {
			o.Instance, o.Source = s.orders, status.Muster
			s.observe(o)
		}
		s.judge()
	}
	none := status.Observation{Part: status.Statements, Code: status.CodeNotAvailable, Sentence: "None."}
	for range 12 {
		minute(none)
	}
	s.wantStory()
	sessions := status.Observation{Part: status.Sessions, Code: "error 976", Sentence: "It refuses."}
	for range 10 {
		minute(none, sessions)
	}
	s.wantStory()
	shop := status.Observation{Part: status.Statements.Of("shop"), Code: "timeout", Sentence: "It is slow."}
	minute(sessions, shop)
	raised := "raised not_measured/orders warning 23m0s"
	s.wantStory(raised)
	if got := s.events()[0].Title; got != "orders: sessions cannot be measured, and 1 more: error 976" {
		t.Errorf("the title is %q", got)
	}
	sessions.OK, sessions.Code = true, ""
	minute(sessions)
	s.wantStory(raised, "auto_resolved not_measured/orders 24m0s")
	for range 12 {
		minute(shop)
	}
	if got := s.events()[2].Title; got != "orders: statements of database shop cannot be measured: timeout" {
		t.Errorf("the title is %q", got)
	}
}

// TestAssessmentFails: a server that is up, and whose assessment has failed for ten minutes, raises an alert with
// the reason. An assessment that failed while the server was down raises none, nor does one that the settings forbid.
func TestAssessmentFails(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	failed := func(instance uuid.UUID, class string) {
		s.exec(`INSERT INTO assessment_targets (organization_id, instance_id, engine, sealed_dsn, last_error_class, last_error, last_error_at, failing_since)
VALUES ($1, $2, 'sqlserver', '', $3, 'It says why.', $4, $4)
ON CONFLICT (organization_id, instance_id) DO UPDATE SET last_error_at = excluded.last_error_at`, s.org, instance, class, s.clock.Now())
	}
	failed(s.orders, "timeout") // before it is up
	for range 12 {
		s.clock.Advance(time.Minute)
		s.reach(s.orders, s.billing)
		failed(s.billing, status.CodeNotAllowed)
		s.judge()
	}
	s.wantStory()
	failed(s.orders, "timeout")
	s.after(0)
	raised := "raised not_measured/orders warning 12m0s"
	s.wantStory(raised)
	if got := s.events()[0].Title; got != "orders: the assessment fails: timeout" {
		t.Errorf("the title is %q", got)
	}
	s.exec(`UPDATE assessment_targets SET last_error_at = NULL, failing_since = NULL`)
	s.clock.Advance(time.Minute)
	s.reach(s.orders)
	s.judge()
	s.wantStory(raised, "auto_resolved not_measured/orders 13m0s")
}
