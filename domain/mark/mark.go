package mark

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/domain/team"
)

// Stream is the stream type of a mark in the organization log.
const Stream = "mark"

// Bounds of marks.
const (
	MaxTextRunes = 200
	MaxADay      = 1000 // of an organization, within 24 hours
	KeptDays     = 400
	maxAhead     = 5 * time.Minute // a program's clock may be this far ahead
)

// Mark is what happened at a time, at the servers that have the tags.
type Mark struct {
	At   time.Time
	Text string
	Tags map[string]string // none: the whole organization
}

// Filter is met by the tags of the servers that the mark is about.
func (m Mark) Filter() fleet.TagFilter { return FilterOf(m.Tags) }

// FilterOf is met by tags that have each of some values.
func FilterOf(tags map[string]string) fleet.TagFilter {
	filter := make(fleet.TagFilter, len(tags))
	for key, value := range tags {
		filter.Add(key, value)
	}
	return filter
}

// Broken are the rules that the mark breaks at a time.
func (m Mark) Broken(now time.Time) []rule.Broken {
	var broken rule.Set
	switch {
	case m.At.After(now.Add(maxAhead)):
		broken.Add("#/at", "time_in_future", "lies more than 5 minutes in the future")
	case m.At.Before(now.AddDate(0, 0, -KeptDays)):
		broken.Add("#/at", "out_of_range", fmt.Sprintf("lies more than %d days back; marks are kept for so long", KeptDays))
	}
	switch n := utf8.RuneCountInString(m.Text); {
	case n < 1 || n > MaxTextRunes:
		broken.Add("#/text", "out_of_range", fmt.Sprintf("must be 1 to %d characters", MaxTextRunes))
	case !printable.Name(m.Text) || strings.TrimSpace(m.Text) == "":
		broken.Add("#/text", "invalid_text", printable.Rule)
	}
	if n := len(m.Tags); n > fleet.MaxTags {
		broken.Add("#/tags", "too_many_items", fmt.Sprintf("has %d keys; at most %d are allowed", n, fleet.MaxTags))
	}
	for _, key := range m.Filter().Keys() {
		at := "#/tags/" + rule.Escape(key)
		if !fleet.ValidTagKey(key) {
			broken.Add(at, "invalid_name", fleet.TagKeyRule)
		}
		if !fleet.ValidTagValue(m.Tags[key]) {
			broken.Add(at, "invalid_parameter", fleet.TagValueRule)
		}
	}
	return broken
}

// Within reports whether every server that has the tags is one of those that one of the selectors
// matches, whatever servers there are.
func Within(tags map[string]string, selectors []team.Selector) bool {
	return slices.ContainsFunc(selectors, func(s team.Selector) bool { return within(tags, s.Tags) })
}

func within(tags map[string]string, selected fleet.TagFilter) bool {
	for key, values := range selected {
		if !slices.Contains(values, tags[key]) {
			return false
		}
	}
	return len(selected) > 0
}

// Event is a fact about a mark. Its wire name is its Name.
type Event interface{ name() string }

// Set says that there is a mark.
type Set struct {
	At      time.Time         `json:"at"`
	Tags    map[string]string `json:"tags,omitempty"`
	TokenID uuid.UUID         `json:"tokenId,omitzero"` // of the API token that it was set with
}

// Removed says that the mark is no more.
type Removed struct{}

func (Set) name() string     { return "mark.set" }
func (Removed) name() string { return "mark.removed" }

// Events returns an empty value of every event of a mark. All are at schema version 1. A name
// that was ever written stays.
func Events() []Event { return []Event{Set{}, Removed{}} }

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
