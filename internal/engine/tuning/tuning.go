package tuning

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// The states of a hint.
const (
	Change  = "change"  // another value fits what was measured
	Fits    = "fits"    // nothing measured speaks against the value
	Unknown = "unknown" // it cannot be judged
)

// Hint is what a setting is held against, and what follows.
type Hint struct {
	Setting    string
	State      string
	Measured   string // the setting's value, and what there is beside it
	Against    string
	Suggestion string // a value where arithmetic gives one, else words; of Unknown why it cannot be judged
	Source     Page
}

// Page is a page of a vendor's documentation, by edition.
type Page struct{ Name, Address string }

// Hints are an engine's, in the order in which they are printed.
type Hints struct {
	Settings []string // that they read, in small letters
	Judges   []func(l Load) Hint
}

// Setting is the value of a setting with its unit.
type Setting struct{ Value, Unit string }

// Load is what settings are held against.
type Load struct {
	Settings map[string]Setting // by name in small letters
	// Of the machine: 0 and why where it is not known, or is not the instance's alone.
	Memory    float64
	NoMemory  string
	CPUs      int
	NoCPUs    string
	Databases float64 // their sizes; 0: not known of each
	// Of the window.
	MemoryUse, CPUUse Use
	// Open is how many sessions were open at a time; nil: nobody samples them.
	Open   *int64
	OpenAt time.Time
}

// Use is how a resource was used in the window.
type Use struct {
	Thin           string // why it cannot be held against: too little of the window was measured; empty: it can
	P95            float64
	Busy, Measured int    // hours
	BusyHours      string // Busy of Measured, in words
}

// Bytes is a setting that holds a size; blank is the unit of a value without one.
func (l Load) Bytes(name, blank string) (float64, bool) {
	s, ok := l.Settings[name]
	if !ok {
		return 0, false
	}
	return bytesOf(s.Value, s.Unit, blank)
}

// Number is a setting that holds a number.
func (l Load) Number(name string) (float64, bool) {
	n, err := strconv.ParseFloat(l.Settings[name].Value, 64)
	return n, err == nil && n >= 0
}

// SessionsOf holds the sessions that are open against how many there may be.
func (l Load) SessionsOf(h Hint, most float64, change string) Hint {
	h.Measured = Grouped(int(most))
	if l.Open == nil {
		return h.Unknown("nobody samples the sessions")
	}
	h.Measured = Grouped(int(*l.Open)) + " of " + Grouped(int(most)) + " open at " + l.OpenAt.UTC().Format("2006-01-02 15:04 UTC")
	if float64(*l.Open) > 0.8*most {
		return h.Change(change)
	}
	return h.Unknown("enough at that moment; the peak of the window is not kept")
}

// Against is a hint that is not yet judged.
func Against(setting, against string, source Page) Hint {
	return Hint{Setting: setting, Against: against, Source: source, State: Unknown}
}

// Unknown is the hint that cannot be judged, and why.
func (h Hint) Unknown(why string) Hint {
	h.State, h.Suggestion = Unknown, why
	return h
}

// Untold is a hint on a setting of which no assessment told what can be read.
func (h Hint) Untold(l Load, names ...string) Hint {
	for _, name := range names {
		if s, ok := l.Settings[name]; ok {
			h.Measured = s.Value
			return h.Unknown("its value cannot be read as a number")
		}
	}
	h.Measured = "–"
	return h.Unknown("no assessment told its value")
}

// Change is the hint with another value, or with words for one.
func (h Hint) Change(suggestion string) Hint {
	h.State, h.Suggestion = Change, suggestion
	return h
}

// Fits is the hint on a value against which nothing speaks.
func (h Hint) Fits() Hint {
	h.State = Fits
	return h
}

// order puts what is to be changed first and what cannot be judged last.
var order = []string{Change, Fits, Unknown}

// Sort puts what is to be done first.
func Sort(all []Hint) {
	slices.SortStableFunc(all, func(a, b Hint) int {
		return cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State))
	})
}
