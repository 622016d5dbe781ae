package oracle

import (
	"context"
	_ "embed"
	"strings"

	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/quote"
	"muster/internal/servers"
	"muster/internal/snapshot"
)

//go:embed sql/parameters.sql
var parametersSQL string

// Access is what an account may see, and is an inspection.Server.
type Access struct {
	Account string
}

// Parameters are those of the instance by name in small letters.
func Parameters(ctx context.Context, s servers.Session) (map[string]string, error) {
	rows, err := servers.Query(ctx, s, 2, parametersSQL)
	if err != nil {
		return nil, err
	}
	parameters := make(map[string]string, len(rows))
	for _, row := range rows {
		parameters[strings.ToLower(row[0])] = row[1]
	}
	return parameters, nil
}

// Excludes is "": what a release does not have, it says itself.
func (Access) Excludes(catalogue.Check) string { return "" }

// Missing is nil: what may not be read is refused.
func (Access) Missing(catalogue.Check) []snapshot.MissingGrant { return nil }

// Refused are the grants of all views that a check reads: Oracle says in a number that a
// view is not there for us, and not which.
func (a Access) Refused(check catalogue.Check, refusal *servers.Refusal) (grants []snapshot.MissingGrant) {
	if refusal.Reason != servers.Denied {
		return nil
	}
	account, ok := quote.Oracle.Identifier(a.Account)
	for _, right := range check.LeastRights() {
		grant := snapshot.MissingGrant{Object: right, Checks: []string{check.ID}}
		if ok {
			grant.Statement = "GRANT " + strings.Replace(right, "SELECT on", "SELECT ON", 1) + " TO " + account + ";"
		}
		grants = append(grants, grant)
	}
	return grants
}
