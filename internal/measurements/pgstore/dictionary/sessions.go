package dictionary

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/keep_names.sql
	keepNames string
	//go:embed sql/drop_people.sql
	dropPeople string
	//go:embed sql/forget_names.sql
	forgetNames string
	//go:embed sql/read_names.sql
	readNames string
)

const (
	// nameAge is how far behind the time at which a name was last seen may be.
	nameAge = time.Hour
	// settingAge is for how long an organization's decision to keep people is believed.
	settingAge = 30 * time.Second
)

// name is a row of measured_names.
type name struct {
	Hash      int64
	Dimension measurements.Dimension
	Name      string
	Seen      time.Time
}

// NotedNames are names that the dictionary has once a transaction is committed.
type NotedNames struct {
	organization uuid.UUID
	names        []name
}

// names are the names that this process knows to be in the dictionary, and when they were seen.
type names struct {
	mu   sync.Mutex
	seen map[uuid.UUID]map[int64]time.Time
	size int
}

// recent says whether the dictionary has a name, and need not be told that it was seen.
func (n *names) recent(organization uuid.UUID, hash int64, at time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	seen, known := n.seen[organization][hash]
	return known && at.Sub(seen) < nameAge
}

func (n *names) add(noted NotedNames) {
	if len(noted.names) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.size += len(noted.names); n.seen == nil || n.size > mostRemembered {
		n.seen, n.size = make(map[uuid.UUID]map[int64]time.Time), len(noted.names)
	}
	if n.seen[noted.organization] == nil {
		n.seen[noted.organization] = make(map[int64]time.Time)
	}
	for _, one := range noted.names {
		n.seen[noted.organization][one.Hash] = one.Seen
	}
}

// forget forgets what is known of an organization: its people were deleted.
func (n *names) forget(organization uuid.UUID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.size -= len(n.seen[organization])
	delete(n.seen, organization)
}

// decision is what an organization decided, as it was read.
type decision struct {
	keeps bool
	read  time.Time
}

// WithoutPeople leaves users, applications and clients out of samples of sessions and of servers of an
// organization that keeps none, by its decision of the last half minute. Until that has passed, samples have hashes of
// names that the dictionary does not have.
func (d *Dictionary) WithoutPeople(ctx context.Context, organization uuid.UUID, samples []measurements.SessionSample, of []measurements.ServerSample) ([]measurements.SessionSample, []measurements.ServerSample, error) {
	if len(of) == 0 && !slices.ContainsFunc(samples, func(s measurements.SessionSample) bool { return len(s.Doing) > 0 }) {
		return samples, of, nil
	}
	last, known := d.keeps.Load(organization)
	if decided, _ := last.(decision); !known || time.Since(decided.read) >= settingAge {
		keeps := false
		if d.KeepsPeople != nil {
			var err error
			if keeps, err = d.KeepsPeople(ctx, organization); err != nil {
				return nil, nil, err
			}
		}
		last = decision{keeps, time.Now()}
		d.keeps.Store(organization, last)
	}
	if decided, _ := last.(decision); decided.keeps {
		return samples, of, nil
	}
	return measurements.WithoutPeople(samples), measurements.ServersWithoutPeople(of), nil
}

// NoteNames notes the names of samples of sessions and of servers, and returns them: RememberNames takes them
// after the commit. Names of people are written under a share of whatever holds the
// organization's decision to keep them (HoldsPeople), which is taken before any name is.
func (d *Dictionary) NoteNames(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, samples []measurements.SessionSample, of []measurements.ServerSample) (noted NotedNames, err error) {
	noted = NotedNames{organization, d.newNames(organization, samples, of)}
	personal := func(n name) bool { return n.Dimension.Personal() }
	if slices.ContainsFunc(noted.names, personal) {
		keeps := false
		if d.HoldsPeople != nil {
			if keeps, err = d.HoldsPeople(ctx, tx, organization); err != nil {
				return NotedNames{}, err
			}
		}
		if !keeps {
			noted.names = slices.DeleteFunc(noted.names, personal)
		}
	}
	if len(noted.names) == 0 {
		return noted, nil
	}
	return noted, statement.Exec(ctx, tx, fmt.Sprintf("note %d names", len(noted.names)), keepNames,
		append([]any{organization}, statement.Columns(noted.names)...)...)
}

// RememberNames spares writing names that the dictionary has by now.
func (d *Dictionary) RememberNames(noted NotedNames) { d.names.add(noted) }

// newNames are the names in samples that have to be written, each once, in the order of their
// hashes.
func (d *Dictionary) newNames(organization uuid.UUID, samples []measurements.SessionSample, servers []measurements.ServerSample) []name {
	var all []name
	note := func(at time.Time, one *measurements.Doing) {
		for _, of := range measurements.Dimensions() {
			text := one.Name(of)
			hash := int64(measurements.HashName(of, text))
			if text != "" && !d.names.recent(organization, hash, at) {
				all = append(all, name{hash, of, text, at})
			}
		}
	}
	for i := range samples {
		at := instant.Cut(samples[i].At)
		doings, _ := samples[i].Activity()
		for _, one := range doings {
			note(at, &one)
		}
	}
	for _, s := range servers {
		for _, f := range s.Figures {
			if f.Holder != nil {
				clean := f.Holder.Clean()
				clean.Event = ""
				note(instant.Cut(s.At), &clean.Doing)
			}
		}
	}
	slices.SortFunc(all, func(a, b name) int { return cmp.Or(cmp.Compare(a.Hash, b.Hash), b.Seen.Compare(a.Seen)) })
	return slices.CompactFunc(all, func(a, b name) bool { return a.Hash == b.Hash })
}

// Names returns the names of hashes. A hash whose name was deleted, or never kept, is missing.
func (d *Dictionary) Names(ctx context.Context, organization uuid.UUID, of measurements.Dimension, hashes []uint64) (map[uint64]string, error) {
	asked := make([]int64, len(hashes))
	for i, hash := range hashes {
		asked[i] = int64(hash)
	}
	type found struct {
		Hash int64
		Name string
	}
	rows, err := statement.All[found](ctx, d.db, fmt.Sprintf("read %d names", len(asked)), readNames, organization, string(of), asked)
	named := make(map[uint64]string, len(rows))
	for _, row := range rows {
		named[uint64(row.Hash)] = row.Name
	}
	return named, err
}

// DropPeople deletes the names of an organization's users, applications and clients. Who calls it
// holds what HoldsPeople shares, so that no writer brings one back.
func (d *Dictionary) DropPeople(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error {
	d.names.forget(organization)
	d.keeps.Delete(organization)
	if err := statement.Exec(ctx, tx, "delete the names of people", dropPeople, organization); err != nil {
		return err
	}
	return blocking.DropPeople(ctx, tx, organization)
}

// forgetNames deletes names of which no sample is left.
func (d *Dictionary) forgetNames(ctx context.Context) error {
	return tables.Forget(ctx, d.db, "forget old names", forgetNames, statementsKept)
}
