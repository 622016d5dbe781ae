package status

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/record.sql
	recordObservations string
	//go:embed sql/read.sql
	readFacts string
	//go:embed sql/read_all.sql
	readAllFacts string
)

const (
	// stale is how old an observation may be when it comes: an older one waited in a
	// buffer, and says how things were.
	stale = 5 * time.Minute
	// Gap is how long Listen may not have been called before it counts as not listening.
	Gap = 45 * time.Second
	// enough is how much newer an observation of the same outcome has to be to be kept.
	enough = 5 * time.Second
)

// Observation is one look of a source at a part of an instance.
type Observation struct {
	Organization, Instance uuid.UUID
	Source                 string
	Part                   Part
	OK                     bool
	At                     time.Time
	Since                  time.Time // of a failure: when it began, where the source knows; zero: At
	Fell                   time.Time // of a success: when the server went down since the last one, where the source knows
	Code, Sentence         string    // why not
}

type key struct {
	Organization, Instance uuid.UUID
	Source                 string
	Part                   Part
}

func (k key) compare(o key) int {
	return cmp.Or(slices.Compare(k.Organization[:], o.Organization[:]), slices.Compare(k.Instance[:], o.Instance[:]),
		cmp.Compare(k.Source, o.Source), cmp.Compare(k.Part, o.Part))
}

// Record stores the newest observation of each part by each source; received is when they came.
// An observation older than five minutes says nothing about now and is left out, and so is one
// that is not newer than the stored one.
func Record(ctx context.Context, q sqlx.ExtContext, received time.Time, observations []Observation) error {
	newest := make(map[key]Observation, len(observations))
	for _, o := range observations {
		if o.At.Before(received.Add(-stale)) || o.At.After(received.Add(stale)) {
			continue
		}
		if o.At.After(received) {
			o.At = received
		}
		if o.Since.IsZero() || o.Since.After(o.At) {
			o.Since = o.At
		}
		k := key{o.Organization, o.Instance, o.Source, o.Part}
		if known, ok := newest[k]; !ok || o.At.After(known.At) {
			newest[k] = o
		}
	}
	if len(newest) == 0 {
		return nil
	}
	type row struct {
		key
		OK             bool
		Since, At      time.Time
		Code, Sentence string
		Down           *time.Time
	}
	var rows []row
	for _, k := range slices.SortedFunc(maps.Keys(newest), key.compare) {
		o := newest[k]
		r := row{key: k, OK: o.OK, Since: o.Since, At: o.At, Code: o.Code, Sentence: o.Sentence}
		if o.OK && !o.Fell.IsZero() && o.Fell.Before(o.At) {
			r.Down = &o.Fell
		}
		rows = append(rows, r)
	}
	return statement.Exec(ctx, q, fmt.Sprintf("record %d observations", len(rows)), recordObservations,
		append(statement.Columns(rows), Longer.Seconds(), enough.Seconds(), Agent)...)
}

// Of returns the status of active instances of an organization at now. The answer has every
// requested one.
func Of(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID, now time.Time) (map[uuid.UUID]Status, error) {
	facts, err := factsOf(ctx, q, organization, instances)
	if err != nil {
		return nil, err
	}
	listening, err := ListeningSince(ctx, q, now)
	if err != nil {
		return nil, err
	}
	out := make(map[uuid.UUID]Status, len(instances))
	for _, id := range instances {
		out[id] = Decide(facts[id], now, listening)
	}
	return out, nil
}

// Everywhere returns how every instance of the installation is that any source ever observed,
// by organization, and since when Muster listens (ListeningSince). The caller knows which of
// them are switched off or removed. The parts of a server that is up have its assessment if that fails.
func Everywhere(ctx context.Context, q sqlx.QueryerContext, now time.Time) (all map[uuid.UUID]map[uuid.UUID]Status, listening *time.Time, err error) {
	if listening, err = ListeningSince(ctx, q, now); err != nil {
		return nil, nil, err
	}
	rows, err := statement.All[instanceFact](ctx, q, "read how all instances are", readAllFacts, CodeNotAllowed)
	if err != nil {
		return nil, nil, err
	}
	all = make(map[uuid.UUID]map[uuid.UUID]Status)
	for len(rows) > 0 {
		n := 0
		var facts []Fact
		for n < len(rows) && rows[n].Organization == rows[0].Organization && rows[n].Instance == rows[0].Instance {
			facts = append(facts, rows[n].Fact)
			n++
		}
		of := all[rows[0].Organization]
		if of == nil {
			of = make(map[uuid.UUID]Status)
			all[rows[0].Organization] = of
		}
		of[rows[0].Instance] = Decide(facts, now, listening)
		rows = rows[n:]
	}
	return all, listening, nil
}

type instanceFact struct {
	Organization uuid.UUID `db:"organization_id"`
	Instance     uuid.UUID `db:"instance_id"`
	Fact
}

// Forget drops what was observed of instances, which are switched off or removed.
func Forget(ctx context.Context, q sqlx.ExtContext, instances []uuid.UUID) error {
	return statement.Exec(ctx, q, "forget what was observed of inactive instances",
		`DELETE FROM observations WHERE instance_id = ANY ($1)`, statement.IDs(instances))
}

// factsOf reads what is kept of instances.
func factsOf(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID][]Fact, error) {
	rows, err := statement.All[instanceFact](ctx, q, "read how instances are", readFacts, organization, statement.IDs(instances))
	if err != nil {
		return nil, err
	}
	facts := make(map[uuid.UUID][]Fact)
	for _, r := range rows {
		facts[r.Instance] = append(facts[r.Instance], r.Fact)
	}
	return facts, nil
}

// ListeningSince is since when, without a gap, some process of this installation has been
// there to take in what others send; nil where none is.
func ListeningSince(ctx context.Context, q sqlx.QueryerContext, now time.Time) (since *time.Time, err error) {
	return statement.One[*time.Time](ctx, q, "read since when Muster listens",
		`SELECT CASE WHEN listened_at >= $1 THEN listening_since END FROM watch_state`, now.Add(-Gap))
}
