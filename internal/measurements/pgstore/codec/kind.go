package codec

import (
	"slices"
	"time"

	"muster/domain/fleet"
)

// Kinds of series, as they are spelled in the table.
const (
	Hosts      = "host"
	Sessions   = "sessions"
	Activity   = "activity" // what an instance's sessions do, and whose they are
	Servers    = "server"   // what an instance tells about itself
	Statements = "statements"
	Busy       = "busy" // how long an instance's databases executed
)

// Sample is a row of raw_samples.
type Sample struct {
	At   time.Time
	Body []byte
}

// Insert inserts a sample at its place in the order of time, unless there is one with its time.
func Insert(samples []Sample, s Sample) []Sample {
	in, known := slices.BinarySearchFunc(samples, s.At, func(s Sample, at time.Time) int { return s.At.Compare(at) })
	if known {
		return samples
	}
	return slices.Insert(samples, in, s)
}

// Arrival is what a batch brings for one series and one time.
type Arrival struct {
	Kind, Subject string
	Engine        fleet.Engine // empty for a host
	Sample
	Count int // samples of the batch in it
}

// Kind is what a sort of series knows of its bodies, slots and rows. All of it is
// pure; the bytes it takes are ones that it made. A slot is one bucket's, a row holds
// the slots of one row of minutes, hours or days; no slot and no row are nil. A detail is
// what hours and days have query by query, or volume by volume.
type Kind interface {
	// reach is how long before a minute there may be a sample that it needs.
	Reach() time.Duration
	// whole says that rolling up a minute needs all samples of its hour.
	Whole() bool
	// merge joins the stored data of a series and time with later arrivals: stored data stays.
	// changed is false if nothing is new.
	Merge(stored, arrived []byte) (merged []byte, changed bool, err error)
	// roll makes those minutes of an hour anew that are set in dirty, of samples in
	// the order of time, and the hour's detail where the kind has one (nil: it has not, or
	// it is what is known of it).
	Roll(engine fleet.Engine, hour time.Time, dirty uint64, samples []Sample, minutes, known []byte) (rolled, detail []byte, err error)
	// join makes the detail of a bucket of those of its parts.
	Join(details [][]byte) ([]byte, error)
	// ofDetails says that days and weeks are made of details, and not of their hours' slots.
	OfDetails() bool
	// total makes the slot of the bucket that a detail makes up, or, where that is nil,
	// the first n slots of a row: of statements too, whose maximum then is the greatest
	// of the slots'.
	Total(engine fleet.Engine, row []byte, n int, detail []byte) (slot []byte, err error)
	// slot returns slot i of a row; nil: there is none.
	Slot(row []byte, i int) ([]byte, error)
	// set returns the row with another slot i. A row may be nil, and have any number
	// of slots.
	Set(row []byte, i int, slot []byte) ([]byte, error)
}

// withoutDetails is what kinds have in common whose minutes are made of their own samples
// and whose longer buckets are made of slots alone.
type withoutDetails struct{}

func (withoutDetails) Reach() time.Duration { return 0 }

func (withoutDetails) Whole() bool { return false }

func (withoutDetails) Join([][]byte) ([]byte, error) { return nil, nil }

func (withoutDetails) OfDetails() bool { return false }

// KindOf returns what is known of a kind; nil: there is no such kind.
func KindOf(name string) Kind {
	switch name {
	case Hosts:
		return hostKind{}
	case Sessions:
		return sessionKind{}
	case Statements:
		return statementKind{}
	case Activity:
		return activityKind{}
	case Busy:
		return busyKind{}
	case Servers:
		return serverKind{}
	}
	return nil
}
