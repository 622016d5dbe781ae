package oracle

import _ "embed"

// The queries, each by its file.

//go:embed sql/self.sql
var selfSQL string

//go:embed sql/version.sql
var versionSQL string

//go:embed sql/version_18.sql
var version18SQL string

//go:embed sql/autonomous.sql
var autonomousSQL string

//go:embed sql/started.sql
var startedSQL string

//go:embed sql/containers.sql
var containersSQL string

//go:embed sql/tablespaces.sql
var tablespacesSQL string

//go:embed sql/sessions.sql
var sessionsSQL string

//go:embed sql/users.sql
var usersSQL string

//go:embed sql/roles.sql
var rolesSQL string

//go:embed sql/members.sql
var membersSQL string

//go:embed sql/privileges.sql
var privilegesSQL string

//go:embed sql/administrators.sql
var administratorsSQL string

//go:embed sql/seen.sql
var seenSQL string

//go:embed sql/profiles.sql
var profilesSQL string

//go:embed sql/policies.sql
var policiesSQL string

//go:embed sql/tables.sql
var tablesSQL string

//go:embed sql/columns.sql
var columnsSQL string

//go:embed sql/parameters.sql
var parametersSQL string
