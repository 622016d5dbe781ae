package measure

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/watch"
	"muster/internal/watch/status"
)

// countStatements records what statements did since the last time, with the rest of the round or without one.
func (s *Server) countStatements(ctx context.Context, batch measurements.Batch, on *handover, at time.Time, signs []watch.Sign) error {
	c := &s.counts
	kept := s.kept
	if len(batch.Reached) == 0 { // the other goroutine's round
		kept = func(_ measurements.Batch, err error) error { return err }
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	ready, err := s.ready(ctx, on, at)
	if !ready {
		if c.went(string(status.Statements), err) != nil {
			batch.Reached = append(batch.Reached, s.unconnected(at, err))
		}
		return errors.Join(err, kept(batch, s.home.Record(ctx, batch, signs)))
	}
	begins := s.Now()
	now, readErr := c.reader.Statements(ctx, c.line)
	c.took = s.Now().Sub(begins)
	apart, whole := s.apart(at, readErr)
	if now == nil { // no database could be read
		whole = readErr
	}
	batch.Reached = append(batch.Reached, apart...)
	_ = c.went(string(status.Statements), readErr)
	if readErr == nil && !c.apart {
		readErr = s.reportSlow(ctx)
	}
	if err := s.tell(ctx, c.reader, &c.lacking); err != nil {
		return err
	}
	batch.Reached = append(batch.Reached, s.statements(now != nil, at, whole))
	if now == nil {
		if readErr == nil {
			_ = c.went(string(status.Statements), errNoStatements)
		}
		return errors.Join(readErr, kept(batch, s.home.Record(ctx, batch, signs)))
	}
	now.At, now.Until = at, at
	if until := instant.Cut(s.Now()); until.After(at) { // unless the clock was set back meanwhile
		now.Until = until
	}
	found := s.resets.with(s.last, now)
	found.say(&batch.Reached[len(batch.Reached)-1])
	var textsErr error
	if deltas, ok := deltasBetween(s.last, now); ok {
		var texts map[Ref]string
		texts, textsErr = s.readTexts(ctx, now, deltas)
		batch.Statements = s.samples(on, now, deltas, texts)
	}
	s.pending = now
	if err := kept(batch, s.home.Count(ctx, s.counted, now, batch, signs)); err != nil {
		return errors.Join(readErr, textsErr, err) // whether it was kept shows at the next round
	}
	s.last, s.counted, s.pending, s.resets = now, &now.At, nil, found
	s.mu.Lock()
	s.lately = now
	s.mu.Unlock()
	return errors.Join(readErr, textsErr)
}

var errNoStatements = errors.New("the server has no statement statistics that Muster's account may read")

// settle finds out whether an interval with an unknown outcome was counted: our database failed
// as it was written, or only the watch's figures could not be stored. At first it is what was
// stored before this process began.
func (s *Server) settle(ctx context.Context) error {
	if s.known && s.pending == nil {
		return nil
	}
	at, err := s.home.CountedUntil(ctx)
	if err != nil {
		return err
	}
	same := func(t *time.Time) bool { return at == nil && t == nil || at != nil && t != nil && at.Equal(*t) }
	switch {
	case !s.known:
		if s.last, err = s.home.Basis(ctx); err != nil {
			return err
		}
		if r, ok := s.counts.reader.(Resumer); ok && s.last != nil {
			r.Resume(s.last)
		}
	case same(&s.pending.At):
		s.last = s.pending
	case !same(s.counted):
		s.last = nil // another process counted: our list is no basis
	}
	s.known, s.counted, s.pending = true, at, nil
	return nil
}

// samples makes a sample of every database that the fleet knows, even if nothing was executed,
// because it was looked at. Databases that the fleet does not know (template1, and dropped
// ones) are left out. A sample spans from the beginning of the previous look to the end of this
// one. So if two agents look at the same counters, one begins after the end of the other only
// if it saw what the other counted.
func (s *Server) samples(on *handover, now *List, deltas []delta, texts map[Ref]string) []measurements.StatementSample {
	of := make(map[uint32][]measurements.Statement)
	owner, tells := s.counts.reader.(Owner)
	roles, named := s.counts.reader.(RoleNamer)
	ran := s.last.executed()
	for _, d := range deltas {
		one := measurements.Statement{Key: s.counts.reader.Name(d.Statement), Calls: d.calls, TotalMs: d.totalMs, Text: texts[d.Ref], RanBefore: ran[d.Ref], Own: tells && owner.Own(d.Statement)}
		if named {
			one.Role = roles.Role(d.Statement)
		}
		if d.maxMs > 0 {
			one.MaxMs = &d.maxMs
		}
		of[d.Database] = append(of[d.Database], one)
	}
	var samples []measurements.StatementSample
	for _, d := range on.databases {
		id, known := on.ids[d.Name]
		if known && id != uuid.Nil && !d.Closed && now.comparable(s.last, d.ID) {
			samples = append(samples, measurements.StatementSample{
				Instance: s.Instance, Engine: s.Engine.Name, Database: id,
				At: now.Until, Interval: now.Until.Sub(s.last.At), BusyMs: busyBetween(s.last, now, d.ID), Statements: of[d.ID],
			})
		}
	}
	return samples
}
