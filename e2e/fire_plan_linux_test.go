package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// fault is something that goes wrong. But for a kill, it is mended some steps later.
type fault string

const (
	aKill       fault = "SIGKILL of a replica"
	aCut        fault = "a line cut"
	aHalfOpen   fault = "a line half open"
	aSlowLine   fault = "a line slow by up to 400 ms"
	aTrickle    fault = "a line of some kB/s"
	slowCommits fault = "each commit delayed by 100 ms"
	fullBucket  fault = "the bucket's disk full until a report fails"
	wrongClock  fault = "a replica's clock 10 minutes off"
	noMail      fault = "SMTP refuses"
	lostMail    fault = "SMTP breaks off after the content"
	failedOver  fault = "PostgreSQL's primary killed, its standby promoted"
	deadShard   fault = "a shard of ClickHouse killed"
	stalled     fault = "no commit returns for 20 to 40 s"
	aPause      fault = "SIGSTOP of a replica, then SIGCONT"
	allPaused   fault = "SIGSTOP of everything for 5 to 15 s, then SIGCONT"
	aPanic      fault = "a background loop panics"
)

// faults in the order in which they are put together, which is part of what a seed means.
var faults = []fault{
	aKill, aCut, aHalfOpen, aSlowLine, aTrickle, slowCommits, fullBucket, wrongClock, noMail, lostMail, failedOver, deadShard,
	stalled, aPause, allPaused, aPanic,
}

// strike is a fault as it was drawn.
type strike struct {
	what  fault
	on    string
	alone bool // all others are mended before it
	lasts int  // steps, at most
	begin func(t *testing.T)
	mend  func(t *testing.T) // nil: there is nothing to mend
}

// excludes says that one of two has to be mended before the other: on the same thing, and where
// all others are; and a full bucket, which is full until a report has failed for want of room,
// beside a shard that is dead, without which no report comes as far as the bucket.
func (s strike) excludes(o strike) bool {
	both := []fault{s.what, o.what}
	return s.on == o.on || s.alone || slices.Contains(both, fullBucket) && slices.Contains(both, deadShard)
}

func (s strike) String() string { return string(s.what) + ", " + s.on }

// step is one thing that is done.
type step struct {
	what  string
	after time.Duration // since the one before
	do    func(t *testing.T)
}

// plan draws what is done, one after the other. Of the same seed and size it is the same.
func (f *fire) plan() (steps []step) {
	draw := f.drawOf(0)
	var drawn []fault
	for _, one := range faults {
		drawn = append(drawn, slices.Repeat([]fault{one}, f.size.often[one])...)
	}
	draw.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	drawn = killsEnd(drawn, f.size.calm)
	type lasting struct {
		strike
		until int
	}
	var now []lasting // the oldest first
	add := func(what string, do func(*testing.T)) {
		steps = append(steps, step{what, time.Duration(draw.Int64N(int64(f.size.between))), do})
	}
	mend := func(over func(lasting) bool) {
		now = slices.DeleteFunc(now, func(l lasting) bool {
			if over(l) {
				add("mending: "+l.String(), l.mend)
				return true
			}
			return false
		})
	}
	for n, one := range drawn {
		s := f.drawn(one, draw)
		mend(func(l lasting) bool { return l.until <= n || s.excludes(l.strike) })
		add(s.String(), func(t *testing.T) {
			f.book.does(string(s.what))
			s.begin(t)
		})
		if s.mend != nil {
			now = append(now, lasting{s, n + 1 + draw.IntN(s.lasts)})
		}
	}
	mend(func(lasting) bool { return true })
	return steps
}

// killsEnd leaves so many faults to the end that are no kills: what a process does not let go
// of shows in one that has been through something.
func killsEnd(drawn []fault, calm int) []fault {
	var before, after []fault
	for _, one := range slices.Backward(drawn) {
		if one != aKill && len(after) < calm {
			after = append(after, one)
		} else {
			before = append(before, one)
		}
	}
	slices.Reverse(before)
	return append(before, after...)
}

// drawn draws where a fault strikes, and how.
func (f *fire) drawn(one fault, draw *rand.Rand) strike {
	s := strike{what: one, lasts: 4}
	switch one {
	case aKill:
		r, early := f.replicas[draw.IntN(len(f.replicas))], draw.IntN(6) == 0
		s.on, s.begin = r.name, func(t *testing.T) { r.kill(t, early) }
	case aCut, aHalfOpen, aSlowLine, aTrickle:
		f.drawLine(&s, draw)
	case slowCommits:
		s.on, s.lasts, s.begin, s.mend = onDatabase, 10, f.slowCommits, f.quickCommits
	case fullBucket:
		s.on, s.lasts, s.begin, s.mend = "the bucket", 10, f.fillBucket, f.emptyBucket
	case wrongClock:
		off := 10 * time.Minute
		if draw.IntN(2) == 0 {
			off = -off
		}
		s.on, s.lasts = fmt.Sprintf("by %s", off), 8
		s.begin, s.mend = func(*testing.T) { f.clock.Step(off) }, func(*testing.T) { f.clock.Step(0) }
	case noMail:
		s.on, s.begin, s.mend = "the mail server", f.refuseMail, f.takeMail
	case lostMail:
		n := 1 + draw.IntN(4)
		s.on = fmt.Sprintf("%d times", n)
		s.begin = func(*testing.T) { f.mails.DropNext(n) }
	case failedOver:
		s.on, s.alone, s.lasts, s.begin, s.mend = onDatabase, true, 10, f.failOver, func(t *testing.T) { f.pair.Return(t) }
	case stalled:
		lasts := 20*time.Second + time.Duration(draw.Int64N(int64(20*time.Second)))
		s.on, s.begin = onDatabase, func(t *testing.T) { f.stall(t, lasts) }
	case aPause:
		r := f.replicas[draw.IntN(len(f.replicas))]
		var goOn func()
		s.on, s.lasts, s.begin, s.mend = r.name, 10, func(t *testing.T) { goOn = r.pause(t) }, func(*testing.T) { goOn() }
	case aPanic:
		r := f.replicas[draw.IntN(len(f.replicas)-1)] // the last one may be another program
		s.on, s.begin = r.name, r.breaks
	case allPaused:
		lasts := 5*time.Second + time.Duration(draw.Int64N(int64(10*time.Second)))
		s.on, s.alone, s.begin = "everything", true, func(t *testing.T) { f.pauseEverything(t, lasts) }
	case deadShard:
		n := draw.IntN(2)
		s.on, s.lasts = fmt.Sprintf("shard %d", n), 10
		s.begin, s.mend = func(t *testing.T) { f.killShard(t, n) }, func(t *testing.T) { f.shards.Servers[n].Restart(t) }
	}
	return s
}

// onDatabase is where failing over and delaying commits exclude each other: a server that was
// killed meanwhile would come back with its setting.
const onDatabase = "PostgreSQL"

// drawLine draws what a line does.
func (f *fire) drawLine(s *strike, draw *rand.Rand) {
	w := f.wires[draw.IntN(len(f.wires))]
	slow, bytes := 50*time.Millisecond+time.Duration(draw.Int64N(int64(350*time.Millisecond))), 2000+draw.IntN(8000)
	s.on, s.mend = w.name, func(*testing.T) { w.Heal() }
	switch s.what {
	case aCut:
		s.begin = func(*testing.T) { w.Cut() }
	case aHalfOpen:
		s.begin = func(*testing.T) { w.HalfOpen() }
	case aSlowLine:
		s.begin = func(*testing.T) { w.Slow(slow) }
	case aTrickle:
		s.begin = func(*testing.T) { w.Trickle(bytes) }
	}
}
