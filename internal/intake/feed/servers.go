package feed

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/internal/measurements"
)

const (
	maxFigures = 1000    // of one sample
	maxFigure  = 1 << 53 // a float64 has all of them
)

// ServerItem is what a server tells about itself at a time.
type ServerItem struct {
	Instance string
	At       time.Time
	Figures  []FigureItem
}

// FigureItem is one figure. Databases are external ids; empty: the whole server, or not known.
type FigureItem struct {
	Figure          measurements.Figure
	Database        string
	Telling         measurements.Telling
	Value           json.Number
	IntervalSeconds *json.Number
	Holder          *measurements.Holder
	HeldIn          string // the database of the holder
}

// names are those of the places of a sample: its instance, and the databases of its figures and of
// their holders.
func (s *ServerItem) names() []inventory.PlaceName {
	names := []inventory.PlaceName{{Instance: &s.Instance}}
	for i := range s.Figures {
		for _, database := range []*string{&s.Figures[i].Database, &s.Figures[i].HeldIn} {
			if *database != "" {
				names = append(names, inventory.PlaceName{Instance: &s.Instance, Database: database})
			}
		}
	}
	return names
}

// serverPlaces are where a sample is: its instance, and then the databases in the order of names.
type serverPlaces []inventory.Place

func instancesOf(all []serverPlaces) (places []inventory.Place) {
	for _, p := range all {
		places = append(places, p[0])
	}
	return places
}

// server reads what a server tells about itself.
func (r *rules) server(at string, s ServerItem, on serverPlaces) measurements.ServerSample {
	sample := measurements.ServerSample{Instance: on[0].Instance, At: r.time(at+"/at", s.At)}
	if sample.Instance == uuid.Nil {
		r.unknownInstance(at + "/instance")
	}
	if !r.atMost(at+"/figures", len(s.Figures), maxFigures) {
		return sample
	}
	databases := on[1:]
	next := func(name string) (id uuid.UUID) {
		if name != "" {
			id, databases = databases[0].Database, databases[1:]
		}
		return id
	}
	seen := make(map[string]bool, len(s.Figures))
	for i, f := range s.Figures {
		at := r.item(at+"/figures/", i)
		one := r.figure(at, f)
		if one.Database = next(f.Database); f.Database != "" && one.Database == uuid.Nil {
			r.breaks(at+"/database", "unknown_database", "is no database of that instance")
		}
		if heldIn := next(f.HeldIn); one.Holder != nil {
			one.Holder.Database = heldIn
		}
		r.once(at+"/figure", string(f.Figure)+" "+f.Database, seen)
		sample.Figures = append(sample.Figures, one)
	}
	return sample
}

func (r *rules) figure(at string, f FigureItem) measurements.ServerFigure {
	one := measurements.ServerFigure{Figure: f.Figure, Telling: f.Telling}
	if !slices.Contains(measurements.Figures(), f.Figure) {
		r.breaks(at+"/figure", "out_of_range", "is no figure")
	}
	if f.Database != "" && !f.Figure.ByDatabase() {
		r.breaks(at+"/database", "out_of_range", "is only for figures of databases")
	}
	switch f.Telling {
	case measurements.Told:
	case measurements.NotTold, measurements.Denied:
		return one
	default:
		r.breaks(at+"/state", "out_of_range", "must be ok, notTold or denied")
	}
	one.Value = int64(r.number(at+"/value", f.Value, 0, maxFigure))
	switch {
	case !f.Figure.Counts():
	case f.IntervalSeconds == nil:
		r.breaks(at+"/intervalSeconds", "out_of_range", "is required for what is counted")
	default:
		one.Interval = r.interval(at+"/intervalSeconds", *f.IntervalSeconds)
	}
	if f.Holder == nil {
		return one
	}
	if f.Holder.Session == "" {
		r.breaks(at+"/holder/session", "out_of_range", "must not be empty")
	}
	if utf8.RuneCountInString(f.Holder.Statement) > maxKey {
		r.breaks(at+"/holder/statement", "out_of_range", fmt.Sprintf("must be at most %d characters", maxKey))
	}
	held := *f.Holder
	one.Holder = &held
	return one
}
