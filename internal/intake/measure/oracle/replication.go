package oracle

import (
	"context"
	_ "embed" // the queries
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/replication"
	"muster/internal/servers"
)

//go:embed sql/replication.sql
var replicationQuery string

//go:embed sql/dataguard_stats.sql
var dataguardStatsQuery string

//go:embed sql/destinations.sql
var destinationsQuery string

// Replication reads what Data Guard does. A standby tells its lag, and whoever sends redo how its
// destinations are.
func (r *reader) Replication(ctx context.Context, l *measure.Line, at time.Time) (*replication.State, error) {
	row, err := servers.Row(ctx, l, 6, replicationQuery)
	if !r.may("replication", "V$DATABASE", &err) {
		return nil, err
	}
	s, err := stateOf(row, at)
	if err != nil {
		return nil, err
	}
	if s.Role == replication.Standby {
		rows, err := servers.Query(ctx, l, 4, dataguardStatsQuery)
		if r.may("lag", "V$DATAGUARD_STATS", &err) {
			err = addLag(s, rows)
		}
		if err != nil {
			return nil, err
		}
		r.deny(s, "lag")
	}
	rows, err := servers.Query(ctx, l, 7, destinationsQuery)
	if r.may("destinations", "V$ARCHIVE_DEST_STATUS", &err) {
		for _, row := range rows {
			s.Peers = append(s.Peers, destination(row))
		}
	}
	r.deny(s, "destinations")
	return s, err
}

// deny says what a state lacks because of a grant.
func (r *reader) deny(s *replication.State, part string) {
	if lacks, is := r.lacking[part]; is {
		s.Denied = lacks.Statement
	}
}

func stateOf(row []string, at time.Time) (*replication.State, error) {
	if _, err := strconv.ParseUint(row[0], 10, 64); err != nil || row[1] == "" || row[2] == "" {
		return nil, measure.ErrNonsense
	}
	s := &replication.State{
		At: at, Role: replication.Primary, Words: row[2], Systems: []string{row[0]}, Members: []string{row[1]},
		State: row[3], Trouble: replication.Trouble{Condition: replication.Works},
	}
	if row[2] != "PRIMARY" { // PHYSICAL, LOGICAL or SNAPSHOT STANDBY, or FAR SYNC
		s.Role = replication.Standby
		if row[5] != "" && row[5] != row[1] {
			s.Upstream = &replication.Upstream{Kind: replication.Physical, Name: row[5]}
		}
	}
	switch {
	case row[2] == "SNAPSHOT STANDBY":
		s.Condition, s.Why = replication.Paused, "a snapshot standby applies nothing"
	case strings.Contains(row[4], "FAILED DESTINATION"):
		s.Condition, s.Why = replication.Broken, "a destination has failed"
	case strings.Contains(row[4], "UNRESOLVABLE GAP"):
		s.Condition, s.Why = replication.Broken, "a gap in the redo cannot be resolved"
	}
	return s, nil
}

// interval is a lag as the view has it: days, hours, minutes and seconds.
var interval = regexp.MustCompile(`^\+(\d{1,9}) (\d\d):(\d\d):(\d\d)(?:\.\d+)?$`)

// localTime is how the view writes times.
const localTime = "01/02/2006 15:04:05"

// stale is for how long a standby may have no word from its primary. It gets one every few seconds.
const stale = time.Minute

// addLag adds what a standby tells. How far it lags is the apply lag, which has the transport lag in
// it. An empty value says that it is not known.
func addLag(s *replication.State, rows [][]string) error {
	for _, row := range rows {
		value := strings.TrimSpace(row[1])
		if value == "" {
			continue
		}
		m := interval.FindStringSubmatch(value)
		if m == nil {
			return measure.ErrNonsense
		}
		var parts [4]int
		for i := range parts {
			parts[i], _ = strconv.Atoi(m[i+1])
		}
		seconds := float64(((parts[0]*24+parts[1])*60+parts[2])*60 + parts[3])
		computed, err1 := time.Parse(localTime, row[2])
		datum, err2 := time.Parse(localTime, row[3])
		if err1 == nil && err2 == nil && computed.Sub(datum) > stale { // both by the standby's clock
			s.Trouble = replication.Trouble{
				Condition: replication.Broken, Why: fmt.Sprintf("no word from its primary for %d s", int(computed.Sub(datum).Seconds())),
			}
			s.LagSeconds = nil
			return nil
		}
		if strings.EqualFold(row[0], "apply lag") {
			s.LagSeconds = &seconds
		}
	}
	return nil
}

// destination is a database to which redo is sent.
func destination(row []string) replication.Peer {
	p := replication.Peer{
		Kind: replication.Physical, Name: row[0], Member: row[0], State: row[3], Sync: row[5], Trouble: replication.Trouble{Condition: replication.Works},
	}
	if row[1] == "LOGICAL" {
		p.State = strings.TrimSpace("SQL APPLY " + row[3])
	}
	switch {
	case row[2] == "DEFERRED":
		p.Condition, p.Why = replication.Paused, "the destination is deferred"
	case row[2] != "VALID":
		p.Condition, p.Why = replication.Broken, strings.TrimSpace(strings.ToLower(row[2])+" "+row[6])
	case strings.Contains(row[4], "UNRESOLVABLE"):
		p.Condition, p.Why = replication.Broken, "a gap in the redo cannot be resolved"
	case strings.Contains(row[4], "GAP") && row[4] != "NO GAP":
		p.Condition, p.Why = replication.CatchUp, strings.ToLower(row[4])
	case row[3] == "IDLE" && row[1] != "SNAPSHOT" && row[1] != "FAR SYNC":
		p.Condition, p.Why = replication.Paused, "nothing is applied"
	}
	return p
}
