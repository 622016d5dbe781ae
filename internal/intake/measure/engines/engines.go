package engines

import (
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/oracle"
	"muster/internal/intake/measure/postgresql"
	"muster/internal/intake/measure/sqlserver"
)

// All are the engines by their names.
func All(now func() time.Time) map[fleet.Engine]measure.Engine {
	all := make(map[fleet.Engine]measure.Engine)
	for _, e := range []measure.Engine{postgresql.Engine(now), sqlserver.Engine(), oracle.Engine()} {
		all[e.Name] = e
	}
	return all
}
