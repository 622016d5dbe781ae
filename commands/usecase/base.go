package usecase

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/team"
	"muster/eventstore"
	"muster/internal/accounts"
)

// Actor is on whose behalf a command runs. MemberID is uuid.Nil for the system
// itself, and then Component says which part of it.
type Actor struct {
	OrganizationID uuid.UUID
	MemberID       uuid.UUID
	Token          uuid.UUID // that a program called with; uuid.Nil: none
	Component      string    // "ingest", "collector", "worker", "cli"
	RequestID      string
	Limit          fleet.Limit // of an ingest token
	Sender         string      // that a call of a feed names; empty: none
	Administers    bool        // may do what is kept to administrators
	World          team.World  // of somebody with the role team; nil: the whole organization
}

// Mark is where a write ended up, so that the caller can wait for the
// projections to pass it.
type Mark struct {
	Log      eventstore.Log
	Position int64
}

// Outcome is what came of an action for one of many: done, where Refusal is nil.
type Outcome struct {
	ID      uuid.UUID
	Refusal error // *NotFoundError, *RuleError
}

// Base is what all use cases share.
type Base struct {
	DB       *sqlx.DB
	Events   *eventstore.Store
	Accounts *accounts.Store
	Budgets  Budgets // of senders; nil: there are none
	Now      func() time.Time
}

// Budgets bound what an organization's senders use; *budgets.Book does. What they refuse is an
// error of theirs, which passes through.
type Budgets interface {
	// SpendEvents counts events that a call appends; asked of them are refused if there is no
	// room for them. giveBack takes them back, because they were not appended.
	SpendEvents(ctx context.Context, organization, token uuid.UUID, asked, counted int64) (giveBack func(), err error)
	// CountOpen counts alerts that a transaction opens and closes, by the token that raised
	// each. A call of token may be refused; uuid.Nil never is.
	CountOpen(ctx context.Context, tx sqlx.ExtContext, organization, token uuid.UUID, changes map[uuid.UUID]int64) error
}

// SpendEvents counts events that a token's call is about to append. A call without a token
// has no budget. Errors are the budgets' own.
func (b *Base) SpendEvents(ctx context.Context, actor Actor, n int) (Spent, error) {
	if b.Budgets == nil || actor.Token == uuid.Nil {
		return nil, nil
	}
	return b.Budgets.SpendEvents(ctx, actor.OrganizationID, actor.Token, int64(n), int64(n))
}

// Spent gives back events that were counted and not appended; nil: none were counted.
type Spent func()

// GiveBack gives them back, the first time that it is called.
func (s *Spent) GiveBack() {
	if *s != nil {
		(*s)()
		*s = nil
	}
}
