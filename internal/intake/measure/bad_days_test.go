package measure_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
	"muster/internal/watch"
	"muster/internal/watch/status"
)

// thorough is a reader that asks for as much as one of PostgreSQL does.
type thorough struct{ idle }

func (thorough) Freed(context.Context, *measure.Line, blocking.Node, time.Time) (blocking.End, error) {
	return "", nil
}
func (thorough) Blocking(context.Context, *measure.Line, time.Time, bool) (*blocking.Look, error) {
	return nil, nil
}
func (thorough) Signs(ctx context.Context, l *measure.Line) ([]watch.Sign, error) {
	return nil, ask(ctx, l, 3)
}

func (thorough) Statements(ctx context.Context, l *measure.Line) (*measure.List, error) {
	return nil, ask(ctx, l, 2)
}

func ask(ctx context.Context, l *measure.Line, times int) error {
	for range times {
		if err := l.Each(ctx, servers.Statement{Columns: 1, Text: "SELECT sessions"}, func([][]byte) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// badDay is a server that has one, by a clock of its own.
type badDay struct {
	*serverstest.Session
	clock   *clocktest.Clock
	home    *watchedHome
	server  *measure.Server
	takes   time.Duration // for an answer
	breaks  error         // of each statement, which takes the connection with it
	broken  bool
	refuses func() error
	process string // of the server
}

// watchedHome decides after each report how the server is, as serve does.
type watchedHome struct {
	measuretest.Home
	fact   status.Fact
	states []status.State
	falls  int
	clock  *clocktest.Clock
}

func (h *watchedHome) Record(ctx context.Context, b measurements.Batch, signs []watch.Sign) error {
	h.look()
	for _, r := range b.Reached {
		if r.Part != "" || !r.At.After(h.fact.TriedAt) {
			continue
		}
		if h.fact.OK != r.Up || h.fact.TriedAt.IsZero() {
			if !r.Up {
				h.falls++
			}
			h.fact.Since = r.At
		}
		if !r.Fell.IsZero() {
			h.falls++
			h.fact.Since = r.At
		}
		h.fact.Source, h.fact.Part, h.fact.OK, h.fact.TriedAt = status.Muster, status.Connection, r.Up, r.At
		h.fact.Code, h.fact.Sentence = r.Code, r.Sentence
		if !r.Since.IsZero() {
			h.fact.Since = r.Since
		}
	}
	h.look()
	return h.Home.Record(ctx, b, signs)
}

// look notes how the server is now.
func (h *watchedHome) look() {
	if !h.fact.TriedAt.IsZero() {
		h.states = append(h.states, status.Decide([]status.Fact{h.fact}, h.clock.Now(), nil).State)
	}
}

func newBadDay(t *testing.T) *badDay {
	t.Helper()
	d := &badDay{Session: serverstest.New("app"), clock: clocktest.At(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)), process: "1"}
	d.On("SELECT sessions")
	target, err := servers.Parse(fleet.PostgreSQL, "postgres://muster@db01.example/app")
	if err != nil {
		t.Fatal(err)
	}
	d.home = &watchedHome{Home: measuretest.Home{To: target}, clock: d.clock}
	d.server = measure.New(measure.Config{
		Engine:   measure.Engine{Name: fleet.PostgreSQL, SessionsEvery: 10 * time.Second, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return thorough{} }},
		Instance: uuid.MustParse("00000000-0000-7000-8000-000000000000"), Home: d.home, Gate: measure.NewGate(1),
		Open: func(context.Context, servers.Target, string) (servers.Session, error) {
			d.clock.Advance(d.takes)
			if d.refuses != nil {
				if err := d.refuses(); err != nil {
					return nil, err
				}
			}
			d.broken = false
			return d, nil
		},
		Identified: func(context.Context, servers.Identity) error { return nil },
		Log:        slog.New(slog.DiscardHandler), Now: d.clock.Now,
	})
	return d
}

// Each is the session's.
func (d *badDay) Each(ctx context.Context, statement servers.Statement, take func([][]byte) error) error {
	d.clock.Advance(d.takes)
	d.On("-- identity: a cluster, its process, and whether it follows another", []string{"7", d.process, "primary"})
	if d.breaks != nil {
		d.broken = true
		return d.breaks
	}
	return d.Session.Each(ctx, statement, take)
}

func (d *badDay) Closed() bool { return d.broken }

// turns takes turns for so long, as Run does.
func (d *badDay) turns(t *testing.T, lasting time.Duration) {
	t.Helper()
	for end := d.clock.Now().Add(lasting); d.clock.Now().Before(end); d.clock.Advance(d.server.Wait()) {
		_ = d.server.Turn(t.Context())
		d.home.look()
	}
}

// TestAServerThatAnswersInNineSeconds is up, however many answers a round has, and stays so.
func TestAServerThatAnswersInNineSeconds(t *testing.T) {
	t.Parallel()
	d := newBadDay(t)
	d.takes = 9 * time.Second
	d.turns(t, 10*time.Minute)
	if got := slices.Compact(slices.Clone(d.home.states)); !slices.Equal(got, []status.State{status.Up}) {
		t.Errorf("it is %v in turn", got)
	}
	// Its statements time out, and each login takes half a minute.
	d.breaks, d.takes = context.DeadlineExceeded, 9200*time.Millisecond
	d.refuses = func() error { d.clock.Advance(30 * time.Second); return nil }
	d.turns(t, 10*time.Minute)
	if got := slices.Compact(slices.Clone(d.home.states)); !slices.Equal(got, []status.State{status.Up}) {
		t.Errorf("with statements that time out it is %v in turn", got)
	}
}

// TestAServerThatDoesNotAnswer, as one whose processes are stopped, is down within 30 seconds,
// since it did not answer.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	d := newBadDay(t)
	d.turns(t, time.Minute)
	stopped := d.clock.Now()
	d.breaks = context.DeadlineExceeded
	d.takes = 9200 * time.Millisecond
	d.refuses = func() error {
		d.clock.Advance(servers.ConnectTimeout - d.takes)
		return &servers.ConnectionError{Class: servers.ClassTimeout, Sentence: "db01 did not answer within 10s."}
	}
	for d.home.fact.OK {
		d.turns(t, time.Second)
	}
	if took := d.clock.Now().Sub(stopped); took > 30*time.Second || d.home.fact.Since.Sub(stopped) > 20*time.Second {
		t.Errorf("it is down after %s, since %s", took, d.home.fact.Since.Sub(stopped))
	}
}

// TestAServerThatRefusesNineOfTenConnections is down as long as all are refused, is tried often
// enough to be known, and is up on the connection that it accepts.
func TestAServerThatRefusesNineOfTenConnections(t *testing.T) {
	t.Parallel()
	d := newBadDay(t)
	tries := 0
	d.refuses = func() error {
		if tries++; tries%10 != 0 {
			return &servers.ConnectionError{Class: servers.ClassRefused, Code: "53300", Sentence: "db01 is full."}
		}
		return nil
	}
	d.turns(t, 20*time.Minute)
	if got := slices.Compact(slices.Clone(d.home.states)); !slices.Equal(got, []status.State{status.Down, status.Up}) || tries != 10 {
		t.Errorf("it is %v in turn, after %d tries", got, tries)
	}
}

// TestAServerThatRestartsEveryTwentySeconds goes down each time, however quickly it is back,
// and is never shown as down meanwhile: it is up again when Muster learns about it. A
// connection that is lost alone, as in a firewall, is no restart.
func TestAServerThatRestartsEveryTwentySeconds(t *testing.T) {
	t.Parallel()
	d := newBadDay(t)
	d.turns(t, 30*time.Second)
	lose := func() {
		d.broken = true
		d.turns(t, 20*time.Second)
	}
	for range 5 {
		lose()
	}
	if d.home.falls != 0 || !d.home.fact.OK {
		t.Errorf("its connection was cut, and it fell %d times", d.home.falls)
	}
	for n := range 5 {
		d.process = string(rune('2' + n))
		lose()
	}
	if d.home.falls != 5 || !d.home.fact.OK {
		t.Errorf("it restarted five times, and fell %d times", d.home.falls)
	}
	if got := slices.Compact(slices.Clone(d.home.states)); !slices.Equal(got, []status.State{status.Up}) {
		t.Errorf("it is %v in turn", got)
	}
}

// TestMusterSleepsWhileItConnects: the attempt says nothing of the server. The next one does.
func TestMusterSleepsWhileItConnects(t *testing.T) {
	t.Parallel()
	for name, asleep := range map[string]time.Duration{"ten minutes": 10 * time.Minute, "half a minute": 30 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newBadDay(t)
			d.turns(t, time.Minute)
			d.broken = true
			d.refuses = func() error {
				d.clock.Advance(asleep)
				d.refuses = nil
				return &servers.ConnectionError{Class: servers.ClassTimeout, Sentence: "db01 did not answer within 10s."}
			}
			d.turns(t, asleep+time.Minute)
			if slices.Contains(d.home.states, status.Down) || !d.home.fact.OK {
				t.Errorf("it is %v in turn", slices.Compact(slices.Clone(d.home.states)))
			}
			slept := d.clock.Now().Truncate(time.Microsecond)
			d.broken = true
			d.refuses = func() error {
				return &servers.ConnectionError{Class: servers.ClassRefused, Sentence: "Connection refused at db01."}
			}
			d.turns(t, 5*time.Second)
			if d.home.fact.OK || d.home.fact.Since.Before(slept) {
				t.Errorf("awake, it says %+v at %s", d.home.fact, slept)
			}
		})
	}
}
