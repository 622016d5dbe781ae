package notify

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/eventstore"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/postgres/statement"
	"muster/projections/alerts"
)

var (
	//go:embed sql/repeats.sql
	repeatsSQL string
	//go:embed sql/purge.sql
	purgeSQL string
	//go:embed sql/channel.sql
	channelQuery string
)

var (
	repeatsQuery = ofAlerts(repeatsSQL)
	purgeQuery   = ofAlerts(purgeSQL)
)

// ofAlerts names the read model of alerts in a statement.
func ofAlerts(query string) string { return strings.ReplaceAll(query, "{{alerts}}", alerts.Table) }

// caughtUp says by an error that the read model of alerts is not there yet; ask may be nil.
func caughtUp(ctx context.Context, ask func(context.Context) error) error {
	if ask == nil {
		return nil
	}
	return ask(ctx)
}

type queryer = sqlx.QueryerContext

const (
	// RepeatEvery is how often the chore looks for alerts to repeat.
	RepeatEvery = time.Minute
	// PurgeEvery is how often old deliveries are looked for.
	PurgeEvery = time.Hour
	// Kept is how long a delivery is, after it ended.
	Kept = 90 * 24 * time.Hour
	// purgeBatch is how many deliveries one transaction deletes.
	purgeBatch = 500
	// BeginEvery is how often it is looked for organizations without the rule of the beginning.
	BeginEvery = 15 * time.Second
)

// repeat is an open alert that is due to be repeated.
type repeat struct {
	Organization uuid.UUID  `db:"organization_id"`
	Rule         uuid.UUID  `db:"rule_id"`
	Channel      uuid.UUID  `db:"channel_id"`
	Notice       []byte     `db:"notice"`
	Position     int64      `db:"position"`
	RaisedAt     *time.Time `db:"raised_at"`
}

// ownPace names the kinds whose receivers repeat by themselves.
func ownPace() []string {
	return kinds.Names(func(k channel.Kind) bool { return k.OwnPace })
}

// Repeat repeats alerts that are open, neither acknowledged nor muted, and were last sent as
// long ago as their rule says. Several processes may run it: the second finds them in the
// delivery that waits.
func (d *Dispatcher) Repeat(ctx context.Context) error {
	if err := caughtUp(ctx, d.Alerts); err != nil {
		return err
	}
	return d.again(ctx, func(q queryer) ([]repeat, error) {
		return statement.All[repeat](ctx, q, "look what is to be told again", repeatsQuery, d.Now(), ownPace(), alert.Open, nobodyReached)
	})
}

// again tells what find finds, by rule and channel. find is asked once more under their lock.
func (d *Dispatcher) again(ctx context.Context, find func(queryer) ([]repeat, error)) error {
	due, err := find(d.DB)
	if err != nil {
		return err
	}
	for len(due) > 0 {
		n := 1
		for n < len(due) && due[n].Rule == due[0].Rule && due[n].Channel == due[0].Channel {
			n++
		}
		if err := d.repeat(ctx, due[:n], find); err != nil {
			return err
		}
		due = due[n:]
	}
	return nil
}

// repeat puts what one rule tells through one channel again.
func (d *Dispatcher) repeat(ctx context.Context, due []repeat, find func(queryer) ([]repeat, error)) error {
	told := make([]happened, len(due))
	for i, r := range due {
		h := &told[i]
		if err := json.Unmarshal(r.Notice, &h.Notice); err != nil {
			return fmt.Errorf("read a notice: %w", err)
		}
		h.Organization, h.Position, h.RaisedAt = r.Organization, r.Position, r.RaisedAt
		h.Subject = notification.Subject{Type: notification.AlertRaised}
		if h.Notice.Severity != nil {
			h.Subject.Severity = *h.Notice.Severity
		}
	}
	return eventstore.Transact(ctx, d.DB, func(tx *sqlx.Tx) error {
		if err := lockGroup(ctx, tx, due[0].Rule, due[0].Channel); err != nil {
			return err
		}
		again, err := find(tx)
		if err != nil {
			return err
		}
		rules, err := rulesOf(ctx, tx, []uuid.UUID{due[0].Organization})
		if err != nil {
			return err
		}
		for _, r := range rules {
			if r.ID != due[0].Rule || r.Channel != due[0].Channel {
				continue
			}
			told, err := d.stillAbout(ctx, tx, r, stillDue(told, again, r))
			if err != nil {
				return err
			}
			if told, err = d.outsideWindows(ctx, tx, r.OrganizationID, told); err != nil || len(told) == 0 {
				return err
			}
			return (&group{ruleRow: r, queue: d.Queue, tx: tx, now: d.Now()}).put(ctx, told)
		}
		return nil
	})
}

// stillDue is what a rule and channel still have to repeat, now that their lock is held.
func stillDue(told []happened, again []repeat, r ruleRow) (due []happened) {
	ids := map[uuid.UUID]bool{}
	for _, a := range again {
		var n channel.Notice
		if a.Rule == r.ID && a.Channel == r.Channel && json.Unmarshal(a.Notice, &n) == nil {
			ids[n.ID] = true
		}
	}
	for _, h := range told {
		if ids[h.ID] {
			due = append(due, h)
		}
	}
	return due
}

// stillAbout leaves out the alerts of servers that have left the tags or the teams of a rule since:
// another team is in charge of them now.
func (d *Dispatcher) stillAbout(ctx context.Context, tx *sqlx.Tx, r ruleRow, told []happened) ([]happened, error) {
	m := notification.Match{Tags: r.Match.Tags, TeamIDs: r.Match.TeamIDs}
	if len(m.Tags) == 0 && len(m.TeamIDs) == 0 {
		return told, nil
	}
	alerts := ids{}
	for _, h := range told {
		alerts[*h.AlertID] = r.OrganizationID
	}
	now, err := history{d.Events, d.Registry}.described(ctx, tx, alerts, ids{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(told, func(h happened) bool {
		is, _ := now.alert(*h.AlertID, math.MaxInt64) // a notification from before names one server only
		return is == nil || !slices.ContainsFunc(places(is.Details), func(id uuid.UUID) bool {
			s, _ := now.server(id, math.MaxInt64)
			subject := s.subject()
			subject.Type = notification.AlertRaised
			return m.Matches(subject)
		})
	}), nil
}

// Purge deletes deliveries that are older than 90 days. Those of open alerts stay, so that an
// alert's end is sent to the receivers of its beginning.
func (d *Dispatcher) Purge(ctx context.Context) error {
	if err := caughtUp(ctx, d.Alerts); err != nil {
		return err
	}
	for {
		n, err := statement.One[int](ctx, d.DB, "delete old deliveries", purgeQuery, d.Now().Add(-Kept), purgeBatch)
		if err != nil || n == 0 {
			return err
		}
	}
}

// Begin gives organizations that did not get it yet the rule of the beginning. begin does it
// for one.
func Begin(ctx context.Context, db *sqlx.DB, begin func(context.Context, uuid.UUID) (usecase.Mark, error)) error {
	ids, err := statement.All[uuid.UUID](ctx, db, "look for new organizations", `SELECT id FROM organizations o
		WHERE NOT demo AND NOT EXISTS (SELECT FROM notification_beginnings b WHERE b.organization_id = o.id)`)
	for _, id := range ids {
		_, failed := begin(ctx, id)
		err = errors.Join(err, failed)
	}
	return err
}
