package commands

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/exception"
	"muster/eventstore"
)

// decideException folds an exception under its lock and appends what decide
// returns. The id of anything else is that of no exception. Errors:
// *NotFoundError, *RuleError with invalid_state.
func (s *Service) decideException(
	ctx context.Context, actor Actor, id uuid.UUID, decide func(x *exception.Exception, now time.Time) ([]exception.Event, error),
) (mark Mark, err error) {
	if actor.MemberID == uuid.Nil {
		return Mark{}, errors.New("an exception is decided by a member")
	}
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		if err := lockStream(ctx, tx, id); err != nil {
			return err
		}
		var x exception.Exception
		at, err := fold(ctx, s, tx, actor.OrganizationID, id, func(e any, _ time.Time) {
			if e, ok := e.(exception.Event); ok {
				x.Apply(e)
			}
		})
		if err != nil {
			return err
		}
		if x.Status() == "" {
			return &NotFoundError{What: "exception"}
		}
		now := s.clock() // one instant for what is decided and for when it happened
		events, err := decide(&x, now)
		if err != nil {
			return exceptionRefused(err)
		}
		mark, err = s.appendException(ctx, tx, actor, id, at, now, events)
		return err
	})
	return mark, err
}

func (s *Service) appendException(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, at stream, now time.Time, events []exception.Event) (Mark, error) {
	return appendAll(ctx, s, tx, actor, place{eventstore.Organization, exception.StreamType, id}, at, now, events)
}

// exceptionRefused says what the domain refuses in the contract's code.
func exceptionRefused(err error) error {
	var moved *exception.TransitionError
	var lapsed *exception.LapsedError
	refusal := &RuleError{Code: "invalid_state", Title: titles()["invalid_state"]}
	switch {
	case errors.As(err, &moved):
		refusal.Detail = "The exception is " + string(moved.From) + "."
	case errors.As(err, &lapsed):
		refusal.Detail = "Its time was over at " + lapsed.Until.UTC().Format(time.RFC3339) + "."
	default:
		return err
	}
	return refusal
}
