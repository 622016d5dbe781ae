package notify

import (
	"context"
	_ "embed" // the statement
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/notification"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/postgres/statement"
)

// ruleRow is a rule that is there, with one of its channels.
type ruleRow struct {
	ID             uuid.UUID         `db:"id"`
	OrganizationID uuid.UUID         `db:"organization_id"`
	Name           string            `db:"name"`
	Text           []byte            `db:"terms"`
	CreatedAt      time.Time         `db:"created_at"`
	Channel        uuid.UUID         `db:"channel_id"`
	Kind           notification.Kind `db:"kind"`
	notification.Terms

	way channel.Kind // of the channel; empty in a preview, which has none
}

//go:embed sql/rules.sql
var rulesQuery string

// rulesOf are the enabled rules of organizations, once for each of their channels.
func rulesOf(ctx context.Context, q sqlx.QueryerContext, organizations []uuid.UUID) ([]ruleRow, error) {
	rules, err := statement.All[ruleRow](ctx, q, "read rules", rulesQuery, statement.IDs(organizations))
	if err != nil {
		return nil, err
	}
	for i := range rules {
		if err := json.Unmarshal(rules[i].Text, &rules[i].Terms); err != nil {
			return nil, fmt.Errorf("read rule %s: %w", rules[i].ID, err)
		}
		if rules[i].way, err = kinds.Find(rules[i].Kind); err != nil {
			return nil, fmt.Errorf("read the channel of rule %s: %w", rules[i].ID, err)
		}
	}
	return slices.DeleteFunc(rules, func(r ruleRow) bool { return !r.Enabled }), nil
}

// has says whether a rule may send an event through its channel: an event that it matches, or
// the end of an alert that it may have sent when that had another severity or server. An alert
// that changes is raised for the rules that did not match it before.
func (r ruleRow) has(h happened) bool {
	if h.Subject.Type == notification.AlertResolved {
		r.Match = notification.Match{Events: r.Match.Events}
	}
	return r.matches(h.Subject) && (h.Was == nil || !r.matches(*h.Was))
}

// tells says whether a rule sends an event, given the alerts in raised that it has raised, and
// adds this one. An alert that changes back and forth is raised once; the end of one that the
// rule never matched is not sent.
func (r ruleRow) tells(h happened, raised map[uuid.UUID]bool) bool {
	if h.Subject.Type == notification.AlertRaised {
		if h.Was != nil && raised[*h.AlertID] {
			return false
		}
		raised[*h.AlertID] = true
	}
	return h.Subject.Type != notification.AlertResolved || raised[*h.AlertID] || r.matches(h.Subject)
}

// matches says whether a rule covers events that a channel of its kind may get. A receiver that
// follows alerts gets all events that it needs, whichever of them the rule names: it must learn
// when an alert is over.
func (r ruleRow) matches(s notification.Subject) bool {
	if len(r.way.Follows) == 0 {
		return r.Match.Matches(s)
	}
	return slices.Contains(r.way.Follows, s.Type) && slices.ContainsFunc(r.way.Follows, func(t notification.EventType) bool {
		if s.Type = t; r.Match.Matches(s) {
			return true
		}
		down := s // a rule that asks for servers that go down needs their coming back, too
		down.State = notification.InstanceDown
		return s.State == notification.InstanceUp && r.Match.Matches(down)
	})
}
