package monitor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/snapshot"
	"muster/internal/watch"
)

// countStatements records what statements did since the last time, with the rest of
// the round.
func (s *server) countStatements(ctx context.Context, batch measurements.Batch, a *activity, signs []watch.Sign) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	now, readErr := s.listStatements(ctx, a.at)
	if err := s.tell(ctx, a, readErr); err != nil {
		return err
	}
	if errors.Is(readErr, errHidden) { // which has been told
		readErr = nil
	}
	if now == nil {
		return errors.Join(readErr, s.record(ctx, batch, signs...))
	}
	var textsErr error
	if deltas, ok := deltasBetween(s.last, now); ok {
		var texts map[textKey]string
		texts, textsErr = s.readTexts(ctx, now, deltas)
		batch.Statements = statementSamples(s.claim.Instance, a.databases, s.databases, s.last, now, deltas, texts)
	}
	counted := s.counted
	batch.Guard = func(ctx context.Context, tx sqlx.ExtContext) error { return s.claim.count(ctx, tx, counted, now.at) }
	s.pending = now
	if err := s.record(ctx, batch, signs...); err != nil {
		return errors.Join(readErr, textsErr, err) // whether it was kept shows at the next round
	}
	s.last, s.counted, s.pending = now, &now.at, nil
	return errors.Join(readErr, textsErr)
}

// settle finds out whether an interval was counted of which nobody said so: our
// database went away as it was written, or only the watch's figures could not be kept.
func (s *server) settle(ctx context.Context) error {
	if s.pending == nil {
		return nil
	}
	at, err := s.leases.statementsAt(ctx, s.claim)
	if err != nil {
		return err
	}
	same := func(t *time.Time) bool { return at == nil && t == nil || at != nil && t != nil && at.Equal(*t) }
	switch {
	case same(&s.pending.at):
		s.last = s.pending
	case !same(s.counted):
		s.last = nil // somebody else counted: what we have is no basis
	}
	s.counted, s.pending = at, nil
	return nil
}

// listStatements reads the statements' counters; nil: there are none to be read. With
// them comes an error where only how long they executed could not be read.
func (s *server) listStatements(ctx context.Context, at time.Time) (*statementList, error) {
	if s.extension == nil || len(s.extension.missing) > 0 {
		// Perhaps it has been created, or granted, since.
		if err := s.findExtension(ctx); err != nil {
			return nil, err
		}
	}
	if s.extension == nil || len(s.extension.missing) > 0 {
		return nil, nil
	}
	now, err := s.extension.readStatements(ctx, s.session, at)
	if err != nil {
		if !errors.Is(err, errHidden) {
			s.extension = nil // dropped, moved or updated, or its library is not loaded
		}
		return nil, err
	}
	now.active, err = s.extension.readActiveTime(ctx, s.session)
	return now, err
}

// findExtension looks where we are connected, and from time to time in the other
// databases; where it finds it, there we stay. Only then is there a second connection
// for a moment.
func (s *server) findExtension(ctx context.Context) (err error) {
	if s.extension, err = findExtension(ctx, s.session); err != nil || s.extension != nil {
		return err
	}
	if !s.searched.IsZero() && s.Now().Sub(s.searched) < searchEvery {
		return nil
	}
	s.searched = s.Now()
	rows, err := servers.Query(ctx, s.session, 1, databasesQuery)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row[0] == s.session.Database() || ctx.Err() != nil {
			continue
		}
		other, err := s.openIn(ctx, row[0])
		if err != nil {
			continue // not for us
		}
		found, err := findExtension(ctx, other)
		if err != nil || found == nil {
			other.Close(ctx)
			continue
		}
		s.session.Close(ctx)
		s.session, s.database, s.extension = other, row[0], found
		return nil
	}
	return ctx.Err()
}

// tell keeps what our role may not read, where it is not what is known of it.
func (s *server) tell(ctx context.Context, a *activity, readErr error) error {
	if a.role == "" {
		return nil // the server has no database, and said nothing
	}
	lacking := []snapshot.MissingGrant{}
	if !a.mayRead || errors.Is(readErr, errHidden) {
		lacking = append(lacking, snapshot.MissingGrant{
			Object: "what members of pg_read_all_stats see", Statement: "GRANT pg_read_all_stats TO " + a.role + ";",
		})
	}
	if s.extension != nil {
		lacking = append(lacking, s.extension.missing...)
	}
	if s.told && slices.EqualFunc(lacking, s.lacking, func(x, y snapshot.MissingGrant) bool { return x.Statement == y.Statement }) {
		return nil
	}
	if err := s.leases.lacks(ctx, s.claim, lacking); err != nil {
		return err
	}
	s.lacking, s.told = lacking, true
	return nil
}

// record hands a batch on, when it is its turn.
func (s *server) record(ctx context.Context, batch measurements.Batch, signs ...watch.Sign) error {
	select {
	case s.writes <- struct{}{}:
		defer func() { <-s.writes }()
	case <-ctx.Done():
		return ctx.Err()
	}
	receipt, err := s.Intake.Record(ctx, batch, signs...)
	if s.Kept != nil {
		s.Kept(receipt)
	}
	return err
}
