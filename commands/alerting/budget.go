package alerting

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	"muster/internal/postgres/statement"
)

// spend counts the transaction's use of its sender's budgets, and the alerts that it opens and
// closes, for every kind of caller.
func (w *writer) spend(ctx context.Context) error {
	if w.s.Budgets == nil {
		return nil
	}
	var asked, counted int
	changes := map[uuid.UUID]int64{}
	for _, t := range w.told {
		n := len(t.events)
		counted += n
		if t.closed() {
			changes[t.alert.Token()]--
			continue
		}
		asked += n
		if !t.open && !t.alert.State().Closed() {
			changes[t.alert.Token()]++
		}
	}
	if w.sender != uuid.Nil {
		spent, err := w.s.Budgets.SpendEvents(ctx, w.actor.OrganizationID, w.sender, int64(asked), int64(counted))
		if err != nil {
			return err
		}
		w.spent = spent
	}
	if len(changes) == 0 {
		return nil
	}
	return w.s.Budgets.CountOpen(ctx, w.tx, w.actor.OrganizationID, w.sender, changes)
}

// openMementos are those of alerts that are open, as they stand beside their keys.
const openMementos = `SELECT key, state_digest FROM stream_keys WHERE organization_id = $1 AND stream_type = $2
	AND length(state_digest) > 1 AND get_byte(state_digest, 1) = ANY($3::int[])`

// OpenAlerts counts the open alerts of an organization by the token that raised each.
func (s *Alerts) OpenAlerts(ctx context.Context, tx sqlx.ExtContext, organization uuid.UUID) (map[uuid.UUID]int64, error) {
	type row struct {
		Key     string `db:"key"`
		Memento []byte `db:"state_digest"`
	}
	rows, err := statement.All[row](ctx, tx, "read which alerts are open", openMementos, organization, alert.StreamType, alert.OpenStates())
	if err != nil {
		return nil, err
	}
	open := make(map[uuid.UUID]int64)
	for _, r := range rows {
		a, _ := alert.Recall(r.Key, r.Memento) // one of another release has no token
		open[a.Token()]++
	}
	return open, nil
}
