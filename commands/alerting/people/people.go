package people

import (
	"context"
	"crypto/rand"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/keep.sql
	keepPeople string
	//go:embed sql/add.sql
	addPeople string
	//go:embed sql/prune.sql
	prunePeople string
)

// most is how many people are kept of those whom titles name after an alert was raised.
const most = 100

// Salt is a new salt for the digest of some people.
func Salt() []byte {
	salt := make([]byte, 32)
	_, _ = rand.Read(salt) // does not fail since Go 1.24
	return salt
}

// Keep keeps the people of the tree of an alert that is raised, in the transaction that raises it. The event has their
// digest under the salt.
func Keep(ctx context.Context, tx sqlx.ExecerContext, organization, id uuid.UUID, at time.Time, salt []byte, of []alert.Person) error {
	return write(ctx, tx, keepPeople, organization, id, at, salt, of)
}

// Add keeps the people whom a later title of an alert names.
func Add(ctx context.Context, tx sqlx.ExecerContext, organization, id uuid.UUID, at time.Time, of []alert.Person) error {
	return write(ctx, tx, addPeople, organization, id, at, Salt(), of, most)
}

func write(ctx context.Context, tx sqlx.ExecerContext, query string, organization, id uuid.UUID, at time.Time, salt []byte, of []alert.Person, more ...any) error {
	text, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("encode the people of alert %s: %w", id, err)
	}
	return statement.Exec(ctx, tx, "keep the people of an alert", query, append([]any{organization, id, at, salt, string(text)}, more...)...)
}

// Kept is whose sessions an alert speaks of.
type Kept struct {
	frozen, later []alert.Person
	salt          []byte
}

// Frozen are the people of the tree in the event that raised the alert, if they are those whom its digest says; else nil.
func (k Kept) Frozen(digest string) []alert.Person {
	if digest == "" || alert.PeopleDigest(k.salt, k.frozen) != digest {
		return nil
	}
	return k.frozen
}

// All are all people whom titles of the alert may name.
func (k Kept) All() []alert.Person { return append(append([]alert.Person{}, k.frozen...), k.later...) }

// Of returns the people of alerts of an organization. Alerts of which nobody is kept are missing.
func Of(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, alerts []uuid.UUID) (map[uuid.UUID]Kept, error) {
	if len(alerts) == 0 {
		return nil, nil
	}
	rows, err := statement.All[struct {
		ID     uuid.UUID `db:"alert_id"`
		Salt   []byte
		People []byte
		Later  []byte
	}](ctx, q, "read the people of alerts", `SELECT alert_id, salt, people, later FROM alert_people WHERE organization_id = $1 AND alert_id = ANY ($2)`,
		organization, statement.IDs(alerts))
	if err != nil {
		return nil, err
	}
	out := make(map[uuid.UUID]Kept, len(rows))
	for _, r := range rows {
		k := Kept{salt: r.Salt}
		for from, to := range map[*[]byte]*[]alert.Person{&r.People: &k.frozen, &r.Later: &k.later} {
			if err := json.Unmarshal(*from, to); err != nil {
				return nil, fmt.Errorf("read the people of alert %s: %w", r.ID, err)
			}
		}
		out[r.ID] = k
	}
	return out, nil
}

// Drop erases the people of all alerts of an organization, in the transaction that turns them off, which has locked the
// organization's row.
func Drop(ctx context.Context, tx sqlx.ExecerContext, organization uuid.UUID) error {
	return statement.Exec(ctx, tx, "erase whose sessions alerts name", `DELETE FROM alert_people WHERE organization_id = $1`, organization)
}

// Prune erases the people of alerts that an organization does not want kept any longer.
func Prune(ctx context.Context, q sqlx.ExecerContext) (int64, error) {
	return statement.Affected(ctx, q, "erase the people of old alerts", prunePeople)
}
