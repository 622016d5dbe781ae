package postgresql

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/replication"
	"muster/internal/servers"
)

// streaming is the state of a standby that receives changes as they are written.
const streaming = "streaming"

// told is what a server tells about its replication. Times are seconds of its clock since 1970, but for
// those of messages from a sender (Sent, EndSent), which are of the sender's clock.
type told struct {
	Standby    bool
	System     string
	Port       int
	Now        float64
	LSN        *int64 // where a primary writes, or what a standby has
	Replayed   *int64
	Timeline   int64
	Paused     bool
	PauseState string
	ReplayedAt *float64
	Configured *bool // a standby is to follow a server
	Receiver   *receiver
	Peers      []struct {
		Name, Host, State, Sync, Slot string
		Logical                       bool
		Behind, Unsent                *int64
		Lag                           *float64
	}
	Slots []struct {
		Name, Database, Plugin, WAL, Invalid string
		Logical, Active, Synced              bool
		Retained, Safe                       *int64
		InactiveSince                        *float64
	}
	Subscriptions []struct {
		Name, Database, Slot string
		Enabled, Running     bool
		Behind               *int64
	}
	PeersOmitted, SlotsOmitted int
}

// receiver is a standby's WAL receiver. Without a status, our role may not see it.
type receiver struct {
	Status, Host, Slot, Name *string
	Port                     int
	Timeline                 int64
	End                      *int64 // where its sender writes
	Sent, Received, EndSent  *float64
}

// Replication reads who follows whom.
func (r *reader) Replication(ctx context.Context, l *measure.Line, at time.Time) (*replication.State, error) {
	if err := r.meet(ctx, l); err != nil {
		return nil, err
	}
	row, err := servers.Row(ctx, l, 1, replicationWithout(r.tells, r.withheldParts(r.now())))
	if servers.ReasonOf(err) == servers.Denied {
		if err = r.findWithheld(ctx, l); err == nil {
			row, err = servers.Row(ctx, l, 1, replicationWithout(r.tells, r.withheld.parts))
		}
	}
	if err != nil {
		return nil, err
	}
	var t told
	if err := json.Unmarshal([]byte(row[0]), &t); err != nil {
		return nil, measure.ErrNonsense
	}
	return r.replicationOf(&t, at), nil
}

// replicationOf is the state that a server tells at a time by our clock.
func (r *reader) replicationOf(t *told, at time.Time) *replication.State {
	ours := func(seconds *float64) *time.Time {
		if seconds == nil {
			return nil
		}
		when := at.Add(-time.Duration((t.Now - *seconds) * float64(time.Second))).UTC()
		return &when
	}
	s := &replication.State{At: at, Role: replication.Primary, Timeline: t.Timeline, Port: t.Port, Omitted: t.PeersOmitted + t.SlotsOmitted, Trouble: replication.Trouble{Condition: replication.Works}}
	if t.System != "" {
		s.Systems = []string{t.System}
	}
	r.remember(t)
	if t.Standby {
		r.standby(t, s)
	}
	r.addPeers(t, s)
	r.progress.applied, r.progress.looked = t.ReplayedAt, true
	for _, one := range t.Slots {
		slot := replication.Slot{
			Name: one.Name, Kind: kindOfSlot(one.Logical), Database: one.Database, Plugin: one.Plugin, Active: one.Active, WAL: one.WAL,
			Retained: atLeastZero(one.Retained), Safe: one.Safe, Trouble: replication.Trouble{Condition: replication.Works},
		}
		switch {
		case one.WAL == "lost" || one.Invalid != "":
			slot.Condition, slot.Why = replication.Broken, "its log was removed"
			if one.Invalid != "" {
				slot.Why = "invalidated: " + one.Invalid
			}
		case !one.Active && one.Synced:
			slot.Why = "kept in step with the primary's slot"
		case !one.Active:
			slot.Condition, slot.Since = replication.Inactive, ours(one.InactiveSince)
		}
		s.Slots = append(s.Slots, slot)
	}
	for _, one := range t.Subscriptions {
		of := replication.Subscription{Name: one.Name, Database: one.Database, LagBytes: atLeastZero(one.Behind), Trouble: replication.Trouble{Condition: replication.Works}}
		switch {
		case !one.Enabled:
			of.Condition, of.Why = replication.Inactive, "it is disabled"
		case !one.Running:
			of.Condition, of.Why = replication.Broken, "no worker of it runs"
		}
		s.Subscriptions = append(s.Subscriptions, of)
		s.Members = append(s.Members, logicalMember(one.Name, one.Slot))
	}
	return s
}

// standby is what a standby tells of itself.
func (r *reader) standby(t *told, s *replication.State) {
	s.Role, s.State = replication.Standby, "not streaming"
	w := t.Receiver
	switch {
	case slices.Contains(r.withheld.parts, "receiver"):
		s.Denied, s.State = r.grantOf("receiver"), ""
	case w != nil && w.Status == nil, w == nil && t.Configured == nil:
		s.Denied, s.State = r.monitorGrant(), ""
	case w != nil:
		s.State, s.Timeline = *w.Status, w.Timeline
		s.Upstream = &replication.Upstream{Kind: replication.Physical, Host: text(w.Host), Port: w.Port, Slot: text(w.Slot)}
		s.Members = []string{physicalMember(text(w.Name), text(w.Slot))}
		if *w.Status != streaming {
			s.Condition, s.Why = replication.CatchUp, "the WAL receiver is "+*w.Status
		} else if t.heard() {
			s.LagSeconds, s.LagBytes = r.lag(t)
		}
	case !*t.Configured:
		s.State, s.Why = "reading the archive", "it follows no server, but an archive"
	default:
		s.Condition, s.Why = replication.Broken, "it receives nothing: no WAL receiver runs"
	}
	if t.Paused {
		s.Condition, s.Why = replication.Paused, "replay is paused"
		if t.PauseState == "pause requested" {
			s.Why = "replay is about to pause"
		}
	}
}

func (r *reader) addPeers(t *told, s *replication.State) {
	if slices.Contains(r.withheld.parts, "peers") {
		s.Denied = r.grantOf("peers")
	}
	for _, one := range t.Peers {
		if one.State == "" {
			s.Denied, s.Peers = r.monitorGrant(), nil
			return
		}
		p := replication.Peer{
			Kind: kindOfSlot(one.Logical), Name: one.Name, Member: physicalMember(one.Name, one.Slot), Host: one.Host, Slot: one.Slot,
			State: one.State, Sync: one.Sync, LagBytes: atLeastZero(one.Behind), SendQueue: atLeastZero(one.Unsent),
			Trouble: replication.Trouble{Condition: replication.Works},
		}
		if one.Logical {
			p.Member = logicalMember(one.Name, one.Slot)
		}
		if one.State != streaming {
			p.Condition, p.Why = replication.CatchUp, one.State
		}
		if p.LagBytes != nil {
			p.LagSeconds = r.lagOfPeer(t, *p.LagBytes, one.Lag)
		}
		s.Peers = append(s.Peers, p)
	}
}

// monitorGrant is the grant without which the server names nobody.
func (r *reader) monitorGrant() string { return "GRANT pg_monitor TO " + r.role + ";" }

// physicalMember and logicalMember are what both ends of a connection know of it.
func physicalMember(name, slot string) string { return "physical " + slot + " " + name }
func logicalMember(name, slot string) string  { return "logical " + slot + " " + name }

func kindOfSlot(logical bool) replication.Kind {
	if logical {
		return replication.Logical
	}
	return replication.Physical
}

func text(of *string) string {
	if of == nil {
		return ""
	}
	return *of
}

// atLeastZero is a difference of two positions that were read one after the other.
func atLeastZero(n *int64) *int64 {
	if n == nil || *n >= 0 {
		return n
	}
	return new(int64)
}
