package notify

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/notification"
	"muster/handlers/jobs"
	"muster/internal/postgres/statement"
	"muster/internal/process/zones"
)

var (
	//go:embed sql/open_delivery.sql
	openDelivery string
	//go:embed sql/write_events.sql
	writeEvents string
	//go:embed sql/drop_resolved.sql
	dropResolved string
	//go:embed sql/told_before.sql
	toldBefore string
	//go:embed sql/suppress_empty.sql
	suppressEmpty string
)

// Why something is not told, or waits.
const (
	reasonQuiet       = "quiet_hours"
	reasonResolved    = "resolved_meanwhile"
	reasonNotRaised   = "not_told_raised"
	reasonMuted       = "muted"
	reasonRuleRemoved = "rule_removed"
	reasonRuleOff     = "rule_disabled"
	reasonChannel     = "channel_removed"
	reasonNobody      = "no_recipients"
	reasonNoOwner     = "no_owner"
	reasonMaintenance = "maintenance_window"
)

// nobodyReached are the reasons of what was tried, and had nobody to reach.
var nobodyReached = []string{reasonNobody, reasonNoOwner}

// group is the events of one rule and one channel, within a transaction.
type group struct {
	ruleRow
	queue *jobs.Queue
	tx    *sqlx.Tx
	now   time.Time
}

// lockGroup makes everybody else who touches the deliveries of a rule and channel wait until
// tx ends.
func lockGroup(ctx context.Context, tx *sqlx.Tx, rule, channel uuid.UUID) error {
	return statement.Exec(ctx, tx, "lock the deliveries of a rule and channel", `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`,
		"deliveries "+rule.String()+" "+channel.String())
}

// put puts events into the deliveries that are open, or opens some.
func (g *group) put(ctx context.Context, told []happened) error {
	if err := lockGroup(ctx, g.tx, g.ID, g.Channel); err != nil {
		return err
	}
	var known []uuid.UUID // alerts that were raised before
	for _, h := range told {
		if h.Was != nil || h.Subject.Type == notification.AlertResolved {
			known = append(known, *h.AlertID)
		}
	}
	raised, err := g.raisedBefore(ctx, known)
	if err != nil {
		return err
	}
	told = slices.DeleteFunc(slices.Clone(told), func(h happened) bool { return !g.tells(h, raised) })
	if told, err = g.putHeld(ctx, told); err != nil {
		return err
	}
	waiting := map[uuid.UUID]time.Time{} // events that wait for the end of quiet hours
	for _, h := range told {
		if until, ok, err := g.waits(h); err != nil {
			return err
		} else if ok {
			waiting[h.ID] = until
		}
	}
	var resolved []happened
	live := slices.DeleteFunc(slices.Clone(told), func(h happened) bool {
		ends := h.Subject.Type == notification.AlertResolved
		if ends {
			resolved = append(resolved, h)
		}
		return ends
	})
	if err := g.add(ctx, live, waiting); err != nil {
		return err
	}
	if len(resolved) == 0 {
		return nil
	}
	return g.resolve(ctx, resolved, waiting)
}

// raisedBefore says which of some alerts were told as raised, or wait to be.
func (g *group) raisedBefore(ctx context.Context, alerts []uuid.UUID) (map[uuid.UUID]bool, error) {
	told, err := statement.All[uuid.UUID](ctx, g.tx, "look what was told before", toldBefore, g.ID, g.Channel, statement.IDs(alerts))
	raised := map[uuid.UUID]bool{}
	for _, id := range told {
		raised[id] = true
	}
	return raised, err
}

func (g *group) waits(h happened) (time.Time, bool, error) {
	if g.way.OwnPace {
		return time.Time{}, false, nil
	}
	return g.Waits(h.Subject, g.now, zones.Load)
}

// add puts events into the delivery that goes out soon, or that of the quiet hours' end.
func (g *group) add(ctx context.Context, told []happened, waiting map[uuid.UUID]time.Time) error {
	var soon, later []happened
	var until time.Time
	for _, h := range told {
		if at, ok := waiting[h.ID]; ok {
			later, until = append(later, h), at
		} else {
			soon = append(soon, h)
		}
	}
	due := g.now.Add(g.Group())
	if g.way.OwnPace {
		due = g.now
	}
	if err := g.into(ctx, false, due, soon, ""); err != nil {
		return err
	}
	return g.into(ctx, true, until, later, "")
}

// eventRow is an event of a delivery, in the order of write_events.sql.
type eventRow struct {
	Delivery     uuid.UUID
	Event        uuid.UUID
	Organization uuid.UUID
	Type         notification.EventType
	At           time.Time
	Position     int64
	Alert        *uuid.UUID
	RaisedAt     *time.Time
	Notice       string
	Dropped      string
}

// into puts events into one delivery, and opens it if there is none.
func (g *group) into(ctx context.Context, quiet bool, due time.Time, told []happened, dropped string) error {
	if len(told) == 0 {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("name a delivery: %w", err)
	}
	reason := ""
	if quiet {
		reason = reasonQuiet
	}
	open, ok, err := statement.Find[struct {
		ID   uuid.UUID `db:"id"`
		Made bool      `db:"made"`
	}](ctx, g.tx, "open a delivery", openDelivery, id, g.OrganizationID, g.ID, g.Channel, quiet, reason, g.now, due)
	if err != nil || !ok { // the organization was deleted
		return err
	}
	rows := make([]eventRow, len(told))
	for i, h := range told {
		notice, err := json.Marshal(h.Notice)
		if err != nil {
			return fmt.Errorf("encode a notice: %w", err)
		}
		rows[i] = eventRow{
			open.ID, h.ID, g.OrganizationID, h.Notice.Type, h.At, h.Position, h.AlertID, h.RaisedAt, string(notice), dropped,
		}
	}
	if err := statement.Exec(ctx, g.tx, "put events into a delivery", writeEvents, statement.Columns(rows)...); err != nil || !open.Made {
		return err
	}
	return g.queue.Insert(ctx, g.tx, jobs.Job{OrganizationID: g.OrganizationID, Kind: jobs.Notify, Subject: open.ID, RunAt: due})
}

// resolve puts the ends of alerts into the group, except those of alerts that were raised
// within the current quiet hours: neither event is sent then.
func (g *group) resolve(ctx context.Context, resolved []happened, waiting map[uuid.UUID]time.Time) error {
	ids := make([]uuid.UUID, len(resolved))
	for i, h := range resolved {
		ids[i] = *h.AlertID
	}
	dropped, err := statement.All[uuid.UUID](ctx, g.tx, "suppress what was resolved in quiet hours", dropResolved,
		g.ID, g.Channel, g.now, statement.IDs(ids))
	if err != nil {
		return err
	}
	// An alert that was told before, and again, was told.
	elsewhere, err := g.raisedBefore(ctx, dropped)
	if err != nil {
		return err
	}
	var silent []happened
	live := slices.DeleteFunc(slices.Clone(resolved), func(h happened) bool {
		is := slices.Contains(dropped, *h.AlertID) && !elsewhere[*h.AlertID]
		if is {
			silent = append(silent, h)
		}
		return is
	})
	if err := g.into(ctx, true, g.now, silent, reasonResolved); err != nil { // it is open: it had the raise
		return err
	}
	if err := g.add(ctx, live, waiting); err != nil || len(dropped) == 0 {
		return err
	}
	return statement.Exec(ctx, g.tx, "suppress what nothing is left of", suppressEmpty, g.ID, g.Channel, g.now, reasonResolved)
}
