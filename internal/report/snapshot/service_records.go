package snapshot

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// What of a ServiceRecords is listed at most.
const (
	MaxServiceSpans      = 50 // outages, and times in which nobody knows, of a server: the longest
	MaxServiceStatements = 10
	MaxServiceRooms      = 10
)

// ServiceRecords is how servers kept their objectives in a window, as it was known at its end. Nothing that was
// recorded at or after that end is in it.
type ServiceRecords struct {
	// BudgetTo is until when the budget has to last: the end of the month if the window is its beginning, else the
	// window's end.
	BudgetTo time.Time `json:"budgetTo"`
	// Changed are the times in the window at which objectives changed, in order.
	Changed    []time.Time       `json:"changed"`
	Servers    []ServiceServer   `json:"servers"`    // sorted by name, then id
	Statements ServiceStatements `json:"statements"` // of the servers together
	Rooms      []ServiceRoom     `json:"rooms"`      // those that are full soonest, then those that grew most
	RoomsSeen  int               `json:"roomsSeen"`  // how many there are
}

// ServiceServer is one server. Up, Down, Unknown, Maintenance and Off add up to the time from From to To.
type ServiceServer struct {
	ID     uuid.UUID `json:"id"`
	Name   string    `json:"name"`
	Engine string    `json:"engine"`
	// From and To are the part of the window in which the server was registered.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Joined and Left are when it was registered and removed, if that was in the window.
	Joined *time.Time `json:"joined"`
	Left   *time.Time `json:"left"`

	Up          time.Duration `json:"upNs"`
	Down        time.Duration `json:"downNs"`
	Unknown     time.Duration `json:"unknownNs"`
	Maintenance time.Duration `json:"maintenanceNs"`
	Off         time.Duration `json:"offNs"` // switched off, or removed

	// The longest outages and times in which nobody knows, in order, and how many there are.
	Outages  []ServiceOutage `json:"outages"`
	OutageN  int             `json:"outageCount"`
	Gaps     []Window        `json:"gaps"`
	GapN     int             `json:"gapCount"`
	Covered  []Window        `json:"covered"` // the longest times in maintenance windows, in order
	CoveredN int             `json:"coveredCount"`

	ObjectivePercent *float64 `json:"objectivePercent"` // nil: it has none
	ObjectiveMs      *float64 `json:"objectiveMs"`
	MeanMs           *float64 `json:"meanMs"`   // over the executions; nil: none is known
	Coverage         float64  `json:"coverage"` // the part of the hours with executions, 0 to 1
}

// ServiceOutage is a time in which a server was down.
type ServiceOutage struct {
	From    time.Time  `json:"from"`
	To      time.Time  `json:"to"`      // the end of the window if it goes on
	Ongoing bool       `json:"ongoing"` // it went on at the end of the window
	SeenAt  *time.Time `json:"seenAt"`  // when Muster raised the alert; nil: it raised none
	TakenAt *time.Time `json:"takenAt"` // when somebody acknowledged it; nil: nobody did
}

// ServiceStatements are the statements that cost most.
type ServiceStatements struct {
	// From and To are what they are of: whole hours, or whole UTC days where hours are no longer kept.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Missing is why there are none: ServiceNotKept or ServiceNotMeasured; empty: there are.
	Missing string             `json:"missing"`
	Partial bool               `json:"partial"` // some servers send a part of their statements only
	TotalMs float64            `json:"totalMs"` // of all statements
	Count   int                `json:"count"`   // of all statements
	Listed  []ServiceStatement `json:"listed"`  // the costliest first
}

// Why there are no statements.
const (
	ServiceNotKept     = "not_kept"
	ServiceNotMeasured = "not_measured"
)

// ServiceStatement is a statement with what it cost.
type ServiceStatement struct {
	ID         uuid.UUID `json:"id"`
	InstanceID uuid.UUID `json:"instanceId"`
	Text       string    `json:"text"` // empty: none is kept, or a reader may not see it
	Calls      float64   `json:"calls"`
	TotalMs    float64   `json:"totalMs"`
}

// ServiceRoom is how a volume, a tablespace or a database grew.
type ServiceRoom struct {
	InstanceID uuid.UUID `json:"instanceId"`
	Host       string    `json:"host"` // of a volume of a host; empty: of the server
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	// First and Last are the first and the last time in the window at which it was measured.
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	FirstUsed float64   `json:"firstUsed"` // bytes; percent where Limit is 100
	LastUsed  float64   `json:"lastUsed"`
	Limit     float64   `json:"limit"` // 0: there is none
	// Days until it is full, from the window's end; nil: Reason says why there are none.
	Days    *float64 `json:"days"`
	Soonest *float64 `json:"soonest"`
	Latest  *float64 `json:"latest"`
	Reason  string   `json:"reason"`
}

func sortServiceRecords(r *ServiceRecords) {
	if r == nil {
		return
	}
	slices.SortStableFunc(r.Changed, time.Time.Compare)
	slices.SortStableFunc(r.Servers, func(a, b ServiceServer) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for i := range r.Servers {
		s := &r.Servers[i]
		slices.SortStableFunc(s.Outages, func(a, b ServiceOutage) int { return a.From.Compare(b.From) })
		slices.SortStableFunc(s.Gaps, compareWindows)
		slices.SortStableFunc(s.Covered, compareWindows)
	}
	slices.SortStableFunc(r.Statements.Listed, func(a, b ServiceStatement) int {
		return cmp.Or(cmp.Compare(b.TotalMs, a.TotalMs), bytes.Compare(a.ID[:], b.ID[:]))
	})
}

func compareWindows(a, b Window) int { return a.From.Compare(b.From) }
