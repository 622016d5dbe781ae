package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/internal/measurements"
	"muster/internal/measurements/replication"
	"muster/internal/operate/demo/pair"
)

// The pair of the demo: the second follows the first, and lags. A slot of the first has lost its consumer.
const leadServer, followServer = heldServer, "demo-pg-orders-02"

// behind is by how many seconds the second server lags: a little for most of the time, more while nightly batches write, and
// as many as its alerts say.
func behind(crowds []crowd, at time.Time) float64 {
	midnight := at.UTC().Truncate(day)
	batch := between{midnight.Add(2 * time.Hour), midnight.Add(2*time.Hour + 40*time.Minute)}
	seconds := 38 * batch.strength(at)
	for _, c := range crowds {
		if c.mount == lagged {
			seconds = c.used(at, seconds)
		}
	}
	return seconds + 0.2 + 1.6*newChance(followServer, "lag").draw(minuteOf(at))
}

// lagCrowds are the times between two in which alerts say that the second server lags.
func lagCrowds(made, from, until time.Time) []crowd {
	of := slices.IndexFunc(servers(), func(s server) bool { return s.Name == followServer })
	return crowdsOf(made.UTC().Truncate(time.Minute), servers()[of], from, until)
}

// replicates are the states of the pair at a time.
func replicates(made time.Time, crowds []crowd, lead, follow uuid.UUID, at time.Time) []replication.State {
	return pair.States(made, lead, follow, at, behind(crowds, at))
}

// replicate is the lag from one time to another, and how it is at the end.
func replicate(made time.Time, there []inventory.IDs, from, until time.Time, atOnce time.Duration) (lags []measurements.ServerSample, newest []replication.State) {
	lead, follow := idOf(there, leadServer), idOf(there, followServer)
	crowds := lagCrowds(made, from, until)
	gone := downs(made, leadServer)
	for at := from; at.Before(until); at = at.Add(atOnce) {
		if slices.ContainsFunc(gone, func(b between) bool { return b.has(at) }) {
			continue // nothing is followed
		}
		newest = slices.DeleteFunc(replicates(made, crowds, lead, follow, at), func(s replication.State) bool { return s.Instance == uuid.Nil })
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
	states := failedOver(m.organization.CreatedAt, lead, follow)
	if _, err := replication.Record(ctx, m.DB, m.organization.ID, m.organization.CreatedAt, states); err != nil {
		return fmt.Errorf("keep a failover: %w", err)
	}
	return nil
}

// failedOver are the states of the pair around the time in which the first one was down, as alerts say.
func failedOver(made time.Time, lead, follow uuid.UUID) (all []replication.State) {
	for _, e := range scripted(made.UTC().Truncate(time.Minute)) {
		if e.server == leadServer && e.strain.Gone {
			all = append(all, pair.Failover(made, lead, follow, e.starts, e.ends)...)
		}
	}
	return all
}
