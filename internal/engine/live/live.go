package live

import (
	"fmt"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/inspection"
	"muster/internal/intake/measure"
)

// Engine is how Muster works with the servers of one engine.
type Engine struct {
	Name fleet.Engine
	// Inspect returns what assesses its servers. An error names every fault in the embedded
	// catalogue, feed or rules.
	Inspect func(now func() time.Time) (inspection.Inspector, error)
	// Measure returns what measures its servers.
	Measure func(now func() time.Time) measure.Engine
	// Script gives an account what both need on a server of a version; of all versions where
	// none is given. ok is false for a version that is not measured.
	Script func(version, classify string) (script string, ok bool)
}

var all = []Engine{postgreSQL, sqlServer, oracle}

// Names returns the engines that Muster connects to.
func Names() (names []string) {
	for _, e := range all {
		names = append(names, string(e.Name))
	}
	return names
}

// Inspectors are what assesses servers, by engine. An error names every fault in the embedded
// catalogue, feed or rules.
func Inspectors(now func() time.Time) (map[fleet.Engine]inspection.Inspector, error) {
	inspectors := make(map[fleet.Engine]inspection.Inspector, len(all))
	for _, e := range all {
		var err error
		if inspectors[e.Name], err = e.Inspect(now); err != nil {
			return nil, err
		}
	}
	return inspectors, nil
}

// Measured are what measures servers, by engine.
func Measured(now func() time.Time) map[fleet.Engine]measure.Engine {
	measured := make(map[fleet.Engine]measure.Engine, len(all))
	for _, e := range all {
		measured[e.Name] = e.Measure(now)
	}
	return measured
}

// Grants is the script that gives an account what measuring and assessing need of an engine.
func Grants(engine fleet.Engine, version, classify string) (string, error) {
	for _, e := range all {
		if e.Name != engine {
			continue
		}
		script, ok := e.Script(version, classify)
		if !ok {
			return "", fmt.Errorf("--version %q is not supported", version)
		}
		return script, nil
	}
	return "", fmt.Errorf("--engine is %q, but must be one of %s", engine, strings.Join(Names(), ", "))
}
