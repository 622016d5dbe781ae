package feed

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

//go:embed releases.csv
var releasesCSV []byte

//go:embed vulnerabilities.csv
var vulnerabilitiesCSV []byte

// Name is what reports call the feed.
const Name = "Muster's release and CVE feed"

// date is when the tables were last compared with their sources.
var date = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// Feed is the loaded release and CVE feed.
type Feed struct {
	majors          []major // of PostgreSQL, oldest first
	lifecycles      []lifecycle
	builds          []build
	costs           []cost
	coverage        []coverage
	vulnerabilities []vulnerability // of PostgreSQL, sorted by id
	advisories      []advisory      // of the other engines, sorted by id
	byEngine        map[fleet.Engine][]advisory
	exploited       map[string]time.Time // CVEs, with the day on which CISA listed them
	list            *ExploitedList       // where exploited is from an update
	updates         []Record             // that are in them besides
	identity        snapshot.Feed
}

type major struct {
	name      string
	endOfLife time.Time
	latest    Version
}

type vulnerability struct {
	snapshot.Vulnerability
	year         int
	fixed        map[string]Version // by major
	precondition precondition
}

type precondition struct{ kind, value string }

// Load reads and validates the embedded tables, once a process. The error names every
// fault.
var Load = sync.OnceValues(func() (*Feed, error) { return load(embedded()) })

// tables are the files that the feed is made of.
type tables struct {
	releases, vulnerabilities, lifecycles, builds, advisories, costs, coverage, exploited []byte
}

func embedded() tables {
	return tables{releasesCSV, vulnerabilitiesCSV, lifecyclesCSV, buildsCSV, advisoriesCSV, costsCSV, coverageCSV, exploitedCSV}
}

func load(t tables) (*Feed, error) {
	sum := sha256.Sum256(bytes.Join([][]byte{t.releases, t.vulnerabilities, t.lifecycles, t.builds, t.advisories, t.costs, t.coverage, t.exploited}, []byte{0}))
	listed := date
	f := &Feed{identity: snapshot.Feed{Name: Name, Date: date, Digest: hex.EncodeToString(sum[:]), ExploitedUntil: &listed}}
	if err := errors.Join(f.readReleases(t.releases), f.readVulnerabilities(t.vulnerabilities), f.readLifecycles(t.lifecycles),
		f.readBuilds(t.builds), f.readAdvisories(t.advisories), f.readCosts(t.costs), f.readCoverage(t.coverage), f.readExploited(t.exploited)); err != nil {
		return nil, fmt.Errorf("release and CVE feed: %w", err)
	}
	return f, nil
}

func (f *Feed) readReleases(text []byte) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	for _, row := range rows[1:] {
		m := major{name: row[0]}
		if m.endOfLife, err = time.Parse(time.DateOnly, row[1]); err != nil {
			return fmt.Errorf("major %s: %w", m.name, err)
		}
		if row[2] != "" {
			latest, ok := ParseVersion(row[2])
			if !ok || latest.Major != m.name {
				return fmt.Errorf("major %s: latest is %q", m.name, row[2])
			}
			m.latest = latest
		}
		f.majors = append(f.majors, m)
	}
	return nil
}

func (f *Feed) readVulnerabilities(text []byte) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var faults []error
	for _, row := range rows[1:] {
		v, err := readVulnerability(row)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", row[0], err))
			continue
		}
		for _, fixed := range v.fixed {
			f.raiseLatest(fixed)
		}
		f.vulnerabilities = append(f.vulnerabilities, v)
	}
	slices.SortFunc(f.vulnerabilities, func(a, b vulnerability) int { return strings.Compare(a.ID, b.ID) })
	return errors.Join(faults...)
}

func readVulnerability(row []string) (v vulnerability, err error) {
	if v.Vulnerability, v.precondition, v.year, err = readFacts(row[0], row[1], row[2], row[4], row[5], row[6], row[7], row[8]); err != nil {
		return v, err
	}
	v.FixedIn = strings.Fields(row[3])
	v.fixed, err = fixedByMajor(v.FixedIn)
	return v, err
}

// fixedByMajor reads the releases that fix a vulnerability of PostgreSQL, one a major.
func fixedByMajor(releases []string) (map[string]Version, error) {
	out := make(map[string]Version, len(releases))
	for _, text := range releases {
		fixed, ok := ParseVersion(text)
		if _, twice := out[fixed.Major]; !ok || twice {
			return nil, fmt.Errorf("fixed in %q", text)
		}
		out[fixed.Major] = fixed
	}
	if len(out) == 0 {
		return nil, errors.New("fixed nowhere")
	}
	return out, nil
}

// readFacts reads what a table says of a vulnerability of any engine.
func readFacts(id, cvss, vector, component, kind, value, title, source string) (v snapshot.Vulnerability, p precondition, year int, err error) {
	v = snapshot.Vulnerability{ID: id, Vector: vector, Component: component, Title: title, Source: source}
	p = precondition{kind: kind, value: value}
	if !slices.Contains([]string{"", "client", "extension", "attribute", "build", "check", "script", "unverified"}, kind) {
		return v, p, 0, fmt.Errorf("unknown precondition %q", kind)
	}
	if v.CVSS, err = strconv.ParseFloat(cvss, 64); err != nil || v.CVSS < 0 || v.CVSS > 10 {
		return v, p, 0, fmt.Errorf("score %q", cvss)
	}
	year, err = yearOf(id)
	return v, p, year, err
}

// yearOf reads the year in the name of a CVE.
func yearOf(id string) (int, error) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 || parts[0] != "CVE" {
		return 0, errors.New("the id is no CVE id")
	}
	year, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0, errors.New("the id has no year")
	}
	return year, nil
}

func (f *Feed) raiseLatest(fixed Version) {
	for i := range f.majors {
		if m := &f.majors[i]; m.name == fixed.Major && fixed.Minor > m.latest.Minor {
			m.latest = fixed
		}
	}
}

// Identity says which feed this is, as reports print it.
func (f *Feed) Identity() snapshot.Feed { return f.identity }

func (f *Feed) major(name string) (major, bool) {
	i := slices.IndexFunc(f.majors, func(m major) bool { return m.name == name })
	if i < 0 {
		return major{}, false
	}
	return f.majors[i], true
}

// scoredBy says whose score a record has: sources differ about the same CVE.
func scoredBy(source string) string {
	switch {
	case strings.Contains(source, "score computed from the vector"):
		return "computed from the vector"
	case strings.Contains(source, "(CNA"), strings.Contains(source, "of the CNA"), strings.Contains(source, "cvelistV5"):
		return "the vendor"
	default:
		return "the source named"
	}
}

// Vulnerabilities returns what the feed knows of those CVEs, sorted by id.
func (f *Feed) Vulnerabilities(concerns ...[]snapshot.InstanceCVE) []snapshot.Vulnerability {
	named := make(map[string]bool)
	for _, list := range concerns {
		for _, c := range list {
			named[c.ID] = true
		}
	}
	out := make([]snapshot.Vulnerability, 0, len(named))
	take := func(v snapshot.Vulnerability) {
		if named[v.ID] {
			v.FixedIn, v.ScoredBy = slices.Clone(v.FixedIn), scoredBy(v.Source)
			if added, listed := f.exploited[v.ID]; listed {
				v.ExploitedSince = &added
			}
			out = append(out, v)
		}
	}
	for _, v := range f.vulnerabilities {
		take(v.Vulnerability)
	}
	for _, a := range f.advisories {
		v, published := a.Vulnerability, a.published
		v.Published = &published
		take(v)
	}
	slices.SortFunc(out, func(a, b snapshot.Vulnerability) int { return strings.Compare(a.ID, b.ID) })
	return out
}
