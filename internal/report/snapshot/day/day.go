package day

import (
	"time"

	"github.com/google/uuid"
)

// How many rows the parts of a digest have at most. A digest of 1,000 servers has two pages.
const (
	MostServers    = 12
	MostDue        = 4
	MostExpiring   = 4
	MostRoom       = 2
	MostJobs       = 2 // and things that are nearly full
	MostStatements = 3
	MostNamed      = 3 // servers, channels and texts in other rows
)

// Level is how bad something is.
type Level string

// The levels, from the worst.
const (
	Critical Level = "critical"
	High     Level = "high"
	Medium   Level = "medium"
	Unknown  Level = "unknown" // nobody looked, or nothing was heard
	Quiet    Level = "quiet"   // it was looked at, and nothing is wrong
	Nothing  Level = "nothing" // there is nothing to look at
)

// Digest is what a day was for some servers, as of its end.
type Digest struct {
	From        time.Time   `json:"from"`
	To          time.Time   `json:"to"`
	Zone        Zone        `json:"zone"`
	Whole       bool        `json:"whole"`   // it is about the whole organization
	Servers     int         `json:"servers"` // active ones
	Verdict     Verdict     `json:"verdict"`
	Instruments Instruments `json:"instruments"`
	Trouble     Trouble     `json:"trouble"`
	Alerts      Alerts      `json:"alerts"`
	Due         Due         `json:"due"`
	Room        Room        `json:"room"`
	Statements  Statements  `json:"statements"`
	Held        Held        `json:"held"`
	Delivery    Delivery    `json:"delivery"`
	Muster      *Muster     `json:"muster"` // nil: these figures are the organization's, and the digest is about a part of it
	// AsOf is when the digest was made, if that was later than its day. Agents, senders, feeds and failed jobs have no
	// history, so they are as of then.
	AsOf *time.Time `json:"asOf,omitempty"`
}

// Verdict sums the day up.
type Verdict struct {
	Level    Level  `json:"level"`
	Needs    int    `json:"needs"`    // servers at level critical
	Critical int    `json:"critical"` // open critical alerts that are not muted
	Unheard  int    `json:"unheard"`  // servers that were not heard all day
	First    *First `json:"first"`
}

// First is what to do first.
type First struct {
	Server   string     `json:"server"`
	Instance *uuid.UUID `json:"instance"`
	Alert    *uuid.UUID `json:"alert"` // that says so
	What     string     `json:"what"`  // is wrong
	Advice   string     `json:"advice"`
	Owner    string     `json:"owner"` // a team; empty: nobody
	Since    time.Time  `json:"since"`
}

// Stretch is a time.
type Stretch struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Instruments say whether anything would have been heard.
type Instruments struct {
	AllDay  int        `json:"allDay"`  // servers that were heard all day
	Never   int        `json:"never"`   // servers that were not heard at all
	Unheard []Silence  `json:"unheard"` // the longest, at most MostNamed
	Omitted int        `json:"omitted"` // further servers that were not heard all day
	Gaps    []Stretch  `json:"gaps"`    // in which at least one server was not heard
	Nobody  []Stretch  `json:"nobody"`  // in which none was: Muster was away, or all of them were silent
	Agents  int        `json:"agents"`  // that measure these servers
	Late    int        `json:"late"`    // of those: not heard at the end of the day, or lately as of AsOf
	LastAt  *time.Time `json:"lastAt"`
	Feed    time.Time  `json:"feed"` // the day of the list of CVEs
	// Senders are programs that sent data in the day before the digest was made. They are the organization's.
	Senders *int `json:"senders"`
}

// Silence is when a server was not heard.
type Silence struct {
	Server    string    `json:"server"`
	Stretches []Stretch `json:"stretches"`
	Seconds   int64     `json:"seconds"`
	Still     bool      `json:"still"` // at the end of the day
}

// Trouble lists the servers that have one, the worst first.
type Trouble struct {
	Listed     []Troubled `json:"listed"`     // at most MostServers
	Omitted    int        `json:"omitted"`    // further ones with trouble
	Untroubled int        `json:"untroubled"` // that were heard all day
	Unheard    int        `json:"unheard"`    // without other trouble, but not heard all day
}

// Troubled is a server with its trouble.
type Troubled struct {
	Instance uuid.UUID  `json:"instance"`
	Server   string     `json:"server"`
	Owner    string     `json:"owner"`
	Level    Level      `json:"level"`
	What     []string   `json:"what"` // the worst first, at most two
	More     int        `json:"more"`
	Since    time.Time  `json:"since"` // of the worst
	Alert    *uuid.UUID `json:"alert"`
	Open     int        `json:"open"` // alerts, and how many more or fewer than a day before
	Change   int        `json:"change"`
	Muted    int        `json:"muted"` // of those
}

// BySeverity counts alerts.
type BySeverity struct {
	Critical int `json:"critical"`
	Warning  int `json:"warning"`
	Info     int `json:"info"`
}

// Total is the sum.
func (n BySeverity) Total() int { return n.Critical + n.Warning + n.Info }

// Alerts is the balance: Start + Raised − Resolved = End.
type Alerts struct {
	Start        int          `json:"start"`
	End          int          `json:"end"`
	MutedAtStart int          `json:"mutedAtStart"`
	Raised       BySeverity   `json:"raised"`
	ByThemselves int          `json:"byThemselves"` // resolved
	ByPeople     int          `json:"byPeople"`
	Lapsed       int          `json:"lapsed"` // nobody said that they are over
	Open         BySeverity   `json:"open"`
	Seen         int          `json:"seen"`  // of the open ones: acknowledged
	Muted        int          `json:"muted"` // of the open ones
	Again        int          `json:"again"` // open ones that fired again
	Oldest       *OldestAlert `json:"oldest"`
}

// Resolved is how many were.
func (a Alerts) Resolved() int { return a.ByThemselves + a.ByPeople + a.Lapsed }

// OldestAlert is the alert that has been open for the longest time.
type OldestAlert struct {
	Title   string    `json:"title"`
	Server  string    `json:"server"`
	Created time.Time `json:"created"`
	Muted   bool      `json:"muted"`
}

// Due is what is due, overdue, or ends.
type Due struct {
	Overdue       int      `json:"overdue"` // findings
	Before        int      `json:"before"`  // a day before
	Fallen        []Item   `json:"fallen"`
	Coming        []Item   `json:"coming"`  // within 14 days
	Omitted       int      `json:"omitted"` // of Coming
	Expiring      []Expiry `json:"expiring"`
	Expires       int      `json:"expires"`  // all of them
	Assessed      int      `json:"assessed"` // servers with findings on record, or assessed without any
	OldestOverdue *Item    `json:"oldestOverdue"`
}

// Item is a finding.
type Item struct {
	Due      time.Time `json:"due"`
	Instance uuid.UUID `json:"instance"`
	Title    string    `json:"title"`
	Object   string    `json:"object"`
	Server   string    `json:"server"`
	Owner    string    `json:"owner"`
	Severity string    `json:"severity"`
}

// Expiry is something that ends.
type Expiry struct {
	At    time.Time `json:"at"`
	Kind  string    `json:"kind"` // exception, token, end of life, certificate
	What  string    `json:"what"`
	About string    `json:"about"` // a server
}

// Room is backups, jobs and room.
type Room struct {
	Late     []Backup `json:"late"`
	LateAll  int      `json:"lateAll"`
	InTime   int      `json:"inTime"` // databases
	Untold   int      `json:"untold"` // servers of which nobody tells their backups
	Jobs     []Job    `json:"jobs"`
	JobsAll  int      `json:"jobsAll"`
	Full     []Fill   `json:"full"`
	FullAll  int      `json:"fullAll"`
	NoDate   []Fill   `json:"noDate"`   // nearly full, without a date
	Measured int      `json:"measured"` // servers and hosts with sizes
}

// Backup is one that is late.
type Backup struct {
	Instance uuid.UUID `json:"instance"`
	Server   string    `json:"server"`
	Database string    `json:"database"`
	Seconds  int64     `json:"seconds"` // its age
	Limit    int64     `json:"limit"`
	None     bool      `json:"none"` // there has never been one since then
}

// Job is an alert about failed jobs.
type Job struct {
	Server string    `json:"server"`
	Title  string    `json:"title"`
	At     time.Time `json:"at"`
}

// Fill is something that is full soon.
type Fill struct {
	Name    string   `json:"name"`
	On      string   `json:"on"`
	Percent float64  `json:"percent"`
	Days    *float64 `json:"days"` // nil: there is no date
	Why     string   `json:"why"`
}

// Statements are those that are new or slower than the day before.
type Statements struct {
	Servers int         `json:"servers"` // with statements
	Slower  []Statement `json:"slower"`
	SlowAll int         `json:"slowAll"`
	New     int         `json:"new"`
	NewOn   []string    `json:"newOn"`   // servers, at most MostNamed
	Share   *float64    `json:"share"`   // of all time; nil: no new ones
	Missing bool        `json:"missing"` // they could not be read
}

// Statement is one that is slower.
type Statement struct {
	ID     uuid.UUID `json:"id"`
	Server string    `json:"server"` // no text: it may not be printed, or is not kept
	Text   string    `json:"text"`
	Before float64   `json:"before"`
	Now    float64   `json:"now"`
}

// Held is what would have been sent, had its alert not been muted or its servers in maintenance.
type Held struct {
	Muted       int      `json:"muted"` // alerts
	Maintenance int      `json:"maintenance"`
	Listed      []string `json:"listed"` // titles, at most MostNamed
}

// Delivery is what became of the messages of the day.
type Delivery struct {
	Messages int       `json:"messages"`
	Failed   int       `json:"failed"`
	Waiting  int       `json:"waiting"`
	Before   int       `json:"before"` // failed on the day before
	Channels []Refused `json:"channels"`
	Gone     bool      `json:"gone,omitempty"` // the messages of the day are not kept any more: nothing is known
}

// Refused is a channel that did not take messages.
type Refused struct {
	Channel string    `json:"channel"`
	Failed  int       `json:"failed"`
	First   time.Time `json:"first"`
	Why     string    `json:"why"`
}

// Muster is what Muster itself did and could not do.
type Muster struct {
	Ready         int      `json:"ready"` // reports
	Failed        int      `json:"failed"`
	Mails         int      `json:"mails"` // of reports, that were not delivered
	Runs          int      `json:"runs"`  // of schedules
	Missed        int      `json:"missed"`
	Dead          int      `json:"dead"` // jobs that were given up
	FailedReports []string `json:"failedReports"`
	MissedRuns    []string `json:"missedRuns"`
}
