package watch

import (
	"fmt"
	"time"

	"muster/domain/alert"
	"muster/domain/organization"
	"muster/internal/watch/status"
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
			Advice: "Check the server's process and log, its disk, and the network between it and its clients. The alert has what the server or the network " +
				"answered last: \"connection refused\" means that the machine is there and the server does not listen.",
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
		{
			WatchRule: organization.WatchRule{ID: string(NotMeasured), Default: on(10, 0, alert.Warning), Min: 1, Max: maxMinutes},
			Group:     "Availability", Name: "Server not measured", Watches: "Time for which sessions, statements or databases could not be read, or the assessment failed", Unit: "minutes",
			Sources: "Muster's own connections, agents",
			Meaning: "The server is up, and Muster or its agent cannot read its sessions, its statements, its databases, or the statements of some databases, " +
				"or cannot assess it. Its charts have gaps, or its findings are old. A server without statement statistics does not raise this alert.",
			Advice: "Open the server's page: it names each part that fails, with the server's own code, and the statement that grants a missing privilege.",
			title:  notMeasuredTitle,
			beyond: func(s Sign, threshold float64) bool { return s.Value >= threshold },
		},
	}
}

// notMeasuredTitle is the title of parts of a server that cannot be measured.
func notMeasuredTitle(s Sign) string {
	said := s.Details.Object + " cannot be measured"
	if s.Details.Object == string(status.Assessment) {
		said = "the assessment fails"
	}
	if s.Details.Database != "" {
		said = s.Details.Object + " of database " + s.Details.Database + " cannot be measured"
	}
	if s.Details.Sessions > 1 {
		said += fmt.Sprintf(", and %d more", s.Details.Sessions-1)
	}
	if s.Details.Why != "" {
		said += ": " + s.Details.Why
	}
	return said
}

// notMeasured is the sign of the parts of a server that cannot be measured; ok is false where all can. The
// figure is that of the part that has failed longest. A part that the server does not have is no trouble.
func notMeasured(parts []status.PartState, now time.Time) (sign Sign, ok bool) {
	var longest *status.PartState
	for i, p := range parts {
		if !p.Failed || p.Unavailable() {
			continue
		}
		sign.Details.Sessions++
		if longest == nil || p.Since.Before(*longest.Since) {
			longest = &parts[i]
		}
	}
	if longest == nil {
		return Sign{}, false
	}
	sign.Rule, sign.Value = NotMeasured, max(now.Sub(*longest.Since), time.Second).Minutes()
	sign.Details.Object, sign.Details.Database, sign.Details.Why = string(longest.Part), longest.Database, longest.Reason.Code
	return sign, true
}
