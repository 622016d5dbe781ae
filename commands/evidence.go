package commands

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/eventstore"
)

// RecordEvidence records that evidence of a control was made, before it is handed out.
func (s *Service) RecordEvidence(ctx context.Context, actor usecase.Actor, id uuid.UUID, made organization.EvidenceMade) (usecase.Mark, error) {
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		to := usecase.StreamPlace{Log: eventstore.Organization, StreamType: organization.EvidenceStream, ID: id}
		return usecase.AppendAll(ctx, s.Base, tx, actor, to, usecase.Stream{Version: eventstore.NoStream}, s.Clock(), []organization.Event{made})
	})
}
