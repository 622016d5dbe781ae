package notifying

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// sealedChannel is a channel's address, sealed.
type sealedChannel struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Sealed         []byte    `db:"sealed"`
}

func sealedChannels(ctx context.Context, q sqlx.QueryerContext) ([]sealedChannel, error) {
	return statement.All[sealedChannel](ctx, q, "read the sealed channels", `SELECT id, organization_id, sealed FROM notification_channels WHERE sealed IS NOT NULL`)
}

// SealedChannels counts the channels of the whole installation by the key that underKey
// finds their addresses sealed under.
func SealedChannels(ctx context.Context, q sqlx.QueryerContext, underKey func(sealed []byte) string) (map[string]int, error) {
	channels, err := sealedChannels(ctx, q)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, c := range channels {
		count[underKey(c.Sealed)]++
	}
	return count, nil
}

// ResealChannels seals every channel's address again that is not sealed under the current key,
// and returns their number. Until tx ends nobody can save another one.
func (s *Notifications) ResealChannels(ctx context.Context, tx *sqlx.Tx) (int, error) {
	if err := statement.Exec(ctx, tx, "wait for the channels", `LOCK TABLE notification_channels IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		return 0, err
	}
	channels, err := sealedChannels(ctx, tx)
	if err != nil {
		return 0, err
	}
	resealed := 0
	for _, c := range channels {
		bound := ChannelContext(c.OrganizationID, c.ID)
		address, err := s.needs.Seal.Open(c.Sealed, bound)
		if err != nil {
			return 0, fmt.Errorf("open the address of channel %s: %w", c.ID, err)
		}
		sealed, err := s.needs.Seal.Seal(address, bound)
		if err != nil {
			return 0, fmt.Errorf("seal the address of channel %s again: %w", c.ID, err)
		}
		if s.needs.Seal.SealedUnder(sealed) == s.needs.Seal.SealedUnder(c.Sealed) {
			continue
		}
		if err := statement.Exec(ctx, tx, "keep a channel's address", `UPDATE notification_channels SET sealed = $2 WHERE id = $1`, c.ID, sealed); err != nil {
			return 0, err
		}
		resealed++
	}
	return resealed, nil
}
