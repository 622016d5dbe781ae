package status_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/internal/testing/pgtest"
	"muster/internal/watch/status"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// fact is one of a source; it began an hour ago unless since says otherwise.
func fact(source string, part status.Part, ok bool, tried time.Duration, since ...time.Duration) status.Fact {
	f := status.Fact{Source: source, Part: part, OK: ok, Since: ago(time.Hour), TriedAt: ago(tried)}
	if len(since) > 0 {
		f.Since = ago(since[0])
	}
	if ok {
		f.OKAt = &f.TriedAt
	} else {
		f.Code, f.Sentence = "refused", "Connection refused."
	}
	return f
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const s = time.Second
	own := func(ok bool, tried time.Duration, since ...time.Duration) status.Fact {
		return fact(status.Muster, status.Connection, ok, tried, since...)
	}
	excluded := own(false, 5*s)
	excluded.Code = status.CodeNotAllowed
	resting := own(false, 25*s, 3*time.Hour)
	resting.Code = status.CodeResting
	minutely := 300.0
	slow := fact(status.Feed, status.Sessions, true, 14*time.Minute)
	slow.Every = &minutely
	for name, c := range map[string]struct {
		facts  []status.Fact
		asleep bool
		want   string // state, age of since, code
	}{
		"nothing is known":                          {nil, false, "unknown - never_heard"},
		"a connection":                              {[]status.Fact{own(true, 8*s)}, false, "up 1h0m0s "},
		"F1: a dead server on a live host":          {[]status.Fact{own(false, 4*s, 100*s), fact(status.Muster, status.Host, true, 2*s)}, false, "down 1m40s refused"},
		"a host alone":                              {[]status.Fact{fact(status.Feed, status.Host, true, 2*s)}, false, "unknown - host_only"},
		"Muster did not look":                       {[]status.Fact{own(true, 61*s)}, false, "unknown 1m1s not_looking"},
		"Muster did not look, and it was down":      {[]status.Fact{own(false, 61*s)}, false, "unknown 1m1s not_looking"},
		"the settings exclude it":                   {[]status.Fact{excluded}, false, "unknown 1h0m0s not_allowed"},
		"it is let pause":                           {[]status.Fact{resting}, false, "unknown 3h0m0s resting"},
		"it is let pause, and a feed reports it":    {[]status.Fact{resting, fact(status.Feed, status.Sessions, true, 170*s)}, false, "up 1h0m0s "},
		"a feed":                                    {[]status.Fact{fact(status.Feed, status.Sessions, true, 170*s)}, false, "up 1h0m0s "},
		"a feed that is late":                       {[]status.Fact{fact(status.Feed, status.Sessions, true, 181*s)}, false, "silent 3m1s not_heard"},
		"a feed of every five minutes":              {[]status.Fact{slow}, false, "up 1h0m0s "},
		"a feed that is late while nobody listened": {[]status.Fact{fact(status.Feed, status.Sessions, true, 181*s)}, true, "unknown 3m1s not_heard"},
		"an agent":                                  {[]status.Fact{fact(status.Agent+"a", status.Sessions, true, 30*s)}, false, "up 1h0m0s "},
		"an agent that is gone":                     {[]status.Fact{fact(status.Agent+"a", status.Sessions, true, 61*s)}, false, "unknown 1m1s not_heard"},
		"an agent that is gone for long":            {[]status.Fact{fact(status.Agent+"a", status.Sessions, true, 181*s)}, false, "silent 3m1s not_heard"},
		"an agent that is refused":                  {[]status.Fact{fact(status.Agent+"a", status.Connection, false, 50*s), fact(status.Agent+"a", status.Sessions, true, 3601*s)}, false, "down 1h0m0s refused"},
		"two agents that disagree":                  {[]status.Fact{fact(status.Agent+"a", status.Connection, false, 5*s, 90*s), fact(status.Agent+"b", status.Sessions, true, 3*s)}, false, "up 1h0m0s "},
		"two agents that disagreed until one was gone": {
			[]status.Fact{fact(status.Agent+"a", status.Connection, false, 5*s), fact(status.Agent+"b", status.Sessions, true, 61*s)}, false, "down 1m1s refused",
		},
		"Muster read sessions before it was refused": {
			[]status.Fact{own(false, 5*s, 8*s), fact(status.Muster, status.Sessions, true, 6*s)}, false, "down 8s refused",
		},
		"a feed cannot read statements of late": {
			[]status.Fact{own(true, 8*s), fact(status.Feed, status.Statements, false, 5*s, 3*s)}, false, "up 1h0m0s ",
		},
		"an agent that was refused a while ago": {[]status.Fact{fact(status.Agent+"a", status.Connection, false, 100*s, 200*s)}, false, "down 3m20s refused"},
		"two are refused, and one connected in between": {
			[]status.Fact{fact(status.Exporter+"pg_up", status.Connection, false, 5*s, 100*s), own(false, 4*s, 20*s), fact(status.Agent+"a", status.Sessions, true, 50*s)},
			false, "down 20s refused",
		},
		"two connect, one of them of late": {
			[]status.Fact{own(true, 8*s, 300*s), fact(status.Agent+"a", status.Sessions, true, 5*s)}, false, "up 1h0m0s ",
		},
		"an agent is gone, and the server is up": {[]status.Fact{own(true, 5*s), fact(status.Agent+"a", status.Sessions, true, 400*s)}, false, "up 1h0m0s "},
		"an agent is up, and the server is down": {[]status.Fact{fact(status.Agent+"a", status.Connection, false, 5*s, 9*s), fact(status.Agent+"a", status.Sessions, true, 12*s), fact(status.Agent+"a", status.Host, true, 2*s)}, false, "down 9s refused"},
		"a server without its host":              {[]status.Fact{own(true, 5*s), fact(status.Muster, status.Host, true, time.Hour)}, false, "up 1h0m0s "},
		"a success at the moment of the failure": {[]status.Fact{own(false, 4*s, 20*s), fact(status.Exporter+"pg_up", status.Connection, true, 20*s)}, false, "up 1h0m0s "},
		"an exporter":                            {[]status.Fact{fact(status.Exporter+"pg_up", status.Connection, false, 15*s, 45*s)}, false, "down 45s refused"},
		"an exporter that said up before Muster was refused": {
			[]status.Fact{own(false, 4*s, 20*s), fact(status.Exporter+"pg_up", status.Connection, true, 40*s)}, false, "down 20s refused",
		},
		"an exporter that says up after": {
			[]status.Fact{own(false, 4*s, 20*s), fact(status.Exporter+"pg_up", status.Connection, true, 10*s)}, false, "up 1h0m0s ",
		},
		"an agent took over from a connection": {[]status.Fact{own(true, time.Hour), fact(status.Agent+"a", status.Sessions, true, 10*s)}, false, "up 1h0m0s "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listening := ago(time.Hour)
			if c.asleep {
				listening = ago(time.Minute)
			}
			is := status.Decide(c.facts, noon, &listening)
			got := string(is.State) + " -"
			if is.Since != nil {
				got = string(is.State) + " " + noon.Sub(*is.Since).String()
			}
			got += " "
			if is.Reason != nil {
				got += is.Reason.Code
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if is.State != status.Up && is.Reason != nil && is.Reason.Sentence == "" {
				t.Error("it says no sentence")
			}
		})
	}
}

// TestSilenceNeedsAListener: while no process of Muster accepts samples of others, no server is
// silent. A process that last reported 45 seconds ago is gone.
func TestSilenceNeedsAListener(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	for name, test := range map[string]struct {
		listened time.Duration // ago
		want     status.State
	}{"a listener": {40 * time.Second, status.Silent}, "a listener that is gone": {50 * time.Second, status.Unknown}} {
		if _, err := db.Exec(`UPDATE watch_state SET listening_since = $1, listened_at = $2`, ago(time.Hour), ago(test.listened)); err != nil {
			t.Fatal(err)
		}
		listening, err := status.ListeningSince(t.Context(), db, noon)
		if err != nil {
			t.Fatal(err)
		}
		if got := status.Decide([]status.Fact{fact(status.Feed, status.Sessions, true, 10*time.Minute)}, noon, listening).State; got != test.want {
			t.Errorf("%s: it is %s, want %s", name, got, test.want)
		}
	}
}

// TestParts: parts that were measured before a server went down are not measured any more.
func TestParts(t *testing.T) {
	t.Parallel()
	facts := []status.Fact{
		fact(status.Muster, status.Connection, true, 5*time.Second), fact(status.Muster, status.Sessions, true, 5*time.Second),
		fact(status.Muster, status.Statements, false, 30*time.Second), fact(status.Muster, status.Host, true, 10*time.Second),
	}
	show := func() (parts []string) {
		for _, p := range status.Decide(facts, noon, nil).Parts {
			parts = append(parts, string(p.Part)+map[[2]bool]string{{true, false}: " ok", {false, true}: " failed", {false, false}: " not measured"}[[2]bool{p.OK, p.Failed}])
		}
		return parts
	}
	if diff := cmp.Diff([]string{"sessions ok", "statements failed", "databases not measured", "host ok"}, show()); diff != "" {
		t.Error(diff)
	}
	// A part that is measured may lack something, which is said.
	facts[1].Code, facts[1].Sentence = "statistics_reset", "They were reset."
	if got := status.Decide(facts, noon, nil).Parts[0]; !got.OK || got.Reason != (status.Reason{Code: "statistics_reset", Sentence: "They were reset."}) {
		t.Errorf("of what is measured with a note: %+v", got)
	}
	facts[0] = fact(status.Muster, status.Connection, false, 2*time.Second, 4*time.Second)
	if diff := cmp.Diff([]string{"sessions not measured", "statements not measured", "databases not measured", "host ok"}, show()); diff != "" {
		t.Error(diff)
	}
}

// TestRecord: since when, from observations that come twice, late, after a gap, and from the
// past.
func TestRecord(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	organization, instance := uuid.New(), uuid.New()
	see := func(ok bool, at time.Duration, received time.Duration) string {
		t.Helper()
		o := status.Observation{
			Organization: organization, Instance: instance, Source: status.Muster, Part: status.Connection, OK: ok, At: noon.Add(at),
		}
		before := o // in the same message, behind it
		before.OK, before.At = !ok, o.At.Add(-time.Second)
		if err := status.Record(t.Context(), db, noon.Add(received), []status.Observation{o, o, before}); err != nil {
			t.Fatal(err)
		}
		is, err := status.Of(t.Context(), db, organization, []uuid.UUID{instance}, noon.Add(received))
		if err != nil {
			t.Fatal(err)
		}
		one := is[instance]
		if one.Since == nil {
			return string(one.State)
		}
		return string(one.State) + " " + one.Since.Sub(noon).String()
	}
	const s, m = time.Second, time.Minute
	for _, step := range []struct {
		ok           bool
		at, received time.Duration
		want         string
	}{
		{true, -10 * m, 0, "unknown"}, // from a buffer
		{true, 0, 0, "up 0s"},
		{true, 10 * s, 10 * s, "up 0s"},
		{false, 5 * s, 11 * s, "up 0s"}, // late
		{false, 20 * s, 20 * s, "down 20s"},
		{false, 30 * s, 30 * s, "down 20s"},
		{true, 35 * s, 40 * s, "up 35s"},
		{true, 20 * m, 20 * m, "up 20m0s"}, // nobody saw what was between
		{false, 21 * m, 21 * m, "down 21m0s"},
		{false, 40 * m, 40 * m, "down 21m0s"},   // it was down before and after
		{true, 41*m + 40*s, 41 * m, "up 41m0s"}, // a clock that is fast
	} {
		if got := see(step.ok, step.at, step.received); got != step.want {
			t.Errorf("at %s: got %q, want %q", step.at, got, step.want)
		}
	}
	is, err := status.Of(t.Context(), db, uuid.New(), []uuid.UUID{instance}, noon)
	if err != nil || is[instance].State != status.Unknown {
		t.Errorf("another organization sees %+v, %v", is[instance], err)
	}
	if err := status.Forget(t.Context(), db, []uuid.UUID{instance}); err != nil {
		t.Fatal(err)
	}
	if all, _, err := status.Everywhere(t.Context(), db, noon); err != nil || len(all) != 0 {
		t.Errorf("forgotten, there is %v, %v", all, err)
	}
}

// TestFalls: how often a server went down of late, by whichever source saw it most often. An
// agent's successes are of other parts than its failures, so it says itself when one began.
func TestFalls(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	organization, instance := uuid.New(), uuid.New()
	now := noon
	see := func(o status.Observation) status.Status {
		t.Helper()
		o.Organization, o.Instance, o.At = organization, instance, now
		if err := status.Record(t.Context(), db, now, []status.Observation{o}); err != nil {
			t.Fatal(err)
		}
		is, err := status.Of(t.Context(), db, organization, []uuid.UUID{instance}, now)
		if err != nil {
			t.Fatal(err)
		}
		return is[instance]
	}
	own := func(ok bool) status.Status {
		return see(status.Observation{Source: status.Muster, Part: status.Connection, OK: ok})
	}
	own(true)
	for n := range 25 { // it restarts every 20 seconds
		now = now.Add(18 * time.Second)
		if is := own(false); len(is.Fell) != min(n+1, 16) || is.LastSeen == nil { // more are longer ago than five minutes
			t.Fatalf("restart %d: it fell %d times, and was seen %v", n+1, len(is.Fell), is.LastSeen)
		}
		own(false) // the same failure
		now = now.Add(2 * time.Second)
		if is := own(true); is.State != status.Up || len(is.Fell) == 0 {
			t.Fatalf("restart %d: %+v", n+1, is)
		}
	}
	now = now.Add(6 * time.Minute)
	if is := own(true); len(is.Fell) != 0 {
		t.Errorf("it fell at %v, and it is %s", is.Fell, now)
	}

	own(true)
	now = now.Add(2 * time.Second)
	restarted := status.Observation{Source: status.Muster, Part: status.Connection, OK: true, Fell: now.Add(-time.Second)}
	if is := see(restarted); is.State != status.Up || !is.Since.Equal(now) || len(is.Fell) != 1 || !is.Fell[0].Equal(restarted.Fell) {
		t.Errorf("it was started again: %+v", is)
	}
	now = now.Add(10 * time.Second)
	if is := own(true); !is.Since.Equal(restarted.Fell.Add(time.Second)) || len(is.Fell) != 1 {
		t.Errorf("ten seconds after it was started again: %+v", is)
	}
	instance = uuid.New()
	if is := see(restarted); is.State != status.Up || len(is.Fell) != 1 {
		t.Errorf("the first observation is of one that was started again: %+v", is)
	}

	instance = uuid.New()
	agent := func(part status.Part, ok bool, since time.Duration) status.Status {
		return see(status.Observation{Source: status.Agent + "a", Part: part, OK: ok, Since: now.Add(-since), Code: "refused", Sentence: "Connection refused."})
	}
	for n := range 3 {
		now = now.Add(30 * time.Second)
		agent(status.Sessions, true, 0)
		now = now.Add(10 * time.Second)
		if is := agent(status.Connection, false, 3*time.Second); is.State != status.Down || now.Sub(*is.Since) != 3*time.Second || len(is.Fell) != n+1 {
			t.Errorf("outage %d of an agent's: %s since %s, fell %d times", n+1, is.State, is.Since, len(is.Fell))
		}
		now = now.Add(30 * time.Second)
		if is := agent(status.Connection, false, 33*time.Second); now.Sub(*is.Since) != 33*time.Second || len(is.Fell) != n+1 {
			t.Errorf("outage %d of an agent's, half a minute later: %s since %s, fell %d times", n+1, is.State, is.Since, len(is.Fell))
		}
	}
}

// TestASlowFeedHasNoGaps: one of every five minutes has been up since its second message, from
// which on that is known of it.
func TestASlowFeedHasNoGaps(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	organization, instance := uuid.New(), uuid.New()
	for n := range 4 {
		now := noon.Add(time.Duration(n) * 5 * time.Minute)
		err := status.Record(t.Context(), db, now, []status.Observation{{
			Organization: organization, Instance: instance, Source: status.Feed, Part: status.Sessions, OK: true, At: now,
		}})
		if err != nil {
			t.Fatal(err)
		}
		is, err := status.Of(t.Context(), db, organization, []uuid.UUID{instance}, now)
		if err != nil {
			t.Fatal(err)
		}
		if one := is[instance]; n > 0 && now.Sub(*one.Since) != time.Duration(n-1)*5*time.Minute {
			t.Errorf("message %d: it is %s since %s, at %s", n, one.State, one.Since, now)
		}
	}
}

// TestAPartFailsInOneDatabase: it is one part more, and the part itself stays as it is. It is gone with the
// failure, with the server, and where nobody says it any more; a later failure is another one.
func TestAPartFailsInOneDatabase(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	organization, instance := uuid.New(), uuid.New()
	observe := func(at time.Time, part status.Part, ok bool) {
		t.Helper()
		o := status.Observation{Organization: organization, Instance: instance, Source: status.Muster, Part: part, OK: ok, At: at}
		if !ok {
			o.Code, o.Sentence = "error 927", "A backup of the database is being restored."
		}
		if err := status.Record(t.Context(), db, at, []status.Observation{o}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(at time.Time, want ...string) {
		t.Helper()
		facts, err := status.Facts(t.Context(), db, organization, instance)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range status.Decide(facts, at, nil).Parts {
			if p.Part == status.Statements && (p.OK || p.Failed) {
				got = append(got, fmt.Sprint(p.Database, p.OK, p.Failed, p.Since.Sub(noon), p.TriedAt.Sub(noon)))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("at %s it is %q, want %q", at.Sub(noon), got, want)
		}
	}
	for minute := range 3 {
		at := noon.Add(time.Duration(minute) * time.Minute)
		observe(at, status.Connection, true)
		observe(at, status.Statements, true)
		observe(at, status.Statements.Of("a/b"), false)
	}
	want(noon.Add(2*time.Minute), "true false 0s 2m0s", "a/bfalse true 0s 2m0s")
	observe(noon.Add(3*time.Minute), status.Connection, false)
	want(noon.Add(3 * time.Minute))
	for minute := range 10 { // nobody says that it is over
		at := noon.Add(time.Duration(3+minute)*time.Minute + time.Second)
		observe(at, status.Connection, true)
		observe(at, status.Statements, true)
	}
	want(noon.Add(12*time.Minute+time.Second), "true false 0s 12m1s")
	observe(noon.Add(13*time.Minute), status.Connection, true)
	observe(noon.Add(13*time.Minute), status.Statements.Of("a/b"), false)
	want(noon.Add(13*time.Minute), "true false 0s 12m1s", "a/bfalse true 13m0s 13m0s")
	observe(noon.Add(14*time.Minute), status.Connection, true)
	observe(noon.Add(14*time.Minute), status.Statements.Of("a/b"), true)
	want(noon.Add(14*time.Minute), "true false 0s 12m1s")
}
