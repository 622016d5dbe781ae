package measure

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
)

// Figure is one that a server tells about itself, as it was read.
type Figure struct {
	Of       measurements.Figure
	Database uint32 // of one that counts: the server's number of it; 0: the whole server
	Telling  measurements.Telling
	// Value is how much it is or, of a figure that Counts, how much it has come to. Counts of
	// databases are added up.
	Value  int64
	Since  string  // what began the count: after another one, it cannot be compared
	Holder *Holder // nil: nobody
}

// Holder is the session that holds a transaction open.
type Holder struct {
	Session  string
	Database uint32 // the server's number of it
	measurements.Doing
}

// Told is a figure that was read.
func Told(of measurements.Figure, value int64, by *Holder) Figure {
	return Figure{Of: of, Telling: measurements.Told, Value: max(value, 0), Holder: by}
}

// Untold are figures that are not told, all for the same reason.
func Untold(why measurements.Telling, figures ...measurements.Figure) (all []Figure) {
	for _, of := range figures {
		all = append(all, Figure{Of: of, Telling: why})
	}
	return all
}

// counter is what a count is known by.
type counter struct {
	of       measurements.Figure
	database uint32
}

// counters are the counts of a look.
type counters struct {
	at time.Time
	of map[counter]Figure
}

// readFigures reads what the server tells about itself. What could be read comes with the error of the rest.
func (s *Server) readFigures(ctx context.Context, a *Activity, at time.Time) ([]measurements.ServerSample, error) {
	read, err := s.reader.Figures(ctx, &s.line)
	if s.went(figuresPart, err) != nil && s.line.Closed() {
		return nil, err
	}
	now := counters{at, map[counter]Figure{}}
	sample := measurements.ServerSample{Instance: s.Instance, Engine: s.Engine.Name, At: at}
	for _, f := range read {
		if f.Telling == measurements.Told && f.Of.Counts() {
			now.of[counter{f.Of, f.Database}] = f
			continue
		}
		sample.Figures = append(sample.Figures, measurements.ServerFigure{Figure: f.Of, Telling: f.Telling, Value: f.Value, Holder: s.holder(a, f.Holder)})
	}
	if err == nil { // else the next look is compared with the one before
		sample.Figures = append(sample.Figures, s.grown(a, now)...)
		s.counters = now
	}
	if len(sample.Figures) == 0 {
		return nil, err
	}
	return []measurements.ServerSample{sample}, err
}

// figuresPart is the part of a server that they are, in the log.
const figuresPart = "figures"

func (s *Server) idOf(a *Activity, number uint32) uuid.UUID {
	for _, d := range a.Databases {
		if d.ID == number {
			return s.databases[d.Name]
		}
	}
	return uuid.Nil
}

func (s *Server) holder(a *Activity, h *Holder) *measurements.Holder {
	if h == nil {
		return nil
	}
	return &measurements.Holder{Session: h.Session, Database: s.idOf(a, h.Database), Doing: h.Doing}
}

// grown is what the counts have grown by since the last look. If one of a figure cannot be compared,
// nothing is known of the whole server. A database that is new has counted since the last look.
func (s *Server) grown(a *Activity, now counters) (all []measurements.ServerFigure) {
	over := now.at.Sub(s.counters.at)
	if s.counters.at.IsZero() || over <= 0 || over > longestGap {
		return nil
	}
	sums, unknown, known := map[measurements.Figure]int64{}, map[measurements.Figure]bool{}, map[measurements.Figure]bool{}
	for key := range s.counters.of {
		known[key.of] = true
	}
	for key, f := range now.of {
		before, listed := s.counters.of[key]
		grown := f.Value - before.Value
		if !known[key.of] || listed && (grown < 0 || f.Since != before.Since) {
			unknown[key.of] = true
			continue
		}
		if sums[key.of] += grown; grown > 0 && key.of.ByDatabase() && key.database != 0 {
			if id := s.idOf(a, key.database); id != uuid.Nil {
				all = append(all, measurements.ServerFigure{Figure: key.of, Database: id, Telling: measurements.Told, Value: grown, Interval: over})
			}
		}
	}
	for of, sum := range sums {
		if !unknown[of] {
			all = append(all, measurements.ServerFigure{Figure: of, Telling: measurements.Told, Value: sum, Interval: over})
		}
	}
	slices.SortFunc(all, func(a, b measurements.ServerFigure) int {
		return cmp.Or(cmp.Compare(a.Figure, b.Figure), slices.Compare(a.Database[:], b.Database[:]))
	})
	return all
}
