package commands

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/eventstore"
)

// RecordAssessmentTx appends facts about assessments, in the transaction that keeps the
// assessments, last in it: the claim on the instance is what makes each come once.
func (s *Service) RecordAssessmentTx(ctx context.Context, tx *sqlx.Tx, actor Actor, all ...fleet.Assessed) (Mark, error) {
	now := s.clock()
	byStream := map[streamPlace][]fleet.Assessed{}
	var order []streamPlace
	for _, e := range all {
		streamType, id := e.Stream()
		to := streamPlace{log: eventstore.Fleet, streamType: streamType, id: id}
		if byStream[to] == nil {
			order = append(order, to)
		}
		byStream[to] = append(byStream[to], e)
	}
	batches := make([]eventstore.Append, len(order))
	for i, to := range order {
		var err error
		if batches[i], err = batchOf(actor, to, stream{version: eventstore.AnyVersion}, now, byStream[to]); err != nil {
			return Mark{}, err
		}
	}
	return s.append(ctx, tx, eventstore.Fleet, batches...)
}
