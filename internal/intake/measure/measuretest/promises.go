package measuretest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
)

func aFirstLookIsABasis(s *scene) {
	s.execute("app", "before", 100, 5)
	if b := s.well(); len(b.Statements) > 0 || s.sessionsOf(b, "app") == nil || s.sessionsOf(b, "crm") == nil {
		s.Errorf("%d samples of statements, %d of sessions", len(b.Statements), len(b.Sessions))
	}
}

func whatWasExecutedIsCounted(s *scene) {
	s.execute("app", "old", 100, 5)
	s.basis()
	s.forget()
	for round, calls := range []int{1, 7, 300} {
		s.execute("app", "old", calls, 2)
		s.execute("app", "young", 3, 40)
		s.execute("app", "fresh_"+string(rune('a'+round)), calls, 0.25)
		s.execute("crm", "old", 2, 11)
		b := s.exactly("executed")
		s.longest(b, round)
		if busy := s.statementsOf(b, "app").BusyMs; (busy != nil) != s.Has().Busy {
			s.Errorf("busy for %v", busy)
		} else if busy != nil && s.Has().Exact && !near(*busy, 2*float64(calls)+120+0.25*float64(calls)) {
			s.Errorf("busy for %g ms", *busy)
		}
		if app := s.statementsOf(b, "app"); len(app.Statements) != 3 || !app.At.Equal(s.Clock().Now()) {
			s.Errorf("%+v", app)
		}
	}
	if b := s.exactly("nothing more"); s.statementsOf(b, "app") == nil || len(s.statementsOf(b, "app").Statements) > 0 {
		s.Errorf("where nothing was executed: %+v", b.Statements)
	}
}

// longest looks at the longest execution of a statement that is new.
func (s *scene) longest(b measurements.Batch, round int) {
	s.Helper()
	var found []float64
	for _, one := range s.statementsOf(b, "app").Statements {
		if one.MaxMs != nil {
			found = append(found, *one.MaxMs)
		}
	}
	switch {
	case !s.Has().Longest && len(found) > 0:
		s.Errorf("nobody told the longest, and yet %v", found)
	case s.Has().Longest && !slices.Contains(found, 0.25):
		s.Errorf("the longest are %v", found)
	case s.Has().Longest && slices.Contains(found, 40) != (round == 0): // it is not longer the next time
		s.Errorf("round %d: the longest are %v", round, found)
	}
}

func whatWasNotKeptIsCountedLater(s *scene) {
	s.basis()
	for _, fail := range []*error{&s.home.Fail, &s.home.Failed} {
		*fail = errors.New("lost connection")
		s.execute("app", "unkept", 7, 3)
		if _, err := s.round(); err == nil {
			s.Error("nobody was told")
		}
		s.execute("app", "unkept", 4, 2)
		s.execute("crm", "unkept", 1, 1)
		s.exactly("kept in the end")
	}
}

func anotherProcessGoesOn(s *scene) {
	s.basis()
	s.execute("app", "one", 3, 5)
	s.exactly("by the first process")
	s.execute("app", "one", 4, 5)
	s.execute("app", "other", 1, 9)
	s.measure()
	s.exactly("by the next")
	s.home.Keeps = false // as serve, whose lists die with the process
	s.execute("app", "one", 9, 5)
	s.measure()
	if b := s.well(); len(b.Statements) > 0 {
		s.Errorf("without a list that was kept: %+v", b.Statements)
	}
}

func countersAreEvicted(s *scene) {
	for i := range 5 { // of many one is evicted: else it looks as if all were
		s.execute("crm", fmt.Sprintf("stays_%d", i), 9, 2)
	}
	s.execute("app", "often", 50, 2)
	s.basis()
	s.forget()
	s.Evict("app", "often")
	s.exactly("evicted")
	s.execute("app", "often", 6, 2)
	s.exactly("it is back")
	for calls, ms := range map[int]float64{3: 2, 200: 0.001} { // fewer calls than before; more, which took less
		s.Evict("app", "often")
		s.execute("app", "often", calls, ms)
		s.well()
		if s.Has().Born {
			s.same("evicted and back between two looks")
		}
		s.forget()
		s.execute("app", "often", 5, 2)
		s.exactly("after that")
	}
}

func countersAreReset(s *scene) {
	s.execute("app", "often", 50, 2)
	s.basis()
	s.forget()
	for _, calls := range []int{3, 200} {
		s.execute("app", "often", 1, 2) // is lost: it was before the reset
		s.Clock().Advance(2 * time.Second)
		s.Reset()
		s.forget()
		s.execute("app", "often", calls, 2)
		s.execute("crm", "new", 2, 2)
		s.well()
		if s.Has().Cleared {
			s.same("since the reset")
		}
		s.forget()
		s.execute("app", "often", 4, 2)
		s.exactly("after it")
	}
}

func theServerIsRestarted(s *scene) {
	s.execute("app", "often", 50, 2)
	s.basis()
	s.forget()
	s.execute("app", "often", 20, 2)
	s.Restart()
	s.execute("app", "often", 4, 2)
	b, err := s.round() // on the connection that is gone
	if err != nil {
		b = s.well()
	}
	if app := s.statementsOf(b, "app"); app != nil && app.BusyMs != nil {
		s.Errorf("over a restart, which may be a crash, it was busy for %g ms", *app.BusyMs)
	}
	s.forget()
	s.execute("app", "often", 5, 2)
	s.exactly("since it is back")
}

func textsLoseTheirLiterals(s *scene) {
	s.basis()
	told := 0
	for range 3 {
		s.execute("app", "told", 2, 5)
		b := s.exactly("with texts")
		for _, one := range s.statementsOf(b, "app").Statements {
			if one.Text == kept("told") {
				told++
			} else if one.Text != "" {
				s.Errorf("told %q", one.Text)
			}
		}
	}
	if told != 1 {
		s.Errorf("the text was told %d times", told)
	}
	s.home.Texts = false
	s.execute("app", "untold", 2, 5)
	for _, one := range s.statementsOf(s.exactly("without"), "app").Statements {
		if one.Text != "" {
			s.Errorf("nobody keeps texts, and yet %q", one.Text)
		}
	}
}

func theLoginIsRefused(s *scene) {
	s.basis()
	s.execute("app", "one", 3, 5)
	s.drop()
	for range 3 { // expired, locked, unlocked: the class is the same
		s.shut = &servers.ConnectionError{Class: servers.ClassAuthentication}
		var refused *servers.ConnectionError
		if b, err := s.round(); !errors.As(err, &refused) || refused.Class != servers.ClassAuthentication || b.Len() > 0 {
			s.Errorf("%v, %+v", err, b)
		}
	}
	s.shut = nil
	s.execute("app", "one", 2, 5)
	b := s.exactly("let in again")
	if got := s.statementsOf(b, "app").Interval; got < 4*time.Minute {
		s.Errorf("over %s", got)
	}
}

// drop has the connection gone, which shows at a round.
func (s *scene) drop() {
	s.fault = &fault{cut: true}
	_, _ = s.round()
	s.fault = nil
}

func theServerIsAway(s *scene) {
	s.basis()
	s.execute("app", "one", 3, 5)
	s.drop()
	s.shut = &servers.ConnectionError{Class: servers.ClassTimeout}
	for range 3 {
		if b, err := s.round(); err == nil || b.Len() > 0 {
			s.Errorf("%v, %+v", err, b)
		}
		s.Clock().Advance(24 * time.Hour)
	}
	s.shut = nil
	s.execute("app", "one", 10_000, 5)
	if b := s.well(); len(b.Statements) > 0 || s.sessionsOf(b, "app") == nil {
		s.Errorf("three days as one interval: %+v", b.Statements)
	}
	s.forget()
	s.execute("app", "one", 2, 5)
	s.exactly("since it is back")
}

func clocksMove(s *scene) {
	s.basis()
	if s.Has().Exact {
		for _, off := range []time.Duration{10 * time.Minute, -10 * time.Minute, 0} {
			s.execute("app", "one", 3, 5)
			s.Skew(off)
			s.execute("app", "one", 3, 5)
			s.well() // no more than was executed, whatever moved
			s.forget()
			s.execute("app", "one", 4, 5)
			s.execute("crm", "one", 1, 5)
			s.exactly("the server's clock is off by " + off.String())
		}
	}
	s.Clock().Advance(-5 * time.Minute) // ours
	s.execute("app", "one", 3, 5)
	if b := s.well(); len(b.Statements) > 0 {
		s.Errorf("an interval that ended before it began: %+v", b.Statements)
	}
	s.forget()
	s.execute("app", "one", 4, 5)
	s.exactly("our clock went back")
}

// aSampleSpansBothLooks: whatever the counters of a look had, they had when it ended and lack
// what came before it began. So who else looks at them tells by the times what was counted.
func aSampleSpansBothLooks(s *scene) {
	s.takes = time.Second
	s.basis()
	s.execute("app", "one", 3, 5)
	first := s.well()
	s.execute("app", "one", 3, 5)
	second := s.well()
	began, ended := s.sessionsOf(first, "app").At, s.statementsOf(first, "app").At
	if ended.Sub(began) < s.takes {
		s.Errorf("a look that began at %s ended at %s", began, ended)
	}
	if last := s.statementsOf(second, "app"); !last.At.Add(-last.Interval).Equal(began) {
		s.Errorf("a sample at %s of %s, after a look that began at %s", last.At, last.Interval, began)
	}
}

// anyQueryFails: each query of a round in turn is refused, is cut in the middle, or answers
// what makes no sense. What is not certain is missing, and the round after is as ever.
func anyQueryFails(s *scene) {
	s.Connect("app", Sessions{Idle: 2})
	s.execute("app", "old", 9, 2)
	s.execute("crm", "old", 9, 2)
	s.basis()
	s.forget()
	s.execute("crm", "fresh", 1, 3)
	s.well()
	faults := s.faults()
	for i, f := range faults {
		s.execute("crm", fmt.Sprintf("fresh_%d", i), 1, 3) // so that births and texts are asked for
		s.failing(f)
	}
}

// faults are those of the queries of the last round. A running server does not get all of them,
// because they take long there: nonsensical answers concern the reader alone.
func (s *scene) faults() (all []fault) {
	refused := func(r servers.Reason) error {
		return &servers.Refusal{Engine: s.Engine().Name, Code: "test", Reason: r}
	}
	for at, width := range s.widths {
		all = append(all, fault{at: at, cut: true}, fault{at: at, err: refused(servers.Denied)})
		if !s.Has().Exact {
			continue
		}
		all = append(all, fault{at: at, err: refused(servers.Failed)}, fault{at: at, err: refused(servers.TimedOut)})
		for column := range width {
			all = append(all, fault{at: at, column: column, broken: []byte("\xff?!")}, fault{at: at, column: column})
		}
	}
	return all
}

func (s *scene) failing(f fault) {
	s.Helper()
	s.execute("app", "old", 3, 2)
	s.execute("crm", "old", 1, 2)
	s.fault = &f
	b, err := s.round()
	s.fault = nil
	if app := s.sessionsOf(b, "app"); app != nil && (f.err != nil || f.cut) && app.Idle != 2 {
		s.Errorf("query %d, %+v: a part of the sessions for all: %+v, %v", f.at, f, app, err)
	}
	s.execute("app", "old", 2, 2)
	if b := s.well(); s.sessionsOf(b, "app") == nil || s.sessionsOf(b, "app").Idle != 2 {
		s.Errorf("query %d, %+v: then %+v", f.at, f, b.Sessions)
	}
	if got, want := s.counted["app"].calls, s.executed["app"].calls; f.cut && got != want { // earlier knowledge is not lost
		s.Errorf("query %d was cut: counted %d, executed %d", f.at, got, want)
	}
	s.forget()
	s.execute("app", "old", 2, 2)
	s.execute("crm", "old", 4, 2)
	s.exactly("after a query failed")
	if s.Failed() {
		s.Fatalf("query %d, %+v: %.200s", f.at, f, s.heard[min(f.at, len(s.heard)-1)])
	}
}

var _ measure.Home = (*Home)(nil)
