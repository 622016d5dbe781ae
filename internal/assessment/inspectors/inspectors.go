package inspectors

import (
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/inspection"
	"muster/internal/assessment/oracle"
	"muster/internal/assessment/postgresql"
	"muster/internal/assessment/sqlserver"
)

// All are the inspectors by their engines. An error names every fault in the embedded
// catalogue, feed or rules.
func All(now func() time.Time) (map[fleet.Engine]inspection.Inspector, error) {
	postgres, err := postgresql.New(now)
	if err != nil {
		return nil, err
	}
	sqlServer, err := sqlserver.New(now)
	if err != nil {
		return nil, err
	}
	ora, err := oracle.New(now)
	if err != nil {
		return nil, err
	}
	return map[fleet.Engine]inspection.Inspector{fleet.PostgreSQL: postgres, fleet.SQLServer: sqlServer, fleet.Oracle: ora}, nil
}
