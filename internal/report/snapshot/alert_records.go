package snapshot

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// MaxAlertRecords is how many alerts a document has. Further ones are counted in Unlisted.
const MaxAlertRecords = 50_000

// AlertRecords is the log's word at the end of a window about the alerts that were open or raised in it. Nothing that
// was recorded at or after that end is in it, so a later document of the same window has the same records.
type AlertRecords struct {
	// Listed are at most MaxAlertRecords, sorted by the time at which they were raised, then by id: the latest ones.
	Listed []AlertRecord `json:"listed"`
	// Unlisted are the sums of those that are not listed; nil: all are.
	Unlisted *AlertSum `json:"unlisted,omitempty"`
	// Servers are those in scope, by what the log says of them: sorted by name, then id.
	Servers  []AlertServer  `json:"servers"`
	Accepted []AlertConsent `json:"accepted"` // exceptions in force at some time in the window, sorted by time, then id
	Channels []AlertChannel `json:"channels"` // that had a delivery in the window, sorted by name, then id
	Imported int            `json:"imported"` // alerts that were recorded more than an hour after they were raised
}

// AlertSum is a balance: Start + Raised − Resolved = End.
type AlertSum struct {
	Start    int `json:"start"`
	Raised   int `json:"raised"`
	Resolved int `json:"resolved"`
	End      int `json:"end"`
}

// Add adds another sum.
func (s *AlertSum) Add(o AlertSum) {
	s.Start, s.Raised, s.Resolved, s.End = s.Start+o.Start, s.Raised+o.Raised, s.Resolved+o.Resolved, s.End+o.End
}

// Within says whether a time is in the window, which is half open; nil is in none.
func (w Window) Within(at *time.Time) bool { return at != nil && !at.Before(w.From) && at.Before(w.To) }

// Sum is what the alert adds to the balance of a window.
func (a *AlertRecord) Sum(w Window) (s AlertSum) {
	if a.OpenAt(w.From) {
		s.Start = 1
	}
	if w.Within(&a.RaisedAt) {
		s.Raised = 1
	}
	if w.Within(a.ClosedAt) {
		s.Resolved = 1
	}
	if a.OpenAt(w.To) {
		s.End = 1
	}
	return s
}

// AlertServer is a server by its name at the end of the window.
type AlertServer struct {
	ID      uuid.UUID  `json:"id"`
	Name    string     `json:"name"`
	Joined  *time.Time `json:"joined"`  // when it was registered, if that was in the window
	Removed *time.Time `json:"removed"` // when it was removed; nil: it was not
}

// AlertRecord is one alert at the end of the window.
type AlertRecord struct {
	ID         uuid.UUID `json:"id"`
	InstanceID uuid.UUID `json:"instanceId"` // the first of its servers that is in scope; uuid.Nil: it belongs to none
	Rule       string    `json:"rule"`       // the rule's name as the alert was raised, else its first title
	Title      string    `json:"title"`
	Severity   string    `json:"severity"`
	// RaisedAt is not later than the record that raised it, and ClosedAt is not earlier than RaisedAt, whatever the
	// clocks of senders said.
	RaisedAt       time.Time    `json:"raisedAt"`
	ClosedAt       *time.Time   `json:"closedAt"` // nil: open
	ByItself       bool         `json:"byItself"` // its condition was over, and no person closed it
	AcknowledgedAt *time.Time   `json:"acknowledgedAt"`
	AcknowledgedBy *Person      `json:"acknowledgedBy"`
	Reopened       int          `json:"reopened"`    // how often it fired again in the window while it was open
	Mutes          []AlertMute  `json:"mutes"`       // in force at some time in the window, oldest first
	Maintenance    *Maintenance `json:"maintenance"` // in which it was raised; nil: in none
	Told           string       `json:"told"`        // AlertTold and its neighbors
	ToldAt         *time.Time   `json:"toldAt"`      // of AlertTold: when the first receiver was told
	Grouped        bool         `json:"grouped"`     // with other alerts in one message
}

// OpenAt says whether the alert was open at a time: it was raised before, and not closed before.
func (a *AlertRecord) OpenAt(at time.Time) bool {
	return a.RaisedAt.Before(at) && (a.ClosedAt == nil || !a.ClosedAt.Before(at))
}

// What became of the notification of an alert that was raised in the window.
const (
	AlertTold        = "sent"
	AlertFailed      = "failed"
	AlertWaiting     = "waiting" // at the end of the window
	AlertSuppressed  = "suppressed"
	AlertMuted       = "muted"
	AlertMaintenance = "maintenance"
	AlertUnmatched   = "noRule"  // no rule matched it
	AlertNotKept     = "notKept" // nothing is known any more: deliveries are kept for 90 days
	AlertEarlier     = ""        // it was raised before the window
)

// AlertMute is a time in which an alert counted nowhere.
type AlertMute struct {
	By    *Person    `json:"by"` // nil: a program
	From  time.Time  `json:"from"`
	Until *time.Time `json:"until"` // as announced; nil: for good
	Ended *time.Time `json:"ended"` // nil: it was in force at the end of the window
}

// Maintenance is a maintenance window.
type Maintenance struct {
	ID    uuid.UUID `json:"id"`
	Until time.Time `json:"until"` // as it was announced then
	By    *Person   `json:"by"`    // who made it
}

// AlertConsent is an exception.
type AlertConsent struct {
	ID         uuid.UUID  `json:"id"`
	CheckID    string     `json:"checkId"`
	InstanceID uuid.UUID  `json:"instanceId"` // uuid.Nil: all servers
	GrantedBy  Person     `json:"grantedBy"`
	GrantedAt  time.Time  `json:"grantedAt"`
	Until      time.Time  `json:"until"`
	RevokedAt  *time.Time `json:"revokedAt"`
}

// AlertChannel counts the deliveries of a channel that ended in the window.
type AlertChannel struct {
	ID     uuid.UUID `json:"id"`
	Name   string    `json:"name"` // empty: it was removed
	Kind   string    `json:"kind"`
	Sent   int       `json:"sent"`
	Failed int       `json:"failed"`
}

// Named are the members whom the records name, in place.
func (r *AlertRecords) Named() (people []*Person) {
	if r == nil {
		return nil
	}
	add := func(p *Person) {
		if p != nil {
			people = append(people, p)
		}
	}
	for i := range r.Listed {
		a := &r.Listed[i]
		add(a.AcknowledgedBy)
		for _, m := range a.Mutes {
			add(m.By)
		}
		if a.Maintenance != nil {
			add(a.Maintenance.By)
		}
	}
	for i := range r.Accepted {
		add(&r.Accepted[i].GrantedBy)
	}
	return people
}

func sortAlertRecords(r *AlertRecords) {
	if r == nil {
		return
	}
	slices.SortStableFunc(r.Listed, func(a, b AlertRecord) int {
		return cmp.Or(a.RaisedAt.Compare(b.RaisedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for i := range r.Listed {
		slices.SortStableFunc(r.Listed[i].Mutes, func(a, b AlertMute) int { return a.From.Compare(b.From) })
	}
	slices.SortStableFunc(r.Servers, func(a, b AlertServer) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	})
	slices.SortStableFunc(r.Accepted, func(a, b AlertConsent) int {
		return cmp.Or(a.GrantedAt.Compare(b.GrantedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	slices.SortStableFunc(r.Channels, func(a, b AlertChannel) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	})
}
