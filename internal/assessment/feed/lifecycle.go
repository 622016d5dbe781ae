package feed

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"time"

	"muster/domain/fleet"
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

// How versions of other engines are written: "16.0.4135.4" and "2022 CU14",
// "19.24.0.0.0" and "19c", "8.0.36-28", "7.0.12".
var (
	numbered   = regexp.MustCompile(`^\D*?(\d+)\.(\d+)`)
	builtAs    = regexp.MustCompile(`^\d{1,2}\.`)
	marketed   = regexp.MustCompile(`\b(20\d\d)( R2)?\b`)
	generation = regexp.MustCompile(`^\D*?(\d+)(?:c|g|ai)?(?:$|[^.\w])`)
)

// releaseOf is how a version of an engine begins, or its name; "" where the text does
// not say.
func releaseOf(engine fleet.Engine, version string) string {
	if engine == fleet.SQLServer && !builtAs.MatchString(version) {
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
