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
	"muster/internal/channel"
	"muster/internal/channel/kinds"
	"muster/internal/statement"
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

// has says whether a rule may tell an event through its channel: one that it matches, and the
// end of an alert that it may have told when that was another, of another severity or on
// another server. An alert that changes is raised for the rules that did not match it before.
func (r ruleRow) has(h happened) bool {
	if h.Subject.Type == notification.AlertResolved {
		r.Match = notification.Match{Events: r.Match.Events}
	}
	return r.matches(h.Subject) && (h.Was == nil || !r.matches(*h.Was))
}

// tells says whether a rule tells an event that it has, when it has told that the alerts in
// raised are there, among which it puts this one. An alert that changes to and fro is raised
// once; the end of one that the rule never matched is not told.
func (r ruleRow) tells(h happened, raised map[uuid.UUID]bool) bool {
	if h.Subject.Type == notification.AlertRaised {
		if h.Was != nil && raised[*h.AlertID] {
			return false
		}
		raised[*h.AlertID] = true
	}
	return h.Subject.Type != notification.AlertResolved || raised[*h.AlertID] || r.matches(h.Subject)
}

// matches says whether a rule is about what a channel of its kind may be told. A receiver that
// follows alerts is told of all that it needs, whichever of it the rule asks for: it must learn
// when one is over.
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
