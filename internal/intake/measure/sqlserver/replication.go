package sqlserver

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/replication"
	"muster/internal/servers"
)

// replica is a row of an availability group's replica.
type replica struct {
	group, groupName, id, server  string
	local                         bool
	role, connected, health, mode string
	databases, suspended          int
	reason, state                 string
	send, redo                    *int64 // bytes
	lag                           *float64
	failed                        string // why it does not connect
	primary                       string // the server name of the group's primary replica
}

// Replication reads the replicas of the availability groups. Azure SQL Database keeps its replicas to
// itself.
func (r *reader) Replication(ctx context.Context, l *measure.Line, at time.Time) (*replication.State, error) {
	if r.server.azure() {
		return nil, nil
	}
	s := &replication.State{At: at, Trouble: replication.Trouble{Condition: replication.Works}}
	var rows [][]string
	if r.server.sees {
		var err error
		if rows, err = servers.Query(ctx, l, 18, query("replication")); err != nil && servers.ReasonOf(err) != servers.Denied {
			return nil, err
		} else if err == nil {
			s.Role = replication.Alone
		}
	}
	if s.Role == "" { // an account that may not see the groups sees none
		s.Denied = "GRANT " + r.statePermission() + " TO " + r.server.login + ";"
		return s, nil
	}
	var all []replica
	for _, row := range rows {
		one, err := replicaOf(row)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	for _, one := range all {
		if one.local {
			addLocal(s, one)
		}
	}
	for _, one := range all {
		if !one.local && slices.ContainsFunc(all, func(other replica) bool { return other.local && other.group == one.group && other.role == "PRIMARY" }) {
			s.Peers = append(s.Peers, one.peer())
		}
	}
	return s, nil
}

func replicaOf(row []string) (replica, error) {
	if row[0] == "" || row[2] == "" {
		return replica{}, measure.ErrNonsense
	}
	one := replica{
		group: row[0], groupName: row[1], id: row[2], server: row[3], local: row[4] == "1", role: row[5], connected: row[6], health: row[7], mode: row[8],
		reason: row[11], failed: row[16], primary: row[17],
	}
	_, one.state, _ = strings.Cut(row[12], " ")
	for i, into := range map[int]*int{9: &one.databases, 10: &one.suspended} {
		if row[i] != "" {
			n, err := strconv.Atoi(row[i])
			if err != nil {
				return replica{}, measure.ErrNonsense
			}
			*into = n
		}
	}
	for i, into := range map[int]**int64{13: &one.send, 14: &one.redo} {
		if row[i] != "" {
			kilobytes, err := strconv.ParseInt(row[i], 10, 64)
			if err != nil {
				return replica{}, measure.ErrNonsense
			}
			bytes := max(kilobytes, 0) << 10
			*into = &bytes
		}
	}
	if row[15] != "" {
		lag, err := strconv.ParseFloat(row[15], 64)
		if err != nil {
			return replica{}, measure.ErrNonsense
		}
		one.lag = &lag
	}
	return one, nil
}

// addLocal adds what the server is in a group. In several groups it may be several things.
func addLocal(s *replication.State, one replica) {
	role := replication.Resolving
	switch one.role {
	case "PRIMARY":
		role = replication.Primary
	case "SECONDARY":
		role = replication.Standby
	}
	if s.Role == replication.Alone {
		s.Role, s.Words = role, one.role
	} else if s.Role != role {
		s.Role, s.Words = replication.Mixed, ""
	}
	s.Systems, s.Members = append(s.Systems, one.group), append(s.Members, one.id)
	if trouble := one.trouble(); trouble.Condition != replication.Works && (s.Condition == replication.Works || trouble.Condition == replication.Broken) {
		s.Trouble = trouble
	}
	if role != replication.Standby {
		return
	}
	s.State = one.state
	if one.primary != "" {
		s.Upstream = &replication.Upstream{Kind: replication.Availability, Name: one.primary}
	}
	if one.lag != nil && (s.LagSeconds == nil || *one.lag > *s.LagSeconds) {
		s.LagSeconds = one.lag
	}
	if behind := one.behind(); behind != nil && (s.LagBytes == nil || *behind > *s.LagBytes) {
		s.LagBytes = behind
	}
}

// behind is what a replica has not applied yet; nil: not known.
func (one *replica) behind() *int64 {
	if one.send == nil {
		return one.redo
	}
	sum := *one.send
	if one.redo != nil {
		sum += *one.redo
	}
	return &sum
}

// trouble is how the synchronization of a replica works. A primary replica and one without databases
// work if they are connected.
func (one *replica) trouble() replication.Trouble {
	switch {
	case one.connected == "DISCONNECTED":
		why := "disconnected"
		if one.failed != "" {
			why += ": " + one.failed
		}
		return replication.Trouble{Condition: replication.Broken, Why: why}
	case one.suspended > 0:
		why := "data movement is suspended in " + strconv.Itoa(one.suspended) + " of " + strconv.Itoa(one.databases) + " databases"
		if one.reason == "SUSPEND_FROM_USER" || one.reason == "" {
			return replication.Trouble{Condition: replication.Paused, Why: why}
		}
		return replication.Trouble{Condition: replication.Broken, Why: why + " (" + one.reason + ")"}
	case one.role == "RESOLVING":
		return replication.Trouble{Condition: replication.Broken, Why: "the replica is resolving: it is neither primary nor secondary"}
	case one.health == "NOT_HEALTHY" && one.databases > 0:
		return replication.Trouble{Condition: replication.Broken, Why: strings.ToLower(one.state)}
	case one.health == "PARTIALLY_HEALTHY":
		return replication.Trouble{Condition: replication.CatchUp, Why: strings.ToLower(one.state)}
	}
	return replication.Trouble{Condition: replication.Works}
}

// peer is a secondary replica as its primary one sees it.
func (one *replica) peer() replication.Peer {
	return replication.Peer{
		Kind: replication.Availability, Name: one.server, Member: one.id, Group: one.groupName, State: one.state, Sync: one.mode, Trouble: one.trouble(),
		LagSeconds: one.lag, LagBytes: one.behind(), SendQueue: one.send, RedoQueue: one.redo, Databases: one.databases, Suspended: one.suspended,
	}
}
