package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/internal/accounts"
	"muster/internal/concurrency/pause"
	"muster/internal/operate/demo/summaries"
	"muster/internal/postgres/statement"
)

//go:embed sql/closed.sql
var closedSQL string

// sendsAgain is how far back the first sending of a process reaches, so that an alert
// which ended between Fill's look at the clock and ours is closed all the same.
const sendsAgain = time.Hour

// awaited is how often Fire looks whether the first Security report is ready.
const awaited = time.Second

// Fire does what senders of alerts do, until ctx ends or something fails: each minute it
// sends the alerts that fire, and those that have ended since the last time. People fetch
// what has become ready, and agents assess the servers anew each day.
func (d *Demo) Fire(ctx context.Context, o accounts.Organization) error {
	since := d.Now().Add(-sendsAgain)
	for {
		sent, err := d.fire(ctx, o, since)
		if err != nil {
			return fmt.Errorf("send the demo's alerts: %w", err)
		}
		since = sent
		if err := d.locked(ctx, fillLock, func() error {
			return errors.Join(d.download(ctx, o), d.tryOut(ctx, o), summaries.Request(ctx, d.DB, d.Commands, d.Accounts, o, d.Now(), people[ana].email, people[jonas].email))
		}); err != nil {
			return err
		}
		if err := d.agents(ctx, o); err != nil {
			return err
		}
	}
}

// agents assess the servers anew until the next minute begins; once a minute, but for a
// report that is awaited.
func (d *Demo) agents(ctx context.Context, o accounts.Organization) error {
	next := d.Now().Truncate(time.Minute).Add(time.Minute)
	for done := false; d.Now().Before(next); {
		wait := next.Sub(d.Now())
		if !done {
			err := d.locked(ctx, fillLock, func() (err error) {
				done, err = d.assessAnew(ctx, o)
				return err
			})
			if err != nil {
				return fmt.Errorf("assess the demo's servers anew: %w", err)
			}
			wait = min(wait, awaited)
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// fire sends what is open now and what has ended since, and says when now was. It takes
// turns with Fill, whose batch would reopen what ended after it was put together, and leaves
// the first sending to it.
func (d *Demo) fire(ctx context.Context, o accounts.Organization, since time.Time) (now time.Time, err error) {
	actor := usecase.Actor{OrganizationID: o.ID, Component: "demo"}
	err = d.locked(ctx, fillLock, func() error {
		now = since
		if begun, err := d.tells(ctx, o.ID); err != nil || !begun {
			return err
		}
		now = d.Now()
		current := slices.DeleteFunc(episodes(o.CreatedAt, now), func(e episode) bool { return e.ends.Before(since) })
		closed, err := d.closed(ctx, o, current)
		if err != nil {
			return err
		}
		var last usecase.Mark
		for _, e := range current {
			if slices.Contains(closed, alertKey(e)) {
				continue
			}
			// Each is a batch of its own: one about a server that somebody removed is refused,
			// and holds up no other.
			_, mark, err := d.Commands.RecordAlerts(ctx, actor, []alerting.Item{e.item(now)})
			var refused *usecase.RuleError
			if err != nil && !errors.As(err, &refused) {
				return err
			}
			if mark.Position > last.Position {
				last = mark
			}
		}
		if last.Position == 0 {
			return nil
		}
		return d.settle(ctx, last)
	})
	return now, err
}

// closed are the keys of those that are closed. Whoever closed one that still fires had
// the last word until the next start: to send it again would raise another.
func (d *Demo) closed(ctx context.Context, o accounts.Organization, of []episode) ([]string, error) {
	keys := make([]string, len(of))
	for i, e := range of {
		keys[i] = alertKey(e)
	}
	return statement.All[string](ctx, d.DB, "look which alerts are closed", closedSQL, o.ID, keys)
}

// alertKey is what the log knows an alert by that was sent under its external id.
func alertKey(e episode) string { return "external/" + e.key }
