package measure_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
	"muster/internal/watch/status"
)

// pausing is a reader of a server that may pause.
type pausing struct {
	idle
	pauses, hidden bool
	sessions       int64
	fails, trouble error
}

func (p *pausing) Activity(context.Context, *measure.Line) (*measure.Activity, error) {
	app := measure.Database{ID: 5, Name: "app", Sample: measurements.SessionSample{Idle: p.sessions}}
	return &measure.Activity{SeesAll: !p.hidden, Databases: []measure.Database{app}, Trouble: p.trouble}, p.fails
}
func (p *pausing) Pauses(context.Context, *measure.Line) (bool, error) { return p.pauses, nil }

// paused is a server that may pause, as it is measured.
type paused struct {
	*pausing
	*measuretest.Home
	clock   *clocktest.Clock
	one     *measure.Server
	opened  int
	session *serverstest.Session
	refuses bool
}

func newPaused(t *testing.T, dsn string) *paused {
	t.Helper()
	target, err := new(servers.Reach).Target(fleet.SQLServer, dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := &paused{
		pausing: &pausing{pauses: true}, Home: &measuretest.Home{To: target}, clock: clocktest.At(time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)),
	}
	p.one = measure.New(measure.Config{
		Engine:   measure.Engine{Name: fleet.SQLServer, SessionsEvery: 30 * time.Second, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return p.pausing }},
		Instance: uuid.New(), Home: p.Home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: p.clock.Now,
		Open: func(context.Context, servers.Target, string) (servers.Session, error) {
			p.opened++
			if p.refuses {
				return nil, &servers.ConnectionError{Class: servers.ClassRefused, Code: "40613", Sentence: "Azure says that it is not available."}
			}
			p.session = serverstest.New("app")
			return p.session, nil
		},
	})
	t.Cleanup(func() { p.one.Close(context.Background()) })
	return p
}

// pass measures for so long, every half minute.
func (p *paused) pass(ctx context.Context, d time.Duration) {
	for end := p.clock.Now().Add(d); p.clock.Now().Before(end); p.clock.Advance(30 * time.Second) {
		_ = p.one.Turn(ctx)
	}
}

// said is what was last said of the connection.
func (p *paused) said() measurements.Reached {
	for i := len(p.Batches) - 1; i >= 0; i-- {
		for _, r := range p.Batches[i].Reached {
			if r.Part == "" {
				return r
			}
		}
	}
	return measurements.Reached{}
}

// TestAServerlessDatabaseIsLetPause: nobody is connected once it was not used for ten minutes, and it is said why nothing is
// measured. Muster's look after six hours may wake it, and leaves after a minute if nobody is there.
func TestAServerlessDatabaseIsLetPause(t *testing.T) {
	t.Parallel()
	const letPause = "sqlserver://muster:secret@shop.example?database=app&letPause=true"
	p := newPaused(t, letPause)
	p.sessions = 1
	if p.pass(t.Context(), time.Hour); p.opened != 1 || p.session.Closed() || !p.said().Up {
		t.Fatalf("while it is used: %d connections, %+v", p.opened, p.said())
	}
	p.sessions = 0
	if p.pass(t.Context(), 10*time.Minute); p.session.Closed() {
		t.Error("it is left alone at once")
	}
	p.pass(t.Context(), time.Minute)
	if r := p.said(); !p.session.Closed() || r.Up || r.Code != status.CodeResting {
		t.Fatalf("after ten minutes without anybody: %+v", r)
	}
	p.sessions = 3 // nobody sees that
	if p.pass(t.Context(), 5*time.Hour); p.opened != 1 || p.said().Code != status.CodeResting || p.clock.Now().Sub(p.said().At) > time.Minute {
		t.Errorf("while it is left alone: %d connections, %+v", p.opened, p.said())
	}
	p.sessions, p.refuses = 0, true
	if p.pass(t.Context(), 2*time.Hour); p.opened < 2 || p.said().Code != "40613" {
		t.Errorf("it does not wake for an hour: %d connections, %+v", p.opened, p.said())
	}
	p = newPaused(t, letPause)
	p.pass(t.Context(), 11*time.Minute)
	p.pass(t.Context(), 6*time.Hour-time.Minute)
	p.refuses = true
	p.pass(t.Context(), 2*time.Minute)
	if r := p.said(); p.opened < 2 || r.Up || r.Code != status.CodeResting {
		t.Errorf("while it wakes: %d connections, %+v", p.opened, r)
	}
	p.refuses = false
	before := p.opened
	if p.pass(t.Context(), 3*time.Minute); p.opened != before+1 || !p.session.Closed() || p.said().Code != status.CodeResting {
		t.Errorf("woken, and nobody is there: %d connections, %+v", p.opened-before, p.said())
	}
}

// TestUnreadableSessionsRestartTheIdleTime: the ten minutes begin again with the next look at them.
func TestUnreadableSessionsRestartTheIdleTime(t *testing.T) {
	t.Parallel()
	for name, unread := range map[string]func(p *paused, why error){
		"a look fails":                   func(p *paused, why error) { p.fails = why },
		"a look has the databases alone": func(p *paused, why error) { p.trouble = why },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaused(t, "sqlserver://muster:secret@shop.example?letPause=true")
			p.pass(t.Context(), 8*time.Minute)
			unread(p, &servers.Refusal{Engine: fleet.SQLServer, Code: "error -2", Reason: servers.TimedOut})
			p.pass(t.Context(), 12*time.Minute)
			unread(p, nil)
			if p.pass(t.Context(), 9*time.Minute); p.session.Closed() {
				t.Error("it is left alone")
			}
			if p.pass(t.Context(), 2*time.Minute); !p.session.Closed() {
				t.Error("it is not left alone after ten minutes without anybody")
			}
		})
	}
}

// TestOnlyIdleServerlessDatabasesMayPause, if the user wants that, and if it is known that no session is there.
func TestOnlyIdleServerlessDatabasesMayPause(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dsn    string
		change func(*pausing)
	}{
		"it is not wanted":            {"sqlserver://muster:secret@shop.example?database=app", func(*pausing) {}},
		"the server does not pause":   {"sqlserver://muster:secret@shop.example?letPause=true", func(p *pausing) { p.pauses = false }},
		"who is there is not known":   {"sqlserver://muster:secret@shop.example?letPause=true", func(p *pausing) { p.hidden = true }},
		"somebody is there who idles": {"sqlserver://muster:secret@shop.example?letPause=true", func(p *pausing) { p.sessions = 1 }},
	} {
		p := newPaused(t, test.dsn)
		test.change(p.pausing)
		if p.pass(t.Context(), time.Hour); p.opened != 1 || p.session.Closed() {
			t.Errorf("%s: %d connections, %+v", name, p.opened, p.said())
		}
	}
}
