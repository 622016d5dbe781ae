package feed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

// Record is a published vulnerability as an update of the feed brings it.
type Record struct {
	Engine    fleet.Engine `json:"engine"`
	ID        string       `json:"id"`
	CVSS      float64      `json:"cvss"`
	Vector    string       `json:"vector"`
	Title     string       `json:"title"`
	Component string       `json:"component"`
	// Affected are the versions that it is in: of PostgreSQL the releases that fix it, one
	// a major, of the other engines spans, both as the tables have them. Sorted.
	Affected  []string  `json:"affected"`
	Withdrawn bool      `json:"withdrawn,omitempty"`
	Published time.Time `json:"published"`
	Modified  time.Time `json:"modified"`
	Source    string    `json:"source"`
	// Forced: it was taken although what was known is newer.
	Forced bool `json:"forced,omitempty"`
}

// Source is where the feed is read from as it is now. A Feed is its own, for what is
// embedded does not change; the feed with its updates is kept beside the facts.
type Source interface {
	Current(ctx context.Context) (*Feed, error)
}

var _ Source = (*Feed)(nil)

// Current is the feed itself.
func (f *Feed) Current(context.Context) (*Feed, error) { return f, nil }

// Problem is why a record is refused.
type Problem struct {
	Record string // its id, or where it stands in the file
	Rule   string // a word for the rule that it breaks
	Words  string
}

func (p Problem) String() string { return p.Record + ": " + p.Rule + ": " + p.Words }

// Kinds of a Change.
const (
	New     = "new"
	Changed = "changed"
	Dropped = "dropped"
)

// Change is what an update does to one vulnerability.
type Change struct {
	Kind   string
	Record Record
	Words  string // what is other than before; empty: it is new, or gone
}

// Plan compares records with the feed. It returns what they would change, sorted by engine and
// id, and all their problems; with a problem nothing may be changed. older accepts records that
// are older than the feed's knowledge.
func (f *Feed) Plan(records []Record, now time.Time, older bool) (changes []Change, problems []Problem) {
	for _, r := range records {
		if err := r.check(now); err != nil {
			problems = append(problems, *err)
			continue
		}
		was, known := f.known(r.Engine, r.ID)
		words := r.differs(was)
		switch {
		case r.Withdrawn && !known, known && words == "" && !r.Withdrawn:
			continue
		case known && r.Modified.Before(was.Modified) && !older:
			problems = append(problems, Problem{r.ID, "older", fmt.Sprintf("it is of %s and says %s, and what is known is of %s",
				r.Modified.Format(time.DateOnly), cmp.Or(words, "withdrawn"), was.Modified.Format(time.DateOnly))})
			continue
		}
		c := Change{Kind: Changed, Record: r, Words: words}
		c.Record.Forced = known && r.Modified.Before(was.Modified)
		switch {
		case r.Withdrawn:
			c.Kind, c.Words = Dropped, ""
		case !known:
			c.Kind, c.Words = New, ""
		}
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(order(a.Record.Engine), order(b.Record.Engine)), strings.Compare(a.Record.ID, b.Record.ID))
	})
	slices.SortStableFunc(problems, func(a, b Problem) int { return strings.Compare(a.Record, b.Record) })
	return changes, problems
}

// check holds a record to the rules that need no other.
func (r Record) check(now time.Time) *Problem {
	broken := func(rule, format string, args ...any) *Problem {
		return &Problem{r.ID, rule, fmt.Sprintf(format, args...)}
	}
	if _, err := yearOf(r.ID); err != nil {
		return broken("id", "%v", err)
	}
	if r.Modified.After(now.Add(24 * time.Hour)) {
		return broken("future", "it was modified on %s, which is to come", r.Modified.Format(time.DateOnly))
	}
	if r.Withdrawn {
		return nil
	}
	if r.Title == "" {
		return broken("title", "it has none")
	}
	if len(r.Affected) == 0 {
		return broken("range", "it affects no version")
	}
	if r.Engine == fleet.PostgreSQL {
		if _, err := fixedByMajor(r.Affected); err != nil {
			return broken("range", "%v", err)
		}
		return nil
	}
	if _, known := knownOf(r.Engine); !known {
		return broken("engine", "%q is not a known engine", r.Engine)
	}
	for _, text := range r.Affected {
		if _, ok := parseSpan(text); !ok {
			return broken("range", "%q ends before it begins, or is no range", text)
		}
	}
	return nil
}

// differs says in words how a record differs from earlier knowledge: versions with another
// result, and the score.
func (r Record) differs(was Record) string {
	if was.ID == "" {
		return ""
	}
	var out []string
	if !slices.Equal(r.Affected, was.Affected) {
		out = append(out, "versions "+strings.Join(r.Affected, " ")+", and they were "+strings.Join(was.Affected, " "))
	}
	if r.CVSS != was.CVSS || r.Vector != was.Vector {
		out = append(out, "CVSS "+score(r)+", and it was "+score(was))
	}
	return strings.Join(out, "; ")
}

func score(r Record) string { return strconv.FormatFloat(r.CVSS, 'f', 1, 64) + " " + r.Vector }

// known is what the feed has of a CVE, as a record.
func (f *Feed) known(engine fleet.Engine, id string) (Record, bool) {
	for _, r := range f.updates {
		if r.Engine == engine && r.ID == id {
			return r, !r.Withdrawn
		}
	}
	until := f.untilOf(engine)
	if engine == fleet.PostgreSQL {
		i := slices.IndexFunc(f.vulnerabilities, func(v vulnerability) bool { return v.ID == id })
		if i < 0 {
			return Record{}, false
		}
		v := f.vulnerabilities[i]
		return Record{Engine: engine, ID: id, CVSS: v.CVSS, Vector: v.Vector, Title: v.Title, Affected: SortReleases(v.FixedIn), Modified: until}, true
	}
	i := slices.IndexFunc(f.advisories, func(a advisory) bool { return a.engine == engine && a.ID == id })
	if i < 0 {
		return Record{}, false
	}
	a := f.advisories[i]
	return Record{Engine: engine, ID: id, CVSS: a.CVSS, Vector: a.Vector, Title: a.Title, Affected: SortSpans(a.spans), Modified: until}, true
}

// SortReleases puts releases of PostgreSQL in the order in which they are compared.
func SortReleases(releases []string) []string {
	return slices.SortedFunc(slices.Values(releases), func(a, b string) int {
		x, _ := parseDotted(a)
		y, _ := parseDotted(b)
		return x.compare(y)
	})
}

// SortSpans puts spans in the order in which they are compared.
func SortSpans(spans []string) []string {
	return slices.SortedFunc(slices.Values(spans), func(a, b string) int {
		x, _ := parseSpan(a)
		y, _ := parseSpan(b)
		return cmp.Or(slices.Compare(x.from, y.from), slices.Compare(x.to, y.to))
	})
}

// Merge adds changes to the updates that are kept: one a vulnerability, sorted.
func Merge(kept []Record, changes []Change) []Record {
	out := slices.Clone(kept)
	for _, c := range changes {
		i := slices.IndexFunc(out, func(r Record) bool { return r.Engine == c.Record.Engine && r.ID == c.Record.ID })
		if i < 0 {
			out = append(out, c.Record)
		} else {
			out[i] = c.Record
		}
	}
	slices.SortFunc(out, func(a, b Record) int {
		return cmp.Or(strings.Compare(string(a.Engine), string(b.Engine)), strings.Compare(a.ID, b.ID))
	})
	return out
}

// Encode is the form in which updates are kept and digested.
func Encode(records []Record) ([]byte, error) { return json.Marshal(records) }

// With returns the feed with updates: a function of both, so equal inputs give equal feeds. The
// precondition and the component of a known vulnerability stay, because records do not have
// them. Newer knowledge in the tables also stays, unless the record was forced.
func (f *Feed) With(updates []Record) (*Feed, error) {
	if len(updates) == 0 {
		return f, nil
	}
	encoded, err := Encode(updates)
	if err != nil {
		return nil, fmt.Errorf("updates of the feed: %w", err)
	}
	sum := sha256.Sum256(append([]byte(f.identity.Digest+"\n"), encoded...))
	changed := *f
	out := &changed
	out.majors, out.builds, out.coverage = slices.Clone(f.majors), slices.Clone(f.builds), slices.Clone(f.coverage)
	out.vulnerabilities, out.advisories, out.updates = slices.Clone(f.vulnerabilities), slices.Clone(f.advisories), updates
	out.identity.Digest = hex.EncodeToString(sum[:])
	var faults []error
	for _, r := range updates {
		if _, inTables := f.known(r.Engine, r.ID); inTables && !r.Forced && r.Modified.Before(f.untilOf(r.Engine)) {
			continue
		}
		if err := out.take(r); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", r.ID, err))
		}
		day := r.Modified.UTC().Truncate(24 * time.Hour)
		if day.After(out.identity.Date) {
			out.identity.Date = day
		}
		for i := range out.coverage {
			if c := &out.coverage[i]; c.engine == r.Engine && day.After(c.until) {
				c.until = day
			}
		}
	}
	slices.SortFunc(out.vulnerabilities, func(a, b vulnerability) int { return strings.Compare(a.ID, b.ID) })
	out.sortAdvisories()
	return out, errors.Join(faults...)
}

// take puts one record into the tables.
func (f *Feed) take(r Record) error {
	v := snapshot.Vulnerability{ID: r.ID, CVSS: r.CVSS, Vector: r.Vector, Title: r.Title, Component: r.Component, Source: r.Source}
	if r.Engine == fleet.PostgreSQL {
		was := slices.IndexFunc(f.vulnerabilities, func(v vulnerability) bool { return v.ID == r.ID })
		one := vulnerability{Vulnerability: v}
		if was >= 0 {
			one.precondition, one.Component = f.vulnerabilities[was].precondition, f.vulnerabilities[was].Component
			f.vulnerabilities = slices.Delete(f.vulnerabilities, was, was+1)
		}
		if r.Withdrawn {
			return nil
		}
		var err error
		if one.year, err = yearOf(r.ID); err != nil {
			return err
		}
		one.FixedIn = r.Affected
		if one.fixed, err = fixedByMajor(r.Affected); err != nil {
			return err
		}
		for _, fixed := range one.fixed {
			f.raiseLatest(fixed)
		}
		f.vulnerabilities = append(f.vulnerabilities, one)
		return nil
	}
	was := slices.IndexFunc(f.advisories, func(a advisory) bool { return a.engine == r.Engine && a.ID == r.ID })
	one := advisory{Vulnerability: v, engine: r.Engine, published: r.Published, spans: r.Affected}
	if was >= 0 {
		one.precondition, one.Component = f.advisories[was].precondition, f.advisories[was].Component
		f.advisories = slices.Delete(f.advisories, was, was+1)
	}
	if r.Withdrawn {
		return nil
	}
	for _, text := range r.Affected {
		s, ok := parseSpan(text)
		if !ok {
			return fmt.Errorf("affected %q", text)
		}
		one.affected = append(one.affected, s)
		f.raiseBuild(r, s)
	}
	one.FixedIn = one.fixedIn()
	f.advisories = append(f.advisories, one)
	return nil
}

// raiseBuild knows that a build exists which a record names as the first that is fixed.
func (f *Feed) raiseBuild(r Record, s span) {
	if !s.fixed {
		return
	}
	for i := range f.lifecycles {
		l := &f.lifecycles[i]
		if l.engine != r.Engine || s.to.compare(l.start) != 0 || len(s.to) <= len(l.start) || s.to.isFirstOf(l.start) {
			continue
		}
		if latest, ok := f.latest(l, nil); !ok || s.to.compare(latest.version) > 0 {
			f.builds = append(f.builds, build{engine: l.engine, major: l.name, version: s.to, published: r.Published})
		}
	}
}

// untilOf is when what the tables have of an engine was written.
func (f *Feed) untilOf(engine fleet.Engine) time.Time {
	for _, c := range f.coverage {
		if c.engine == engine {
			return c.written
		}
	}
	return f.identity.Date
}

// Updates are the records that were added to the tables.
func (f *Feed) Updates() []Record { return f.updates }
