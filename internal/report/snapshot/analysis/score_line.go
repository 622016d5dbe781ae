package analysis

import (
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
