package objective

import (
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/rule"
	"muster/domain/team"
)

// Stream is the stream type of the objectives of an organization in the organization log. The
// stream id follows from the organization (StreamID).
const Stream = "objectives"

// Bounds of objectives.
const (
	MaxObjectives   = 100 // of an organization
	LeastPercent    = 50.0
	MostPercent     = 99.999
	MostLatencyMs   = 3_600_000.0
	percentDecimals = 1000
)

// Month is the only period over which objectives are judged: a calendar month in UTC.
const Month = "month"

var objectives = uuid.MustParse("0199f0d2-7a10-5d31-8c6e-0bec71e5a9d4")

// StreamID is the stream of the objectives of an organization.
func StreamID(organization uuid.UUID) uuid.UUID {
	return uuid.NewSHA1(objectives, []byte(organization.String()))
}

// Objective is what servers have to keep. At least one of the two figures is there.
type Objective struct {
	// Selector says which servers it is about. Only the last objective of a list may be without tags
	// and ids: it is about every server that none before selects.
	Selector            team.Selector `json:"selector"`
	AvailabilityPercent *float64      `json:"availabilityPercent,omitempty"`
	LatencyMs           *float64      `json:"latencyMs,omitempty"` // the highest mean
	Window              string        `json:"window"`
}

// everybody reports whether an objective is about every server.
func (o Objective) everybody() bool {
	return len(o.Selector.Tags) == 0 && len(o.Selector.InstanceIDs) == 0
}

// Matches reports whether an objective is about a server.
func (o Objective) Matches(instance uuid.UUID, tags fleet.Tags) bool {
	return o.everybody() || o.Selector.Matches(instance, tags)
}

// Of is the objective of a server: the first one of the list that is about it. ok is false if there is none.
func Of(list []Objective, instance uuid.UUID, tags fleet.Tags) (of Objective, ok bool) {
	for _, o := range list {
		if o.Matches(instance, tags) {
			return o, true
		}
	}
	return Objective{}, false
}

// Normal is the same list with each value and id once.
func Normal(list []Objective) []Objective {
	normal := make([]Objective, len(list))
	for i, o := range list {
		normal[i] = o
		normal[i].Selector = o.Selector.Normal()
	}
	return normal
}

// Broken are the rules that a list breaks. Their places begin with #/items.
func Broken(list []Objective) []rule.Broken {
	var broken rule.Set
	if n := len(list); n > MaxObjectives {
		broken.Add("#/items", "too_many_items", fmt.Sprintf("has %d objectives; at most %d are allowed", n, MaxObjectives))
		return broken
	}
	for i, o := range list {
		at := "#/items/" + strconv.Itoa(i)
		for _, b := range (team.Terms{Selector: o.Selector}).Broken() {
			broken.Add(at+b.Pointer[1:], b.Code, b.Detail)
		}
		if o.everybody() && i < len(list)-1 {
			broken.Add(at+"/selector", "out_of_range", "selects every server, so it must be the last one")
		}
		if o.AvailabilityPercent == nil && o.LatencyMs == nil {
			broken.Add(at, "range_required", "needs availabilityPercent, latencyMs or both")
		}
		if p := o.AvailabilityPercent; p != nil && (!within(*p, LeastPercent, MostPercent) || math.Abs(*p*percentDecimals-math.Round(*p*percentDecimals)) > 1e-6) {
			outOfRange(&broken, at+"/availabilityPercent", LeastPercent, MostPercent, ", with at most three decimals")
		}
		if l := o.LatencyMs; l != nil && !within(*l, 0.001, MostLatencyMs) {
			outOfRange(&broken, at+"/latencyMs", 0.001, MostLatencyMs, "")
		}
		if o.Window != Month {
			broken.Add(at+"/window", "out_of_range", "must be month")
		}
	}
	return broken
}

func within(v, least, most float64) bool { return v >= least && v <= most } // false for NaN

func outOfRange(broken *rule.Set, at string, least, most float64, more string) {
	*broken = append(*broken, rule.Broken{Pointer: at, Code: "out_of_range",
		Detail: fmt.Sprintf("must be %v to %v%s", least, most, more), Params: map[string]any{"min": least, "max": most}})
}

// Event is a fact about the objectives of an organization. Its wire name is its Name.
type Event interface{ name() string }

// Changed says what the objectives were, and what they are from now on.
type Changed struct {
	From []Objective `json:"from"`
	To   []Objective `json:"to"`
}

func (Changed) name() string { return "objectives.changed" }

// Events returns an empty value of every event. All are at schema version 1. A name that was ever
// written stays.
func Events() []Event { return []Event{Changed{}} }

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
