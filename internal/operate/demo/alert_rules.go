package demo

import (
	_ "embed"
	"fmt"
	"sync"
	"time"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/internal/text/strictyaml"
)

// hours is when a rule raises its alerts (alert_rules.yaml). Times are UTC.
type hours string

const (
	anytime hours = "anytime"
	office  hours = "office"
	night   hours = "night"
	lasting hours = "lasting"
)

// rule is one of the rules that watch a demo server.
type rule struct {
	ID       string
	Title    string
	Severity alert.Severity
	Hours    hours
	PerMonth float64 `yaml:"month"` // alerts of one subject in 30 days
	Shortest time.Duration
	Longest  time.Duration
	Database bool // the subject is a database and not the server
}

// ofNoServer is what the organization's own rules stand under.
const ofNoServer fleet.Engine = ""

var (
	//go:embed alert_rules.yaml
	rulesYAML []byte
	//go:embed alert_script.yaml
	storiesYAML []byte
	//go:embed servers.yaml
	serversYAML []byte
	//go:embed statements.yaml
	statementsYAML []byte
)

// rules are a dozen an engine, stories the incidents of each.
var (
	rules   = reading[map[fleet.Engine][]rule]("alert_rules.yaml", rulesYAML)
	stories = reading[map[string][]incident]("alert_script.yaml", storiesYAML)
)

// reading reads a file when it is first asked for. That it can be read is a matter of
// the program's, of which the tests convince themselves.
func reading[T any](name string, text []byte) func() T {
	return sync.OnceValue(func() (read T) {
		if err := strictyaml.Decode(text, &read); err != nil {
			panic(fmt.Errorf("%s: %w", name, err))
		}
		return read
	})
}
