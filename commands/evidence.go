package commands

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/eventstore"
)

// RecordEvidence records that evidence of a control was made, before it is handed out.
func (s *Service) RecordEvidence(ctx context.Context, actor Actor, id uuid.UUID, made organization.EvidenceMade) (Mark, error) {
	return s.inTxMarked(ctx, func(tx *sqlx.Tx) (Mark, error) {
		to := streamPlace{eventstore.Organization, organization.EvidenceStream, id}
		return appendAll(ctx, s, tx, actor, to, stream{version: eventstore.NoStream}, s.clock(), []organization.Event{made})
	})
}
