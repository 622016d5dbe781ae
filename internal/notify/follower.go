package notify

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/channel"
	"muster/internal/channel/kinds"
	"muster/internal/pause"
	"muster/internal/statement"
)

var (
	//go:embed sql/events.sql
	eventsQuery string
	//go:embed sql/write_alerts.sql
	writeAlerts string
	//go:embed sql/write_servers.sql
	writeServers string
)

const (
	// followEvery is how often the logs are looked at.
	followEvery = time.Second
	// page is how many positions of a log are followed in one transaction.
	page = 2000
)

// Follower puts what happens into deliveries. Any number of processes may follow.
type Follower struct {
	DB       *sqlx.DB
	Events   *eventstore.Store
	Registry *eventstore.Registry
	Queue    *jobs.Queue
	Now      func() time.Time // the database's
	Log      *slog.Logger
}

// Run follows until ctx ends; it returns ctx's error.
func (f *Follower) Run(ctx context.Context) error {
	return pause.Every(ctx, followEvery, func() {
		if err := f.Follow(ctx); err != nil && ctx.Err() == nil {
			f.Log.WarnContext(ctx, "notifications do not follow a log, trying again", "error", err)
		}
	})
}

// Follow follows each log to its head.
func (f *Follower) Follow(ctx context.Context) error {
	var failed error
	for _, log := range eventstore.Logs {
		for more := true; more; {
			var err error
			if more, err = f.followPage(ctx, log); err != nil {
				failed = cmp.Or(failed, fmt.Errorf("follow the log %s: %w", log, err))
			}
		}
	}
	return failed
}

func (f *Follower) followPage(ctx context.Context, log eventstore.Log) (more bool, err error) {
	err = eventstore.Transact(ctx, f.DB, func(tx *sqlx.Tx) error {
		more = false
		at, ok, err := statement.Find[struct {
			Position  int64 `db:"position"`
			ToldAfter int64 `db:"told_after"`
			Head      int64 `db:"head"`
		}](ctx, tx, "look how far a log is followed", `SELECT n.position, n.told_after, h.position AS head
			FROM notification_logs n JOIN log_head h USING (log) WHERE log = $1 FOR UPDATE OF n SKIP LOCKED`, log)
		if err != nil || !ok || at.Position >= at.Head {
			return err
		}
		to := min(at.Head, at.Position+page)
		events, err := statement.All[recorded](ctx, tx, "read a log", eventsQuery, log, at.Position, to, followed[log])
		if err != nil {
			return err
		}
		if err := f.take(ctx, tx, log, events, at.ToldAfter); err != nil {
			return err
		}
		more = to < at.Head
		return statement.Exec(ctx, tx, "note how far a log is followed", `UPDATE notification_logs SET position = $2 WHERE log = $1`, log, to)
	})
	return more && err == nil, err
}

// take folds events and puts those behind toldAfter into deliveries.
func (f *Follower) take(ctx context.Context, tx *sqlx.Tx, log eventstore.Log, events []recorded, toldAfter int64) error {
	if len(events) == 0 {
		return nil
	}
	if err := decode(f.Registry, log, events); err != nil {
		return err
	}
	w, err := load(ctx, tx, events)
	if err != nil {
		return err
	}
	w.described = func(ctx context.Context, e recorded) (description, error) { return f.describe(ctx, tx, e) }
	var told []happened
	for _, e := range events {
		all, err := w.apply(ctx, e)
		if err != nil {
			return err
		}
		if e.Position > toldAfter {
			told = append(told, all...)
		}
	}
	if err := w.save(ctx, tx); err != nil {
		return err
	}
	return f.match(ctx, tx, told)
}

// load reads what is known of the alerts and servers that events are about.
func load(ctx context.Context, q sqlx.QueryerContext, events []recorded) (*world, error) {
	w := newWorld()
	alertIDs, serverIDs := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	at := func(d alert.Details) {
		for _, id := range append([]uuid.UUID{d.InstanceID}, d.OtherInstanceIDs...) {
			serverIDs[id] = true
		}
	}
	for _, e := range events {
		switch event := e.event.(type) {
		case alert.Raised:
			at(event.Details)
		case alert.Changed:
			at(event.Details)
		case fleet.InstanceAssessed:
			if len(event.New) > 0 {
				serverIDs[event.InstanceID] = true
			}
			continue
		}
		alertIDs[e.Stream] = true
	}
	alerts, err := statement.All[openAlert](ctx, q, "read open alerts", `SELECT alert_id, organization_id, title, severity, instance_id, raised_at, acknowledged, muted, label, others, rule, began_at
		FROM notification_alerts WHERE alert_id = ANY($1)`, keys(alertIDs))
	if err != nil {
		return nil, err
	}
	for i := range alerts {
		w.alerts[alerts[i].ID] = &alerts[i]
		if id := alerts[i].InstanceID; id != nil {
			serverIDs[*id] = true
		}
		for _, id := range alerts[i].others() {
			serverIDs[id] = true
		}
	}
	return w, w.loadServers(ctx, q, keys(serverIDs))
}

func (w *world) loadServers(ctx context.Context, q sqlx.QueryerContext, ids [][16]byte) error {
	servers, err := statement.All[server](ctx, q, "read servers", `SELECT instance_id, organization_id, name, engine FROM notification_instances WHERE instance_id = ANY($1)`, ids)
	for _, s := range servers {
		w.servers[s.ID] = s
	}
	return err
}

func keys(ids map[uuid.UUID]bool) [][16]byte { return statement.IDs(slices.Collect(maps.Keys(ids))) }

// save writes what became of alerts and servers.
func (w *world) save(ctx context.Context, tx *sqlx.Tx) error {
	var (
		alerts  []openAlert
		servers []server
		closed  []uuid.UUID
	)
	for id := range w.moved {
		if a := w.alerts[id]; a != nil {
			alerts = append(alerts, *a)
		} else {
			closed = append(closed, id)
		}
	}
	for id := range w.named {
		servers = append(servers, w.servers[id])
	}
	if err := statement.Exec(ctx, tx, "write servers", writeServers, statement.Columns(servers)...); err != nil {
		return err
	}
	if err := statement.Exec(ctx, tx, "write open alerts", writeAlerts, statement.Columns(alerts)...); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "forget closed alerts", `DELETE FROM notification_alerts WHERE alert_id = ANY($1)`, statement.IDs(closed))
}

// naming are the events that say what a report or a schedule is called, and which schedules
// asked for a report.
var naming = []string{"report.queued", "report.reused", "schedule.created", "schedule.changed"}

// describe reads from their streams what reports and schedules are called, and which schedules asked for a report.
func (f *Follower) describe(ctx context.Context, q sqlx.ExtContext, e recorded) (d description, err error) {
	var schedules []report.Scheduled
	for event, err := range f.Events.Load(ctx, q, e.OrganizationID, e.Stream) {
		if err != nil {
			return d, fmt.Errorf("load stream %s: %w", e.Stream, err)
		}
		if !slices.Contains(naming, event.Type) {
			continue
		}
		decoded, err := f.Registry.Decode(event)
		if err != nil {
			return d, err
		}
		switch says := decoded.(type) {
		case report.Queued:
			d.title, d.instances = says.Kind.Title()+", "+says.ScopeLabel, says.Scope.InstanceIDs
			schedules = withSchedule(schedules, says.Schedule)
		case report.Reused:
			schedules = withSchedule(schedules, says.Schedule)
		case schedule.Created:
			d.title = says.Name
		case schedule.Changed:
			d.title = says.Name
		}
	}
	if len(schedules) > 0 {
		d.schedule = &schedules[0].ID
		d.title += ", for the schedule " + schedules[0].Name
	}
	switch others := len(schedules) - 1; {
	case others == 1:
		d.title += " and another schedule"
	case others > 1:
		d.title += fmt.Sprintf(" and %d other schedules", others)
	}
	return d, nil
}

// withSchedule adds one that asked for a report, which may ask for the same one twice.
func withSchedule(all []report.Scheduled, by *report.Scheduled) []report.Scheduled {
	if by == nil || slices.ContainsFunc(all, func(s report.Scheduled) bool { return s.ID == by.ID }) {
		return all
	}
	return append(all, *by)
}

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
	switch h.Subject.Type {
	case notification.AlertRaised:
		if h.Was != nil && raised[*h.AlertID] {
			return false
		}
		raised[*h.AlertID] = true
	case notification.AlertResolved:
		return raised[*h.AlertID] || r.matches(h.Subject)
	}
	return true
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

// match puts events into the deliveries of the rules that have them.
func (f *Follower) match(ctx context.Context, tx *sqlx.Tx, told []happened) error {
	organizations := map[uuid.UUID]bool{}
	for _, h := range told {
		organizations[h.Organization] = true
	}
	if len(organizations) == 0 {
		return nil
	}
	rules, err := rulesOf(ctx, tx, slices.Collect(maps.Keys(organizations)))
	if err != nil {
		return err
	}
	now := f.Now()
	for _, r := range rules { // in one order, so that who follows another log waits instead of deadlocking
		var mine []happened
		for _, h := range told {
			if h.Organization == r.OrganizationID && !h.RecordedAt.Before(r.CreatedAt) && r.has(h) {
				mine = append(mine, h)
			}
		}
		if len(mine) > 0 {
			if err := (&group{ruleRow: r, queue: f.Queue, tx: tx, now: now}).put(ctx, mine); err != nil {
				return err
			}
		}
	}
	return nil
}
