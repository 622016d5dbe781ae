package oracle

import (
	"context"
	"strings"

	"muster/internal/assessment/catalogue"
	"muster/internal/engine/oracle"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// access is what an account may see, and is an inspection.Server.
type access struct {
	account    string
	autonomous bool // Autonomous Database
}

// readParameters are those of the instance by name in small letters.
func readParameters(ctx context.Context, s servers.Session) (map[string]string, error) {
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

// Excludes says why a check does not apply to an Autonomous Database. What its release does not have, the server itself
// says.
func (a access) Excludes(check catalogue.Check) string {
	if a.autonomous {
		return check.Managed
	}
	return ""
}

// Missing is nil: the server refuses reads without a right.
func (access) Missing(catalogue.Check) []snapshot.MissingGrant { return nil }

// Refused are the grants of all views that a check reads: Oracle says in a number that a
// view is not there for us, and not which.
func (a access) Refused(check catalogue.Check, refusal *servers.Refusal) (grants []snapshot.MissingGrant) {
	if refusal.Reason != servers.Denied {
		return nil
	}
	for _, right := range check.LeastRights() {
		grants = append(grants, snapshot.MissingGrant{Object: right, Statement: a.grant(right), Checks: []string{check.ID}})
	}
	return grants
}

// grant is the statement that grants "SELECT on SYS.DBA_USERS".
func (a access) grant(right string) string {
	account, ok := oracle.Engine.Checks.Quote.Identifier(a.account)
	if !ok {
		return ""
	}
	return "GRANT " + strings.Replace(right, "SELECT on", "SELECT ON", 1) + " TO " + account + ";"
}
