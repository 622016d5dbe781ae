package watch

import (
	"muster/domain/alert"
	"muster/domain/organization"
)

const maxMinutes = 24 * 60

// upAndDown are the rules about servers that do not answer.
func upAndDown() []Definition {
	return []Definition{
		{
			WatchRule: organization.WatchRule{ID: string(Down), Default: on(0, int(confirm.Seconds()), alert.Critical)},
			Group:     "Availability", Name: "Server down", Watches: "Time since the server last accepted a connection",
			Sources: "Muster's own connections, agents, exporters",
			Meaning: "The server accepts no connections: the latest attempts failed. Muster also raises this alert, as \"keeps going down\", for a server that " +
				"went down three times within five minutes. If more than half of at least five servers go down within a minute, one alert covers them all.",
			Advice: "Check the server's process and log, its disk, and the network between it and its clients.",
		},
		{
			WatchRule: organization.WatchRule{
				ID: string(Silent), Default: on(5, 0, alert.Critical), Min: 1, Max: maxMinutes,
				Org:       func(w *organization.Watch) *int { return &w.SilentMinutes },
				OrgChange: func(c *organization.ChangeSettings) **int { return &c.SilentMinutes },
			},
			Group: "Availability", Name: "Server silent", Watches: "Time since a source last reported the server", Unit: "minutes",
			Sources: "agents, exporters and feeds",
			Meaning: "Only agents, exporters or feeds report this server, and none of them has reported it recently.",
			title:   func(s Sign) string { return "silent since " + s.began().Format("2006-01-02 15:04") + " UTC" },
			beyond:  func(s Sign, threshold float64) bool { return s.Value >= threshold },
			Advice:  "Check its agent, exporter or feed, and the network between it and Muster. Muster cannot tell whether the server is running.",
		},
	}
}
