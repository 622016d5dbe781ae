package demo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/measurements/blocking"
	"muster/internal/watch"
)

// looks is how often an agent looks who waits for whom.
const looks = 15 * time.Second

// holdup is a time in which a session of billing's holds others of a database up: it has changed
// an order, and left its transaction open.
type holdup struct {
	between
	waiting float64 // sessions, at most
	storm   bool    // the lock storm, of which the alerts tell
}

// Where they are.
const heldServer, heldDatabase = "demo-pg-orders-01", "orders"

// holdups are those of an organization made at that time, the oldest first: the lock storm, a
// short one every third day, and one that goes on when somebody first looks.
func holdups(made time.Time) []holdup {
	made = made.UTC().Truncate(time.Minute)
	midnight, draws := made.Truncate(day), newChance(heldServer, heldDatabase, "holdup")
	var all []holdup
	for n := int64(-alertDays + 1); n < 0; n++ {
		at := midnight.Add(time.Duration(n) * day)
		if n == int64(lockStormAt/day)-1 {
			storm := midnight.Add(lockStormAt)
			all = append(all, holdup{between{storm, storm.Add(78 * time.Minute)}, 40, true})
		}
		if n%3 == -1 {
			starts := at.Add(13*time.Hour + time.Duration(draws.draw(n)*4*float64(time.Hour)).Truncate(looks))
			length := 3*time.Minute + time.Duration(draws.draw(n+1000)*7*float64(time.Minute)).Truncate(looks)
			all = append(all, holdup{between{starts, starts.Add(length)}, 3 + math.Floor(7*draws.draw(n+2000)), false})
		}
	}
	return append(all, holdup{between{made.Add(-4 * time.Minute), made.Add(50 * time.Minute)}, 12, false})
}

// strain is what a holdup does to its database, where no incident does.
func (h holdup) strain() episode {
	return episode{server: heldServer, database: heldDatabase, between: h.between, strain: strain{Locked: h.waiting}}
}

// tree is who waits for whom at a time of a holdup: a migration for billing's session, and all others for the migration.
// Without texts the statements are left out.
func (h holdup) tree(at time.Time, texts bool) []blocking.Node {
	text := func(statement string) string {
		if !texts {
			return ""
		}
		return statement
	}
	began, changed, waits := h.starts.Add(-33*time.Second), h.starts.Add(-27*time.Second), h.starts
	first := 20000 + int(newChance(heldServer, "pid").draw(minuteOf(h.starts))*9000)
	pid := func(n int) string { return strconv.Itoa(first + 7*n) }
	session := began.Add(-78 * time.Minute)
	nodes := []blocking.Node{
		{
			Session: pid(0), Kind: blocking.Client, Began: &session, User: "bill", Application: "billing", Client: "10.4.2.17", Database: heldDatabase,
			State: "idle in transaction", Idle: true, Statement: text("UPDATE orders SET status = ? WHERE id = ?"), StatementID: "4021163012207461232",
			Transaction: &began, Changed: &changed,
		},
		{
			Session: pid(1), Kind: blocking.Client, Began: &waits, User: "deploy", Application: "migrate", Client: "10.4.9.3", Database: heldDatabase,
			State: "active", Statement: text("ALTER TABLE orders ADD COLUMN gift_note text"), Transaction: &waits, Changed: &waits,
			Waits: &waits, For: []string{pid(0)}, Lock: "relation", Mode: "AccessExclusiveLock", Object: "table public.orders",
		},
	}
	behind := []struct{ application, user, client, statement, mode string }{
		{"checkout", "shop", "10.4.1.1", "SELECT * FROM orders WHERE id = ?", "AccessShareLock"},
		{"checkout", "shop", "10.4.1.2", "SELECT * FROM orders WHERE id = ?", "AccessShareLock"},
		{"shop-api", "shop", "10.4.1.4", "UPDATE orders SET state = ?, updated_at = now() WHERE id = ? AND state = ?", "RowExclusiveLock"},
		{"checkout", "shop", "10.4.1.3", "SELECT * FROM orders WHERE id = ?", "AccessShareLock"},
		{"metabase", "report", "10.4.7.20", "SELECT date_trunc(?, created_at) AS day, sum(amount) FROM orders WHERE created_at >= ? AND created_at < ? GROUP BY day", "AccessShareLock"},
	}
	// They come one after the other, as many as wait in the sessions' samples.
	count := max(1, int(math.Round(h.waiting*h.strength(at))))
	for n := range count - 1 {
		who, since := behind[n%len(behind)], h.reaches(n+2)
		if since.After(at) {
			since = at
		}
		nodes = append(nodes, blocking.Node{
			Session: pid(n + 2), Kind: blocking.Client, Began: &session, User: who.user, Application: who.application, Client: who.client, Database: heldDatabase,
			State: "active", Statement: text(who.statement), Transaction: &since, Changed: &since,
			Waits: &since, For: []string{pid(1)}, Lock: "relation", Mode: who.mode, Object: "table public.orders",
		})
	}
	return nodes
}

// reaches is when so many sessions wait.
func (h holdup) reaches(count int) time.Time {
	rise := min(swells, h.ends.Sub(h.starts)/2)
	return h.starts.Add(time.Duration(float64(rise) * min(1, (float64(count)-0.5)/h.waiting)))
}

// blocked are the looks from one time to another, at a server that is there.
func blocked(made time.Time, server uuid.UUID, texts bool, from, to time.Time) []blocking.Sample {
	var out []blocking.Sample
	for _, h := range holdups(made) {
		for at := h.starts.Add(looks); !at.After(h.ends); at = at.Add(looks) {
			if at.Before(from) || !at.Before(to) {
				continue
			}
			s := blocking.Sample{Instance: server, At: at, Interval: looks}
			if at.Before(h.ends) {
				s.Nodes = h.tree(at, texts)
			} else {
				s.End = blocking.TransactionEnded
			}
			out = append(out, s)
		}
	}
	return out
}

// waitSign is what the watch judges of the server at a time: for how long a session has waited.
func waitSign(organization, server uuid.UUID, made, at time.Time) watch.Sign {
	s := watch.Sign{OrganizationID: organization, InstanceID: server, Rule: watch.LockWait, At: at}
	for _, h := range holdups(made) {
		if h.has(at) {
			s.Value = at.Sub(h.starts).Minutes()
			s.Details = watch.Details{Sessions: max(1, int(math.Round(h.waiting*h.strength(at)))), Kind: "relation", Object: "table public.orders", Database: heldDatabase}
		}
	}
	return s
}

// block keeps who waited for whom from one time to another, as if it had come then: older than samples are kept, an episode
// has none any more. It is a minute late, so that nothing is in the future.
func (m *measuring) block(ctx context.Context, server uuid.UUID, from, to time.Time) error {
	made, texts := m.organization.CreatedAt, m.organization.StatementTexts == organization.TextsNormalized
	from, until := from.Add(-time.Minute), to.Add(-time.Minute)
	samples := append(blocked(made, server, texts, from, until), deadlocked(made, server, texts, from, until)...)
	if err := blocking.Record(ctx, m.DB, m.organization.ID, to, samples); err != nil {
		return fmt.Errorf("keep who waited for whom: %w", err)
	}
	return nil
}

// storm keeps who waited for whom in the lock storm, and raises the alert that the built-in watch would have raised.
func (d *Demo) storm(ctx context.Context, o accounts.Organization, server uuid.UUID) error {
	all := holdups(o.CreatedAt)
	h := all[slices.IndexFunc(all, func(h holdup) bool { return h.storm })]
	find := func() ([]blocking.Episode, error) {
		scope := fleet.Scope{Filtered: true, Instances: []uuid.UUID{server}}
		found, _, err := blocking.Episodes(ctx, d.DB, blocking.Query{Organization: o.ID, Scope: scope, From: h.starts, To: h.ends, Page: 1, Size: 1})
		return found, err
	}
	known, err := find()
	if err != nil || len(known) > 0 {
		return err
	}
	samples := blocked(o.CreatedAt, server, o.StatementTexts == organization.TextsNormalized, h.starts, h.ends.Add(looks))
	if err := blocking.Record(ctx, d.DB, o.ID, h.ends.Add(looks), samples); err != nil {
		return fmt.Errorf("keep who waited for whom: %w", err)
	}
	if known, err = find(); err != nil || len(known) == 0 {
		return err
	}
	at := h.starts.Add(5 * time.Minute)
	tree, of, _, err := blocking.TreeAt(ctx, d.DB, o.ID, known[0], at)
	if err != nil {
		return err
	}
	f := watch.LockWaitFiring(server, heldServer, known[0], tree, of)
	f.StartsAt, f.SeenAt, f.EndsAt, f.Resolved = at, h.ends, h.ends, true
	_, mark, err := d.Commands.RecordFirings(ctx, usecase.Actor{OrganizationID: o.ID, Component: "watch"}, []alert.Firing{f})
	if err != nil {
		return fmt.Errorf("raise the alert of the lock storm: %w", err)
	}
	return d.settle(ctx, mark)
}
