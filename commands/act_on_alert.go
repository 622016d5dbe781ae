package commands

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
)

// AcknowledgeAlert says that the actor knows of an alert. Errors:
// *NotFoundError, *RuleError with invalid_state.
func (s *Service) AcknowledgeAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.decideAlert(ctx, actor, id, func(a *alert.Alert, _ alert.Seen, _ time.Time) ([]alert.Event, error) { return a.Acknowledge() })
}

// MuteAlert takes an alert out of every count. Errors as AcknowledgeAlert.
func (s *Service) MuteAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.decideAlert(ctx, actor, id, func(a *alert.Alert, _ alert.Seen, _ time.Time) ([]alert.Event, error) { return a.Mute() })
}

// UnmuteAlert lets an alert count again. Errors as AcknowledgeAlert.
func (s *Service) UnmuteAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.decideAlert(ctx, actor, id, func(a *alert.Alert, _ alert.Seen, _ time.Time) ([]alert.Event, error) { return a.Unmute() })
}

// ResolveAlert closes an alert. Errors as AcknowledgeAlert.
func (s *Service) ResolveAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.decideAlert(ctx, actor, id, func(a *alert.Alert, seen alert.Seen, now time.Time) ([]alert.Event, error) {
		return a.Resolve(now, seen)
	})
}

type alertDecision func(a *alert.Alert, seen alert.Seen, now time.Time) ([]alert.Event, error)

// decideAlert appends what a person decides about an alert, under the lock of
// its key. The id of anything else is that of no alert. An older alert under the
// key is decided about like any other, and leaves the key to the newest.
func (s *Service) decideAlert(ctx context.Context, actor Actor, id uuid.UUID, decide alertDecision) (Mark, error) {
	return s.writeAlerts(ctx, actor, func(w *alertWriter) error {
		a, _, err := w.load(ctx, id) // for its key, which never changes
		if err != nil {
			return err
		}
		if a.State() == "" {
			return &NotFoundError{What: "alert"}
		}
		if err := w.lock(ctx, []string{a.Key()}); err != nil {
			return err
		}
		t := w.newest[a.Key()]
		if t == nil || t.id != id {
			t = &trackedAlert{id: id, key: a.Key(), older: true}
			if t.alert, t.version, err = w.load(ctx, id); err != nil {
				return err
			}
		}
		events, err := decide(&t.alert, t.seen, w.now)
		if err != nil {
			return refused(err)
		}
		w.keep(t, events, t.seen)
		return nil
	})
}
