package sqlserver

import (
	"slices"
	"strings"
)

// Rights that more than checks name.
const (
	ViewLabels         = "VIEW ANY SENSITIVITY CLASSIFICATION"
	ConnectAnyDatabase = "CONNECT ANY DATABASE" // asked for by no check, but by the databases themselves
	Cryptographic      = "CONTROL SERVER, from 2022 on VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION"
)

// Release2022 is the first release with lesser permissions.
const Release2022 = 16

// GrantTo is the statement that grants a right to a login; "" where none can be stated, or
// where it would give the whole server.
func GrantTo(login, right string, release int, azure bool) string {
	name, ok := checks.Quote.Identifier(login)
	template := Statements[right]
	switch {
	case azure:
		template = azureStatements[right]
	case release >= Release2022 && statements2022[right] != "":
		template = statements2022[right]
	}
	if !ok || template == "" {
		return ""
	}
	return strings.ReplaceAll(template, "{login}", name)
}

// GrantIn is GrantTo on a server of a version (15.0.4123.1). The versions of Azure are numbers
// of their own: it is "" there.
func GrantIn(right, version, login string) string {
	switch sets := PermissionSets(version); {
	case slices.Equal(sets, []string{"2022"}):
		return GrantTo(login, right, Release2022, false)
	case slices.Equal(sets, []string{"2016"}):
		return GrantTo(login, right, 0, false)
	}
	return ""
}

// Statements grant the rights that the catalogue names. Before 2022 nothing less than
// CONTROL SERVER shows the hash of a password, and nobody should grant that to a monitor.
var Statements = map[string]string{
	"membership in public": "",
	"VIEW ANY DEFINITION":  "GRANT VIEW ANY DEFINITION TO {login};",
	"VIEW ANY DEFINITION, or CREATE DATABASE or ALTER ANY DATABASE": "GRANT VIEW ANY DEFINITION TO {login};",
	"VIEW ANY DATABASE": "GRANT VIEW ANY DATABASE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE":                                   "GRANT VIEW SERVER STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE":                                "GRANT VIEW SERVER STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE and VIEW SERVER PERFORMANCE STATE": "GRANT VIEW SERVER STATE TO {login};",
	ViewLabels:                         "GRANT VIEW ANY SENSITIVITY CLASSIFICATION TO {login};",
	ConnectAnyDatabase:                 "GRANT CONNECT ANY DATABASE TO {login};",
	Cryptographic:                      "",
	"VIEW DEFINITION in the database":  "GRANT VIEW ANY DEFINITION TO {login};",
	"VIEW DEFINITION in master":        "GRANT VIEW ANY DEFINITION TO {login};",
	"VIEW DEFINITION in msdb":          "GRANT VIEW ANY DEFINITION TO {login};",
	"SELECT on msdb.dbo.backupset":     "USE msdb; GRANT SELECT ON dbo.backupset TO {login};",
	"SELECT on msdb.dbo.suspect_pages": "USE msdb; GRANT SELECT ON dbo.suspect_pages TO {login};",
	"SELECT on msdb.dbo.sysalerts":     "USE msdb; GRANT SELECT ON dbo.sysalerts TO {login};",
	"SELECT on msdb.dbo.sysproxylogin": "USE msdb; GRANT SELECT ON dbo.sysproxylogin TO {login};",
	"SELECT on msdb.dbo.sysproxies":    "USE msdb; GRANT SELECT ON dbo.sysproxies TO {login};",
}

// statements2022 are those that grant less since 2022.
var statements2022 = map[string]string{
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE":                                   "GRANT VIEW SERVER SECURITY STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE":                                "GRANT VIEW SERVER PERFORMANCE STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE and VIEW SERVER PERFORMANCE STATE": "GRANT VIEW SERVER SECURITY STATE TO {login}; GRANT VIEW SERVER PERFORMANCE STATE TO {login};",
	Cryptographic: "GRANT VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION TO {login};",
}

// azureStatements are the same in a database of Azure SQL Database, whose users are its
// own.
var azureStatements = map[string]string{
	ViewLabels:                        "GRANT VIEW ANY SENSITIVITY CLASSIFICATION TO {login};",
	"VIEW ANY DEFINITION":             "GRANT VIEW DEFINITION TO {login};",
	"VIEW DEFINITION in the database": "GRANT VIEW DEFINITION TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE":                                   "GRANT VIEW DATABASE STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE":                                "GRANT VIEW DATABASE STATE TO {login};",
	"VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE and VIEW SERVER PERFORMANCE STATE": "GRANT VIEW DATABASE STATE TO {login};",
}
