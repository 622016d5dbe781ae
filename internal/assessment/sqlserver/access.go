package sqlserver

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"muster/internal/assessment/catalogue"
	"muster/internal/engine/sqlserver"
	"muster/internal/servers"
	"muster/internal/snapshot"
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
	rights  map[string]bool // as the catalogue names them
	release int             // 16 is 2022
}

// lookUp asks what our login may see from the database that a session is in.
func lookUp(ctx context.Context, s servers.Session, who identity) (access, error) {
	a := access{login: who.login, azure: who.azure, release: who.release, rights: make(map[string]bool)}
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

// Excludes says why a check does not apply to Azure SQL Database.
func (a access) Excludes(check catalogue.Check) string {
	if a.azure {
		return check.Azure
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

// statement grants a right to our login; "" where none can be stated, or where it would
// give the whole server.
func (a access) statement(right string) string {
	login, ok := sqlserver.Engine.Checks.Quote.Identifier(a.login)
	template := statements[right]
	switch {
	case a.azure:
		template = azureStatements[right]
	case a.release >= release2022 && statements2022[right] != "":
		template = statements2022[right]
	}
	if !ok || template == "" {
		return ""
	}
	return strings.ReplaceAll(template, "{login}", login)
}

// Grant is the statement that grants a right to a login of a server of a version (15.0.4123.1);
// "" where none can be stated. The versions of Azure are numbers of their own: it is "" there.
func Grant(right, version, login string) string {
	a := access{login: login}
	switch sets := servers.SQLServerPermissions(version); {
	case slices.Equal(sets, []string{"2022"}):
		a.release = release2022
	case !slices.Equal(sets, []string{"2016"}):
		return ""
	}
	return a.statement(right)
}

const (
	viewLabels         = "VIEW ANY SENSITIVITY CLASSIFICATION"
	connectAnyDatabase = "CONNECT ANY DATABASE" // asked for by no check, but by the databases themselves
	cryptographic      = "CONTROL SERVER, from 2022 on VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION"
	release2022        = 16
)

// statements grant the rights that the catalogue names. Before 2022 nothing less than
// CONTROL SERVER shows the hash of a password, and nobody should grant that to a monitor.
var statements = map[string]string{
	"membership in public": "",
	"VIEW ANY DEFINITION":  "GRANT VIEW ANY DEFINITION TO {login};",
	"VIEW ANY DEFINITION, or CREATE DATABASE or ALTER ANY DATABASE": "GRANT VIEW ANY DEFINITION TO {login};",
	"VIEW ANY DATABASE": "GRANT VIEW ANY DATABASE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE":                                   "GRANT VIEW SERVER STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE":                                "GRANT VIEW SERVER STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE and VIEW SERVER PERFORMANCE STATE": "GRANT VIEW SERVER STATE TO {login};",
	viewLabels:                         "GRANT VIEW ANY SENSITIVITY CLASSIFICATION TO {login};",
	connectAnyDatabase:                 "GRANT CONNECT ANY DATABASE TO {login};",
	cryptographic:                      "",
	"VIEW DEFINITION in the database":  "GRANT VIEW ANY DEFINITION TO {login};",
	"VIEW DEFINITION in master":        "GRANT VIEW ANY DEFINITION TO {login};",
	"VIEW DEFINITION in msdb":          "GRANT VIEW ANY DEFINITION TO {login};",
	"SELECT on msdb.dbo.backupset":     "USE msdb; GRANT SELECT ON dbo.backupset TO {login};",
	"SELECT on msdb.dbo.suspect_pages": "USE msdb; GRANT SELECT ON dbo.suspect_pages TO {login};",
	"SELECT on msdb.dbo.sysproxylogin": "USE msdb; GRANT SELECT ON dbo.sysproxylogin TO {login};",
	"SELECT on msdb.dbo.sysproxies":    "USE msdb; GRANT SELECT ON dbo.sysproxies TO {login};",
}

// statements2022 are those that grant less since 2022.
var statements2022 = map[string]string{
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE":                                   "GRANT VIEW SERVER SECURITY STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE":                                "GRANT VIEW SERVER PERFORMANCE STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE and VIEW SERVER PERFORMANCE STATE": "GRANT VIEW SERVER SECURITY STATE TO {login}; GRANT VIEW SERVER PERFORMANCE STATE TO {login};",
	cryptographic: "GRANT VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION TO {login};",
}

// azureStatements are the same in a database of Azure SQL Database, whose users are its
// own.
var azureStatements = map[string]string{
	viewLabels:                        "GRANT VIEW ANY SENSITIVITY CLASSIFICATION TO {login};",
	"VIEW ANY DEFINITION":             "GRANT VIEW DEFINITION TO {login};",
	"VIEW DEFINITION in the database": "GRANT VIEW DEFINITION TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE":                                   "GRANT VIEW DATABASE STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE":                                "GRANT VIEW DATABASE STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE and VIEW SERVER PERFORMANCE STATE": "GRANT VIEW DATABASE STATE TO {login};",
}
