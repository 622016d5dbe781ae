package inventory

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/eventstore"
)

// RecordAssessmentTx appends facts about assessments, in the transaction that keeps the
// assessments, last in it: the claim on the instance is what makes each come once.
func (f *Fleet) RecordAssessmentTx(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, all ...fleet.Assessed) (usecase.Mark, error) {
	now := f.Clock()
	byStream := map[usecase.StreamPlace][]fleet.Assessed{}
	var order []usecase.StreamPlace
	for _, e := range all {
		streamType, id := e.Stream()
		to := usecase.StreamPlace{Log: eventstore.Fleet, StreamType: streamType, ID: id}
		if byStream[to] == nil {
			order = append(order, to)
		}
		byStream[to] = append(byStream[to], e)
	}
	batches := make([]eventstore.Append, len(order))
	for i, to := range order {
		var err error
		if batches[i], err = usecase.BatchOf(actor, to, usecase.Stream{Version: eventstore.AnyVersion}, now, byStream[to]); err != nil {
			return usecase.Mark{}, err
		}
	}
	return f.Append(ctx, tx, eventstore.Fleet, batches...)
}
