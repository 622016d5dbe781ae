package feed

import (
	"time"

	"muster/domain/fleet"
)

// Entry is what the feed knows of one major.
type Entry struct {
	Engine    fleet.Engine
	Major     string
	EndOfLife time.Time
	Latest    string // empty: not known
	CVEs      int    // fixed in a minor of it
	CVEsKnown bool   // false: the feed has none of the engine
}

// Entries are all majors, by engine and age.
func (f *Feed) Entries() []Entry {
	out := make([]Entry, 0, len(f.majors)+len(f.lifecycles))
	for _, m := range f.majors {
		e := Entry{Engine: fleet.PostgreSQL, Major: m.name, EndOfLife: m.endOfLife, Latest: m.latest.String(), CVEsKnown: true}
		for _, v := range f.vulnerabilities {
			if _, named := v.fixed[m.name]; named {
				e.CVEs++
			}
		}
		out = append(out, e)
	}
	for _, l := range f.lifecycles {
		out = append(out, Entry{Engine: l.engine, Major: l.name, EndOfLife: l.endOfLife})
	}
	return out
}

// Gaps are what the feed does not know, in sentences.
func Gaps() []string {
	return []string{
		"CVEs and latest releases of SQL Server, Oracle, MySQL and MongoDB are not known.",
		"The end of life of MySQL 9.7, of MongoDB 8.1 and of MariaDB is not known.",
		"Of SQL Server the end of extended support is meant, of Oracle that of Premier Support; what is paid for beyond it does not count.",
	}
}
