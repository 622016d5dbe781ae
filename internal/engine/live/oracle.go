package live

import (
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/inspection"
	assessed "muster/internal/assessment/oracle"
	"muster/internal/intake/measure"
	measured "muster/internal/intake/measure/oracle"
)

var oracle = Engine{
	Name:    fleet.Oracle,
	Inspect: func(now func() time.Time) (inspection.Inspector, error) { return assessed.New(now) },
	Measure: func(func() time.Time) measure.Engine { return measured.Engine() },
	Script: func(version, classify string) (script string, ok bool) {
		script, ok = measured.Grants(version)
		return script + "\n" + assessed.Grants(classify), ok
	},
}
