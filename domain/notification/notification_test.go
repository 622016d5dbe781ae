package notification_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/domain/rule"
)

// TestMatches has for each member of a match events that it matches, and events to which it
// does not apply.
func TestMatches(t *testing.T) {
	t.Parallel()
	orders, billing, payments := uuid.New(), uuid.New(), uuid.New()
	raised := notification.Subject{
		Type: notification.AlertRaised, Severity: alert.Critical, Instances: []uuid.UUID{orders}, Name: "Prod-Orders-01", Engine: fleet.PostgreSQL,
		Tags: fleet.Tags{"env": {Value: "prod"}, "tier": {Value: "1"}}, Owner: payments,
	}
	homeless := notification.Subject{Type: notification.AlertRaised, Severity: alert.Critical}
	failed := notification.Subject{Type: notification.ReportFailed, Instances: []uuid.UUID{orders}}
	ofAll := notification.Subject{Type: notification.ReportFailed}
	missed := notification.Subject{Type: notification.ScheduleMissed}
	for name, test := range map[string]struct {
		match                                     notification.Match
		raised, homeless, failed, ofAll, missedIs bool
	}{
		"everything":       {notification.Match{}, true, true, true, true, true},
		"a severity":       {notification.Match{Severities: []alert.Severity{alert.Critical}}, true, true, true, true, true},
		"another severity": {notification.Match{Severities: []alert.Severity{alert.Info, alert.Warning}}, false, false, true, true, true},
		"an engine":        {notification.Match{Engines: []fleet.Engine{fleet.PostgreSQL}}, true, false, true, true, true},
		"another engine":   {notification.Match{Engines: []fleet.Engine{fleet.Oracle}}, false, false, true, true, true},
		"the server":       {notification.Match{InstanceIDs: []uuid.UUID{billing, orders}}, true, false, true, true, true},
		"another server":   {notification.Match{InstanceIDs: []uuid.UUID{billing}}, false, false, false, true, true},
		"part of a name":   {notification.Match{NameContains: "ORDERS"}, true, false, true, true, true},
		"no such name":     {notification.Match{NameContains: "staging"}, false, false, true, true, true},
		"a tag":            {notification.Match{Tags: fleet.TagFilter{"env": {"dev", "prod"}}}, true, false, false, false, false},
		"two tags":         {notification.Match{Tags: fleet.TagFilter{"env": {"prod"}, "tier": {"1"}}}, true, false, false, false, false},
		"another tag":      {notification.Match{Tags: fleet.TagFilter{"env": {"prod"}, "tier": {"2"}}}, false, false, false, false, false},
		"a team":           {notification.Match{TeamIDs: []uuid.UUID{uuid.New(), payments}}, true, false, false, false, false},
		"another team":     {notification.Match{TeamIDs: []uuid.UUID{uuid.New()}}, false, false, false, false, false},
		"an event":         {notification.Match{Events: []notification.EventType{notification.AlertRaised}}, true, true, false, false, false},
		"another event":    {notification.Match{Events: []notification.EventType{notification.ReportFailed}}, false, false, true, true, false},
	} {
		for what, is := range map[string]struct {
			subject notification.Subject
			want    bool
		}{
			"an alert": {raised, test.raised}, "one of no server": {homeless, test.homeless}, "a report": {failed, test.failed},
			"a report of all": {ofAll, test.ofAll}, "a schedule": {missed, test.missedIs},
		} {
			if got := test.match.Matches(is.subject); got != is.want {
				t.Errorf("%s has %s: %v, want %v", name, what, got, is.want)
			}
		}
	}
}

// TestQuietHours are those that the clocks of the zone show, over midnight and on the days
// on which they are changed.
func TestQuietHours(t *testing.T) {
	t.Parallel()
	night := notification.Quiet{From: "22:00", To: "07:00", TimeZone: "Europe/Amsterdam"}
	lunch := notification.Quiet{From: "12:00", To: "13:30", TimeZone: "Asia/Kolkata"}
	skipped := notification.Quiet{From: "01:00", To: "02:30", TimeZone: "Europe/Amsterdam"}
	for name, test := range map[string]struct {
		quiet    notification.Quiet
		now, end string // end empty: it is not quiet
	}{
		"before":                           {night, "2026-11-20T20:59:59Z", ""},
		"at the beginning":                 {night, "2026-11-20T21:00:00Z", "2026-11-21T06:00:00Z"},
		"after midnight":                   {night, "2026-11-21T03:00:00Z", "2026-11-21T06:00:00Z"},
		"at the end":                       {night, "2026-11-21T06:00:00Z", ""},
		"at the end of a month":            {night, "2026-11-30T22:00:00Z", "2026-12-01T06:00:00Z"},
		"into summer time":                 {night, "2027-03-27T22:00:00Z", "2027-03-28T05:00:00Z"},
		"into winter time":                 {night, "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"},
		"within a day":                     {lunch, "2026-11-20T06:30:00Z", "2026-11-20T08:00:00Z"},
		"before within a day":              {lunch, "2026-11-20T06:29:59Z", ""},
		"the end does not exist":           {skipped, "2027-03-28T00:30:00Z", "2027-03-28T01:30:00Z"},
		"the end comes twice":              {skipped, "2026-10-24T23:30:00Z", "2026-10-25T00:30:00Z"},
		"the end comes twice, and it came": {skipped, "2026-10-25T01:10:00Z", ""},
	} {
		now, err := time.Parse(time.RFC3339, test.now)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocation(test.quiet.TimeZone)
		if err != nil {
			t.Fatal(err)
		}
		end, ok, err := test.quiet.Until(now, zone)
		got := ""
		if ok {
			got = end.UTC().Format(time.RFC3339)
		}
		if err != nil || got != test.end {
			t.Errorf("%s: %s is quiet until %q, %v, want %q", name, test.now, got, err, test.end)
		}
	}
}

// TestCriticalAlertsMaySkipQuietHours where the rule says so. A failed report has no severity.
func TestCriticalAlertsMaySkipQuietHours(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	terms := notification.Terms{Quiet: &notification.Quiet{From: "00:00", To: "06:00", TimeZone: "UTC", ExceptCritical: true}}
	for subject, want := range map[notification.EventType]map[alert.Severity]bool{
		notification.AlertRaised: {alert.Critical: false, alert.Warning: true}, notification.AlertResolved: {alert.Critical: false},
		notification.ReportFailed: {"": true},
	} {
		for severity, waits := range want {
			if _, got, err := terms.Waits(notification.Subject{Type: subject, Severity: severity}, now, time.LoadLocation); err != nil || got != waits {
				t.Errorf("%s %s waits: %v, %v, want %v", severity, subject, got, err, waits)
			}
		}
	}
	terms.Quiet.TimeZone = "Mars/Olympus"
	if _, waits, err := terms.Waits(notification.Subject{Type: notification.ReportFailed}, now, time.LoadLocation); waits || err != nil {
		t.Errorf("in a zone that nobody knows it waits: %v, %v", waits, err)
	}
}

// TestBroken names each rule that is broken, all at once, and quotes nothing.
func TestBroken(t *testing.T) {
	t.Parallel()
	joined := func(broken []rule.Broken) string {
		all := make([]string, len(broken))
		for i, b := range broken {
			all[i] = b.Pointer + " " + b.Code
			if strings.Contains(b.Detail, "s3cret") {
				t.Errorf("%s quotes what it was given: %s", b.Pointer, b.Detail)
			}
		}
		return strings.Join(all, ", ")
	}
	terms := notification.Terms{
		Match: notification.Match{
			InstanceIDs: make([]uuid.UUID, 101), NameContains: strings.Repeat("x", 201), Events: []notification.EventType{"alert.muted"},
		},
		GroupSeconds: 3601, RepeatMinutes: 4, Quiet: &notification.Quiet{From: "24:00", To: "24:00", TimeZone: "Local"},
	}
	want := "#/match/instanceIds too_many_instances, #/match/nameContains out_of_range, #/match/event/0 out_of_range, #/channelIds out_of_range, " +
		"#/groupSeconds out_of_range, #/repeatMinutes out_of_range, #/quiet/from out_of_range, #/quiet/to out_of_range, #/quiet/to out_of_range"
	if got := joined(terms.Broken()); got != want {
		t.Errorf("terms: %q, want %q", got, want)
	}
}

// TestARuleAsksForServersThatGoDown: the alert that a server is down matches rules with
// instance.down, and matches rules with all alerts once.
func TestARuleAsksForServersThatGoDown(t *testing.T) {
	t.Parallel()
	down := notification.Subject{Type: notification.AlertRaised, State: notification.InstanceDown, Severity: alert.Critical, Instances: []uuid.UUID{uuid.New()}}
	full := notification.Subject{Type: notification.AlertRaised, Severity: alert.Critical, Instances: down.Instances}
	back := notification.Subject{Type: notification.AlertResolved, State: notification.InstanceUp, Severity: alert.Critical, Instances: down.Instances}
	for _, test := range []struct {
		events           []notification.EventType
		down, full, back bool
	}{
		{nil, true, true, true},
		{[]notification.EventType{notification.InstanceDown}, true, false, false},
		{[]notification.EventType{notification.InstanceUp}, false, false, true},
		{[]notification.EventType{notification.AlertRaised, notification.InstanceDown}, true, true, false},
	} {
		m := notification.Match{Events: test.events}
		if got := [3]bool{m.Matches(down), m.Matches(full), m.Matches(back)}; got != [3]bool{test.down, test.full, test.back} {
			t.Errorf("%v: %v", test.events, got)
		}
	}
}
