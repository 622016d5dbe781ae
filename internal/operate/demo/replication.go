package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/replication"
)

// The pair of the demo: the second follows the first, and lags. A slot of the first has lost its consumer.
const (
	leadServer, followServer = heldServer, "demo-pg-orders-02"
	demoSystem               = "7397140211632581937"
	followMember             = "physical orders_02 orders-02"
	failedOver               = 11 * day // before the organization was made: the first one took over then
)

// lagged is by how many seconds the second server lags: a little for most of the time, more while nightly batches write, and
// more and more when somebody first looks.
func lagged(made, at time.Time) float64 {
	lag := 0.2 + 1.6*newChance(followServer, "lag").draw(minuteOf(at))
	midnight := at.UTC().Truncate(day)
	batch := between{midnight.Add(2 * time.Hour), midnight.Add(2*time.Hour + 40*time.Minute)}
	now := between{made.Add(-12 * time.Minute), made.Add(50 * time.Minute)}
	return lag + 38*batch.strength(at) + 74*now.strength(at)
}

// replicates are the states of the pair at a time.
func replicates(made time.Time, lead, follow uuid.UUID, at time.Time) []replication.State {
	works := replication.Trouble{Condition: replication.Works}
	lag := lagged(made, at)
	behind, none := int64(lag*5.57e6), int64(0)
	idle := made.UTC().Add(-9*time.Hour - 11*time.Minute).Truncate(time.Minute)
	retained := max(int64(at.Sub(idle).Hours()*2.15e9), 16<<20)
	reporting := replication.Slot{Name: "reporting", Kind: replication.Physical, WAL: "extended", Retained: &retained, Trouble: replication.Trouble{
		Condition: replication.Inactive, Since: &idle,
	}}
	if at.Before(idle) {
		retained = 16 << 20
		reporting.Active, reporting.WAL, reporting.Trouble = true, "reserved", works
	}
	return []replication.State{{
		Instance: lead, Engine: fleet.PostgreSQL, At: at, Role: replication.Primary, Systems: []string{demoSystem}, Timeline: 3, Port: 5432, Trouble: works,
		Peers: []replication.Peer{{
			Kind: replication.Physical, Name: "orders-02", Member: followMember, Host: "10.4.0.12", Slot: "orders_02", State: "streaming", Sync: "async",
			Trouble: works, LagSeconds: &lag, LagBytes: &behind, SendQueue: &none,
		}},
		Slots: []replication.Slot{reporting, {Name: "orders_02", Kind: replication.Physical, Active: true, WAL: "reserved", Retained: &behind, Trouble: works}},
	}, {
		Instance: follow, Engine: fleet.PostgreSQL, At: at, Role: replication.Standby, Systems: []string{demoSystem}, Timeline: 3, Port: 5432, Trouble: works,
		State: "streaming", Members: []string{followMember}, LagSeconds: &lag, LagBytes: &behind,
		Upstream: &replication.Upstream{Kind: replication.Physical, Host: "db01", Port: 5432, Slot: "orders_02"},
	}}
}

// replicate is the lag from one time to another, and how it is at the end.
func replicate(made time.Time, there []inventory.IDs, from, until time.Time, atOnce time.Duration) (lags []measurements.ServerSample, newest []replication.State) {
	lead, follow := idOf(there, leadServer), idOf(there, followServer)
	for at := from; at.Before(until); at = at.Add(atOnce) {
		newest = slices.DeleteFunc(replicates(made, lead, follow, at), func(s replication.State) bool { return s.Instance == uuid.Nil })
		for _, s := range newest {
			if sample, ok := measurements.LagOf(s); ok {
				lags = append(lags, sample)
			}
		}
	}
	return lags, newest
}

// idOf is a server by its name; uuid.Nil: it was removed.
func idOf(there []inventory.IDs, name string) uuid.UUID {
	for _, p := range there {
		if p.ExternalID == name {
			return p.ID
		}
	}
	return uuid.Nil
}

// failover keeps that the two servers changed their roles.
func (m *measuring) failover(ctx context.Context, there []inventory.IDs) error {
	lead, follow := idOf(there, leadServer), idOf(there, followServer)
	if lead == uuid.Nil || follow == uuid.Nil {
		return nil
	}
	at := m.organization.CreatedAt.UTC().Truncate(day).Add(3*time.Hour + 12*time.Minute - failedOver)
	before, after := replicates(m.organization.CreatedAt, follow, lead, at.Add(-time.Minute)), replicates(m.organization.CreatedAt, lead, follow, at)
	for i := range before {
		before[i].Timeline = 2
	}
	if _, err := replication.Record(ctx, m.DB, m.organization.ID, at, append(before, after...)); err != nil {
		return fmt.Errorf("keep a failover: %w", err)
	}
	return nil
}
