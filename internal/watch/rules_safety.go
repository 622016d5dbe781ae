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
		replicationLag(), replicationBroken(),
		backupRule(),
		{
			WatchRule: organization.WatchRule{ID: string(Certificate), Default: on(14, 0, alert.Warning), Min: 1, Max: 365},
			Group:     "Safety", Name: "Server certificate expires", Watches: "Days until the server's certificate expires", Unit: "days", Below: true,
			Sources: "PostgreSQL: Muster's own connections, agents, with TLS",
			Meaning: "The certificate that the server presents to its clients expires soon. After that, clients that verify it cannot connect. In the last three days the alert is critical.",
			Advice:  "Renew the certificate and reload it (PostgreSQL: pg_reload_conf). Muster sees the new one within an hour.",
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
