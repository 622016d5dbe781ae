package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/internal/report/snapshot"
)

// Standing is how one instance stands, in the units of page 1.
type Standing struct {
	Name   string
	Failed SeverityCounts // failed checks, not objects
	// Unanswered counts the checks that do not fail and that lack an answer, on one
	// database or on all: in the unit of Failed, so that they weigh beside them.
	Unanswered int
	Areas      [len(Areas)]Area
	Reason     string     // why nothing of it was assessed; empty: it was
	EndOfLife  *time.Time // of its major version; nil: not known, or the instance is inactive
	CVEs       CVECounts
	Versioned  bool // the feed knows its version, so that CVEs says something
	Gapped     bool // the feed knows some of its CVEs and not all
}

// Standings returns the standing of every instance in scope: the assessed ones, heaviest first,
// then by checks without an answer, then by name; and after them, by name, those that were not
// assessed.
func Standings(doc snapshot.Document) []Standing {
	out := make([]Standing, 0, len(doc.Instances))
	for i := range doc.Instances {
		out = append(out, standingOf(doc, &doc.Instances[i]))
	}
	slices.SortStableFunc(out, func(a, b Standing) int {
		return cmp.Or(
			cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1)),
			cmp.Compare(b.Failed.Weight(), a.Failed.Weight()),
			cmp.Compare(b.Unanswered, a.Unanswered),
			strings.Compare(a.Name, b.Name),
		)
	})
	return out
}

func standingOf(doc snapshot.Document, in *snapshot.Instance) Standing {
	s := Standing{Name: in.Name, Reason: WhyNotChecked(in)}
	if in.Release != nil {
		s.EndOfLife = in.Release.EndOfLife
	}
	if CVEsKnown(in) {
		s.CVEs, s.Versioned, s.Gapped = CVEs(doc, in), true, !CVEsWhole(in)
	}
	if s.Reason != "" {
		return s
	}
	failed, unanswered := map[string]bool{}, map[string]bool{}
	for _, r := range Results(doc, in) {
		switch r.Status {
		case snapshot.StatusFail:
			failed[r.CheckID] = true
		case snapshot.StatusNotAssessed:
			unanswered[r.CheckID] = true
		}
	}
	for id := range failed {
		delete(unanswered, id)
	}
	s.Unanswered = len(unanswered)
	s.Areas = areasOf(doc, in, unanswered)
	s.Failed = failedBySeverity(outcomes(doc, in))
	return s
}

// Support is how long the major versions in scope are still supported.
type Support struct {
	Ended   int // past their end of life
	Ending  int // within the year that follows the snapshot
	Unknown int // active instances whose version the feed does not know
}

// Ending says whether an end of life that is not Over is within the year that follows the
// snapshot.
func Ending(doc snapshot.Document, end time.Time) bool {
	return end.Before(doc.AsOf.AddDate(1, 0, 0))
}

// SupportOf counts the instances in scope. An inactive one may be running: it counts if its version is known.
func SupportOf(doc snapshot.Document) (s Support) {
	for i := range doc.Instances {
		in := &doc.Instances[i]
		switch {
		case in.Release == nil && (!in.Active || KeptBy(in) != ""):
		case in.Release == nil || in.Release.EndOfLife == nil:
			s.Unknown++
		case Over(doc, *in.Release.EndOfLife):
			s.Ended++
		case Ending(doc, *in.Release.EndOfLife):
			s.Ending++
		}
	}
	return s
}
