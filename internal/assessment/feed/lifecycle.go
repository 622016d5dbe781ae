package feed

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"time"

	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

//go:embed lifecycles.csv
var lifecyclesCSV []byte

// lifecycle is how long a major of another engine than PostgreSQL is supported.
type lifecycle struct {
	engine    fleet.Engine
	name      string // as people call it, "2022", "12c Release 2"
	release   string // as its versions begin, "16", "12.2"
	start     dotted // the same in numbers
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
		var numbers bool
		if l.start, numbers = parseDotted(l.release); !numbers {
			faults = append(faults, fmt.Errorf("%s: release is %q", key, l.release))
		}
		if seen[key] || l.name == "" || l.release == "" || row[4] == "" {
			faults = append(faults, fmt.Errorf("%s: named twice, or without name, release or source", key))
		}
		seen[key] = true
		f.lifecycles = append(f.lifecycles, l)
	}
	return errors.Join(faults...)
}

// releaseOf is how a version of an engine begins, or its name; "" where the text does
// not say.
func releaseOf(engine fleet.Engine, version string) string {
	if of, _ := knownOf(engine); of.Release != nil {
		return of.Release(version)
	}
	return trait.Numbered(version)
}
