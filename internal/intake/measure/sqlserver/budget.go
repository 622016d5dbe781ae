package sqlserver

import (
	"context"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/servers"
)

// lookBudget is what the statements of a server may take at a look, counters and texts together, of its time and ours. Of
// that, texts have a fifth and what the others leave, and query stores a half; the plan cache has the rest.
const lookBudget = 5 * time.Second

func (r *reader) listBudget() time.Duration  { return r.budget * 4 / 5 }
func (r *reader) storeBudget() time.Duration { return r.budget / 2 }
func (r *reader) ownBudget() time.Duration   { return r.budget / 5 }
func (r *reader) textBudget() time.Duration  { return r.budget - r.listBudget() + r.left }

// limited is a session whose statements together may take so long. Each may take what is left, and nothing is asked
// once nothing is.
type limited struct {
	servers.Session
	left time.Duration
	most time.Duration // of one statement
	now  func() time.Time
}

// within is a line whose statements together may take so long.
func (r *reader) within(l *measure.Line, budget time.Duration) (*measure.Line, *limited) {
	s := &limited{Session: l.Session, left: budget, most: measure.StatementTimeout, now: r.now}
	return measure.NewLine(s, nil), s
}

// Each is as long as there is time.
func (s *limited) Each(ctx context.Context, statement servers.Statement, take func([][]byte) error) error {
	if s.left <= 0 {
		return &servers.Refusal{Engine: fleet.SQLServer, Code: late, Reason: servers.TimedOut}
	}
	s.Session.SetTimeout(min(s.left, s.most))
	began := s.now()
	err := s.Session.Each(ctx, statement, take)
	s.left -= s.now().Sub(began)
	s.Session.SetTimeout(measure.StatementTimeout)
	return err
}

// SetTimeout bounds the statements that follow.
func (s *limited) SetTimeout(timeout time.Duration) { s.most = timeout }

// late is the code of a statement whose time was over.
const late = "error -2"
