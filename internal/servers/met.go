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

// Met says of an engine which versions Muster serves, and which of them its collectors have
// met live. The pages read the same file; README and docs are held to it by a test.
type Met struct {
	Engine fleet.Engine `json:"engine"`
	Serves string       `json:"serves"`
	Live   []string     `json:"met"` // in ascending order; none: no server ever
}

// MetLive is the table of all engines that Muster connects to. A version is met where tests
// run against a server of it (make test-all), or where somebody sent what muster agent check
// --report wrote of one.
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
