package measure

import (
	"context"
	"fmt"
	"time"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/watch/status"
)

const (
	// idleFor is for how long nobody but Muster has to be on a server until it is let pause.
	idleFor = 10 * time.Minute
	// restsFor is for how long it is left alone then. Muster's look may wake it, which costs the time until it pauses again.
	restsFor = 6 * time.Hour
	// wakesFor is how long a server that was left alone may refuse connections because it is waking.
	wakesFor = 3 * time.Minute
	// tellEvery is how often it is said that a server is left alone.
	tellEvery = 30 * time.Second
)

// Pauser is a Reader whose server may pause while nobody is connected.
type Pauser interface {
	// Pauses says whether the server does. It is asked once on each connection, if pausing is wanted.
	Pauses(ctx context.Context, l *Line) (bool, error)
}

// rest is what is known of a server that is let pause (servers.Target.LetsPause).
type rest struct {
	asked  time.Time // on the connection that was made then
	pauses bool
	idle   time.Time // since when nobody is on it but us; zero: somebody is, or that is not known
	since  time.Time // when it was left alone; zero: it is not
	until  time.Time
	waking time.Time // when it was no longer left alone; zero: never, or somebody was on it since
}

// rests says whether the server is left alone at a time.
func (r *rest) rests(at time.Time) bool { return !r.since.IsZero() && at.Before(r.until) }

// due says whether to leave the server alone, after a look at its sessions. A server that was woken by Muster's look is
// left alone again after a minute without anybody.
func (r *rest) due(at time.Time) bool {
	patience := idleFor
	if !r.waking.IsZero() {
		patience = time.Minute
	}
	return r.pauses && !r.idle.IsZero() && at.Sub(r.idle) >= patience
}

// notice takes in a look at the sessions.
func (s *Server) notice(ctx context.Context, a *Activity, at time.Time) {
	reader, can := s.reader.(Pauser)
	if !can || !s.target.LetsPause() {
		s.rest.idle = time.Time{}
		return
	}
	if !s.rest.asked.Equal(s.opened) {
		pauses, err := reader.Pauses(ctx, &s.line)
		if s.went("pausing", err) != nil {
			return
		}
		s.rest.asked, s.rest.pauses = s.opened, pauses
	}
	switch {
	case a.Trouble != nil || !a.SeesAll || a.busy():
		s.rest.idle, s.rest.waking = time.Time{}, time.Time{}
	case s.rest.idle.IsZero():
		s.rest.idle = at
	}
}

// busy says whether anybody is on the server but Muster.
func (a *Activity) busy() bool {
	for _, d := range a.Databases {
		if s := d.Sample; s.Active+s.Waiting+s.Idle+s.IdleInTransaction+s.Other > 0 {
			return true
		}
	}
	return false
}

// leaveAlone gives the connection up, so that the server pauses. The other goroutine gives up its own, as it finds that
// there is none for sessions.
func (s *Server) leaveAlone(ctx context.Context) error {
	now := instant.Cut(s.Now())
	s.rest = rest{since: now, until: now.Add(restsFor)}
	s.line.Close(ctx)
	s.line.Session = nil
	s.leave(nil, time.Time{})
	return s.report(ctx, s.resting())
}

// resting is what is said of a server that is left alone: it is no failure, and nobody knows how it is.
func (s *Server) resting() measurements.Reached {
	return measurements.Reached{
		Instance: s.Instance, At: instant.Cut(s.Now()), Since: s.rest.since, Code: status.CodeResting,
		Sentence: fmt.Sprintf("Nobody used the server, so Muster lets it pause. Muster looks again at %s UTC.", s.rest.until.UTC().Format("15:04")),
	}
}

// wakes says whether a server refuses a connection because it is waking, and what is said then.
func (s *Server) wakes(why *servers.ConnectionError) (measurements.Reached, bool) {
	now := instant.Cut(s.Now())
	if s.rest.waking.IsZero() || now.Sub(s.rest.waking) > wakesFor || why.Class != servers.ClassRefused {
		return measurements.Reached{}, false
	}
	return measurements.Reached{
		Instance: s.Instance, At: now, Since: s.rest.waking, Code: status.CodeResting, Sentence: "The server is waking after a pause.",
	}, true
}

// closeApart gives up the connection for statements: there is none for sessions.
func (s *Server) closeApart(ctx context.Context) {
	if line := s.counts.line; s.counts.apart && line.Session != nil {
		line.Close(ctx)
		line.Session = nil
	}
}
