package demo

import (
	_ "embed"
	"fmt"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"muster/domain/alert"
	"muster/domain/fleet"
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

//go:embed alert_rules.yaml
var rulesYAML []byte

// rules are a dozen an engine. That they can be read is a matter of the program's, of
// which the tests convince themselves.
var rules = sync.OnceValue(func() (of map[fleet.Engine][]rule) {
	if err := yaml.Unmarshal(rulesYAML, &of); err != nil {
		panic(fmt.Errorf("alert_rules.yaml: %w", err))
	}
	return of
})
