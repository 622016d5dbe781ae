package watch

import (
	"time"

	"muster/domain/alert"
	"muster/domain/organization"
)

// lastDays is from how many days on a certificate is urgent.
const lastDays, day = 3, 24 * time.Hour

// safety are the rules about what is lost if a server is.
func safety() []Definition {
	return []Definition{
		{
			WatchRule: organization.WatchRule{ID: "replication_lag", Default: off(300, 120, alert.Warning), Min: 1, Max: 7 * 24 * 60 * 60, Unmeasured: noSource},
			Group:     "Safety", Name: "Replication behind", Watches: "How far a standby is behind its primary", Unit: "seconds",
			Meaning: "A standby applies changes later than its primary makes them. A failover loses or delays what is missing.",
			Advice:  "Compare the network and the load of both servers, and look for long queries on the standby that hold replay up.",
		},
		{
			WatchRule: organization.WatchRule{ID: "replication_broken", Default: off(0, 60, alert.Critical), Unmeasured: noSource},
			Group:     "Safety", Name: "Replication broken", Watches: "Whether a standby follows its primary",
			Meaning: "A standby receives nothing from its primary, or its replay is paused.",
			Advice:  "Check the standby's log, its connection to the primary and the replication slot.",
		},
		{
			WatchRule: organization.WatchRule{ID: "backup_rpo", Default: off(24, 0, alert.Critical), Min: 1, Max: 24 * 400, Unmeasured: noSource},
			Group:     "Safety", Name: "Backup older than its objective", Watches: "Age of the newest backup of a database", Unit: "hours",
			Meaning: "The newest backup of a database is older than its recovery point objective: a restore would lose more than allowed.",
			Advice:  "Check the backup job and its log, and make a backup now.",
		},
		{
			WatchRule: organization.WatchRule{ID: string(Certificate), Default: on(14, 0, alert.Warning), Min: 1, Max: 365},
			Group:     "Safety", Name: "Certificate of the server ends", Watches: "Days until the certificate ends that the server presents", Unit: "days", Below: true,
			Sources: "PostgreSQL: Muster's own connections, agents, with TLS",
			Meaning: "The certificate that the server presents to clients ends soon. Clients that verify it cannot connect from then on. From three days before its end the alert is critical.",
			Advice:  "Renew the certificate, and let the server read it again (PostgreSQL: pg_reload_conf).",
			worse:   func(days float64, s organization.WatchSetting) bool { return days < lastDays && s.Threshold > lastDays },
			title: func(s Sign) string {
				if s.Value <= 0 {
					return "its certificate has ended"
				}
				return "its certificate ends in " + lasting(s.Value*day.Minutes())
			},
		},
	}
}
