package uptime

import (
	"context"
	_ "embed" // the statements
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/watch/status"
)

var (
	//go:embed sql/change.sql
	changeSpans string
	//go:embed sql/insert.sql
	insertSpans string
	//go:embed sql/spans.sql
	readSpans string
)

// Kept is for how long spans are kept: a report covers at most 92 days.
const Kept = 400 * 24 * time.Hour

type row struct {
	Organization uuid.UUID `db:"organization_id"`
	Instance     uuid.UUID `db:"instance_id"`
	Since, Until time.Time
	Up, Open     bool
}

func (r row) span() Span { return Span{r.Since, r.Until, r.Up, r.Open} }

// closed is an open span as it was read, and as it is from now on.
type closed struct {
	Organization, Instance uuid.UUID
	Since, WasUntil        time.Time
	Up                     bool
	Until                  time.Time
	Open                   bool
}

// seen is what of a server's state makes spans.
type seen struct {
	state status.State
	since time.Time
	falls int
}

// Recorder records for one process. The zero value is ready for use.
type Recorder struct {
	mu   sync.Mutex
	last map[uuid.UUID]seen // of the last time that it recorded
	at   time.Time          // when that was; zero: never
	open bool               // there may be open spans
}

// Record keeps how servers are at now, by organization. Servers that are not among them are switched off or
// removed: their spans end. It asks the database only if a state has changed, or spans have to grow.
func (r *Recorder) Record(ctx context.Context, db *sqlx.DB, now time.Time, states map[uuid.UUID]map[uuid.UUID]status.Status) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	is := make(map[uuid.UUID]seen, len(r.last))
	for _, of := range states {
		for id, s := range of {
			one := seen{state: s.State, falls: len(s.Fell)}
			if s.Since != nil {
				one.since = *s.Since
			}
			is[id] = one
		}
	}
	if !r.at.IsZero() && maps.Equal(is, r.last) && (!r.open || now.Sub(r.at) < grows) {
		return nil
	}
	if err := record(ctx, db, now, states); err != nil {
		return err
	}
	r.last, r.at, r.open = is, now, len(is) > 0
	return nil
}

func record(ctx context.Context, db *sqlx.DB, now time.Time, states map[uuid.UUID]map[uuid.UUID]status.Status) error {
	rows, err := statement.All[row](ctx, db, "read the open times of servers",
		`SELECT organization_id, instance_id, since, until, up, open FROM uptime WHERE open ORDER BY organization_id, instance_id`)
	if err != nil {
		return err
	}
	var changes []closed
	var fresh []row
	known := make(map[uuid.UUID]bool, len(rows))
	for _, r := range rows {
		known[r.Instance] = true
		was := r.span()
		is, more, changed := was, []Span(nil), true
		if s, there := states[r.Organization][r.Instance]; there {
			is, more, changed = next(&was, s, now)
		} else {
			is.Open = false
		}
		if changed {
			changes = append(changes, closed{r.Organization, r.Instance, r.Since, r.Until, r.Up, is.Until, is.Open})
		}
		for _, s := range more {
			fresh = append(fresh, row{r.Organization, r.Instance, s.Since, s.Until, s.Up, s.Open})
		}
	}
	for organization, of := range states {
		for id, s := range of {
			if known[id] {
				continue
			}
			_, more, _ := next(nil, s, now)
			for _, s := range more {
				fresh = append(fresh, row{organization, id, s.Since, s.Until, s.Up, s.Open})
			}
		}
	}
	return write(ctx, db, changes, fresh)
}

// write changes spans, and then inserts those of the servers that it changed, or that had none.
func write(ctx context.Context, db *sqlx.DB, changes []closed, fresh []row) error {
	lost := map[uuid.UUID]bool{}
	if len(changes) > 0 {
		done, err := statement.All[uuid.UUID](ctx, db, "change the times of servers", changeSpans, statement.Columns(changes)...)
		if err != nil {
			return err
		}
		for _, c := range changes {
			lost[c.Instance] = true
		}
		for _, id := range done {
			delete(lost, id)
		}
	}
	var put []row
	for _, r := range fresh {
		if !lost[r.Instance] {
			put = append(put, r)
		}
	}
	if len(put) == 0 {
		return nil
	}
	return statement.Exec(ctx, db, "keep the times of servers", insertSpans, statement.Columns(put)...)
}

// Backfill keeps spans of a server that have passed. It is for the demo.
func Backfill(ctx context.Context, q sqlx.ExtContext, organization, instance uuid.UUID, spans []Span) error {
	rows := make([]row, len(spans))
	for i, s := range spans {
		rows[i] = row{organization, instance, s.Since, s.Until, s.Up, s.Open}
	}
	return statement.Exec(ctx, q, "keep the past of a server", insertSpans, statement.Columns(rows)...)
}

// SpansOf are the spans of servers that touch a period, by server and in order. One that goes on lasts
// until now.
func SpansOf(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID, from, to, now time.Time) (map[uuid.UUID][]Span, error) {
	rows, err := statement.All[row](ctx, q, "read when servers were up", readSpans, organization, statement.IDs(instances), from.Add(-slack), to)
	all := make(map[uuid.UUID][]Span, len(instances))
	for _, r := range rows {
		s := r.span()
		if s.Open && now.After(s.Until) && now.Sub(s.Until) <= slack {
			s.Until = now
		}
		all[r.Instance] = append(all[r.Instance], s)
	}
	return all, err
}

// Known is since when something is known of one of some servers; nil: nothing is.
func Known(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) (*time.Time, error) {
	return statement.One[*time.Time](ctx, q, "read since when it is known when servers were up",
		`SELECT min(since) FROM uptime WHERE organization_id = $1 AND instance_id = ANY ($2)`, organization, statement.IDs(instances))
}

// Forget deletes what is older than it is kept.
func Forget(ctx context.Context, q sqlx.ExtContext, now time.Time) error {
	return statement.Exec(ctx, q, "forget when servers were up", `DELETE FROM uptime WHERE until < $1`, now.Add(-Kept))
}
