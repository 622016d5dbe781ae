package watch

import (
	"math"
	"slices"
	"time"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/measurements"
)

// Rule is something that the watch looks for.
type Rule string

// The rules. Their names are part of alerts' keys: a name that was ever used stays.
const (
	Down   Rule = "down"   // a server that takes no connections
	Silent Rule = "silent" // a server of which its agent, exporter or feed sends nothing any more
	// NotMeasured is a server that is up, and of which a part cannot be measured.
	NotMeasured Rule = "not_measured"

	Volume     Rule = "volume"     // a volume that is nearly full
	LockWait   Rule = "lock_wait"  // a session that waits for a lock
	Wraparound Rule = "wraparound" // a server that runs out of transaction ids

	Blocking          Rule = "blocking"            // many sessions that wait for locks
	Connections       Rule = "connections"         // a server that nearly has as many connections as it takes
	IdleInTransaction Rule = "idle_in_transaction" // a session that holds a transaction open and does nothing
	LongTransaction   Rule = "long_transaction"    // a transaction that has been open for long
	TemporaryFiles    Rule = "temp_files"          // statements that write temporary files
	Deadlocks         Rule = "deadlocks"           // transactions that were canceled because they waited for each other
	Certificate       Rule = "certificate"         // a server whose certificate expires
	ReplicationLag    Rule = "replication_lag"     // a standby that is behind its primary
	ReplicationBroken Rule = "replication_broken"  // a standby that does not follow
	FullIn            Rule = "days_until_full"     // a volume that will be full soon
	FailedJobs        Rule = "failed_jobs"         // jobs of the server's own scheduler that failed
	BackupRPO         Rule = "backup_rpo"          // a database whose newest backup is older than its RPO

	// HostVolume is Volume for a host and not for a server: a full volume is one alert, however
	// many servers are on the host. To people both are the rule Volume.
	HostVolume Rule = "host_volume"
	// host is no rule: its row says when a host last told its volumes, and when before.
	host Rule = "host"
	// pile is no rule either: its figures are those of LockWait while many sessions wait, for the preview.
	pile Rule = "lock_wait_of_many"
)

// Advisory is the Mount of a LockWait of advisory locks. Applications hold those for as long
// as they please, so they are an alert of their own, which can be muted.
const Advisory = "/advisory"

// A Definition is a rule: everything that Muster knows about it. A figure is in breach above its threshold, or
// below it (Below), for as long as the setting says.
type Definition struct {
	organization.WatchRule
	Group   string // of the catalogue
	Name    string
	Watches string // the figure, in a few words
	Unit    string // of the threshold and of a sign's value; empty: the rule has no threshold
	Below   bool   // a figure is in breach below its threshold
	// Sources says who reports the figure.
	Sources string
	Meaning string // of the alert, for people
	Advice  string // what to do about it; also the description of the alert

	title func(Sign) string // behind the server's name; nil: wordsOfDown
	// worse says that a figure is critical, whatever the setting says; nil: none is.
	worse func(value float64, s organization.WatchSetting) bool
	// beyond is whether a figure is beyond a threshold, where that is not only a question of the figure; nil: it is.
	beyond func(sign Sign, threshold float64) bool
	// least is the lowest figure that may be beyond the lowest threshold; nil: that threshold.
	least func(threshold float64) float64
	// figures are the rule's signs in a batch of samples; nil: whoever measures sends them.
	figures func(b measurements.Batch) []Sign
}

// Catalogue returns every rule, in the order in which people see them.
func Catalogue() []Definition {
	return slices.Concat(upAndDown(), load(), safety(), room())
}

// Rules returns every rule that is measured.
func Rules() []Rule {
	var ids []Rule
	for _, d := range Catalogue() {
		if d.Unmeasured == "" {
			ids = append(ids, d.rule())
		}
	}
	return ids
}

// Find returns a rule of the catalogue.
func Find(id string) (Definition, bool) {
	all := Catalogue()
	i := slices.IndexFunc(all, func(d Definition) bool { return d.ID == id })
	if i < 0 {
		return Definition{}, false
	}
	return all[i], true
}

// Figures are the signs that follow from a batch of samples.
func Figures(b measurements.Batch) (signs []Sign) {
	for _, d := range Catalogue() {
		if d.figures == nil {
			continue
		}
		for _, s := range d.figures(b) {
			s.OrganizationID, s.Rule = b.Organization, d.rule()
			signs = append(signs, s)
		}
	}
	return signs
}

// RPO is the recovery point objective of servers with these tags: the threshold of the rule about it, also if
// the rule is off.
func RPO(stored accounts.WatchSettings, tags fleet.Tags) time.Duration {
	d := ruleOf(BackupRPO)
	return time.Duration(organization.Setting(d.Settings(stored[d.ID], organization.Watch{}), tags).Threshold) * time.Minute
}

func (d Definition) rule() Rule { return Rule(d.ID) }

// shown is the rule as people know it.
func (r Rule) shown() Rule {
	if r == HostVolume {
		return Volume
	}
	return r
}

// ruleOf is the definition of a rule that the watch judges.
func ruleOf(id Rule) Definition {
	d, _ := Find(string(id.shown()))
	return d
}

// Beyond is whether a figure is beyond the threshold of a setting that is on.
func (d Definition) Beyond(sign Sign, s organization.WatchSetting) bool {
	threshold := float64(s.Threshold)
	switch {
	case !s.Enabled:
		return false
	case d.beyond != nil:
		return d.beyond(sign, threshold)
	case d.Below:
		return sign.Value < threshold
	}
	return sign.Value > threshold
}

// bounds are what a figure has to be above, or below, for any of the settings to be concerned.
func (d Definition) bounds(settings []organization.WatchSetting) (above, below float64) {
	if d.Below {
		return organization.Least(nil), organization.Most(settings)
	}
	above = organization.Least(settings)
	if d.least != nil {
		above = d.least(above)
	}
	if d.least != nil || d.beyond == nil { // a figure that equals the threshold is not beyond it
		above = math.Nextafter(above, math.Inf(1))
	}
	return above, organization.Most(nil)
}

// severity is how bad a breach is.
func (d Definition) severity(value float64, s organization.WatchSetting) alert.Severity {
	if d.worse != nil && d.worse(value, s) {
		return alert.Critical
	}
	return s.Severity
}

// on is a setting of a rule that is on unless somebody turns it off.
func on(threshold, forSeconds int, severity alert.Severity) organization.WatchSetting {
	return organization.WatchSetting{Enabled: true, Threshold: threshold, ForSeconds: forSeconds, Severity: severity}
}

// off is one of a rule that is off unless somebody turns it on.
func off(threshold, forSeconds int, severity alert.Severity) organization.WatchSetting {
	return organization.WatchSetting{Threshold: threshold, ForSeconds: forSeconds, Severity: severity}
}
