package dictionary

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
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
	//go:embed sql/make_name_key.sql
	makeNameKey string
)

const readNameKey = `SELECT key FROM measured_name_keys WHERE organization_id = $1`

const (
	// mostNames is how many names an organization has. Whoever connects to a server chooses some of
	// them, so there may be any number; those beyond are not reported.
	mostNames = 50_000
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
	if n.seen == nil || n.size > mostRemembered {
		n.seen, n.size = make(map[uuid.UUID]map[int64]time.Time), 0
	}
	seen := n.seen[noted.organization]
	if seen == nil {
		seen = make(map[int64]time.Time)
		n.seen[noted.organization] = seen
	}
	n.size -= len(seen)
	for _, one := range noted.names {
		seen[one.Hash] = one.Seen
	}
	n.size += len(seen)
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

// keyRead is an organization's key, as it was read.
type keyRead struct {
	key  measurements.NameKey
	read time.Time
}

func newNameKey() (key measurements.NameKey) {
	_, _ = rand.Read(key[:]) // which never fails
	return key
}

// SetNameKey gives a batch the key of its organization, as it was within the last half minute, and
// makes one if there is none.
func (d *Dictionary) SetNameKey(ctx context.Context, b *measurements.Batch) error {
	if len(b.Servers) == 0 && !slices.ContainsFunc(b.Sessions, func(s measurements.SessionSample) bool { return len(s.Doing) > 0 }) {
		return nil
	}
	last, _ := d.nameKeys.Load(b.Organization)
	of, known := last.(keyRead)
	if !known || time.Since(of.read) >= settingAge {
		key, found, err := statement.Find[[]byte](ctx, d.db, "read the key of names", readNameKey, b.Organization)
		if err != nil {
			return err
		}
		if !found {
			made := d.NewNameKey()
			key, found, err = statement.Find[[]byte](ctx, d.db, "make a key of names", makeNameKey, b.Organization, made[:])
			if err != nil || !found { // it was deleted: nothing of it is stored
				return err
			}
		}
		of = keyRead{measurements.NameKey(key), time.Now()}
		d.nameKeys.Store(b.Organization, of)
	}
	b.NameKey = of.key
	return nil
}

// NameKey is the key of an organization's names as it is now; without one, no hash is of it.
func (d *Dictionary) NameKey(ctx context.Context, organization uuid.UUID) (measurements.NameKey, error) {
	key, found, err := statement.Find[[]byte](ctx, d.db, "read the key of names", readNameKey, organization)
	if err != nil || !found {
		return measurements.NameKey{}, err
	}
	return measurements.NameKey(key), nil
}

// NoteNames notes the names of a batch of which hashes are stored, and returns them: RememberNames
// takes them after the commit. Names of people are written under a share of whatever holds the
// organization's decision to keep them (HoldsPeople), which is taken before any name is, and only if
// their hashes are of its present key: those of another one are of before it kept none.
func (d *Dictionary) NoteNames(ctx context.Context, tx *sqlx.Tx, b measurements.Batch, stored map[uint64]bool) (noted NotedNames, err error) {
	organization := b.Organization
	noted = NotedNames{organization, d.newNames(b, stored)}
	personal := func(n name) bool { return n.Dimension.Personal() }
	if slices.ContainsFunc(noted.names, personal) {
		keeps := false
		if d.HoldsPeople != nil {
			if keeps, err = d.HoldsPeople(ctx, tx, organization); err != nil {
				return NotedNames{}, err
			}
		}
		if keeps {
			key, _, err := statement.Find[[]byte](ctx, tx, "read the key of names", readNameKey, organization)
			if err != nil {
				return NotedNames{}, err
			}
			if keeps = bytes.Equal(key, b.NameKey[:]); !keeps {
				d.nameKeys.Delete(organization)
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
		append([]any{organization, d.MostNames}, statement.Columns(noted.names)...)...)
}

// RememberNames spares writing names that the dictionary has by now.
func (d *Dictionary) RememberNames(noted NotedNames) { d.names.add(noted) }

// newNames are the names that have to be written, each once, in the order of their hashes.
func (d *Dictionary) newNames(b measurements.Batch, stored map[uint64]bool) []name {
	var all []name
	note := func(at time.Time, one *measurements.Doing) {
		for _, of := range measurements.Dimensions() {
			text := one.Name(of)
			hash := b.NameKey.Hash(of, text)
			if text != "" && stored[hash] && !d.names.recent(b.Organization, int64(hash), at) {
				all = append(all, name{int64(hash), of, text, at})
			}
		}
	}
	for i := range b.Sessions {
		at := instant.Cut(b.Sessions[i].At)
		doings, _ := b.Sessions[i].Activity()
		for _, one := range doings {
			note(at, &one)
		}
	}
	for _, s := range b.Servers {
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

// DropPeople deletes the names of an organization's users, applications and clients, and the key of
// their hashes: the same names have other hashes from now on. Who calls it holds what HoldsPeople
// shares, so that no writer brings one back.
func (d *Dictionary) DropPeople(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error {
	d.names.forget(organization)
	d.keeps.Delete(organization)
	d.nameKeys.Delete(organization)
	key := d.NewNameKey()
	if err := statement.Exec(ctx, tx, "delete the names of people", dropPeople, organization, key[:]); err != nil {
		return err
	}
	return blocking.DropPeople(ctx, tx, organization)
}

// forgetNames deletes names of which no sample is left.
func (d *Dictionary) forgetNames(ctx context.Context) error {
	return tables.Forget(ctx, d.db, "forget old names", forgetNames, statementsKept)
}
