package notify

import (
	"context"
	_ "embed" // the statement
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/handlers/jobs"
	"muster/internal/postgres/statement"
)

//go:embed sql/told_until.sql
var toldUntil string

// Group is the name of the consumer groups that put what happens into deliveries, and of their dead letters.
const Group = "notify"

// Dispatcher puts what happens into deliveries.
type Dispatcher struct {
	DB       *sqlx.DB
	Events   *eventstore.Store
	Registry *eventstore.Registry
	Queue    *jobs.Queue
	Now      func() time.Time // the database's
	// Alerts says by an error that the read model of alerts has not caught up since the program started.
	// Nil: it has.
	Alerts func(context.Context) error
}

// Groups are the handler's groups, one a log, for projections.Runner.Handle.
func (d *Dispatcher) Groups() (groups []topic.Group) {
	for _, log := range eventstore.Logs {
		if len(tellable[log]) > 0 {
			groups = append(groups, topic.Group{
				Name: Group, Handler: Group, Log: log, PageSize: topic.PageSize, Decode: d.decode, Apply: d.apply,
			})
		}
	}
	return groups
}

// decode reads an event that may be told.
func (d *Dispatcher) decode(e eventstore.Event) (any, error) {
	if !slices.Contains(tellable[e.Log], e.Type) {
		return nil, nil
	}
	return d.Registry.Decode(e)
}

// apply puts what happened into the deliveries of the rules that have it.
func (d *Dispatcher) apply(ctx context.Context, tx *sqlx.Tx, events []topic.Event) error {
	events = slices.DeleteFunc(slices.Clone(events), func(e topic.Event) bool { return e.Fact == nil })
	if len(events) == 0 {
		return nil
	}
	events, err := ours(ctx, tx, events)
	if err != nil {
		return err
	}
	told, err := history{d.Events, d.Registry}.happened(ctx, tx, events, false)
	if err != nil {
		return err
	}
	return d.match(ctx, tx, told)
}

// ours are the events that no earlier program has sent, and keeps such a program from sending
// them. It follows the logs by notification_logs, beside this one or after it. The events of a
// dead letter lie before our checkpoint, and are ours.
func ours(ctx context.Context, tx *sqlx.Tx, events []topic.Event) ([]topic.Event, error) {
	last := events[len(events)-1]
	until, err := statement.One[struct {
		Told    int64 `db:"told"`
		Handled int64 `db:"handled"`
	}](ctx, tx, "look how far a log is told", toldUntil, last.Log, Group)
	if err != nil {
		return nil, err
	}
	events = slices.DeleteFunc(events, func(e topic.Event) bool { return until.Handled < e.Position && e.Position <= until.Told })
	return events, statement.Exec(ctx, tx, "note how far a log is told",
		`UPDATE notification_logs SET told_after = greatest(told_after, $2) WHERE log = $1`, last.Log, last.Position)
}

// match puts events into the deliveries of the rules that have them.
func (d *Dispatcher) match(ctx context.Context, tx *sqlx.Tx, told []happened) error {
	organizations := map[uuid.UUID]bool{}
	for _, h := range told {
		organizations[h.Organization] = true
	}
	if len(organizations) == 0 {
		return nil
	}
	rules, err := rulesOf(ctx, tx, slices.Collect(maps.Keys(organizations)))
	if err != nil {
		return &topic.HeldError{Err: err} // it is no event's fault
	}
	if err := d.hold(ctx, tx, told); err != nil {
		return &topic.HeldError{Err: err}
	}
	now := d.Now()
	for _, r := range rules { // in one order, so that who follows another log waits instead of deadlocking
		var mine []happened
		for _, h := range told {
			if h.Organization == r.OrganizationID && !h.RecordedAt.Before(r.CreatedAt) && r.has(h) {
				mine = append(mine, h)
			}
		}
		if len(mine) > 0 {
			if err := (&group{ruleRow: r, queue: d.Queue, tx: tx, now: now}).put(ctx, mine); err != nil {
				return err
			}
		}
	}
	return nil
}
