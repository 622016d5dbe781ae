package live

import (
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/inspection"
	assessed "muster/internal/assessment/sqlserver"
	"muster/internal/intake/measure"
	measured "muster/internal/intake/measure/sqlserver"
)

var sqlServer = Engine{
	Name:    fleet.SQLServer,
	Inspect: func(now func() time.Time) (inspection.Inspector, error) { return assessed.New(now) },
	Measure: func(func() time.Time) measure.Engine { return measured.Engine() },
	Script: func(version, classify string) (script string, ok bool) {
		script, ok = measured.Grants(version)
		checks, _ := assessed.Grants(version, classify)
		return script + "\n" + checks, ok
	},
}
