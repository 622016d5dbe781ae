package feed

import (
	"slices"
	"time"

	"muster/domain/fleet"
)

// Entry is what the feed knows of one major.
type Entry struct {
	Engine    fleet.Engine
	Major     string
	EndOfLife time.Time
	Latest    string    // empty: not known
	LatestAt  time.Time // zero: not known
	CVEs      int       // of some version of it
	CVEsKnown bool      // false: the feed has none of the engine
	Whole     bool      // the feed knows of no gap in the engine's CVEs
}

// Entries are all majors, by engine and age.
func (f *Feed) Entries() []Entry {
	out := make([]Entry, 0, len(f.majors)+len(f.lifecycles))
	for _, m := range f.majors {
		e := Entry{Engine: fleet.PostgreSQL, Major: m.name, EndOfLife: m.endOfLife, Latest: m.latest.String(), CVEsKnown: true, Whole: f.gapOf(fleet.PostgreSQL) == ""}
		for _, v := range f.vulnerabilities {
			if _, named := v.fixed[m.name]; named {
				e.CVEs++
			}
		}
		out = append(out, e)
	}
	for i := range f.lifecycles {
		l := &f.lifecycles[i]
		advisories := f.byEngine[l.engine]
		e := Entry{Engine: l.engine, Major: l.name, EndOfLife: l.endOfLife, CVEsKnown: len(advisories) > 0, Whole: f.gapOf(l.engine) == ""}
		if latest, ok := f.latest(l, nil); ok {
			e.Latest, e.LatestAt = latest.String(), latest.published
		}
		for _, a := range advisories {
			if slices.ContainsFunc(a.affected, l.overlaps) {
				e.CVEs++
			}
		}
		out = append(out, e)
	}
	return out
}

// overlaps says whether a span has a version of this major.
func (l *lifecycle) overlaps(s span) bool {
	return s.from.compare(l.start) <= 0 && s.to.compare(l.start) >= 0 && (!s.fixed || !s.to.isFirstOf(l.start))
}

// isFirstOf says whether d is the first version of a major, 8.0.0 of 8.0.
func (d dotted) isFirstOf(start dotted) bool {
	return len(d) >= len(start) && d.compare(start) == 0 && !slices.ContainsFunc(d[len(start):], func(n int) bool { return n != 0 })
}

// Gaps are what the feed does not know, in sentences.
func (f *Feed) Gaps() []string {
	var out []string
	for _, c := range f.coverage {
		if c.gap != "" {
			out = append(out, "As of "+c.until.Format(time.DateOnly)+": "+c.gap+".")
		}
	}
	return append(out,
		"The end of life of MySQL 9.7 and of MariaDB is not known.",
		"The end of life is the end of extended support for SQL Server, and of Premier Support for Oracle; paid support beyond it does not count.")
}
