package live

import (
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/inspection"
	assessed "muster/internal/assessment/postgresql"
	measured "muster/internal/intake/measure/postgresql"
)

var postgreSQL = Engine{
	Name:    fleet.PostgreSQL,
	Inspect: func(now func() time.Time) (inspection.Inspector, error) { return assessed.New(now) },
	Measure: measured.Engine,
	Script:  assessed.Grants,
}
