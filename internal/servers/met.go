package servers

import (
	_ "embed" // the table
	"encoding/json"
	"fmt"
	"strings"

	"muster/domain/fleet"
)

//go:embed met.json
var metJSON []byte

// Met says for an engine which versions Muster serves, and with which of them its collectors
// were tried live. The pages read the same file; a test compares README and docs with it.
type Met struct {
	Engine fleet.Engine `json:"engine"`
	Serves string       `json:"serves"`
	Live   []string     `json:"met"` // in ascending order; none: no server ever
}

// MetLive is the table of all engines to which Muster connects. A version counts if tests run
// against a server of it (make test-all), or if somebody sent the output of muster agent check
// --report for one.
func MetLive() ([]Met, error) {
	var all []Met
	if err := json.Unmarshal(metJSON, &all); err != nil {
		return nil, fmt.Errorf("read met.json: %w", err)
	}
	return all, nil
}

// Versions names the versions that were met, for tables in README and docs.
func (m Met) Versions() string {
	if len(m.Live) == 0 {
		return "none yet"
	}
	return strings.Join(m.Live, ", ")
}
