package sqlserver

import (
	"context"
	_ "embed"
	"strings"

	"muster/internal/assessment/catalogue"
	"muster/internal/engine/sqlserver"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/rights.sql
var rightsSQL string

//go:embed sql/rights_azure.sql
var rightsAzureSQL string

//go:embed sql/options.sql
var optionsSQL string

// access says what our login may see from a database, and is an inspection.Server.
type access struct {
	login   string
	azure   bool
	managed bool            // Azure SQL Managed Instance
	rights  map[string]bool // as the catalogue names them
	release int             // 16 is 2022
}

// lookUp asks what our login may see from the database that a session is in.
func lookUp(ctx context.Context, s servers.Session, who identity) (access, error) {
	a := access{login: who.login, azure: who.azure, managed: who.managed, release: who.release, rights: make(map[string]bool)}
	query := rightsSQL
	if a.azure {
		query = rightsAzureSQL
	}
	rows, err := servers.Query(ctx, s, 2, query)
	for _, row := range rows {
		a.rights[row[0]] = row[1] == "1"
	}
	return a, err
}

// readOptions are the options of the server by name in small letters.
func readOptions(ctx context.Context, s servers.Session) (map[string]string, error) {
	rows, err := servers.Query(ctx, s, 2, optionsSQL)
	if err != nil {
		return nil, err
	}
	options := make(map[string]string, len(rows))
	for _, row := range rows {
		options[strings.ToLower(row[0])] = row[1]
	}
	return options, nil
}

// Excludes says why a check does not apply to Azure SQL Database or Azure SQL Managed Instance.
func (a access) Excludes(check catalogue.Check) string {
	switch {
	case a.azure:
		return check.Azure
	case a.managed:
		return check.Managed
	}
	return ""
}

// Missing are the rights of a check that our login lacks here.
func (a access) Missing(check catalogue.Check) (grants []snapshot.MissingGrant) {
	for _, right := range check.LeastRights() {
		if !a.rights[right] {
			grants = append(grants, a.grant(right, check))
		}
	}
	return grants
}

// Refused are all the rights of a check: which of them it was, the server does not say in
// a number.
func (a access) Refused(check catalogue.Check, refusal *servers.Refusal) (grants []snapshot.MissingGrant) {
	if refusal.Reason != servers.Denied {
		return nil
	}
	for _, right := range check.LeastRights() {
		if grant := a.grant(right, check); grant.Statement != "" {
			grants = append(grants, grant)
		}
	}
	return grants
}

func (a access) grant(right string, check catalogue.Check) snapshot.MissingGrant {
	return snapshot.MissingGrant{Object: right, Statement: a.statement(right), Checks: []string{check.ID}}
}

// statement grants a right to our login; "" where none can be stated.
func (a access) statement(right string) string {
	return sqlserver.GrantTo(a.login, right, a.release, a.azure)
}
