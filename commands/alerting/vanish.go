package alerting

import (
	"context"
	"strings"

	"muster/commands/usecase"

	"github.com/google/uuid"
)

// ServerRemoved says why an alert was closed.
const ServerRemoved = "Closed because its server was removed from Muster. If its sender still sees it firing, the next message raises an alert of the organization."

// CloseVanished closes those of an organization's alerts that are open, because their servers
// were removed, and says how many that were. The watch closes its own.
func (s *Alerts) CloseVanished(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (closed int, mark usecase.Mark, err error) {
	actor := usecase.Actor{OrganizationID: organization, Component: "watch"}
	mark, err = s.writeAlerts(ctx, actor, func(w *writer) error {
		closed = 0
		tracked, err := w.track(ctx, ids)
		if err != nil {
			return err
		}
		for _, t := range tracked {
			if strings.HasPrefix(t.key, "watch/") {
				continue
			}
			events := t.alert.Vanish(w.now, t.seen, ServerRemoved)
			w.keep(t, events, t.seen)
			if len(events) > 0 {
				closed++
			}
		}
		return nil
	})
	return closed, mark, err
}
