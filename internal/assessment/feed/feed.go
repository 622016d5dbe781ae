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

	"muster/internal/snapshot"
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
	vulnerabilities []vulnerability
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
var Load = sync.OnceValues(func() (*Feed, error) { return load(releasesCSV, vulnerabilitiesCSV, lifecyclesCSV) })

func load(releases, vulnerabilities, lifecycles []byte) (*Feed, error) {
	sum := sha256.Sum256(slices.Concat(releases, []byte{0}, vulnerabilities, []byte{0}, lifecycles))
	f := &Feed{identity: snapshot.Feed{Name: Name, Date: date, Digest: hex.EncodeToString(sum[:])}}
	if err := errors.Join(f.readReleases(releases), f.readVulnerabilities(vulnerabilities), f.readLifecycles(lifecycles)); err != nil {
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
	v.Vulnerability = snapshot.Vulnerability{
		ID: row[0], Vector: row[2], FixedIn: strings.Fields(row[3]), Component: row[4], Title: row[7], Source: row[8],
	}
	v.precondition = precondition{kind: row[5], value: row[6]}
	if !slices.Contains([]string{"", "client", "extension", "attribute", "build", "check", "unverified"}, v.precondition.kind) {
		return v, fmt.Errorf("unknown precondition %q", v.precondition.kind)
	}
	if v.CVSS, err = strconv.ParseFloat(row[1], 64); err != nil || v.CVSS < 0 || v.CVSS > 10 {
		return v, fmt.Errorf("score %q", row[1])
	}
	id := strings.Split(v.ID, "-")
	if len(id) != 3 || id[0] != "CVE" {
		return v, errors.New("the id is no CVE id")
	}
	if v.year, err = strconv.Atoi(id[1]); err != nil {
		return v, errors.New("the id has no year")
	}
	v.fixed = make(map[string]Version, len(v.FixedIn))
	for _, text := range v.FixedIn {
		fixed, ok := ParseVersion(text)
		if _, twice := v.fixed[fixed.Major]; !ok || twice {
			return v, fmt.Errorf("fixed in %q", text)
		}
		v.fixed[fixed.Major] = fixed
	}
	if len(v.fixed) == 0 {
		return v, errors.New("fixed nowhere")
	}
	return v, nil
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

// Vulnerabilities returns what the feed knows of those CVEs, sorted by id.
func (f *Feed) Vulnerabilities(concerns ...[]snapshot.InstanceCVE) []snapshot.Vulnerability {
	named := make(map[string]bool)
	for _, list := range concerns {
		for _, c := range list {
			named[c.ID] = true
		}
	}
	out := make([]snapshot.Vulnerability, 0, len(named))
	for _, v := range f.vulnerabilities {
		if named[v.ID] {
			one := v.Vulnerability
			one.FixedIn = slices.Clone(v.FixedIn)
			out = append(out, one)
		}
	}
	return out
}
