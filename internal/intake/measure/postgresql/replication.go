package postgresql

import (
	"context"
	_ "embed" // the query
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/replication"
	"muster/internal/servers"
)

//go:embed sql/replication.sql
var replicationQuery string

// told is what a server tells about its replication. Times are seconds of its clock since 1970.
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
	Omitted int
}

// receiver is a standby's WAL receiver. Without a status, our role may not see it.
type receiver struct {
	Status, Host, Slot, Name *string
	Port                     int
	Timeline                 int64
	End                      *int64 // where its sender writes
	Sent, Received           *float64
}

// written is where a server wrote at a time, by its clock.
type written struct {
	at  float64
	lsn int64
}

// writtenKept is for how many looks it is remembered, and for how many minutes a lag can be told
// of a standby that reports none.
const writtenKept = 24 * 60

// Replication reads who follows whom.
func (r *reader) Replication(ctx context.Context, l *measure.Line, at time.Time) (*replication.State, error) {
	if err := r.meet(ctx, l); err != nil {
		return nil, err
	}
	row, err := servers.Row(ctx, l, 1, replicationSince(r.tells))
	if err != nil {
		return nil, err
	}
	var t told
	if err := json.Unmarshal([]byte(row[0]), &t); err != nil {
		return nil, measure.ErrNonsense
	}
	return r.replicationOf(&t, at), nil
}

// replicationSince is the query; told says whether the server has 14's functions.
func replicationSince(told bool) string {
	pause := "NULL::text"
	if told {
		pause = "pg_get_wal_replay_pause_state()"
	}
	return strings.NewReplacer("@pause_state@", pause, "@most@", strconv.Itoa(replication.MaxPeers)).Replace(replicationQuery)
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
	s := &replication.State{At: at, Role: replication.Primary, Timeline: t.Timeline, Port: t.Port, Omitted: t.Omitted, Trouble: replication.Trouble{Condition: replication.Works}}
	if t.System != "" {
		s.Systems = []string{t.System}
	}
	if t.Standby {
		r.standby(t, s)
	}
	r.remember(t)
	r.addPeers(t, s)
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
	case w != nil && w.Status == nil:
		s.Denied, s.State = r.monitorGrant(), ""
	case w != nil:
		s.State, s.Timeline = *w.Status, w.Timeline
		s.Upstream = &replication.Upstream{Kind: replication.Physical, Host: text(w.Host), Port: w.Port, Slot: text(w.Slot)}
		s.Members = []string{physicalMember(text(w.Name), text(w.Slot))}
		if w.Sent != nil && w.Received != nil {
			r.ahead = *w.Received - *w.Sent
		}
	case t.Configured != nil && !*t.Configured:
		s.State, s.Why = "reading the archive", "it follows no server, but an archive"
	default:
		s.Condition, s.Why = replication.Broken, "it receives nothing: no WAL receiver runs"
	}
	end := t.LSN
	if w != nil && w.End != nil && (end == nil || *w.End > *end) {
		end = w.End
	}
	if end != nil && t.Replayed != nil {
		behind := max(*end-*t.Replayed, 0)
		s.LagBytes = &behind
		switch {
		case w == nil || w.Status == nil: // how far the server that it followed is by now is not known
			s.LagBytes = nil
		case behind == 0:
			s.LagSeconds = new(float64)
		case t.ReplayedAt != nil:
			// The last change that was applied has its primary's time. What the standby's clock is
			// ahead of that one's (and the way of a message) is taken off.
			lag := max(t.Now-r.ahead-*t.ReplayedAt, 0)
			s.LagSeconds = &lag
		}
	}
	if t.Paused {
		s.Condition, s.Why = replication.Paused, "replay is paused"
		if t.PauseState == "pause requested" {
			s.Why = "replay is about to pause"
		}
	}
}

// remember notes where the server writes.
func (r *reader) remember(t *told) {
	if t.LSN == nil || len(r.written) > 0 && *t.LSN < r.written[len(r.written)-1].lsn {
		r.written = nil // another server, or a copy of it
	}
	if t.LSN == nil || len(t.Peers) == 0 {
		return
	}
	if n := len(r.written); n > 0 && r.written[n-1].lsn == *t.LSN {
		return // nothing was written since: how late somebody is counts from then
	}
	if r.written = append(r.written, written{t.Now, *t.LSN}); len(r.written) > writtenKept {
		r.written = append([]written(nil), r.written[len(r.written)-writtenKept:]...)
	}
}

// since is for how long at least the server has been beyond a position, by its clock.
func (r *reader) since(lsn int64, now float64) float64 {
	for _, w := range r.written {
		if w.lsn > lsn {
			return max(now-w.at, 0)
		}
	}
	return 0
}

func (r *reader) addPeers(t *told, s *replication.State) {
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
		if one.State != "streaming" {
			p.Condition, p.Why = replication.CatchUp, one.State
		}
		if p.LagBytes != nil {
			// A standby that is paused keeps the lag that it reported last. So what it has not replayed is
			// as late as the time since which it has been there, if that is longer.
			lag := 0.0
			if *p.LagBytes > 0 {
				lag = r.since(*t.LSN-*p.LagBytes, t.Now)
				if one.Lag != nil {
					lag = math.Max(lag, *one.Lag)
				}
			}
			p.LagSeconds = &lag
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
