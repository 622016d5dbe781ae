package watch

import (
	"time"

	"muster/domain/alert"
	"muster/domain/organization"
)

// lastDays is from how many days on a certificate is urgent.
const lastDays, day = 3, 24 * time.Hour

// safety are the rules about the safety of data.
func safety() []Definition {
	return []Definition{
		{
			WatchRule: organization.WatchRule{ID: "replication_lag", Default: off(300, 120, alert.Warning), Min: 1, Max: 7 * 24 * 60 * 60, Unmeasured: noSource},
			Group:     "Safety", Name: "Replication lag", Watches: "Time by which a standby is behind its primary", Unit: "seconds",
			Meaning: "A standby applies the changes of its primary late. A failover now would lose these changes, or would have to wait for them.",
			Advice:  "Check the network and the load of both servers. On the standby, look for long queries that delay replay.",
		},
		{
			WatchRule: organization.WatchRule{ID: "replication_broken", Default: off(0, 60, alert.Critical), Unmeasured: noSource},
			Group:     "Safety", Name: "Replication broken", Watches: "Standbys that do not follow their primary",
			Meaning: "A standby receives nothing from its primary, or its replay is paused.",
			Advice:  "Check the standby's log, its connection to the primary and the replication slot.",
		},
		backupRule(),
		{
			WatchRule: organization.WatchRule{ID: string(Certificate), Default: on(14, 0, alert.Warning), Min: 1, Max: 365},
			Group:     "Safety", Name: "Server certificate expires", Watches: "Days until the server's certificate expires", Unit: "days", Below: true,
			Sources: "PostgreSQL: Muster's own connections, agents, with TLS",
			Meaning: "The certificate that the server presents to its clients expires soon. After that, clients that verify it cannot connect. In the last three days the alert is critical.",
			Advice:  "Renew the certificate and reload it (PostgreSQL: pg_reload_conf).",
			worse:   func(days float64, s organization.WatchSetting) bool { return days < lastDays && s.Threshold > lastDays },
			title: func(s Sign) string {
				if s.Value <= 0 {
					return "its certificate has expired"
				}
				return "its certificate expires in " + lasting(s.Value*day.Minutes())
			},
		},
	}
}
