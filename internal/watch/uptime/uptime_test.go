package uptime

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/maintenance"
	"muster/domain/objective"
	"muster/internal/measurements"
	"muster/internal/testing/pgtest"
	"muster/internal/watch/status"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func is(state status.State, since int, fell ...int) status.Status {
	at := after(since)
	s := status.Status{State: state, Since: &at}
	for _, f := range fell {
		s.Fell = append(s.Fell, after(f))
	}
	return s
}

func span(since, until int, up, open bool) Span { return Span{after(since), after(until), up, open} }

// TestAStateBecomesSpans: what is not known to be up is in no span of a server that was up.
func TestAStateBecomesSpans(t *testing.T) {
	t.Parallel()
	up := span(0, 600, true, true)
	for name, c := range map[string]struct {
		was  *Span
		s    status.Status
		now  int
		want []Span // the open one as it is, and what follows
	}{
		"first seen":                       {nil, is(status.Up, 100), 600, []Span{span(100, 600, true, true)}},
		"never seen":                       {nil, status.Status{State: status.Unknown}, 600, nil},
		"goes on for less than a minute":   {&up, is(status.Up, 0), 659, nil},
		"goes on":                          {&up, is(status.Up, 0), 660, []Span{span(0, 660, true, true)}},
		"goes down":                        {&up, is(status.Down, 590), 610, []Span{span(0, 590, true, false), span(590, 610, false, true)}},
		"goes down after it last grew":     {&up, is(status.Down, 640), 650, []Span{span(0, 640, true, false), span(640, 650, false, true)}},
		"is down when somebody looks":      {&up, is(status.Down, 4000), 4010, []Span{span(0, 600, true, false), span(4000, 4010, false, true)}},
		"is not heard":                     {&up, is(status.Unknown, 580), 770, []Span{span(0, 580, true, false)}},
		"is silent":                        {&up, is(status.Silent, 580), 770, []Span{span(0, 580, true, false)}},
		"is up after nobody looked":        {&up, is(status.Up, 4000), 4010, []Span{span(0, 600, true, false), span(4000, 4010, true, true)}},
		"was up while nobody judged":       {&up, is(status.Up, 0), 4010, []Span{span(0, 4010, true, true)}},
		"was restarted between judgments":  {&up, is(status.Up, 615, 612), 620, []Span{span(0, 612, true, false), span(612, 615, false, false), span(615, 620, true, true)}},
		"a fall from before the span":      {&up, is(status.Up, 0, -10), 660, []Span{span(0, 660, true, true)}},
		"fell before the end as read":      {&up, is(status.Up, 595, 590), 610, []Span{span(0, 590, true, false), span(590, 595, false, false), span(595, 610, true, true)}},
		"is of a state from before itself": {&up, is(status.Down, -50), 610, []Span{span(0, 0, true, false), span(0, 610, false, true)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, more, changed := next(c.was, c.s, after(c.now))
			var got []Span
			if changed && c.was != nil {
				got = append(got, first)
			}
			if got = append(got, more...); !cmp.Equal(got, c.want) {
				t.Errorf("spans are %v", cmp.Diff(c.want, got))
			}
		})
	}
}

// TestASumEqualsItsSeconds compares Sum with a reader who asks second by second.
func TestASumEqualsItsSeconds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		second := rapid.IntRange(-20, 120)
		spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Span {
			a, b := second.Draw(t, "a"), second.Draw(t, "b")
			return span(min(a, b), max(a, b), rapid.Bool().Draw(t, "up"), false)
		}), 0, 6).Draw(t, "spans")
		windows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) maintenance.Span {
			a, b := second.Draw(t, "a"), second.Draw(t, "b")
			return maintenance.Span{From: after(min(a, b)), To: after(max(a, b))}
		}), 0, 3).Draw(t, "windows")
		var want objective.Uptime
		for s := range 100 {
			at := after(s)
			up, down, in := false, false, false
			for _, one := range spans {
				if !at.Before(one.Since) && at.Before(one.Until) {
					up, down = up || one.Up, down || !one.Up
				}
			}
			for _, w := range windows {
				in = in || !at.Before(w.From) && at.Before(w.To)
			}
			switch {
			case in:
				want.Maintenance += time.Second
			case down:
				want.Down += time.Second
			case up:
				want.Up += time.Second
			default:
				want.Unknown += time.Second
			}
		}
		whole := maintenance.Span{From: noon, To: after(100)}
		if got := Sum(spans, windows, whole); got != want {
			t.Fatalf("the sum is %+v, want %+v", got, want)
		}
		if got := maintenance.Lasting(Downs(spans, windows, whole)); got != want.Down {
			t.Fatalf("it was down for %s, want %s", got, want.Down)
		}
		if got := maintenance.Lasting(Gaps(spans, windows, whole)); got != want.Unknown {
			t.Fatalf("nobody knows of %s, want %s", got, want.Unknown)
		}
	})
}

// TestALatencyLeavesHoursInWindowsOut, also those that a window touches.
func TestALatencyLeavesHoursInWindowsOut(t *testing.T) {
	t.Parallel()
	var starts []time.Time
	for hour := range 4 {
		starts = append(starts, noon.Add(time.Duration(hour)*time.Hour))
	}
	sums := measurements.QuerySums{Sampled: true, TotalMs: measurements.Values{100, 9000, 0, 300}, Calls: measurements.Values{10, 1, 0, 10}}
	in := []maintenance.Span{{From: noon.Add(90 * time.Minute), To: noon.Add(100 * time.Minute)}}
	if l := latencyOf(sums, starts, in); *l.MeanMs != 20 || l.Coverage != 2.0/3 {
		t.Errorf("the latency is %v of %v of the hours", *l.MeanMs, l.Coverage)
	}
	if l := latencyOf(measurements.QuerySums{TotalMs: measurements.Values{0}, Calls: measurements.Values{0}}, starts[:1], nil); l.MeanMs != nil || l.Coverage != 0 {
		t.Errorf("of an hour without executions it is %+v", l)
	}
}

// TestServersAreRecorded judges by the real table: two processes, a server that is switched off, and one that comes back.
func TestServersAreRecorded(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	organization, a, b := uuid.New(), uuid.New(), uuid.New()
	record := func(at int, states map[uuid.UUID]status.Status) {
		t.Helper()
		for range 2 { // another process has the same
			if err := (&Recorder{}).Record(t.Context(), db, after(at), map[uuid.UUID]map[uuid.UUID]status.Status{organization: states}); err != nil {
				t.Fatal(err)
			}
		}
	}
	of := func(id uuid.UUID, now int) []Span {
		t.Helper()
		spans, err := SpansOf(t.Context(), db, organization, []uuid.UUID{a, b}, noon, after(10_000), after(now))
		if err != nil {
			t.Fatal(err)
		}
		return spans[id]
	}
	record(10, map[uuid.UUID]status.Status{a: is(status.Up, 0), b: is(status.Up, 0)})
	record(40, map[uuid.UUID]status.Status{a: is(status.Up, 0), b: is(status.Up, 0)})
	if got, want := of(a, 45), []Span{span(0, 45, true, true)}; !cmp.Equal(got, want) {
		t.Errorf("a server that goes on has %v", cmp.Diff(want, got))
	}
	record(70, map[uuid.UUID]status.Status{a: is(status.Down, 50)})
	record(140, map[uuid.UUID]status.Status{a: is(status.Up, 130), b: is(status.Up, 0)})
	record(150, map[uuid.UUID]status.Status{a: is(status.Unknown, 140), b: is(status.Up, 0)})
	record(400, map[uuid.UUID]status.Status{a: is(status.Up, 390), b: is(status.Up, 0)})
	if got, want := of(a, 1000), []Span{span(0, 50, true, false), span(50, 130, false, false), span(130, 140, true, false), span(390, 400, true, true)}; !cmp.Equal(got, want) {
		t.Errorf("a server has %v", cmp.Diff(want, got))
	}
	if got, want := of(b, 400), []Span{span(0, 400, true, true)}; !cmp.Equal(got, want) {
		t.Errorf("a server that was missing for a moment has %v", cmp.Diff(want, got))
	}
	if got := Sum(of(a, 400), nil, maintenance.Span{From: noon, To: after(400)}); got != (objective.Uptime{Up: 70 * time.Second, Down: 80 * time.Second, Unknown: 250 * time.Second}) {
		t.Errorf("the sum is %+v", got)
	}
	if err := Forget(t.Context(), db, after(400).Add(Kept)); err != nil || len(of(a, 400)) != 1 {
		t.Errorf("after they are too old there are %v, %v", of(a, 400), err)
	}
}

// TestUnchangedStatesCostOneQueryAMinute: a judgment every ten seconds costs the database nothing but once a minute.
func TestUnchangedStatesCostOneQueryAMinute(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	var r Recorder
	id := uuid.New()
	record := func(at int, s status.Status) error {
		return r.Record(t.Context(), db, after(at), map[uuid.UUID]map[uuid.UUID]status.Status{uuid.Nil: {id: s}})
	}
	if err := record(0, is(status.Up, 0)); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for at := 10; at < 60; at += 10 {
		if err := record(at, is(status.Up, 0)); err != nil {
			t.Errorf("after %d s it asked: %v", at, err)
		}
	}
	for name, err := range map[string]error{"a minute": record(60, is(status.Up, 0)), "another state": record(20, is(status.Down, 20)), "a fall": record(20, is(status.Up, 0, 5))} {
		if err == nil {
			t.Errorf("after %s it asked nothing", name)
		}
	}
}
