package demo

import (
	_ "embed"

	"muster/domain/alert"
	"muster/domain/fleet"
)

// meaning is what a rule of the demo watches, and what an alert of it is to tell.
type meaning struct {
	Name      string
	Means     string
	Do        string
	Threshold *float64
	Unit      string
}

//go:embed alert_meanings.yaml
var meaningsYAML []byte

var meanings = reading[map[string]meaning]("alert_meanings.yaml", meaningsYAML)

// meaningOf is what a rule means on an engine; ok is false where nobody has written it.
func meaningOf(engine fleet.Engine, id string) (m meaning, ok bool) {
	if m, ok = meanings()[string(engine)+"/"+id]; !ok {
		m, ok = meanings()[id]
	}
	return m, ok
}

// rule is the rule as an alert carries it.
func (m meaning) rule(id string) *alert.Rule {
	return &alert.Rule{ID: id, Name: m.Name, Threshold: m.Threshold, Unit: m.Unit}
}

// text is the alert's description.
func (m meaning) text() string { return m.Means + "\n\n" + m.Do }

// engineOf is the engine of a demo server; none of what belongs to no server.
func engineOf(server string) fleet.Engine {
	for _, s := range servers() {
		if s.Name == server {
			return s.Engine
		}
	}
	return ofNoServer
}
