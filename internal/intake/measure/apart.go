package measure

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/concurrency/lease"
	"muster/internal/concurrency/pause"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/watch"
	"muster/internal/watch/status"
)

// counts is how the statements of a server are read: over the connection of the sessions, or apart over one of
// its own (ApartReader), so that a list that takes long delays no sample of sessions. It is one goroutine's.
type counts struct {
	reader Reader
	line   *Line
	apart  bool
	// began is when the first attempt failed since the connection worked; zero: it works.
	began    time.Time
	took     time.Duration // the last list
	outcomes map[string]error
	troubles *Troubles
	lacking  []snapshot.MissingGrant // at the last look

	target servers.Target // where the connection leads
	beside time.Time      // when the sessions' connection was made beside which this one was
}

// handover is what the look at the sessions leaves to the other goroutine.
type handover struct {
	shared    any // ApartReader.Known
	databases []Database
	ids       map[string]uuid.UUID
	target    servers.Target
	identity  servers.Identity
	opened    time.Time // when its connection was made
	at        time.Time // when the look began
}

// errElsewhere says that the two connections to a server lead to two of them, as behind a name with several addresses or
// right after a failover.
var errElsewhere = errors.New("the connection for statements leads to another server than the one for sessions")

// newCounts is how the statements of s are read.
func newCounts(s *Server) counts {
	c := counts{reader: s.reader, line: &s.line, outcomes: s.outcomes, troubles: &s.troubles}
	reader, can := s.Engine.NewReader().(ApartReader)
	if !can {
		return c
	}
	troubles := s.troubles
	c = counts{reader: reader, line: &Line{}, apart: true, outcomes: map[string]error{}, troubles: &troubles}
	c.line.open = func(ctx context.Context, database string) (servers.Session, error) { return s.openApart(ctx, database) }
	return c
}

// went notes how a part went, as Server.went does.
func (c *counts) went(part string, err error) error {
	broke := err != nil && c.line.Session != nil && c.line.Closed()
	switch {
	case broke && !c.apart:
		part = connection
	case broke && servers.ReasonOf(err) != servers.TimedOut:
		return err // the connection of the sessions is down as well, and says so; or the next attempt says why
	}
	c.outcomes[part] = err
	return err
}

// runApart counts statements until ctx ends or the server is not ours any more, each time when it is their turn.
func (s *Server) runApart(ctx context.Context) {
	select {
	case <-s.met:
	case <-ctx.Done():
		return
	}
	every := s.Engine.StatementsEvery
	for ctx.Err() == nil {
		began := s.Now()
		s.counts.took = 0
		err := s.countApart(ctx)
		if lease.IsLost(ctx, err) {
			return
		}
		if line := s.counts.line; line.Session == nil || line.Closed() {
			err = nil // it says that of its parts
		}
		logOutcomes(ctx, s.counts.outcomes, s.counts.troubles, err)
		if pause.For(ctx, untilRested(s.Now(), began, s.counts.took, every, phaseOf(s.Instance)%every)) != nil {
			return
		}
	}
}

// statementsShare bounds what lists of statements cost: one that took some seconds is followed by the next one at the first
// turn after so many times as long, so that they take five seconds a minute of the server's time and ours.
const statementsShare = 12

// untilRested is how long it is to the turn at which the next list is read, after one that began and took so long.
func untilRested(now, began time.Time, took, every, phase time.Duration) time.Duration {
	rested := began.Add(statementsShare*took - every/20) // a list takes a little more than the time it is given
	if next := untilTurn(now, every, phase); !rested.After(now.Add(next)) {
		return next
	}
	return rested.Sub(now) + untilTurn(rested, every, phase)%every
}

// countApart counts the statements over their own connection, in a batch of their own.
func (s *Server) countApart(ctx context.Context) error {
	at := instant.Cut(s.Now())
	now := s.handed()
	if now == nil { // the sessions' connection is down, which is said there, or was given up
		s.closeApart(ctx)
		return nil
	}
	return s.countStatements(ctx, measurements.Batch{Organization: s.Organization}, now, at, nil)
}

// leave leaves what the look at the sessions found to the other goroutine; nil: there is no connection.
func (s *Server) leave(a *Activity, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a == nil {
		s.left = nil
		return
	}
	s.left = &handover{databases: a.Databases, ids: maps.Clone(s.databases), target: s.target, identity: s.identity, opened: s.opened, at: at}
	if reader, can := s.reader.(ApartReader); can {
		s.left.shared = reader.Known()
	}
	s.meet()
}

// handed is what was left last.
func (s *Server) handed() *handover {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// named has the sessions' reader name what they execute by the last list.
func (s *Server) named() {
	if reader, can := s.reader.(ApartReader); can && s.counts.apart {
		s.mu.Lock()
		defer s.mu.Unlock()
		reader.Names(s.lately)
	}
}

// ready has a connection for statements, to the server that the sessions are read from. What keeps us from one is an
// error only once the sessions were read since: else their connection is down, too, and says so.
func (s *Server) ready(ctx context.Context, now *handover, at time.Time) (ok bool, err error) {
	c := &s.counts
	if !c.apart {
		return true, nil
	}
	if reader, can := c.reader.(ApartReader); can {
		reader.Counts(now.shared)
	}
	if c.line.Session != nil && (c.line.Closed() || !c.beside.Equal(now.opened)) { // or another server may answer
		c.line.Close(ctx)
		c.line.Session = nil
	}
	if c.line.Session == nil {
		err = s.connectApart(ctx, now)
	}
	if err == nil {
		c.began = time.Time{}
		return true, nil
	}
	if c.began.IsZero() {
		c.began = at
	}
	if now.at.After(c.began) {
		return false, err
	}
	return false, nil
}

// connectApart opens the connection for statements. Its failures are no reason to try again soon: the next one is
// when statements have their turn.
func (s *Server) connectApart(ctx context.Context, now *handover) error {
	c := &s.counts
	c.target, c.beside = now.target, now.opened
	session, err := s.openApart(ctx, now.target.Database)
	if err != nil {
		return err
	}
	if s.Identified != nil && now.identity.Process != "" {
		is, err := now.target.Identify(ctx, session)
		if err != nil || is.Process != "" && (is.Process != now.identity.Process || is.System != now.identity.System) {
			session.Close(ctx)
			return errors.Join(err, errElsewhere)
		}
	}
	c.line.Session = session
	return nil
}

// openApart connects to a database for statements, when it is our turn to.
func (s *Server) openApart(ctx context.Context, database string) (servers.Session, error) {
	next, err := s.Gate.pass(ctx, s.Organization)
	if err != nil {
		return nil, err
	}
	defer next()
	if s.Open != nil {
		return s.Open(ctx, s.counts.target, database)
	}
	return s.counts.target.Open(ctx, database, StatementTimeout)
}

// unconnected is how the statements went that had no connection.
func (s *Server) unconnected(at time.Time, err error) measurements.Reached {
	r := s.part(status.Statements, at, err)
	if refused, ok := errors.AsType[*servers.ConnectionError](err); ok {
		r.Code, r.Sentence = refused.Reason(), refused.Sentence
	} else if errors.Is(err, errElsewhere) {
		r.Code, r.Sentence = "elsewhere", "The connection for statements leads to another server than the one for sessions."
	}
	return r
}

// oneAtATime is a home that two goroutines ask, one after the other.
type oneAtATime struct {
	home Home
	mu   sync.Mutex
}

func one[T any](h *oneAtATime, ask func(Home) (T, error)) (T, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return ask(h.home)
}

func (h *oneAtATime) done(ask func(Home) error) error {
	_, err := one(h, func(home Home) (struct{}, error) { return struct{}{}, ask(home) })
	return err
}

func (h *oneAtATime) Target(ctx context.Context) (servers.Target, error) {
	return one(h, func(home Home) (servers.Target, error) { return home.Target(ctx) })
}

func (h *oneAtATime) Excluded(ctx context.Context) error {
	return h.done(func(home Home) error { return home.Excluded(ctx) })
}

func (h *oneAtATime) Returned(ctx context.Context) error {
	return h.done(func(home Home) error { return home.Returned(ctx) })
}

func (h *oneAtATime) Databases(ctx context.Context, names []string) (map[string]uuid.UUID, error) {
	return one(h, func(home Home) (map[string]uuid.UUID, error) { return home.Databases(ctx, names) })
}

func (h *oneAtATime) Lacks(ctx context.Context, grants []snapshot.MissingGrant) error {
	return h.done(func(home Home) error { return home.Lacks(ctx, grants) })
}

func (h *oneAtATime) Record(ctx context.Context, b measurements.Batch, signs []watch.Sign) error {
	return h.done(func(home Home) error { return home.Record(ctx, b, signs) })
}

func (h *oneAtATime) Count(ctx context.Context, since *time.Time, now *List, b measurements.Batch, signs []watch.Sign) error {
	return h.done(func(home Home) error { return home.Count(ctx, since, now, b, signs) })
}

func (h *oneAtATime) CountedUntil(ctx context.Context) (*time.Time, error) {
	return one(h, func(home Home) (*time.Time, error) { return home.CountedUntil(ctx) })
}

func (h *oneAtATime) Basis(ctx context.Context) (*List, error) {
	return one(h, func(home Home) (*List, error) { return home.Basis(ctx) })
}

func (h *oneAtATime) KeepsTexts(ctx context.Context) (bool, error) {
	return one(h, func(home Home) (bool, error) { return home.KeepsTexts(ctx) })
}
