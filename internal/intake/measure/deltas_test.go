package measure

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// microseconds is noon and so many seconds by the server's clock, which is an hour ahead.
func microseconds(seconds int64) int64 { return noon.Add(time.Hour).UnixMicro() + seconds*1_000_000 }

// lookAt is a list as it was read so many seconds after noon, for two more.
func lookAt(seconds int64, change func(*List), entries ...Entry) *List {
	c := Clocks{Now: microseconds(seconds), Started: microseconds(-86400), Reset: microseconds(-3600)}
	after := c
	after.Now = microseconds(seconds + 2)
	l := NewList(c, after, entries)
	l.At = noon.Add(time.Duration(seconds) * time.Second)
	if change != nil {
		change(l)
	}
	return l
}

func entry(query, calls int64, totalMs float64, since int64) Entry {
	return entryOf(5, uint64(query), 10, calls, totalMs, since)
}

// entryOf is one whose statement is the first number of it.
func entryOf(database uint32, statement, plan uint64, calls int64, totalMs float64, since int64) Entry {
	return Entry{
		Key: Key{database, [2]uint64{statement, plan}}, Statement: Statement{statement}, Calls: calls, TotalMs: totalMs, Since: since,
	}
}

func did(query, calls int64, totalMs float64) delta {
	return delta{Ref{5, Statement{uint64(query)}}, calls, totalMs, 0}
}

func TestDeltas(t *testing.T) {
	t.Parallel()
	reset := func(at int64) func(*List) {
		return func(l *List) { l.Before.Reset, l.After.Reset = microseconds(at), microseconds(at) }
	}
	restarted := func(l *List) { l.Before.Started, l.After.Started = microseconds(30), microseconds(30) }
	silent := func(l *List) { l.Before.Reset, l.After.Reset = 0, 0 }
	asItWasRead := func(l *List) { l.After.Reset = l.Before.Now + 1_000_000 }
	old, young := microseconds(-100), microseconds(20) // since, before and after the last look
	for name, test := range map[string]struct {
		last, now *List
		want      []delta
		basis     bool // the second can only be a basis for the next
	}{
		"first sight":               {nil, lookAt(60, nil, entry(1, 5, 50, 0)), nil, true},
		"a gap of ten minutes":      {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(600, nil, entry(1, 7, 90, 0)), []delta{did(1, 2, 40)}, false},
		"a longer gap":              {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(601, nil, entry(1, 7, 90, 0)), nil, true},
		"our clock went back":       {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(-1, nil, entry(1, 7, 90, 0)), nil, true},
		"an interval":               {lookAt(0, nil, entry(1, 5, 50, old), entry(2, 1, 1, old)), lookAt(60, nil, entry(1, 7, 90, old), entry(2, 1, 1, old)), []delta{did(1, 2, 40)}, false},
		"nothing was executed":      {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, nil, entry(1, 5, 50, 0)), nil, false},
		"time without a call":       {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, nil, entry(1, 5, 60, 0)), nil, false},
		"calls fell":                {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, nil, entry(1, 4, 60, 0)), nil, false},
		"time fell":                 {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, nil, entry(1, 6, 40, 0)), nil, false},
		"made again since":          {lookAt(0, nil, entry(1, 5, 50, old)), lookAt(60, nil, entry(1, 900, 9000, young)), []delta{did(1, 900, 9000)}, false},
		"made again, it says when":  {lookAt(0, nil, entry(1, 5, 50, microseconds(-500))), lookAt(60, nil, entry(1, 9, 90, old)), nil, false},
		"new, says so":              {lookAt(0, nil), lookAt(60, nil, entry(1, 3, 30, young)), []delta{did(1, 3, 30)}, false},
		"new, older than that":      {lookAt(0, nil), lookAt(60, nil, entry(1, 3, 30, old)), nil, false},
		"new, was not listed":       {lookAt(0, nil), lookAt(60, nil, entry(1, 3, 30, 0)), []delta{did(1, 3, 30)}, false},
		"new, nobody tells":         {lookAt(0, silent), lookAt(60, silent, entry(1, 3, 30, 0)), []delta{did(1, 3, 30)}, false},
		"all reset":                 {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, reset(30), entry(1, 9, 90, 0), entry(2, 1, 1, 0)), []delta{did(1, 9, 90), did(2, 1, 1)}, false},
		"all reset, they say when":  {lookAt(0, nil, entry(1, 5, 50, old)), lookAt(60, reset(30), entry(1, 9, 90, young), entry(2, 1, 1, young)), []delta{did(1, 9, 90), did(2, 1, 1)}, false},
		"reset, its clock was set":  {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, reset(-7200), entry(1, 9, 90, 0)), []delta{did(1, 9, 90)}, false},
		"reset ahead of its clock":  {lookAt(0, reset(7200), entry(1, 5, 50, 0)), lookAt(60, reset(7200), entry(1, 9, 90, 0)), []delta{did(1, 4, 40)}, false},
		"reset and restarted":       {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, func(l *List) { restarted(l); reset(30)(l) }, entry(1, 9, 90, 0)), nil, false},
		"restarted":                 {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, restarted, entry(1, 9, 90, 0), entry(2, 1, 1, 0)), nil, false},
		"restarted, they say when":  {lookAt(0, nil, entry(1, 5, 50, old)), lookAt(60, restarted, entry(1, 9, 90, old), entry(2, 1, 1, young)), []delta{did(2, 1, 1)}, false},
		"the extension was updated": {lookAt(0, silent, entry(1, 5, 50, 0)), lookAt(60, nil, entry(1, 9, 90, 0)), nil, false},
		"reset as it was read":      {lookAt(0, nil, entry(1, 5, 50, 0)), lookAt(60, asItWasRead, entry(1, 9, 90, 0)), nil, false},
		"reset as the last was":     {lookAt(0, asItWasRead, entry(1, 5, 50, 0)), lookAt(60, reset(1), entry(1, 9, 90, 0)), nil, false},
		"thrown away, nobody tells": {
			lookAt(0, silent, entry(1, 5, 50, 0), entry(2, 9, 90, 0), entry(3, 4, 40, 0)),
			lookAt(60, silent, entry(1, 6, 600, 0), entry(2, 1, 10, 0), entry(3, 1, 10, 0), entry(4, 2, 20, 0)),
			[]delta{did(4, 2, 20)}, false,
		},
		"thrown away, one is back": {
			lookAt(0, silent, entry(1, 5, 50, 0), entry(2, 9, 90, 0), entry(3, 4, 40, 0)),
			lookAt(60, silent, entry(1, 6, 600, 0)),
			nil, false,
		},
		"one of three is made again": {
			lookAt(0, silent, entry(1, 5, 50, 0), entry(2, 9, 90, 0), entry(3, 4, 40, 0)),
			lookAt(60, silent, entry(1, 6, 60, 0), entry(2, 10, 100, 0), entry(3, 1, 10, 0)),
			[]delta{did(1, 1, 10), did(2, 1, 10)}, false,
		},
		"most are of texts with literals": {
			lookAt(0, silent, entry(1, 5, 50, 0), entry(2, 1, 1, 0), entry(3, 1, 1, 0), entry(4, 1, 1, 0)),
			lookAt(60, silent, entry(1, 6, 60, 0), entry(5, 1, 1, 0)),
			[]delta{did(1, 1, 10), did(5, 1, 1)}, false,
		},
		"others of the key": {
			lookAt(0, nil, entryOf(5, 1, 10, 5, 50, 0)),
			lookAt(60, nil, entryOf(5, 1, 10, 6, 60, 0), entryOf(5, 2, 10, 2, 2, 0), entryOf(6, 1, 10, 3, 3, 0)),
			[]delta{did(1, 1, 10), did(2, 2, 2), {Ref{6, Statement{1}}, 3, 3, 0}}, false,
		},
		"plans of one statement": {
			lookAt(0, nil, entryOf(5, 1, 10, 5, 50, old), entryOf(5, 1, 11, 7, 70, old)),
			lookAt(60, nil, entryOf(5, 1, 10, 6, 60, old), entryOf(5, 1, 11, 9, 71, old), entryOf(5, 1, 12, 4, 4, young), entryOf(5, 1, 13, 100, 100, old)),
			[]delta{did(1, 7, 15)}, false,
		},
		"one listed twice": {
			lookAt(0, nil, entry(1, 5, 50, 0), entry(1, 1, 1, 0)), lookAt(60, nil, entry(1, 2, 2, 0), entry(1, 6, 60, 0)), []delta{did(1, 2, 11)}, false,
		},
	} {
		got, ok := deltasBetween(test.last, test.now)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(delta{})); diff != "" || ok == test.basis {
			t.Errorf("%s: comparable %t, %s", name, ok, diff)
		}
	}
}

// statementServer is a server that keeps statistics as pg_stat_statements does, and
// remembers what really happened.
type statementServer struct {
	now        int64
	clocks     Clocks
	entries    map[int64]Entry
	tellsSince bool
	tellsReset bool
	calls      map[int64]int64
	totalMs    map[int64]float64
	disturbed  bool // something but executions happened

	listedCalls map[int64]int64 // the executions up to the time of the list
	listedMs    map[int64]float64
}

func (s *statementServer) execute(query, calls int64) {
	e, ok := s.entries[query]
	if !ok {
		e = entry(query, 0, 0, 0)
		if s.tellsSince {
			e.Since = s.now
		}
	}
	e.Calls += calls
	e.TotalMs += float64(calls) * 0.25
	s.entries[query] = e
	s.calls[query] += calls
	s.totalMs[query] += float64(calls) * 0.25
}

// list reads the entries, and in between, on both sides, something else happens.
func (s *statementServer) list(at time.Time, happens func()) *List {
	clocks := func() Clocks {
		s.now++
		c := s.clocks
		c.Now = s.now
		if !s.tellsReset {
			c.Reset = 0
		}
		return c
	}
	before := clocks()
	happens()
	var entries []Entry
	for _, e := range s.entries {
		entries = append(entries, e)
	}
	s.listedCalls, s.listedMs = maps.Clone(s.calls), maps.Clone(s.totalMs)
	happens()
	l := NewList(before, clocks(), entries)
	l.At = at
	return l
}

func (s *statementServer) reset() {
	s.now++
	clear(s.entries)
	s.clocks.Reset = s.now
	s.disturbed = true
}

// TestDeltasNeverExceedTheExecutions: it draws the lives of servers: executions, evictions, resets of one and
// of all, restarts that keep the counters and crashes that lose them, a clock that is set. The counted
// executions are never more than the real ones since the first look, and all of them where nothing came
// between.
func TestDeltasNeverExceedTheExecutions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &statementServer{
			now: microseconds(0), clocks: Clocks{Started: microseconds(-10), Reset: microseconds(-10)},
			entries: make(map[int64]Entry), calls: make(map[int64]int64), totalMs: make(map[int64]float64),
		}
		version := rapid.IntRange(13, 18).Draw(t, "major")
		s.tellsReset, s.tellsSince = version >= 14, version >= 17
		query := rapid.Int64Range(1, 6)
		counted, countedMs := make(map[int64]int64), make(map[int64]float64)
		var firstCalls map[int64]int64
		var firstMs map[int64]float64
		var last *List
		at := noon
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s.now += rapid.Int64Range(1, 20_000_000).Draw(t, "later")
			switch rapid.SampledFrom([]string{"execute", "execute", "execute", "look", "look", "evict", "forget", "reset", "restart", "crash", "clock"}).Draw(t, "what") {
			case "execute":
				s.execute(query.Draw(t, "query"), rapid.Int64Range(1, 1000).Draw(t, "calls"))
			case "evict":
				delete(s.entries, query.Draw(t, "query"))
				s.disturbed = true
			case "forget": // pg_stat_statements_reset of one, which nothing tells
				delete(s.entries, query.Draw(t, "query"))
				s.disturbed = true
			case "reset":
				s.reset()
			case "clock":
				s.now += rapid.Int64Range(-8_000_000_000, 8_000_000_000).Draw(t, "set")
				s.disturbed = true
			case "restart":
				s.clocks.Started = s.now
				s.disturbed = true
			case "crash":
				clear(s.entries)
				s.clocks = Clocks{Started: s.now, Reset: s.now}
				s.disturbed = true
			case "look":
				at = at.Add(time.Minute)
				now := s.list(at, func() {
					switch rapid.IntRange(0, 9).Draw(t, "meanwhile") {
					case 0:
						s.reset()
					case 1, 2:
						s.now++
						s.execute(query.Draw(t, "query"), rapid.Int64Range(1, 1000).Draw(t, "calls"))
					}
				})
				if last == nil { // earlier executions belong to no interval
					firstCalls, firstMs = s.listedCalls, s.listedMs
				}
				deltas, _ := deltasBetween(last, now)
				for _, d := range deltas {
					if d.calls <= 0 || d.totalMs < 0 {
						t.Fatalf("%+v", d)
					}
					counted[int64(d.Statement[0])] += d.calls
					countedMs[int64(d.Statement[0])] += d.totalMs
				}
				last = now
				for q, calls := range s.listedCalls {
					calls, totalMs := calls-firstCalls[q], s.listedMs[q]-firstMs[q]
					if counted[q] > calls || countedMs[q] > totalMs {
						t.Fatalf("query %d: counted %d in %g ms, executed %d in %g", q, counted[q], countedMs[q], calls, totalMs)
					}
					if !s.disturbed && counted[q] != calls {
						t.Fatalf("query %d: counted %d, executed %d, and nothing came between", q, counted[q], calls)
					}
				}
			}
		}
	})
}

func TestTurns(t *testing.T) {
	t.Parallel()
	const sessionsEvery = 10 * time.Second
	phase := 7 * time.Second
	for _, test := range []struct {
		at   time.Duration // after noon
		next time.Duration
	}{{0, 7 * time.Second}, {6 * time.Second, time.Second}, {7 * time.Second, 10 * time.Second}, {16999 * time.Millisecond, time.Millisecond}} {
		at := noon.Add(test.at)
		if got := untilTurn(at, sessionsEvery, phase); got != test.next {
			t.Errorf("%s after noon the next turn is in %s, want %s", test.at, got, test.next)
		}
		if n := turn(at.Add(test.next), sessionsEvery, phase); n != turn(at, sessionsEvery, phase).Add(sessionsEvery) || n != turn(at.Add(test.next+sessionsEvery-1), sessionsEvery, phase) {
			t.Errorf("%s after noon: turn %s", test.at, n)
		}
	}
	for failures := range 100 {
		if pause := backoff(failures); pause < time.Second/4 || pause > longestPause || failures == 0 && pause > time.Second/2 {
			t.Errorf("after %d failures: %s", failures, pause)
		}
	}
}
