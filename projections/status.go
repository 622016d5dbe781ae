package projections

import (
	"context"
	"fmt"
	"time"

	"muster/eventstore"
	"muster/eventstore/topic"
)

// stalledAfter is how long a projection may be behind without any progress.
const stalledAfter = 10 * time.Second

// NotReadyError says that a projection has not caught up since this program started.
type NotReadyError struct {
	Name      string
	LagEvents int64
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("projection %s is still %d events behind", e.Name, e.LagEvents)
}

// standing is one projection's row of selectStatuses: how far it is in one log.
type standing struct {
	Name        string         `db:"name"`
	Log         eventstore.Log `db:"log"`
	Position    int64          `db:"position"`
	Head        int64          `db:"head"`
	LagSeconds  float64        `db:"lag_seconds"`
	IdleSeconds float64        `db:"idle_seconds"`
	UpdatedAt   time.Time      `db:"updated_at"`
	LastError   string         `db:"last_error"`
	Parked      int64          `db:"parked"`
	Rebuilding  bool           `db:"rebuilding"`
	Ahead       int64          `db:"ahead_events"`
}

// Statuses returns every projection of this program, in the order in which they
// were given.
func (r *Runner) Statuses(ctx context.Context) ([]Status, error) {
	var names []string
	var versions []int
	for _, p := range r.projections {
		names, versions = append(names, p.Name), append(versions, p.Version)
	}
	var rows []standing
	if err := r.db.SelectContext(ctx, &rows, selectStatuses, names, versions); err != nil {
		return nil, fmt.Errorf("read statuses of projections: %w", err)
	}
	statuses := make([]Status, len(r.projections))
	for i, p := range r.projections {
		s := Status{Name: p.Name, Logs: p.Logs, Version: p.Version, Status: Running}
		for _, row := range rows {
			if row.Name == p.Name {
				s.addStanding(row)
			}
		}
		statuses[i] = s
	}
	return statuses, nil
}

// Handlers returns every handler of this program, by name. It has no version, and is not rebuilt.
func (r *Runner) Handlers(ctx context.Context) ([]Status, error) {
	var statuses []Status
	for _, g := range r.handlers {
		if n := len(statuses); n > 0 && statuses[n-1].Name == g.Name {
			statuses[n-1].Logs = append(statuses[n-1].Logs, g.Log)
		} else {
			statuses = append(statuses, Status{Name: g.Name, Logs: []eventstore.Log{g.Log}, Status: Running})
		}
	}
	for i := range statuses {
		var rows []standing
		if err := r.db.SelectContext(ctx, &rows, selectHandler, statuses[i].Name); err != nil {
			return nil, fmt.Errorf("read the status of the handler %s: %w", statuses[i].Name, err)
		}
		for _, row := range rows {
			statuses[i].addStanding(row)
		}
	}
	return statuses, nil
}

// addStanding counts one log in. The worst of what its logs say is the status.
func (s *Status) addStanding(row standing) {
	s.Position += row.Position
	s.HeadPosition += row.Head
	s.LagEvents += max(row.Head-row.Position, 0)
	s.AheadEvents += row.Ahead
	s.LagSeconds = max(s.LagSeconds, row.LagSeconds, 0)
	s.Parked += row.Parked
	if row.UpdatedAt.After(s.UpdatedAt) {
		s.UpdatedAt = row.UpdatedAt
	}
	behind := row.Head > row.Position
	stuck := stalledAfter.Seconds()
	switch {
	case row.LastError != "":
		s.Status, s.LastError = Broken, row.LastError
	case s.Status == Broken:
	case row.Ahead > 0:
		if s.Status = Ahead; row.Rebuilding {
			s.Status = Rebuilding // which ends it
		}
		s.LastError = fmt.Sprintf("%d events of the log %s are gone that were applied: it was cut off, or set back to an older state", row.Ahead, row.Log)
	case s.AheadEvents > 0:
	case behind && row.LagSeconds > stuck && row.IdleSeconds > stuck:
		s.Status = Stalled
	case s.Status == Stalled:
	case row.Rebuilding:
		s.Status = Rebuilding
	}
}

// AheadError says that a projection had applied events that its log has lost.
type AheadError struct {
	Name   string
	Reason string
}

func (e *AheadError) Error() string {
	return fmt.Sprintf("projection %s is ahead of its log: %s (docs/runbooks/alerts.md#musterprojectionahead)", e.Name, e.Reason)
}

// CheckAhead returns an *AheadError where a projection is ahead of its log, or was and was not
// rebuilt since.
func (r *Runner) CheckAhead(ctx context.Context) error {
	statuses, err := r.Statuses(ctx)
	if err != nil {
		return err
	}
	for _, s := range statuses {
		if s.AheadEvents > 0 {
			return &AheadError{s.Name, s.LastError}
		}
	}
	return nil
}

// Ready returns a *NotReadyError until every projection of this version has
// caught up once since the program started; from then on, lag shows in Statuses.
func (r *Runner) Ready(ctx context.Context) error {
	if r.caughtUp.Load() {
		return nil
	}
	statuses, err := r.Statuses(ctx)
	if err != nil {
		return err
	}
	for _, s := range statuses {
		if s.LagEvents > topic.PageSize || s.UpdatedAt.IsZero() {
			return &NotReadyError{Name: s.Name, LagEvents: s.LagEvents}
		}
	}
	r.caughtUp.Store(true)
	return nil
}
