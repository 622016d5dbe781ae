package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/postgres/statement"
)

//go:embed sql/acted.sql
var actedSQL string

// alertsAtOnce is how many alerts are sent in one call; more than that are there
// only where the demo has been kept for a year.
const alertsAtOnce = 5_000

// alerts sends every alert since alertDays before the organization was made, as
// they stand now: what is known already changes nothing. One that somebody closed
// while it fires is a new alert at the next start, as with any sender.
//
// What is over comes first, then the rules of who is told, and then what is open: of that,
// and of what comes later, people are told, and not of a month that is past.
func (d *Demo) alerts(ctx context.Context, actor usecase.Actor, team []uuid.UUID, made time.Time) error {
	now := d.Now()
	over, open := []episode(nil), []episode(nil)
	for _, e := range episodes(made, now) {
		if e.ends.After(now) {
			open = append(open, e)
		} else {
			over = append(over, e)
		}
	}
	if err := d.sendAlerts(ctx, actor, team, over, now); err != nil {
		return err
	}
	if err := d.notifications(ctx, actor.OrganizationID, team, mailChannels, mailRules); err != nil {
		return fmt.Errorf("set up notifications: %w", err)
	}
	return d.sendAlerts(ctx, actor, team, open, now)
}

func (d *Demo) sendAlerts(ctx context.Context, actor usecase.Actor, team []uuid.UUID, all []episode, now time.Time) error {
	for batch := range slices.Chunk(all, alertsAtOnce) {
		items := make([]alerting.Item, len(batch))
		for i, e := range batch {
			items[i] = e.item(now)
		}
		ids, mark, err := d.Commands.RecordAlerts(ctx, actor, items)
		if err != nil {
			return err
		}
		if err := d.settle(ctx, mark); err != nil {
			return err
		}
		if err := d.answer(ctx, actor.OrganizationID, team, batch, ids); err != nil {
			return err
		}
	}
	return nil
}

// answer does what people do about some of the alerts, and writes what they think.
func (d *Demo) answer(ctx context.Context, organization uuid.UUID, team []uuid.UUID, batch []episode, ids []alerting.ID) error {
	for i, e := range batch {
		a, ok := answers[e.rule]
		if !ok {
			continue
		}
		actor := usecase.Actor{OrganizationID: organization, MemberID: team[a.by]}
		if err := d.act(ctx, actor, ids[i].ID, a); err != nil {
			return fmt.Errorf("%s: %w", e.key, err)
		}
	}
	return nil
}

// act does it once: whoever undoes it has the last word.
func (d *Demo) act(ctx context.Context, actor usecase.Actor, id uuid.UUID, a answer) error {
	done := alert.Event(alert.Acknowledged{})
	if a.verb == alerting.Mute {
		done = alert.Muted{}
	}
	acted, err := statement.One[bool](ctx, d.DB, "look whether it was done", actedSQL, actor.OrganizationID, id, alert.Name(done))
	if err != nil || acted {
		return err
	}
	mark, err := d.Commands.ActOnAlert(ctx, actor, id, alerting.Action{Verb: a.verb, Note: &a.note})
	var over *usecase.RuleError // its time ran out while nothing was running
	if errors.As(err, &over) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.settle(ctx, mark)
}
