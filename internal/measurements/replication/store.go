package replication

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/internal/measurements/arrival"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/put_state.sql
	putState string
	//go:embed sql/put_role.sql
	putRole string
	//go:embed sql/states.sql
	statesQuery string
	//go:embed sql/role_changes.sql
	roleChangesQuery string
	//go:embed sql/forget_roles.sql
	forgetRoles string
)

// How long things are kept, and how late a State may come.
const (
	RolesKept = 400 * 24 * time.Hour
	goneKept  = 7 * 24 * time.Hour
)

// Record keeps States of an organization, and returns those that are newer than what was kept; received
// is when they came.
func Record(ctx context.Context, db *sqlx.DB, organization uuid.UUID, received time.Time, states []State) (all []Kept, err error) {
	states = slices.Clone(states)
	slices.SortStableFunc(states, func(a, b State) int { return a.At.Compare(b.At) })
	for _, s := range states {
		if !arrival.InTime(s.At, received) {
			continue
		}
		s = s.Fit()
		s.At = instant.Cut(s.At)
		if s.Role == "" && s.Denied == "" {
			continue
		}
		err := transact.Once(ctx, db, nil, func(tx *sqlx.Tx) error {
			kept, newer, err := keep(ctx, tx, organization, s)
			if err == nil && newer {
				all = append(all, kept)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func keep(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, s State) (kept Kept, newer bool, err error) {
	if err := statement.Exec(ctx, tx, "wait for other states of a server", `SELECT pg_advisory_xact_lock(hashtextextended('replication ' || $1::uuid, 0))`, s.Instance); err != nil {
		return kept, false, err
	}
	before, known, err := find(ctx, tx, organization, s.Instance)
	if err != nil || known && !s.At.After(before.At) {
		return kept, false, err
	}
	if s.Role == "" { // it does not tell it any more, or never did
		s.Role, s.Systems = before.Role, before.Systems
	}
	s.follow(&before.State)
	kept = Kept{State: s, RoleSince: before.RoleSince, replicated: known && before.Replicates()}
	if before.Role != s.Role || s.tookOver(&before.State) {
		kept.RoleSince = nil // nobody saw when it began
		if before.Role != "" {
			kept.RoleSince = &s.At
			if same(before.Systems, s.Systems) {
				if err := statement.Exec(ctx, tx, "keep that a role changed", putRole, organization, s.Instance, s.At, before.Role, s.Role, s.Timeline); err != nil {
					return kept, false, err
				}
			}
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return kept, false, fmt.Errorf("encode the replication of a server: %w", err)
	}
	f := s.Figures()
	err = statement.Exec(ctx, tx, "keep the replication of a server", putState, organization, s.Instance, s.At, s.Role, kept.RoleSince,
		s.Condition, s.Since, f.LagSeconds, f.LagBytes, f.Retained, s.Links(), string(text))
	return kept, true, err
}

// tookOver says that a primary has begun a timeline of its own, so the State before was another server's: a
// proxy leads to whoever is primary. Or a backup was restored.
func (s *State) tookOver(before *State) bool {
	return s.Role == Primary && before.Role == Primary && before.Timeline > 0 && s.Timeline > before.Timeline && same(before.Systems, s.Systems)
}

// same says whether two States are of one system, as far as both tell.
func same(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// passing are names of receivers that come and go: copies of tables of a new subscription, base
// backups and clients that only receive.
var passing = regexp.MustCompile(`^pg_\d+_sync_\d+_\d+$|^pg_basebackup$`)

// follow takes over from the State before since when conditions last, and who was there.
func (s *State) follow(before *State) {
	if s.Role == Standby && before.Role == Standby && same(before.Systems, s.Systems) { // it lost its sender: whose it was is still true
		if s.Upstream == nil {
			s.Upstream = before.Upstream
		}
		if len(s.Members) == 0 {
			s.Members = before.Members
		}
	}
	s.last(s.At, &before.Trouble)
	known := make(map[string]bool, len(s.Peers))
	was := make(map[string]*Peer, len(before.Peers))
	for i := range before.Peers {
		was[before.Peers[i].key()] = &before.Peers[i]
	}
	for i := range s.Peers {
		p := &s.Peers[i]
		known[p.key()] = true
		s.Peers[i].last(s.At, troubleOf(was[p.key()], func(p *Peer) *Trouble { return &p.Trouble }))
	}
	if s.Denied == "" && s.Role == before.Role {
		s.addGone(before, known)
	}
	slots := make(map[string]*Slot, len(before.Slots))
	for i := range before.Slots {
		slots[before.Slots[i].Name] = &before.Slots[i]
	}
	for i := range s.Slots {
		s.Slots[i].last(s.At, troubleOf(slots[s.Slots[i].Name], func(of *Slot) *Trouble { return &of.Trouble }))
	}
	subscriptions := make(map[string]*Subscription, len(before.Subscriptions))
	for i := range before.Subscriptions {
		of := &before.Subscriptions[i]
		subscriptions[of.Database+"\x00"+of.Name] = of
	}
	for i := range s.Subscriptions {
		of := &s.Subscriptions[i]
		of.last(s.At, troubleOf(subscriptions[of.Database+"\x00"+of.Name], func(of *Subscription) *Trouble { return &of.Trouble }))
	}
}

// addGone adds the peers of the State before that are not listed any more.
func (s *State) addGone(before *State, known map[string]bool) {
	for _, p := range before.Peers {
		replaced := slices.ContainsFunc(s.Peers, func(other Peer) bool { // it is back, from another address
			return other.Kind == p.Kind && other.Name == p.Name && other.Slot == p.Slot && other.Group == p.Group
		})
		if known[p.key()] || replaced || passing.MatchString(p.Name) || len(s.Peers) >= MaxPeers {
			continue
		}
		if p.Condition != Gone {
			p.Trouble, p.State = Trouble{Condition: Gone, Since: &before.At, Why: "no longer connected"}, ""
			if before.At.IsZero() {
				p.Since = &s.At
			}
		}
		p.LagSeconds, p.LagBytes, p.SendQueue, p.RedoQueue = nil, nil, nil, nil
		if p.Since == nil || s.At.Sub(*p.Since) < goneKept {
			s.Peers = append(s.Peers, p)
		}
	}
}

func troubleOf[T any](was *T, of func(*T) *Trouble) *Trouble {
	if was == nil {
		return &Trouble{}
	}
	return of(was)
}

// last says since when a condition lasts that is not how it should be, as far as was seen.
func (t *Trouble) last(at time.Time, before *Trouble) {
	switch {
	case t.Condition == Works:
		t.Since = nil
	case before.Condition == t.Condition && before.Since != nil:
		if t.Since == nil || before.Since.Before(*t.Since) {
			t.Since = before.Since
		}
	case t.Since == nil:
		t.Since = &at
	}
}

// Kept is the newest State of a server.
type Kept struct {
	State
	// RoleSince is when the server was first seen in its role, after it was seen in another one;
	// nil: it was never seen in another.
	RoleSince *time.Time

	replicated bool // the State before did (Replicates)
}

type row struct {
	Instance  uuid.UUID  `db:"instance_id"`
	At        time.Time  `db:"at"`
	RoleSince *time.Time `db:"role_since"`
	State     []byte     `db:"state"`
}

func (r row) kept() (k Kept, err error) {
	if err := json.Unmarshal(r.State, &k.State); err != nil {
		return k, fmt.Errorf("decode the replication of a server: %w", err)
	}
	k.Instance, k.At, k.RoleSince = r.Instance, r.At.UTC(), r.RoleSince
	k.untold() // of a program from before
	return k, nil
}

func find(ctx context.Context, q sqlx.QueryerContext, organization, instance uuid.UUID) (k Kept, ok bool, err error) {
	r, ok, err := statement.Find[row](ctx, q, "read the replication of a server",
		`SELECT instance_id, at, role_since, state FROM replication_states WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
	if err != nil || !ok {
		return k, false, err
	}
	k, err = r.kept()
	return k, err == nil, err
}

// Related returns the newest States of an instance in scope and of those in scope that replicate with
// it, directly or over others; none if the instance has none.
func Related(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, scope fleet.Scope, instance uuid.UUID) ([]Kept, error) {
	own, ok, err := find(ctx, q, organization, instance)
	if err != nil || !ok {
		return nil, err
	}
	return relatedTo(ctx, q, organization, scope, own)
}

func relatedTo(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, scope fleet.Scope, own Kept) ([]Kept, error) {
	all, links := []Kept{own}, own.Links()
	for range mostSteps {
		rows, err := statement.All[row](ctx, q, "read the replication of servers", statesQuery, organization, scope.Filtered, statement.IDs(scope.Instances), links)
		if err != nil {
			return nil, err
		}
		before := len(links)
		for _, r := range rows {
			if slices.ContainsFunc(all, func(k Kept) bool { return k.Instance == r.Instance }) {
				continue
			}
			k, err := r.kept()
			if err != nil {
				return nil, err
			}
			all = append(all, k)
			for _, link := range k.Links() {
				if !slices.Contains(links, link) {
					links = append(links, link)
				}
			}
		}
		if len(links) == before {
			break
		}
	}
	return all, nil
}

// mostSteps is over how many systems a server may be related: logical replication goes from one to the
// next.
const mostSteps = 5

// RoleChange says that a server was seen in another role than before: a failover. If Was and Role are
// Primary, another server took over behind its address.
type RoleChange struct {
	Instance uuid.UUID `db:"instance_id"`
	At       time.Time `db:"at"` // when it was first seen in the role
	Was      Role      `db:"was"`
	Role     Role      `db:"role"`
	Timeline int64     `db:"timeline"` // PostgreSQL's, after the change
}

// RoleChanges returns the changes of the instances in scope from a time to another, newest first.
func RoleChanges(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, scope fleet.Scope, from, to time.Time, limit int) ([]RoleChange, error) {
	return statement.All[RoleChange](ctx, q, "read changes of roles", roleChangesQuery, organization, scope.Filtered, statement.IDs(scope.Instances), from, to, limit)
}

// portion is how many rows one statement deletes.
const portion = 1000

// Forget deletes what is older than it is kept, by the database's clock.
func Forget(ctx context.Context, db *sqlx.DB) error {
	for {
		n, err := statement.Affected(ctx, db, "forget old changes of roles", forgetRoles, RolesKept.Seconds(), portion)
		if err != nil || n < portion {
			return err
		}
	}
}
