package monitor

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/instant"
	"muster/internal/lease"
	"muster/internal/measurements"
	"muster/internal/pause"
	"muster/internal/servers"
	"muster/internal/snapshot"
)

const (
	// statementTimeout is how long the server itself lets one of our queries run.
	// They take milliseconds; a server that is slower has other worries.
	statementTimeout = 5 * time.Second
	// searchEvery is how often other databases are searched for the extension.
	searchEvery = 10 * time.Minute
)

// server is one that we measure: a goroutine, and one connection.
type server struct {
	*Monitor
	claim claim
	log   *slog.Logger

	target    servers.Target
	session   servers.Session // nil: none is open
	database  string          // where the extension was found; empty: where the connection goes
	extension *extension      // nil: not found
	searched  time.Time       // when other databases were
	failures  int             // to connect, in a row
	complaint string          // the last one that was logged

	databases map[string]uuid.UUID // the fleet's, by name
	seen      []string             // the server's, sorted
	lacking   []snapshot.MissingGrant
	told      bool // lacking was kept

	minute  time.Time      // the last one whose turn was taken
	counted *time.Time     // until when statements are, as far as we know
	last    *statementList // their counters then; nil: no basis yet
	pending *statementList // what may have been counted: nobody said

	textsAfter time.Time // texts are not asked for before
}

func newServer(m *Monitor, c claim) *server {
	return &server{
		Monitor: m, claim: c, counted: c.StatementsAt,
		log: m.Log.With("instance", c.Instance),
	}
}

// run measures until ctx ends or the claim is lost, the first time at once.
func (s *server) run(ctx context.Context) {
	defer s.close(ctx)
	for ctx.Err() == nil {
		err := s.round(ctx)
		switch {
		case lease.IsLost(ctx, err):
			return
		case err != nil && ctx.Err() == nil:
			s.complain(ctx, err)
		}
		wait := untilTurn(s.Now(), sessionsEvery, phaseOf(s.claim.Instance)%sessionsEvery)
		if s.session == nil && s.failures > 0 {
			wait = backoff(s.failures)
		}
		if pause.For(ctx, wait) != nil {
			return
		}
	}
}

// complain logs why something could not be measured, once, and not every ten seconds.
// What the server says stays out of it: its text may quote data, or name its users.
func (s *server) complain(ctx context.Context, err error) {
	reason := err.Error()
	var refused *servers.ConnectionError
	var answer *servers.Refusal
	switch {
	case errors.As(err, &refused):
		reason = "connection: " + refused.Class
	case errors.As(err, &answer):
		reason = answer.Code
	}
	if reason != s.complaint {
		s.log.WarnContext(ctx, "a server cannot be measured, or not all of it", "reason", reason)
	}
	s.complaint = reason
}

// round takes what is due. Each part of it that cannot be read is missing, and none of
// the others with it.
func (s *server) round(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	at := instant.Cut(s.Now())
	a, err := readActivity(ctx, s.session, at)
	if err != nil {
		return err
	}
	minute := turn(at, statementsEvery, phaseOf(s.claim.Instance))
	minutely := !minute.Equal(s.minute)
	if err := s.discover(ctx, a, minutely); err != nil {
		return err
	}
	batch := measurements.Batch{
		Organization: s.claim.Organization, Sessions: a.samples(s.claim.Instance, s.databases), Guard: s.claim.guard,
	}
	if !minutely {
		return s.record(ctx, batch)
	}
	s.minute = minute
	signs, signsErr := readSigns(ctx, s.session, a, s.claim.Organization, s.claim.Instance)
	return errors.Join(signsErr, s.countStatements(ctx, batch, a, signs))
}

// connect opens the connection where there is none. One that breaks in the middle of a
// round stays until the next: what is left of the round fails on it.
func (s *server) connect(ctx context.Context) error {
	if s.session != nil && !s.session.Closed() {
		return nil
	}
	credentials, ok, err := s.Connections.Credentials(ctx, s.claim.Organization, s.claim.Instance)
	if err != nil {
		return err
	}
	if !ok {
		return &lease.LostError{What: s.claim.lost()} // forgotten a moment ago
	}
	if s.target, err = credentials.Target(s.Reach); err != nil {
		return err
	}
	if s.session, err = s.openIn(ctx, cmp.Or(s.database, s.target.Database)); err != nil {
		s.failures++
		var refused *servers.ConnectionError
		if errors.As(err, &refused) && refused.Class == servers.ClassDatabase {
			s.database, s.searched = "", time.Time{} // it is gone: the extension may be elsewhere
		}
		if refused != nil && refused.Class == servers.ClassNotAllowed && s.failures == 1 {
			// The assessment, hours away, keeps the reason where people see it.
			_, dueErr := s.Connections.Due(ctx, s.claim.Organization, s.claim.Instance)
			err = errors.Join(err, dueErr)
		}
		return err
	}
	if s.failures > 0 {
		s.log.InfoContext(ctx, "a server can be measured again", "failures", s.failures)
		s.complaint = ""
	}
	s.failures = 0
	return nil
}

// openIn connects to a database, when it is our turn to. One that hangs keeps its turn
// for a moment only: to wait for it costs nothing.
func (s *server) openIn(ctx context.Context, database string) (servers.Session, error) {
	select {
	case s.connects <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	next := sync.OnceFunc(func() { <-s.connects })
	defer next()
	defer time.AfterFunc(connectTurn, next).Stop()
	session, err := s.target.Open(ctx, database, statementTimeout)
	if err != nil {
		return nil, err
	}
	return session, nil
}

func (s *server) close(ctx context.Context) {
	if s.session != nil {
		s.session.Close(ctx)
		s.session = nil
	}
}

// discover makes the fleet know the databases that are there, and no others.
func (s *server) discover(ctx context.Context, a *activity, again bool) error {
	names := a.names()
	slices.Sort(names)
	if !again && slices.Equal(names, s.seen) {
		return nil
	}
	known, err := s.Fleet.DatabasesOf(ctx, s.claim.Organization, s.claim.Instance)
	if err != nil {
		return err
	}
	if !slices.Equal(names, slices.Sorted(maps.Keys(known))) {
		actor := commands.Actor{OrganizationID: s.claim.Organization, Component: "collector"}
		var gone *commands.NotFoundError
		var rule *commands.RuleError
		switch _, err := s.Fleet.RecordDatabases(ctx, actor, s.claim.Instance, names); {
		case errors.As(err, &gone):
			return &lease.LostError{What: s.claim.lost()} // removed a moment ago
		case errors.As(err, &rule):
			s.complain(ctx, err) // of a name that is too long for the lists
		case err != nil:
			return err
		}
		if known, err = s.Fleet.DatabasesOf(ctx, s.claim.Organization, s.claim.Instance); err != nil {
			return err
		}
	}
	s.databases, s.seen = known, names
	return nil
}
