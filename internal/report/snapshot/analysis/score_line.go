package analysis

import (
	"slices"
	"time"

	"muster/internal/report/snapshot"
)

// ScoreSummary is what there is to say of the score's line by day.
type ScoreSummary struct {
	Days, Known                  int        // of the line; of them with a score
	First, Last, Lowest, Highest ScorePoint // of those that are known; the earliest of several
}

// ScorePoint is the score of a day.
type ScorePoint struct {
	Day   time.Time
	Score int
}

// ScoreDays is the score of each day of a scorecard's window. The day of the report has the report's own score: no
// line ends at another figure than page 1 has.
func ScoreDays(doc snapshot.Document) snapshot.ScoreByDay {
	line := snapshot.ScoreByDay{Start: doc.ScoreByDay.Start, Scores: slices.Clone(doc.ScoreByDay.Scores)}
	today := int(doc.AsOf.Sub(line.Start) / (24 * time.Hour))
	if len(doc.Instances) == 0 || today < 0 || today >= len(line.Scores) || line.Scores[today] == nil {
		return line
	}
	if s := HealthScore(doc, &doc.Instances[0]); s.Known {
		line.Scores[today] = &s.Overall
	}
	return line
}

// ScoreLine sums up the score by day; ok is false where no day has one.
func ScoreLine(line snapshot.ScoreByDay) (s ScoreSummary, ok bool) {
	s.Days = len(line.Scores)
	for i, score := range line.Scores {
		if score == nil {
			continue
		}
		p := ScorePoint{line.Start.AddDate(0, 0, i), *score}
		if s.Known == 0 {
			s.First, s.Lowest, s.Highest = p, p, p
		}
		if s.Last = p; p.Score < s.Lowest.Score {
			s.Lowest = p
		}
		if p.Score > s.Highest.Score {
			s.Highest = p
		}
		s.Known++
	}
	return s, s.Known > 0
}
