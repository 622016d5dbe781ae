package alerts

import (
	"context"
	_ "embed" // the queries
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/counts.sql
	countsQuery string
	//go:embed sql/open_by_instance.sql
	openByInstance string
	//go:embed sql/history.sql
	historyQuery string
	//go:embed sql/elsewhere.sql
	elsewhereQuery string
	//go:embed sql/first_in_scope.sql
	firstInScope string
)

// plannedEachTime has a statement planned with its arguments. After a few wide
// windows PostgreSQL would keep a plan without them, which reads the whole table,
// and use it for the narrow ones too.
const plannedEachTime = pgx.QueryExecModeDescribeExec

// Open counts the alerts that are open and not muted, and those that were at a
// time: created then or before, and not resolved by then (today's mute flag).
func (r *Reader) Open(ctx context.Context, organization uuid.UUID, scope fleet.Scope, then time.Time) (now, before int64, err error) {
	elsewhere, err := r.elsewhere(ctx, organization, scope)
	if err != nil {
		return 0, 0, err
	}
	query, args := scoped(countsQuery, scope, elsewhere, organization, then)
	if err := r.db.QueryRowContext(ctx, query, args...).Scan(&now, &before); err != nil {
		return 0, 0, fmt.Errorf("count open alerts: %w", err)
	}
	return now, before, nil
}

// OpenCount is how many alerts of an instance are open and not muted.
type OpenCount struct {
	Instance       uuid.UUID
	Open, Critical int
}

// OpenByInstance counts the alerts that are open and not muted, of those instances where
// there are any, else of all. Instances without one are missing.
func (r *Reader) OpenByInstance(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]OpenCount, error) {
	rows, err := statement.All[OpenCount](ctx, r.db, "count open alerts by instance", openByInstance, organization, statement.IDs(instances))
	counts := make(map[uuid.UUID]OpenCount, len(rows))
	for _, row := range rows {
		counts[row.Instance] = row
	}
	return counts, err
}

// History counts, for each bucket of the window, the alerts whose firing window
// touches it and those resolved in it, none of them muted; the first and the last
// bucket are cut at the window's ends, which are whole microseconds, as all times
// that PostgreSQL keeps.
func (r *Reader) History(ctx context.Context, organization uuid.UUID, scope fleet.Scope, w timegrid.Window) (active, resolved []int64, err error) {
	elsewhere, err := r.elsewhere(ctx, organization, scope)
	if err != nil {
		return nil, nil, err
	}
	query, args := scoped(historyQuery, scope, elsewhere, organization, w.From, w.To, w.Size.Width())
	rows, err := statement.All[struct {
		Bucket   time.Time `db:"bucket"`
		Started  int64     `db:"started"`
		Ended    int64     `db:"ended"`
		Resolved int64     `db:"resolved"`
	}](ctx, r.db, "read alert history", query, args...)
	if err != nil {
		return nil, nil, err
	}
	active, resolved = make([]int64, w.Len()), make([]int64, w.Len())
	for _, row := range rows {
		i := w.Index(row.Bucket)
		resolved[i] = row.Resolved
		active[i] += row.Started
		if i+1 < len(active) { // one that ends in a bucket is active in it
			active[i+1] -= row.Ended
		}
	}
	for i := 1; i < len(active); i++ {
		active[i] += active[i-1]
	}
	return active, resolved, nil
}

// elsewhere are the alerts that concern instances of a scope and belong to none of them. They are
// few, so that they are looked up before a query, which then reads the indexes of instances.
func (r *Reader) elsewhere(ctx context.Context, organization uuid.UUID, scope fleet.Scope) ([]uuid.UUID, error) {
	if !scope.Filtered || len(scope.Instances) == 0 {
		return nil, nil
	}
	return statement.All[uuid.UUID](ctx, r.db, "look which alerts concern instances beside their own", elsewhereQuery, organization, statement.IDs(scope.Instances))
}

// scoped fills in which alerts (a) are in the scope of a query whose first argument is the
// organization. A whole organization and a part of its instances then have two SQL texts,
// because each is read from another index.
func scoped(query string, scope fleet.Scope, elsewhere []uuid.UUID, args ...any) (string, []any) {
	c := &conditions{args: args, organization: "$1"}
	title, instance := "a.title", "a.instance_id"
	if scope.Filtered {
		c.within(scope.Instances, elsewhere)
		title = titleInScope
	}
	if c.elsewhere != "" {
		instance = strings.NewReplacer("{{instances}}", c.instances, "{{elsewhere}}", c.elsewhere).Replace(firstInScope)
	}
	return strings.NewReplacer("{{scope}}", c.scope(), "{{title}}", title, "{{instance}}", instance).Replace(query), append([]any{plannedEachTime}, c.args...)
}

// OpenAsOf counts the alerts of an organization that were open and not muted, as the log had
// recorded them before at. Unlike Open it needs no projection: it leaves out an alert that was
// imported later with earlier times, and includes one that was muted since. It reads the
// organization's part of the fleet's log, a page at a time, decodes nothing, and holds the open
// alerts in memory.
func OpenAsOf(ctx context.Context, store *eventstore.Store, organization uuid.UUID, at time.Time) (open int64, err error) {
	raised, muted, unmuted := domain.Name(domain.Raised{}), domain.Name(domain.Muted{}), domain.Name(domain.Unmuted{})
	mutedUntil, muteEnded := domain.Name(domain.MutedUntil{}), domain.Name(domain.MuteEnded{})
	resolved, autoResolved := domain.Name(domain.Resolved{}), domain.Name(domain.AutoResolved{})
	loud := map[uuid.UUID]bool{} // of those that are open, whether it is not muted
	filter := eventstore.Filter{
		Organization: organization, RecordedTo: at, StreamType: domain.StreamType,
		Types: []string{raised, muted, mutedUntil, unmuted, muteEnded, resolved, autoResolved},
	}
	for e, err := range store.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return 0, err
		}
		_, isOpen := loud[e.Stream]
		switch {
		case e.Type == raised:
			loud[e.Stream] = true
		case e.Type == resolved, e.Type == autoResolved:
			delete(loud, e.Stream)
		case isOpen: // one that is closed may be muted, too
			loud[e.Stream] = e.Type == unmuted || e.Type == muteEnded
		}
	}
	for _, counts := range loud {
		if counts {
			open++
		}
	}
	return open, nil
}
