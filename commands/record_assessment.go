package commands

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/eventstore"
)

// RecordAssessmentTx appends what an assessment of an instance came to, in the
// transaction that keeps the assessment, last in it: the claim on the instance is what
// makes it come once.
func (s *Service) RecordAssessmentTx(ctx context.Context, tx *sqlx.Tx, actor Actor, e fleet.InstanceAssessed) (Mark, error) {
	to := streamPlace{log: eventstore.Fleet, streamType: fleet.AssessmentStream, id: fleet.AssessmentsOf(e.InstanceID)}
	return appendAll(ctx, s, tx, actor, to, stream{version: eventstore.AnyVersion}, s.clock(), []fleet.Event{e})
}
