package watch

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/organization"
	"muster/internal/measurements/replication"
)

func replicationLag() Definition {
	return Definition{
		WatchRule: organization.WatchRule{ID: string(ReplicationLag), Default: on(300, 120, alert.Warning), Min: 1, Max: 7 * 24 * 60 * 60},
		Group:     "Safety", Name: "Replication lag", Watches: "Time by which a standby is behind its primary", Unit: "seconds",
		Sources: "Muster's own connections, agents",
		Meaning: "A standby applies the changes of its primary late. A failover now would lose these changes, or would have to wait for them. " +
			"A primary has this alert for standbys that Muster does not monitor.",
		Advice: "Check the network and the load of both servers. On the standby, look for long queries that delay replay. The server's page, Replication, " +
			"says what waits: the log that is not sent yet (the network, or the primary), or the log that is not replayed yet (the standby). " +
			"For SQL Server these are the send queue and the redo queue, for Oracle the transport lag and the apply lag.",
		title: func(s Sign) string {
			who := "it"
			if s.Details.Follower != "" {
				who = s.Details.Follower
			}
			return who + " is " + lasting(s.Value/time.Minute.Seconds()) + " behind its primary"
		},
	}
}

func replicationBroken() Definition {
	return Definition{
		WatchRule: organization.WatchRule{ID: string(ReplicationBroken), Default: on(0, 60, alert.Critical)},
		Group:     "Safety", Name: "Replication broken", Watches: "Standbys and subscriptions that do not follow their primary",
		Sources: "Muster's own connections, agents",
		Meaning: "A standby or a subscription receives nothing from its primary, or its replay is paused. " +
			"A primary has this alert for standbys that Muster does not monitor.",
		Advice: "Check the standby's log, its connection to the primary and the replication slot. If replay is paused, resume it (PostgreSQL: pg_wal_replay_resume; " +
			"SQL Server: ALTER DATABASE … SET HADR RESUME; Oracle: ALTER DATABASE RECOVER MANAGED STANDBY DATABASE DISCONNECT). " +
			"The primary keeps its log for the standby until its disk is full: drop the slot of a standby that does not come back.",
		title: brokenTitle,
	}
}

// brokenTitle is the title of replication that is broken.
func brokenTitle(s Sign) string {
	who, does := s.Details.Follower, " does not follow"
	if who == "" {
		who = "it"
	}
	if more := int(s.Value) - 1; more > 0 {
		who, does = fmt.Sprintf("%s and %d more", who, more), " do not follow"
	}
	if s.Details.Why != "" {
		does += ": " + s.Details.Why
	}
	return who + does
}

// Replication are the signs of how replication stands. A lag that is not known has none.
func Replication(organization uuid.UUID, all []replication.Standing) (signs []Sign) {
	for _, of := range all {
		sign := Sign{OrganizationID: organization, InstanceID: of.Instance, At: of.At}
		if of.Lag != nil {
			lag := sign
			lag.Rule, lag.Value = ReplicationLag, *of.Lag
			if of.Laggard != "" {
				lag.Details.Follower = "standby " + of.Laggard
			}
			signs = append(signs, lag)
		}
		sign.Rule, sign.Value, sign.Details = ReplicationBroken, float64(of.Broken), Details{Follower: of.First, Why: of.Why}
		signs = append(signs, sign)
	}
	return signs
}
