package feed

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/domain/fleet"
)

var (
	//go:embed costs.csv
	costsCSV []byte
	//go:embed coverage.csv
	coverageCSV []byte
)

// cost says what an update within a major, or the way to another one, takes.
type cost struct {
	engine fleet.Engine
	major  bool
	words  string
}

func (f *Feed) readCosts(text []byte) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var faults []error
	for _, row := range rows[1:] {
		if row[1] != "minor" && row[1] != "major" || row[2] == "" || row[3] == "" {
			faults = append(faults, fmt.Errorf("cost of %s: it is %q, without words or without source", row[0], row[1]))
		}
		f.costs = append(f.costs, cost{engine: fleet.Engine(row[0]), major: row[1] == "major", words: row[2]})
	}
	return errors.Join(faults...)
}

func (f *Feed) costOf(engine fleet.Engine, major bool) string {
	for _, c := range f.costs {
		if c.engine == engine && c.major == major {
			return c.words
		}
	}
	return ""
}

// coverage says which CVEs of an engine are known, and what is missing.
type coverage struct {
	engine  fleet.Engine
	written time.Time // the sources of the tables
	until   time.Time // the same, or the newest of the updates
	gap     string    // in words; empty: none is known of
}

func (f *Feed) readCoverage(text []byte) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var faults []error
	for _, row := range rows[1:] {
		until, err := time.Parse(time.DateOnly, row[1])
		if err != nil {
			faults = append(faults, fmt.Errorf("coverage of %s: %w", row[0], err))
		}
		f.coverage = append(f.coverage, coverage{engine: fleet.Engine(row[0]), written: until, until: until, gap: row[2]})
	}
	return errors.Join(faults...)
}

// coverageOf is what the feed covers of an engine; nil: it has no entry.
func (f *Feed) coverageOf(engine fleet.Engine) *coverage {
	i := slices.IndexFunc(f.coverage, func(c coverage) bool { return c.engine == engine })
	if i < 0 {
		return nil
	}
	c := f.coverage[i]
	return &c
}

// knownUntil is the day on which the knowledge of an engine ends; nil: it has no entry.
func (f *Feed) knownUntil(engine fleet.Engine) *time.Time {
	if c := f.coverageOf(engine); c != nil {
		return &c.until
	}
	return nil
}

// gapOf is what is missing of an engine's CVEs; empty: nothing that is known of.
func (f *Feed) gapOf(engine fleet.Engine) string {
	if c := f.coverageOf(engine); c != nil {
		return c.gap
	}
	return "no CVE of " + engineName(engine) + " is known"
}
