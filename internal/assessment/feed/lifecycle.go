package feed

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/snapshot"
)

//go:embed lifecycles.csv
var lifecyclesCSV []byte

// lifecycle is how long a major of another engine than PostgreSQL is supported.
type lifecycle struct {
	engine    fleet.Engine
	name      string // as people call it, "2022", "12c Release 2"
	release   string // as its versions begin, "16", "12.2"
	endOfLife time.Time
}

func (f *Feed) readLifecycles(text []byte) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var faults []error
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		l := lifecycle{engine: fleet.Engine(row[0]), name: row[1], release: row[2]}
		if l.endOfLife, err = time.Parse(time.DateOnly, row[3]); err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", row[0], row[1], err))
			continue
		}
		key := row[0] + " " + row[2]
		if seen[key] || l.name == "" || l.release == "" || row[4] == "" {
			faults = append(faults, fmt.Errorf("%s: named twice, or without name, release or source", key))
		}
		seen[key] = true
		f.lifecycles = append(f.lifecycles, l)
	}
	return errors.Join(faults...)
}

// How versions of other engines are written: "16.0.4135.4" and "2022 CU14",
// "19.24.0.0.0" and "19c", "8.0.36-28", "7.0.12".
var (
	numbered   = regexp.MustCompile(`^\D*?(\d+)\.(\d+)`)
	build      = regexp.MustCompile(`^\d{1,2}\.`)
	marketed   = regexp.MustCompile(`\b(20\d\d)( R2)?\b`)
	generation = regexp.MustCompile(`^\D*?(\d+)(?:c|g|ai)\b`)
)

// releaseOf is how a version of an engine begins, or its name; "" where the text does
// not say.
func releaseOf(engine fleet.Engine, version string) string {
	if engine == fleet.SQLServer && !build.MatchString(version) {
		if m := marketed.FindString(version); m != "" {
			return m
		}
	}
	if m := numbered.FindStringSubmatch(version); m != nil {
		return m[1] + "." + m[2]
	}
	if m := generation.FindStringSubmatch(version); m != nil && engine == fleet.Oracle {
		return m[1]
	}
	return ""
}

// Lifecycle returns how long a version of another engine than PostgreSQL is supported:
// nil where the feed does not know its major. No CVEs of these engines are known, and
// the answer says so. A major past its end of life has to be left for the one that is
// supported longest.
func (f *Feed) Lifecycle(engine fleet.Engine, version string, at time.Time) *snapshot.Release {
	release := releaseOf(engine, version)
	if release == "" || engine == fleet.MySQL && strings.Contains(strings.ToLower(version), "maria") {
		return nil
	}
	var longest *lifecycle
	var found *lifecycle
	for i := range f.lifecycles {
		l := &f.lifecycles[i]
		if l.engine != engine {
			continue
		}
		if longest == nil || l.endOfLife.After(longest.endOfLife) {
			longest = l
		}
		if release == l.name || release == l.release || strings.HasPrefix(release, l.release+".") {
			found = l
		}
	}
	if found == nil {
		return nil
	}
	end := found.endOfLife
	r := &snapshot.Release{Major: found.name, EndOfLife: &end, CVEsUnknown: true}
	if !at.Before(end) && at.Before(longest.endOfLife) {
		target := longest.endOfLife
		r.Target, r.TargetEndOfLife = longest.name, &target
	}
	return r
}
