package truth

import (
	"math"
	"slices"
	"time"

	"muster/internal/measurements"
	"muster/internal/testing/clocktest"
)

// wait is something that a session waits for, in the words of both engines.
type wait struct{ sqlServer, resource, class, event string }

var (
	rowLock     = wait{"LCK_M_X", "KEY: 5:72057594041204736 (de42f79bc795)", "Application", "enq: TX - row lock contention"}
	tableLock   = wait{"LCK_M_SCH_M", "OBJECT: 5:245575913:0 ", "Application", "enq: TM - contention"}
	namedLock   = wait{"LCK_M_X", "APPLICATION: 5:0:[nightly]:(a1)", "Application", "enq: UL - contention"}
	temporaryIO = wait{"IO_COMPLETION", "", "User I/O", "direct path write temp"}
)

// orphan stands for a distributed transaction whose session is gone.
const orphan = -2

// actor is a session.
type actor struct {
	id          int
	application string
	own         bool // a process of the server's own
	does        measurements.State
	waits       wait
	behind      int       // the actor that holds it up; 0: nobody
	since       time.Time // when it came into its state
}

// blocked says whether an actor waits for what another one holds.
func (a *actor) blocked() bool { return a.does == measurements.Waits && a.behind != 0 }

// doing is what sessions are counted by.
type doing struct {
	application string
	does        measurements.State
}

// sums are those of a number of sessions over time.
type sums struct{ seconds, squares float64 }

// stage is what the sessions of a simulated server do. It adds up by itself what happens on it,
// from one change to the next, and no query of ours has a part in that.
type stage struct {
	clock    *clocktest.Clock
	from, to time.Time // what is between is added up
	until    time.Time // and has been until here
	actors   []*actor
	sums     map[doing]*sums
	most     map[doing]float64

	logins, deadlocks int64
	written, used     int64       // bytes of temporary space: in all, and now
	reports           []time.Time // of deadlocks
}

func newStage(clock *clocktest.Clock, from, to time.Time) *stage {
	return &stage{clock: clock, from: from, to: to, until: from, sums: map[doing]*sums{}, most: map[doing]float64{}}
}

// pass adds up the time since the last change.
func (s *stage) pass() {
	now := s.clock.Now()
	if now.After(s.to) {
		now = s.to
	}
	if !now.After(s.until) {
		return
	}
	seconds := now.Sub(s.until).Seconds()
	s.until = now
	count := map[doing]float64{}
	for _, a := range s.actors {
		if !a.own {
			count[doing{a.application, a.does}]++
		}
	}
	for of, n := range count {
		if s.sums[of] == nil {
			s.sums[of] = &sums{}
		}
		s.sums[of].seconds += n * seconds
		s.sums[of].squares += n * n * seconds
		s.most[of] = max(s.most[of], n)
	}
}

// actor is the session with an id; a new one is idle.
func (s *stage) actor(id int, application string) *actor {
	s.pass()
	if a := s.find(id); a != nil {
		return a
	}
	a := &actor{id: id, application: application, own: id > 0 && id <= 50, does: measurements.Idle, since: s.clock.Now()}
	s.actors = append(s.actors, a)
	return a
}

func (s *stage) find(id int) *actor {
	if i := slices.IndexFunc(s.actors, func(a *actor) bool { return a.id == id }); i >= 0 {
		return s.actors[i]
	}
	return nil
}

// set has an actor do something else from now on.
func (s *stage) set(a *actor, does measurements.State, waits wait, behind int) {
	s.pass()
	a.does, a.waits, a.behind, a.since = does, waits, behind, s.clock.Now()
}

// behind is how many actors an actor holds up, by itself or behind others.
func (s *stage) behind(id int) (n int) {
	for _, a := range s.actors {
		for at, steps := a, 0; at != nil && at.blocked() && steps < len(s.actors); at, steps = s.find(at.behind), steps+1 {
			if at.behind == id {
				n++
				break
			}
		}
	}
	return n
}

// holds says whether somebody waits for an actor.
func (s *stage) holds(id int) bool {
	return slices.ContainsFunc(s.actors, func(a *actor) bool { return a.blocked() && a.behind == id })
}

// average is how many sessions did something at once, with the variance of that number.
func (s *stage) average(of doing) (mean, variance float64) {
	seconds := s.to.Sub(s.from).Seconds()
	mean = s.sums[of].seconds / seconds
	return mean, max(s.sums[of].squares/seconds-mean*mean, 0)
}

// SamplingError is how far the mean of some samples of a number of sessions, at most so many, lies from the mean of
// all time, but with a probability of one in 10,000 (the inequality of Bernstein).
func SamplingError(variance, most float64, samples int) float64 {
	const rounding = 0.001 // figures have three decimals
	if variance < 1e-9 {   // of a number that never changed
		return rounding
	}
	limit := math.Log(2 / 1e-4)
	return math.Sqrt(2*variance*limit/float64(samples)) + 2*most*limit/(3*float64(samples)) + rounding
}
