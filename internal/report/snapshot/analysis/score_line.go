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

// ScoreDays is the score of each day of a scorecard's window. The day of the report has the report's own score, so that
// no line ends at another figure than page 1 has. Days after the end of support have the report's cap for it.
func ScoreDays(doc snapshot.Document) snapshot.ScoreByDay {
	line := snapshot.ScoreByDay{Start: doc.ScoreByDay.Start, Scores: slices.Clone(doc.ScoreByDay.Scores)}
	if len(doc.Instances) == 0 {
		return line
	}
	in, today := &doc.Instances[0], int(doc.AsOf.Sub(line.Start)/(24*time.Hour))
	for i, score := range line.Scores {
		if score == nil {
			continue
		}
		capped := supportedScore(in, *score, line.Start.AddDate(0, 0, i))
		if i == today {
			if s := HealthScore(doc, in); s.Known {
				capped = s.Overall
			}
		}
		line.Scores[i] = &capped
	}
	return line
}

// ScoreBefore is the score at the start of a scorecard's window with its grade, capped as those of days are; ok is false
// if none is kept.
func ScoreBefore(doc snapshot.Document) (score int, letter string, ok bool) {
	before := doc.ScoreAtStart
	if before == nil {
		return 0, "", false
	}
	score, letter = before.Score, before.Grade
	if len(doc.Instances) > 0 {
		if capped := supportedScore(&doc.Instances[0], score, before.AssessedAt); capped < score {
			score, letter = capped, grade(capped)
		}
	}
	return score, letter, true
}

// supportedScore is a score of a day under the cap for a version whose support had ended then. What else caps the report's
// score is not known of that day.
func supportedScore(in *snapshot.Instance, score int, at time.Time) int {
	if r := in.Release; r != nil && r.EndOfLife != nil && at.After(*r.EndOfLife) {
		return min(score, mostGrave)
	}
	return score
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
