package watch

import (
	"fmt"
	"slices"
	"time"

	"muster/domain/alert"
	"muster/domain/organization"
)

// Rule is something that the watch looks for.
type Rule string

// The rules. Their names are part of alerts' keys: a name that was ever used stays.
const (
	Down       Rule = "down"       // a server that takes no connections
	Silent     Rule = "silent"     // a server of which its agent, exporter or feed sends nothing any more
	Volume     Rule = "volume"     // a volume that is nearly full
	LockWait   Rule = "lock_wait"  // a session that waits for a lock
	Wraparound Rule = "wraparound" // a server that runs out of transaction ids

	// HostVolume is Volume for a host and not for a server: a full volume is one alert, however
	// many servers are on the host. To people both are the rule Volume.
	HostVolume Rule = "host_volume"
	// host is no rule: its row says when a host last told its volumes, and when before.
	host Rule = "host"
)

// Advisory is the Mount of a LockWait of advisory locks. Applications hold those for as long
// as they please, so they are an alert of their own, which can be muted.
const Advisory = "/advisory"

// Rules returns every rule.
func Rules() []Rule { return []Rule{Down, Silent, Volume, LockWait, Wraparound} }

// full is from where on a volume is not only nearly full.
const full = 95

// pileUp is for how long sessions may wait for a lock where ten or more do (judge.sql).
const pileUp = 90 * time.Second

// rule is a row of the table of rules.
type rule struct {
	id        Rule
	name      string
	unit      string // of the threshold and of a sign's value
	threshold func(organization.Watch) int
	severity  func(value float64) alert.Severity
	title     func(Sign) string // behind the server's name; nil: wordsOfDown
	advice    string            // what to do about it
}

// shown is the rule as people know it.
func (r Rule) shown() Rule {
	if r == HostVolume {
		return Volume
	}
	return r
}

// rules is the table of rules. A figure is in breach above its threshold.
func rules() []rule {
	return []rule{
		{
			id: Down, name: "Server down", unit: "minutes",
			threshold: func(organization.Watch) int { return 0 },
			severity:  always(alert.Critical),
			advice:    "Check the server's process and log, its disk, and the network between it and its clients.",
		},
		{
			id: Silent, name: "Server silent", unit: "minutes",
			threshold: func(w organization.Watch) int { return w.SilentMinutes },
			severity:  always(alert.Critical),
			title:     func(s Sign) string { return "silent since " + s.began().Format("2006-01-02 15:04") + " UTC" },
			advice:    "Check its agent, exporter or feed, and the network between it and Muster. Muster cannot tell whether the server runs.",
		},
		{
			id: Volume, name: "Volume nearly full", unit: "percent",
			threshold: func(w organization.Watch) int { return w.VolumePercent },
			severity: func(percent float64) alert.Severity {
				if percent >= full {
					return alert.Critical
				}
				return alert.Warning
			},
			title: func(s Sign) string {
				return fmt.Sprintf("%s is %s %% full", s.Details.volume(s.Mount), tenths(s.Value))
			},
			advice: "Free space or enlarge the volume: a database server whose disk is full stops writing.",
		},
		{
			id: LockWait, name: "Session waits for a lock", unit: "minutes",
			threshold: func(w organization.Watch) int { return w.LockWaitMinutes },
			severity:  always(alert.Warning),
			title: func(s Sign) string {
				if n := s.Details.Sessions; n > 1 {
					return fmt.Sprintf("%d sessions wait for %s, the longest for %s", n, s.Details.lock(s.Mount), lasting(s.Value))
				}
				return fmt.Sprintf("a session has waited %s for %s", lasting(s.Value), s.Details.lock(s.Mount))
			},
			advice: "Find the session that holds the lock, and end it if nobody works in it any more.",
		},
		{
			id: Wraparound, name: "Transaction ids run out", unit: "percent",
			threshold: func(w organization.Watch) int { return w.WraparoundPercent },
			severity:  always(alert.Critical),
			title: func(s Sign) string {
				said := tenths(s.Value) + " % of the transaction ids"
				if s.Details.Multi {
					said = tenths(s.Value) + " % of the multixact ids"
				}
				if s.Details.Database != "" {
					said += " of database " + s.Details.Database
				}
				return said + " are used up"
			},
			advice: "Vacuum the databases with the oldest transaction ids, after ending what holds them back: " +
				"long and prepared transactions, replication slots that nobody reads.",
		},
	}
}

// ruleOf is the row of a rule.
func ruleOf(id Rule) rule {
	all := rules()
	return all[slices.IndexFunc(all, func(r rule) bool { return r.id == id.shown() })]
}

func always(s alert.Severity) func(float64) alert.Severity {
	return func(float64) alert.Severity { return s }
}
