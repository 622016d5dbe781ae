package replication

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/printable"
)

// Role is what a server does in replication; empty: it does not tell, because of a grant (Denied).
type Role string

// The roles.
const (
	Primary   Role = "primary"
	Standby   Role = "standby"
	Mixed     Role = "mixed"     // SQL Server: primary of one availability group, secondary of another
	Resolving Role = "resolving" // SQL Server: neither, at the moment
	Alone     Role = "alone"     // SQL Server: of no availability group
)

// Roles returns every role.
func Roles() []Role { return []Role{Primary, Standby, Mixed, Resolving, Alone} }

// Condition is how replication works.
type Condition string

// The conditions, from the best to the worst.
const (
	Works    Condition = "works"
	CatchUp  Condition = "catchingUp" // it works, and the standby is not yet where it was
	Paused   Condition = "paused"     // somebody stopped it
	Inactive Condition = "inactive"   // a slot without a consumer, a subscription that is switched off
	Gone     Condition = "gone"       // a standby that the server listed, and no longer does
	Broken   Condition = "broken"
)

// Conditions returns every condition.
func Conditions() []Condition { return []Condition{Works, CatchUp, Paused, Inactive, Gone, Broken} }

// Kind is how a standby or a slot gets the changes.
type Kind string

// The kinds.
const (
	Physical     Kind = "physical"
	Logical      Kind = "logical"
	Availability Kind = "availabilityGroup"
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{Physical, Logical, Availability} }

// Bounds of a State.
const (
	MaxPeers = 100 // standbys, slots and subscriptions, of each
	maxName  = 200
)

// State is replication as a server tells it at a time. Empty texts and nil figures are not known.
type State struct {
	Instance uuid.UUID    `json:"-"`
	Engine   fleet.Engine `json:"-"`
	At       time.Time    `json:"-"`

	Role     Role     `json:"role"`
	Words    string   `json:"words,omitempty"`    // the role as the engine names it
	Systems  []string `json:"systems,omitempty"`  // what the server is a copy of: see Picture
	Timeline int64    `json:"timeline,omitempty"` // PostgreSQL's
	Members  []string `json:"members,omitempty"`  // what those that it follows call it
	Port     int      `json:"port,omitempty"`     // on which it takes connections
	State    string   `json:"state,omitempty"`    // of a standby, in the engine's words
	Trouble
	LagSeconds *float64 `json:"lagSeconds,omitempty"` // of a standby, its own
	LagBytes   *int64   `json:"lagBytes,omitempty"`   // likewise

	Upstream      *Upstream      `json:"upstream,omitempty"` // of a standby
	Peers         []Peer         `json:"peers,omitempty"`
	Slots         []Slot         `json:"slots,omitempty"`
	Subscriptions []Subscription `json:"subscriptions,omitempty"`
	Omitted       int            `json:"omitted,omitempty"` // peers, slots and subscriptions beyond MaxPeers
	// Denied is the grant without which the server does not tell who follows it.
	Denied string `json:"denied,omitempty"`
}

// Trouble is a condition, since when it is so, and why.
type Trouble struct {
	Condition Condition  `json:"condition"`
	Since     *time.Time `json:"since,omitempty"`
	Why       string     `json:"why,omitempty"`
}

// Upstream is whom a standby follows.
type Upstream struct {
	Kind Kind   `json:"kind"`
	Host string `json:"host,omitempty"` // as the standby calls it
	Port int    `json:"port,omitempty"`
	Slot string `json:"slot,omitempty"`
	Name string `json:"name,omitempty"` // DB_UNIQUE_NAME, or the replica's server name
}

// Peer is one that follows the server.
type Peer struct {
	Kind   Kind   `json:"kind"`
	Name   string `json:"name"`             // PostgreSQL: application_name; else the server's name
	Member string `json:"member,omitempty"` // by which the other end is known: one of its Members
	Host   string `json:"host,omitempty"`   // from where it is connected
	Slot   string `json:"slot,omitempty"`
	Group  string `json:"group,omitempty"` // availability group
	State  string `json:"state,omitempty"` // in the engine's words
	Sync   string `json:"sync,omitempty"`  // how commits wait for it, in the engine's words
	Trouble
	LagSeconds *float64 `json:"lagSeconds,omitempty"`
	LagBytes   *int64   `json:"lagBytes,omitempty"`
	SendQueue  *int64   `json:"sendQueueBytes,omitempty"` // not sent yet
	RedoQueue  *int64   `json:"redoQueueBytes,omitempty"` // there, and not applied yet
	Databases  int      `json:"databases,omitempty"`      // of the group
	Suspended  int      `json:"suspendedDatabases,omitempty"`
}

// key is what a peer is known by from one State to the next.
func (p *Peer) key() string {
	return strings.Join([]string{string(p.Kind), p.Group, p.Member, p.Name, p.Host, p.Slot}, "\x00")
}

// Slot holds log back for a consumer.
type Slot struct {
	Name     string `json:"name"`
	Kind     Kind   `json:"kind"`
	Database string `json:"database,omitempty"` // of a logical one
	Plugin   string `json:"plugin,omitempty"`
	Active   bool   `json:"active"`
	WAL      string `json:"walStatus,omitempty"`     // reserved, extended, unreserved or lost
	Retained *int64 `json:"retainedBytes,omitempty"` // that it holds back
	Safe     *int64 `json:"safeBytes,omitempty"`     // that may be written before it loses what it needs; nil: there is no limit
	Trouble
}

// Subscription is one by which the server follows a publisher.
type Subscription struct {
	Name     string `json:"name"`
	Database string `json:"database,omitempty"`
	Trouble
	LagBytes *int64 `json:"lagBytes,omitempty"` // received, and not applied yet
}

// Links are what the server has in common with those that it replicates with: systems, and
// subscriptions.
func (s *State) Links() []string {
	links := append([]string{}, s.Systems...)
	for i := range s.Peers {
		if p := &s.Peers[i]; p.Kind == Logical && p.Member != "" {
			links = append(links, p.Member)
		}
	}
	if len(s.Subscriptions) > 0 {
		links = append(links, s.Members...)
	}
	slices.Sort(links)
	return slices.Compact(links)
}

// Figures are those of a State that have a series.
type Figures struct {
	LagSeconds *float64
	LagBytes   *int64
	Retained   *int64
}

// Figures of a standby are its own lag, of another server that of whoever follows it and is furthest
// behind. What is retained is the most of one slot.
func (s *State) Figures() (f Figures) {
	f.LagSeconds, f.LagBytes = s.LagSeconds, s.LagBytes
	for i := range s.Peers {
		if s.Role != Standby {
			f.LagSeconds, f.LagBytes = most(f.LagSeconds, s.Peers[i].LagSeconds), most(f.LagBytes, s.Peers[i].LagBytes)
		}
	}
	for i := range s.Slots {
		f.Retained = most(f.Retained, s.Slots[i].Retained)
	}
	return f
}

func most[T cmp.Ordered](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// Replicates says whether anything about the server is worth showing.
func (s *State) Replicates() bool {
	return s.Role != Primary && s.Role != Alone && s.Role != "" || len(s.Peers)+len(s.Slots)+len(s.Subscriptions) > 0 || s.Denied != ""
}

// Fit makes a State keep to the bounds, with clean and short texts.
func (s State) Fit() State {
	if !slices.Contains(Roles(), s.Role) {
		s.Role = ""
	}
	s.untold()
	for _, text := range []*string{&s.Words, &s.State, &s.Denied} {
		clean(text)
	}
	s.Systems, s.Members = cleaned(s.Systems), cleaned(s.Members)
	s.fit()
	if s.Upstream != nil {
		up := *s.Upstream
		for _, text := range []*string{&up.Host, &up.Slot, &up.Name} {
			clean(text)
		}
		if !slices.Contains(Kinds(), up.Kind) {
			up.Kind = Physical
		}
		s.Upstream = &up
	}
	omitted := max(s.Omitted, 0)
	s.Peers = fitted(s.Peers, &omitted, func(p *Peer) {
		for _, text := range []*string{&p.Name, &p.Member, &p.Host, &p.Slot, &p.Group, &p.State, &p.Sync} {
			clean(text)
		}
		if !slices.Contains(Kinds(), p.Kind) {
			p.Kind = Physical
		}
		p.fit()
	})
	s.Slots = fitted(s.Slots, &omitted, func(of *Slot) {
		for _, text := range []*string{&of.Name, &of.Database, &of.Plugin, &of.WAL} {
			clean(text)
		}
		if !slices.Contains(Kinds(), of.Kind) {
			of.Kind = Physical
		}
		of.fit()
	})
	s.Subscriptions = fitted(s.Subscriptions, &omitted, func(of *Subscription) {
		clean(&of.Name)
		clean(&of.Database)
		of.fit()
	})
	s.Omitted = omitted
	return s
}

// untold makes the role unknown that an account sees which may not see availability groups: none of
// them. Agents say so, because the form of a sample has no unknown role.
func (s *State) untold() {
	if s.Role == Alone && s.Denied != "" && len(s.Systems) == 0 {
		s.Role = ""
	}
}

func fitted[T any](all []T, omitted *int, fit func(*T)) []T {
	if len(all) > MaxPeers {
		*omitted += len(all) - MaxPeers
		all = all[:MaxPeers]
	}
	all = slices.Clone(all)
	for i := range all {
		fit(&all[i])
	}
	return all
}

func (t *Trouble) fit() {
	if !slices.Contains(Conditions(), t.Condition) {
		t.Condition = Works
	}
	clean(&t.Why)
}

func clean(text *string) {
	*text = printable.Cut(printable.Clean(strings.ReplaceAll(*text, "\x00", "")), maxName)
}

func cleaned(all []string) []string {
	all = slices.Clone(all[:min(len(all), MaxPeers)])
	for i := range all {
		clean(&all[i])
	}
	return all
}
