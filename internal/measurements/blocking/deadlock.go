package blocking

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/keep_deadlock.sql
	keepDeadlock string
	//go:embed sql/newest_deadlocks.sql
	newestDeadlocks string
	//go:embed sql/bare_deadlocks.sql
	bareDeadlocks string
	//go:embed sql/drop_deadlock_texts.sql
	dropDeadlockTexts string
	//go:embed sql/drop_deadlock_people.sql
	dropDeadlockPeople string
	//go:embed sql/forget_deadlocks.sql
	forgetDeadlocks string
)

const (
	// SidesKept is how long the sides of deadlocks are kept. Numbers are kept as episodes are.
	SidesKept = 35 * 24 * time.Hour
	// MaxSides is how many sessions of a deadlock are kept.
	MaxSides = 20
	// MaxDeadlocks bounds the number that one sample counts.
	MaxDeadlocks = 1_000_000
	// slotOfSides is the time of which the newest deadlock of a database is kept with its sides.
	slotOfSides = 10 * time.Minute
)

// Deadlock says of a Sample that its nodes are the sides of a deadlock. Without nodes, it is how many there were
// since the look before of which the server tells no more.
type Deadlock struct {
	Database string   // empty: not known
	Victims  []string // the sessions that the server ended
	Count    int
	// Seen says that a look found its sessions waiting for each other; otherwise the server reported it.
	Seen bool
}

// fitDeadlock makes a sample of a deadlock keep to the rules.
func (s Sample) fitDeadlock() Sample {
	d := *s.Deadlock
	d.Database = cleanName(d.Database)
	d.Victims = slices.Clone(d.Victims[:min(len(d.Victims), MaxSides)])
	for i := range d.Victims {
		d.Victims[i] = cleanName(d.Victims[i])
	}
	s.Nodes = slices.Clone(s.Nodes[:min(len(s.Nodes), MaxSides)])
	for i := range s.Nodes {
		s.Nodes[i].clean()
	}
	if d.Count = min(max(d.Count, 1), MaxDeadlocks); len(s.Nodes) > 0 {
		d.Count = 1
	} else {
		d.Seen = false
	}
	s.Deadlock, s.End = &d, ""
	return s
}

func cleanName(name string) string {
	return printable.Cut(printable.Clean(strings.ReplaceAll(name, "\x00", "")), maxName)
}

// Circles are samples of the sessions that a look found waiting for each other in a circle, however long
// they had waited: the server ends a deadlock after a second, or sooner.
func (l Look) Circles(instance uuid.UUID, interval time.Duration) []Sample {
	var out []Sample
	nodes := fit(l.Nodes)
	for _, root := range Roots(nodes) {
		if len(root.Cycle) < 2 {
			continue
		}
		s := Sample{
			Instance: instance, At: l.At, Interval: interval,
			Deadlock: &Deadlock{Database: root.Node.Database, Seen: true, Count: 1},
		}
		for _, n := range nodes {
			if slices.Contains(root.Cycle, n.Session) {
				s.Nodes = append(s.Nodes, n)
			}
		}
		out = append(out, s)
	}
	return out
}

// keepDeadlock stores the deadlock that a sample is about.
func (k *keeping) keepDeadlock(ctx context.Context, s Sample) error {
	d, slot := *s.Deadlock, s.At
	var tree *string
	if len(s.Nodes) > 0 {
		text, err := json.Marshal(Tree{Nodes: s.Nodes, Victims: d.Victims})
		if err != nil {
			return err
		}
		kept := string(text)
		slot, tree = s.At.Truncate(slotOfSides), &kept
	}
	return statement.Exec(ctx, k.tx, "keep a deadlock", keepDeadlock, k.organization, k.instance, d.Database, !d.Seen, slot, s.At, d.Count, tree)
}

// Sides are those of the newest deadlock of a database in a time.
type Sides struct {
	Instance uuid.UUID `db:"instance_id"`
	Database string    // its name; empty: not known
	Reported bool      // by the server; false: a look at its sessions saw the circle
	At       time.Time
	Tree     Tree
}

// NewestDeadlocks are the sides of the newest deadlock of each database, as far as they are known.
func NewestDeadlocks(ctx context.Context, db sqlx.QueryerContext, organization uuid.UUID, scope fleet.Scope, from, to time.Time) ([]Sides, error) {
	return statement.All[Sides](ctx, db, "read the sides of deadlocks", newestDeadlocks, organization, scope.Filtered, statement.IDs(scope.Instances), from, to)
}

// Bare is a number of deadlocks of an instance of which the server tells neither the sides nor the database.
type Bare struct {
	Instance uuid.UUID `db:"instance_id"`
	At       time.Time
	Count    int
}

// BareDeadlocks are those of a time.
func BareDeadlocks(ctx context.Context, db sqlx.QueryerContext, organization uuid.UUID, scope fleet.Scope, from, to time.Time) ([]Bare, error) {
	return statement.All[Bare](ctx, db, "read deadlocks without sides", bareDeadlocks, organization, scope.Filtered, statement.IDs(scope.Instances), from, to)
}
