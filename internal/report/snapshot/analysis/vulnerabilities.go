package analysis

import (
	"time"

	"muster/internal/engine"
	"muster/internal/report/snapshot"
)

// CVECounts are CVEs by the band of their score. What is open and what is only not
// ruled out are never added up: a figure of open CVEs is one of known holes.
type CVECounts struct {
	Open, Possible               SeverityCounts
	HighestOpen, HighestPossible float64 // CVSS; 0 where there is none
}

// Highest is the highest CVSS of both.
func (c CVECounts) Highest() float64 { return max(c.HighestOpen, c.HighestPossible) }

func (c *CVECounts) addCVE(applies string, cvss float64) {
	switch applies {
	case snapshot.CVENotExploitable:
	case snapshot.CVEOpen:
		c.Open[Rank(Band(cvss))]++
		c.HighestOpen = max(c.HighestOpen, cvss)
	default:
		c.Possible[Rank(Band(cvss))]++
		c.HighestPossible = max(c.HighestPossible, cvss)
	}
}

// scores are the CVSS of the CVEs that a document knows.
func scores(doc snapshot.Document) map[string]float64 {
	out := make(map[string]float64, len(doc.Vulnerabilities))
	for _, v := range doc.Vulnerabilities {
		out[v.ID] = v.CVSS
	}
	return out
}

// CVEsKnown says whether the feed knows the CVEs of an instance's version: without, no
// CVE says nothing.
func CVEsKnown(in *snapshot.Instance) bool { return in.Release != nil && !in.Release.CVEsUnknown }

// CVEsWhole says whether the feed knows of no gap in the CVEs of an instance's version:
// only then is no CVE a clean one.
func CVEsWhole(in *snapshot.Instance) bool { return CVEsKnown(in) && in.Release.CVEGap == "" }

// CVEs counts those of an instance.
func CVEs(doc snapshot.Document, in *snapshot.Instance) CVECounts {
	var c CVECounts
	cvss := scores(doc)
	for _, one := range in.CVEs {
		c.addCVE(one.Applies, cvss[one.ID])
	}
	return c
}

// AllCVEs counts the different CVEs of the instances, also of inactive ones, which may be running: open where one of them
// is known to be exposed, else possible where one is not ruled out.
func AllCVEs(doc snapshot.Document) CVECounts {
	var c CVECounts
	cvss, applies := scores(doc), map[string]string{}
	for _, in := range doc.Instances {
		if in.Release == nil {
			continue
		}
		for _, one := range in.CVEs {
			if one.Applies != snapshot.CVENotExploitable && applies[one.ID] != snapshot.CVEOpen {
				applies[one.ID] = one.Applies
			}
		}
	}
	for id, how := range applies { // sums of whole numbers and maxima: the order does not show
		c.addCVE(how, cvss[id])
	}
	return c
}

// KeptBy is who keeps an instance's version up to date, if it is not its owner: such an instance has neither a release
// nor CVEs that somebody here could mend.
func KeptBy(in *snapshot.Instance) string {
	if in.Assessment == nil {
		return ""
	}
	return engine.KeptBy(in.Engine, in.Assessment.Edition)
}

// Over says whether an end of life is past as of the snapshot.
func Over(doc snapshot.Document, end time.Time) bool { return !end.After(doc.AsOf) }

// Ended says since when an instance's major version has been past its end of life; ok is
// false if it is not, or if that is unknown.
func Ended(doc snapshot.Document, in *snapshot.Instance) (since time.Time, ok bool) {
	if in.Release == nil || in.Release.EndOfLife == nil || !Over(doc, *in.Release.EndOfLife) {
		return time.Time{}, false
	}
	return *in.Release.EndOfLife, true
}
