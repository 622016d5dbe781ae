package pair

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements/replication"
)

const (
	system = "7397140211632581937"
	member = "physical orders_02 orders-02"
)

// States are those of the pair at a time, of a demo that was made at another: lag is in seconds.
func States(made time.Time, lead, follow uuid.UUID, at time.Time, lag float64) []replication.State {
	works := replication.Trouble{Condition: replication.Works}
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
		Instance: lead, Engine: fleet.PostgreSQL, At: at, Role: replication.Primary, Systems: []string{system}, Timeline: 3, Port: 5432, Trouble: works,
		Peers: []replication.Peer{{
			Kind: replication.Physical, Name: "orders-02", Member: member, Host: "10.4.0.12", Slot: "orders_02", State: "streaming", Sync: "async",
			Trouble: works, LagSeconds: &lag, LagBytes: &behind, SendQueue: &none,
		}},
		Slots: []replication.Slot{reporting, {Name: "orders_02", Kind: replication.Physical, Active: true, WAL: "reserved", Retained: &behind, Trouble: works}},
	}, {
		Instance: follow, Engine: fleet.PostgreSQL, At: at, Role: replication.Standby, Systems: []string{system}, Timeline: 3, Port: 5432, Trouble: works,
		State: "streaming", Members: []string{member}, LagSeconds: &lag, LagBytes: &behind,
		Upstream: &replication.Upstream{Kind: replication.Physical, Host: "db01", Port: 5432, Slot: "orders_02"},
	}}
}

// Failover are the states of the pair around a time in which the primary was down: the standby is promoted a minute
// later, and hands back two minutes after the first server has returned as its standby.
func Failover(made time.Time, lead, follow uuid.UUID, down, up time.Time) (all []replication.State) {
	const soon = time.Minute
	for _, step := range []struct {
		lead, follow uuid.UUID
		at           time.Time
		timeline     int64
	}{{lead, follow, down.Add(-soon), 1}, {follow, uuid.Nil, down.Add(soon), 2}, {follow, lead, up, 2}, {lead, follow, up.Add(2 * soon), 3}} {
		for _, state := range States(made, step.lead, step.follow, step.at, 0) {
			if state.Timeline = step.timeline; state.Instance != uuid.Nil {
				all = append(all, state)
			}
		}
	}
	return all
}
