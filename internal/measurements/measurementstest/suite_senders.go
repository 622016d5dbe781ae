package measurementstest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
)

// turns are senders of one organization's statements, and their effects.
type turns struct {
	*testing.T
	Harness
	organization uuid.UUID
}

func newTurns(t *testing.T, h Harness) *turns { return &turns{t, h, uuid.New()} }

// by writes a sample of a sender of each of these minutes: of the statements of shop,
// with one call, and with the first of them a host.
func (s *turns) by(sender *string, minutes ...string) (measurements.Receipt, error) {
	b := measurements.Batch{Organization: s.organization, Sender: sender, Hosts: []measurements.HostSample{host("db01", minutes[0], 10)}}
	for _, minute := range minutes {
		b.Statements = append(b.Statements, ran(shop, minute, q("a", 1, 1)))
	}
	return s.Store.Write(s.Context(), b)
}

// kept writes and compares how many statements are kept, and how many others counted.
func (s *turns) kept(sender *string, kept, counted int, minutes ...string) {
	s.Helper()
	got, err := s.by(sender, minutes...)
	if want := (measurements.Receipt{Accepted: measurements.SampleCounts{Hosts: 1, Statements: kept}, Counted: counted}); err != nil || got != want {
		s.Errorf("%q: %+v (%v), want %+v", minutes, got, err, want)
	}
}

// refused writes statements that another sender holds, and nothing of them may be stored.
func (s *turns) refused(sender *string, minutes ...string) {
	s.Helper()
	before := s.calls()
	hosts := s.hosts()
	_, err := s.by(sender, minutes...)
	var held *measurements.HeldError
	if !errors.As(err, &held) || !slices.Equal(held.Instances, []uuid.UUID{orders}) {
		s.Errorf("%q: %v", minutes, err)
	}
	if after := s.calls(); after != before || s.hosts() != hosts {
		s.Errorf("%q: what was refused made %g calls of %g, or a host", minutes, after, before)
	}
}

func (s *turns) calls() float64 {
	s.Helper()
	s.roll(s)
	return s.queries(s, s.organization, pg, everything, hours("10:00", 1), later).lines["calls"][0]
}

func (s *turns) hosts() any {
	s.Helper()
	return s.utilization(s, s.organization, measurements.HostScope{}, hours("10:00", 1)).besides
}

// counts compares the calls of the hour: each minute has one, so nothing is lost or doubled if
// there are as many as counted minutes.
func (s *turns) counts(want float64) {
	s.Helper()
	if got := s.calls(); got != want {
		s.Errorf("%g calls, want %g", got, want)
	}
}

func (s *turns) pass(by time.Duration) {
	s.Helper()
	if err := s.Age(s.Context(), by); err != nil {
		s.Fatal(err)
	}
}

// senderCases: contract §27.
func senderCases() []story {
	const hold = 5 * time.Minute
	first, second, third, nameless := "first", "second", "third", ""
	return []story{
		{"statements come from one sender at a time", func(t *testing.T, h Harness) {
			s := newTurns(t, h)
			s.kept(&first, 1, 0, "10:01")
			s.refused(&second, "10:02")
			s.refused(&nameless, "10:02")
			s.kept(&first, 2, 0, "10:01", "10:02") // one of them again
			s.counts(2)
			_, err := h.Store.Write(t.Context(), measurements.Batch{
				Organization: s.organization, Sender: &second,
				Hosts: []measurements.HostSample{host("db01", "10:00", 1)}, Sessions: []measurements.SessionSample{locked(shop, "10:00", 1)},
				Statements: []measurements.StatementSample{ran(contacts, "10:01", q("a", 1, 1))},
			})
			if err != nil {
				t.Errorf("what nobody holds: %v", err)
			}
			s.counts(3)
		}},
		{"the same sender by another token is another one", func(t *testing.T, h Harness) {
			s := newTurns(t, h)
			by := func(token uuid.UUID, minute string) error {
				_, err := h.Store.Write(t.Context(), measurements.Batch{
					Organization: s.organization, Sender: &first, Token: token, Statements: []measurements.StatementSample{ran(shop, minute, q("a", 1, 1))},
				})
				return err
			}
			ours, theirs := uuid.New(), uuid.New()
			held := new(measurements.HeldError)
			if err := by(ours, "10:01"); err != nil {
				t.Error(err)
			}
			if err := by(theirs, "10:02"); !errors.As(err, &held) {
				t.Errorf("by another token: %v", err)
			}
			if err := by(ours, "10:02"); err != nil {
				t.Error(err)
			}
			s.counts(2)
		}},
		{"until five minutes after the last call that was kept", func(t *testing.T, h Harness) {
			s := newTurns(t, h)
			s.kept(&first, 1, 0, "10:01")
			s.pass(hold - time.Minute)
			s.kept(&first, 1, 0, "10:01") // said again what is there
			s.pass(hold - time.Minute)
			s.refused(&second, "10:08") // which is no call that was kept
			s.pass(time.Minute)
			s.kept(&second, 1, 0, "10:08")
			s.refused(&first, "10:09")
			s.counts(2)
		}},
		{"whoever takes over begins where the one before has counted to", func(t *testing.T, h Harness) {
			s := newTurns(t, h)
			s.kept(&first, 3, 0, "10:01", "10:02", "10:03")
			s.pass(hold)
			s.kept(&second, 2, 3, "10:02", "10:03:00", "10:03:30", "10:04", "10:05")
			s.counts(5)
			s.pass(hold)
			s.kept(&third, 1, 1, "10:05:20", "10:06:20")
			s.counts(6)
		}},
		{"what is sent again after another has taken over is neither lost nor doubled", func(t *testing.T, h Harness) {
			s := newTurns(t, h)
			s.kept(&first, 2, 0, "10:01", "10:02") // the answer is lost
			s.pass(hold)
			s.kept(&second, 2, 0, "10:03", "10:04")
			s.refused(&first, "10:01", "10:02", "10:03:30")
			s.pass(hold)
			s.kept(&first, 1, 3, "10:01", "10:02", "10:03:30", "10:05") // what it measured beside the second is the second's
			s.counts(5)
			s.kept(&first, 0, 2, "10:02", "10:04:30")
			s.kept(&first, 2, 0, "10:05", "10:06")
			s.counts(6)
		}},
		{"who does not say who it is holds nothing", func(t *testing.T, h Harness) {
			s := newTurns(t, h)
			s.kept(&nameless, 1, 0, "10:01")
			s.kept(&first, 1, 0, "10:02")
			s.pass(hold)
			s.kept(&nameless, 1, 0, "10:00") // a past that is imported
			s.kept(&second, 1, 0, "10:03")
			s.counts(4)
		}},
		{"Muster itself is held up by nobody", func(t *testing.T, h Harness) {
			s := newTurns(t, h)
			s.kept(&first, 1, 0, "10:01")
			s.kept(nil, 1, 0, "10:02")
			s.counts(2)
		}},
		{"two senders of the same hosts and sessions show what one does", func(t *testing.T, h Harness) {
			shown := func(seconds ...string) map[string]answer {
				organization := uuid.New()
				for i, minute := range []string{"10:01", "10:02", "10:03"} {
					for _, second := range seconds {
						load := host("db01", minute+second, float64(10*(i+1)))
						load.MemoryPercent, load.Volumes = p(float64(20*(i+1))), []measurements.Volume{volume("/", float64(30*(i+1)))}
						waiting := locked(shop, minute+second, int64(i+1))
						waiting.Idle = int64(5 * i)
						h.write(t, measurements.Batch{Organization: organization, Hosts: []measurements.HostSample{load}, Sessions: []measurements.SessionSample{waiting}})
					}
				}
				h.roll(t)
				open := h.connections(t, organization, pg, []uuid.UUID{shop}, at("10:03:50"))
				open.SampledAt = time.Time{}
				return map[string]answer{
					"minutes": h.utilization(t, organization, measurements.HostScope{}, minutes("10:00", 5)), "hour": h.utilization(t, organization, measurements.HostScope{}, hours("10:00", 1)),
					"waits": h.waits(t, organization, pg, everything, minutes("10:00", 5)), "waits of the hour": h.waits(t, organization, pg, everything, hours("10:00", 1)),
					"connections": {besides: open},
				}
			}
			for what, one := range shown(":05") {
				shown(":05", ":35")[what].is(t, one, what)
			}
		}},
		{"organizations hold nothing of each other", func(t *testing.T, h Harness) {
			newTurns(t, h).kept(&first, 1, 0, "10:01")
			newTurns(t, h).kept(&second, 1, 0, "10:01")
		}},
		{"of many senders at once one has it", func(t *testing.T, h Harness) {
			s := newTurns(t, h)
			var all sync.WaitGroup
			var mu sync.Mutex
			kept := 0
			for i := range 8 {
				all.Go(func() {
					sender := string(rune('a' + i))
					_, err := s.by(&sender, "10:01:0"+string(rune('0'+i)))
					var held *measurements.HeldError
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						kept++
					} else if !errors.As(err, &held) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if kept != 1 {
				t.Errorf("%d of 8 were let in", kept)
			}
			s.counts(1)
		}},
	}
}
