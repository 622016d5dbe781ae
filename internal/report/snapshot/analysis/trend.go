package analysis

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// TrendDays are the ages of the points to which a report compares itself.
var TrendDays = [...]int{30, 90}

// Trend compares the critical and high findings of now with those of an earlier day.
type Trend struct {
	Days  int
	At    time.Time
	Known bool       // false: the history does not go back so far
	Since *time.Time // of the history; nil: there is none
	Open  int        // then
	New   int        // open now, and not then
	// Joined are those of New on instances that were registered after that day.
	Joined  int
	Closed  int // open then, and not now
	Overdue int // then
}

// TrendPoint is a day of the line.
type TrendPoint struct {
	At            time.Time
	Known         bool
	Open, Overdue int // critical and high findings
}

// Trends compares with each of TrendDays; none: the document has no history.
func Trends(doc snapshot.Document, groups []CheckFindings) []Trend {
	if doc.History == nil {
		return nil
	}
	var all []Trend
	for _, days := range TrendDays {
		all = append(all, trendOver(doc, groups, days))
	}
	return all
}

// TrendLine is the number of critical and high findings on the days of the history, and now.
func TrendLine(doc snapshot.Document, groups []CheckFindings) []TrendPoint {
	if doc.History == nil {
		return nil
	}
	var line []TrendPoint
	for _, p := range doc.History.Past {
		then := standing(doc, groups, p.At)
		line = append(line, TrendPoint{
			At: p.At, Known: known(doc.History, p.At),
			Open: then.open + p.Gone.Grave(), Overdue: then.overdue + p.Overdue.Grave(),
		})
	}
	now := standing(doc, groups, doc.AsOf)
	return append(line, TrendPoint{At: doc.AsOf, Known: true, Open: now.open, Overdue: now.overdue})
}

func trendOver(doc snapshot.Document, groups []CheckFindings, days int) Trend {
	t := Trend{Days: days, At: doc.AsOf.AddDate(0, 0, -days), Since: doc.History.Since}
	i := slices.IndexFunc(doc.History.Past, func(p snapshot.PastFindings) bool { return !p.At.Before(t.At) })
	if i < 0 || !known(doc.History, t.At) {
		return t
	}
	past := doc.History.Past[i]
	then := standing(doc, groups, past.At)
	t.Known, t.At = true, past.At
	t.Closed = past.Gone.Grave()
	t.Open, t.Overdue = then.open+t.Closed, then.overdue+past.Overdue.Grave()
	t.New, t.Joined = then.newer, then.joined
	return t
}

func known(h *snapshot.History, at time.Time) bool { return h.Since != nil && !h.Since.After(at) }

// still counts the document's critical and high findings by whether they were there at a time.
type still struct{ open, overdue, newer, joined int }

func standing(doc snapshot.Document, groups []CheckFindings, at time.Time) (s still) {
	joined := map[uuid.UUID]bool{}
	for _, in := range doc.Instances {
		joined[in.ID] = in.CreatedAt.After(at)
	}
	for _, g := range groups {
		if Rank(g.Check.Severity) > Rank(High) {
			continue
		}
		for _, f := range g.Findings {
			switch {
			case f.FirstSeen == nil || f.FirstSeen.After(at):
				s.newer++
				if joined[f.InstanceID] {
					s.joined++
				}
				continue
			case Due(doc, f).Overdue(at) > 0:
				s.overdue++
			}
			s.open++
		}
	}
	return s
}
