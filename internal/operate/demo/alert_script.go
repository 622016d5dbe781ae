package demo

import (
	"time"

	"muster/commands/alerting"
	"muster/domain/alert"
)

// incident is an alert that is part of one of the demo's stories (alert_script.yaml).
type incident struct {
	Server, Database string
	Rule, Title      string
	Severity         alert.Severity
	From             time.Duration // after the start of its story
	Lasts            time.Duration
	Strain           strain
}

// strain is what an incident does to the database that it is about; zero: nothing
// that is measured.
type strain struct {
	Locked float64 // sessions that wait
	Slower float64 // statements take so many times longer; 0: they do not
	Left   float64 // share of the calls that are still made; 0: all
	Open   float64 // transactions that nobody ends
	Folded float64 // so many times the sessions and the calls: those of another server, too
	// Statement is the only one that is slower, from its first minute on; empty: all are.
	Statement string
	// Of a server: so many percent of CPU more, and whether it is gone, with its host.
	CPU  float64
	Gone bool
}

// ofServer says that it is not a database that is strained.
func (s strain) ofServer() bool { return s.CPU > 0 || s.Gone }

// slower is how many times longer a statement takes at a time of an incident.
func (s strain) slower(key string, during between, at time.Time) float64 {
	switch {
	case s.Slower == 0 || s.Statement != "" && s.Statement != key:
		return 1
	case s.Statement == "":
		return 1 + (s.Slower-1)*during.strength(at)
	case during.has(at):
		return s.Slower
	}
	return 1
}

// The stories and when they start, counted from the start of the organization's
// first day. Those that are open when somebody first looks count from the minute.
const (
	lockStormAt = -9*day + 19*time.Hour + 12*time.Minute // an evening
	fullDiskAt  = -16*day + 6*time.Hour + 40*time.Minute // lasts a day
	flappingAt  = -4*day + 13*time.Hour + 5*time.Minute  // an afternoon
	// An afternoon, and as long as coarse samples are: none has a part of what was
	// before the server was gone.
	failoverAt = -2*day + 16*time.Hour + 40*time.Minute
)

const day = 24 * time.Hour

// flapping comes and goes every few minutes.
func flapping() []incident {
	var incidents []incident
	for n := range 22 {
		incidents = append(incidents, incident{
			Server: "demo-mongo-events-01", Rule: "flapping", Title: "A replica set member leaves and joins again", Severity: alert.Warning,
			From: time.Duration(n)*12*time.Minute + time.Duration(n*n%5)*time.Minute, Lasts: time.Duration(3+n%4) * time.Minute,
		})
	}
	return incidents
}

// mutedRule is the one whose alert is muted.
const mutedRule = "ongoing-support"

// answer is what one of the team does about an alert, and what they write. Nobody closes
// one: it would be raised anew for as long as it fires.
type answer struct {
	by   int // of people
	verb alerting.Verb
	note string
}

// answers are those to the alerts of some rules.
var answers = map[string]answer{
	"ongoing-backup": {ana, alerting.Acknowledge, "The job's account was locked. It runs tonight at 23:00 with its new password."},
	"ongoing-lag":    {jonas, alerting.Acknowledge, "The archive of last year is being moved; the standby catches up overnight."},
	"turned-plan":    {ana, alerting.Acknowledge, "It has read the whole table since its statistics were made anew. I compare both plans."},
	mutedRule:        {jonas, alerting.Mute, "Version 12 goes with the old CRM at the end of the year. Until then it is known."},
}
