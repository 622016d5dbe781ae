package agent

import (
	"fmt"

	"muster/domain/fleet"
	assessedoracle "muster/internal/assessment/oracle"
	"muster/internal/assessment/postgresql"
	assessedsqlserver "muster/internal/assessment/sqlserver"
	"muster/internal/intake/measure/oracle"
	"muster/internal/intake/measure/sqlserver"
)

// Grants is the script that gives an account what measuring and assessing need of an engine.
func Grants(engine fleet.Engine, version, classify string) (script string, err error) {
	var ok bool
	switch engine {
	case fleet.PostgreSQL:
		script, ok = postgresql.Grants(version, classify)
	case fleet.SQLServer:
		var checks string
		script, ok = sqlserver.Grants(version)
		checks, _ = assessedsqlserver.Grants(version, classify)
		script += "\n" + checks
	case fleet.Oracle:
		script, ok = oracle.Grants(version)
		script += "\n" + assessedoracle.Grants(classify)
	default:
		return "", fmt.Errorf("--engine is %q, and none of postgresql, sqlserver, oracle", engine)
	}
	if !ok {
		return "", fmt.Errorf("--version %q is none that is measured", version)
	}
	return script, nil
}
