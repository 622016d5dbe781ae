package feed

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

//go:embed advisories.csv
var advisoriesCSV []byte

// advisory is a CVE of another engine than PostgreSQL, with the versions that it is in.
type advisory struct {
	snapshot.Vulnerability
	engine       fleet.Engine
	affected     []span
	spans        []string // affected, as it is written
	precondition precondition
	published    time.Time
}

func (f *Feed) readAdvisories(text []byte) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var faults []error
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		a, err := readAdvisory(row)
		if key := row[0] + " " + row[1]; err == nil && seen[key] {
			err = errors.New("named twice")
		} else {
			seen[key] = true
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", row[0], row[1], err))
			continue
		}
		f.advisories = append(f.advisories, a)
	}
	f.sortAdvisories()
	return errors.Join(faults...)
}

func (f *Feed) sortAdvisories() {
	slices.SortFunc(f.advisories, func(a, b advisory) int { return strings.Compare(a.ID, b.ID) })
	f.byEngine = map[fleet.Engine][]advisory{}
	for _, a := range f.advisories {
		f.byEngine[a.engine] = append(f.byEngine[a.engine], a)
	}
}

func readAdvisory(row []string) (a advisory, err error) {
	a.engine = fleet.Engine(row[0])
	if a.Vulnerability, a.precondition, _, err = readFacts(row[1], row[2], row[3], row[5], row[6], row[7], row[8], row[10]); err != nil {
		return a, err
	}
	if of, known := knownOf(a.engine); !known || of.FixedReleases {
		return a, fmt.Errorf("unknown engine %q", row[0])
	}
	if a.published, err = time.Parse(time.DateOnly, row[9]); err != nil {
		return a, err
	}
	a.spans = strings.Fields(row[4])
	for _, text := range a.spans {
		s, ok := parseSpan(text)
		if !ok {
			return a, fmt.Errorf("affected %q", text)
		}
		a.affected = append(a.affected, s)
	}
	if len(a.affected) == 0 {
		return a, errors.New("affects no version")
	}
	a.FixedIn = a.fixedIn()
	return a, nil
}

// fixedIn is where each span ends, oldest first.
func (a advisory) fixedIn() []string {
	spans := slices.SortedFunc(slices.Values(a.affected), func(a, b span) int { return a.to.compare(b.to) })
	var out []string
	for _, s := range spans {
		if words := s.ends(); !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	return out
}

func (a advisory) affects(v dotted) bool {
	return slices.ContainsFunc(a.affected, func(s span) bool { return s.holds(v) })
}

// concerns returns the CVEs of an engine that affect a version, sorted by id; and those from
// after its major's end, about which nothing is known.
func (f *Feed) concerns(engine fleet.Engine, v dotted, l *lifecycle, a *snapshot.Assessment) []snapshot.InstanceCVE {
	out := []snapshot.InstanceCVE{}
	for _, one := range f.byEngine[engine] {
		switch {
		case one.affects(v):
			applies, words := one.precondition.holds(a)
			out = append(out, snapshot.InstanceCVE{ID: one.ID, Applies: applies, Precondition: words})
		case l.endOfLife.Before(one.published) && f.mayGoBackTo(l, one):
			out = append(out, one.precondition.unexamined(one.ID, analysis.EngineName(string(engine))+" "+l.name, a))
		}
	}
	return out
}

// mayGoBackTo says whether a CVE may be in a major that was out of support when it was
// published: it is in the oldest major that was in support then. Where that one is not
// affected, the flaw came later than it.
func (f *Feed) mayGoBackTo(l *lifecycle, one advisory) bool {
	var oldest *lifecycle
	for i := range f.lifecycles {
		other := &f.lifecycles[i]
		if other.engine != l.engine || other.endOfLife.Before(one.published) || other.start.compare(l.start) <= 0 {
			continue
		}
		if oldest == nil || other.start.compare(oldest.start) < 0 {
			oldest = other
		}
	}
	return oldest != nil && slices.ContainsFunc(one.affected, func(s span) bool {
		return s.from.compare(oldest.start) <= 0 && s.to.compare(oldest.start) >= 0
	})
}
