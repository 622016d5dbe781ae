package oracle

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// account is a user or a role of a container.
type account struct {
	status         string // of a user: OPEN, LOCKED, …; "" of a role
	role           bool
	authentication string
	verifiers      string // of its password
	profile        string
	maintained     bool // Oracle's own
	until          *time.Time
	privileges     []string // with power
	stated         []string // all, for the log of changes
}

// accounts are those of a container.
type accounts struct {
	byName         map[string]*account
	members        map[string][]string
	administered   map[[2]string]bool // memberships that may be passed on
	administrators []string           // by the password file; nil where that cannot be read
	seen           []string
}

const (
	dba             = "DBA"
	sysdba          = "SYSDBA"
	superuserPower  = 1000
	borrowedPower   = 900
	passwordAccount = "PASSWORD"
)

// rolePowers ranks roles beyond what their own privileges say.
var rolePowers = map[string]int{
	dba: superuserPower, "IMP_FULL_DATABASE": 600, "DATAPUMP_IMP_FULL_DATABASE": 600, "EXP_FULL_DATABASE": 150, "DATAPUMP_EXP_FULL_DATABASE": 150,
	"EXECUTE_CATALOG_ROLE": 120, "SELECT_CATALOG_ROLE": 50, "JAVASYSPRIV": 400, "AUDIT_ADMIN": 120,
}

// privilegePowers ranks system privileges: those that lead to all others, then those that
// reach the machine, every schema, or past access control.
var privilegePowers = map[string]int{
	"GRANT ANY PRIVILEGE": borrowedPower, "GRANT ANY ROLE": borrowedPower, "GRANT ANY OBJECT PRIVILEGE": borrowedPower,
	"CREATE ANY PROCEDURE": 500, "EXECUTE ANY PROCEDURE": 500, "ALTER ANY PROCEDURE": 500, "CREATE ANY TRIGGER": 400, "ALTER ANY TRIGGER": 400, "BECOME USER": 500,
	"CREATE LIBRARY": 400, "CREATE ANY LIBRARY": 400, "CREATE EXTERNAL JOB": 400, "CREATE ANY JOB": 400, "CREATE ANY DIRECTORY": 300,
	"ALTER USER": 300, "CREATE USER": 240, "DROP USER": 200, "ALTER SYSTEM": 240, "ALTER DATABASE": 240, "SYSDBA": superuserPower,
	"INSERT ANY TABLE": 200, "UPDATE ANY TABLE": 200, "DELETE ANY TABLE": 200, "ALTER ANY TABLE": 200, "DROP ANY TABLE": 200,
	"SELECT ANY TABLE": 150, "READ ANY TABLE": 150, "EXEMPT ACCESS POLICY": 120, "SELECT ANY DICTIONARY": 50, "AUDIT SYSTEM": 120, "AUDIT ANY": 60,
}

// readAccounts reads the users and roles of the session's container, and their rights.
func readAccounts(ctx context.Context, s servers.Session) (a accounts, err error) {
	a = accounts{byName: map[string]*account{}, members: map[string][]string{}, administered: map[[2]string]bool{}}
	rows, err := servers.Query(ctx, s, 7, usersSQL)
	if err != nil {
		return a, err
	}
	for _, row := range rows {
		u := &account{status: row[1], authentication: row[2], verifiers: row[3], profile: row[4], maintained: row[5] == "Y"}
		if at, err := strconv.ParseInt(row[6], 10, 64); err == nil {
			until := time.UnixMicro(at).UTC()
			u.until = &until
		}
		a.byName[row[0]] = u
	}
	if rows, err = servers.Query(ctx, s, 3, rolesSQL); err != nil {
		return a, err
	}
	for _, row := range rows {
		a.byName[row[0]] = &account{role: true, authentication: row[1], maintained: row[2] == "Y"}
	}
	if rows, err = servers.Query(ctx, s, 3, membersSQL); err != nil {
		return a, err
	}
	for _, row := range rows {
		a.members[row[0]] = append(a.members[row[0]], row[1])
		a.administered[[2]string{row[0], row[1]}] = row[2] == "YES"
	}
	for name := range a.members {
		slices.Sort(a.members[name])
	}
	if rows, err = servers.Query(ctx, s, 3, privilegesSQL); err != nil {
		return a, err
	}
	for _, row := range rows {
		of := a.byName[row[0]]
		if of == nil { // PUBLIC
			of = &account{role: true}
			a.byName[row[0]] = of
		}
		of.privilege(row[1], row[2] == "YES")
	}
	a.administrators, a.seen = column(ctx, s, administratorsSQL), column(ctx, s, seenSQL)
	return a, nil
}

func (a *account) privilege(name string, admin bool) {
	if privilegePowers[name] > 0 {
		a.privileges = append(a.privileges, name)
	}
	if admin {
		name += " WITH ADMIN OPTION"
	}
	a.stated = append(a.stated, name)
}

// column is the only column of a query's rows; nil if it cannot be read.
func column(ctx context.Context, s servers.Session, query string) []string {
	rows, err := servers.Query(ctx, s, 1, query)
	if err != nil {
		return nil
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = row[0]
	}
	return out
}

// own is the power of what an account was granted itself.
func (a accounts) own(name string) (power int) {
	if of := a.byName[name]; of != nil {
		for _, privilege := range of.privileges {
			power += privilegePowers[privilege]
		}
	}
	return power
}

// reaches says whether an account has a role, directly or through others.
func (a accounts) reaches(name, role string, path map[string]bool) bool {
	path[name] = true
	for _, has := range a.members[name] {
		if has == role || !path[has] && a.reaches(has, role, path) {
			return true
		}
	}
	return false
}

// privileged picks the accounts with more rights than their object grants, by power, then by
// name. Oracle's own accounts count if a person can sign in with them.
func (a accounts) privileged(at time.Time) []snapshot.DatabaseRole {
	out := []snapshot.DatabaseRole{}
	rank := make(map[string]int)
	for name, of := range a.byName {
		login := !of.role && !strings.Contains(of.status, "LOCKED")
		if of.maintained && !login {
			continue
		}
		paths, power := inspection.Paths(name, a.members, func(role string) int {
			return max(rolePowers[role], min(a.own(role), borrowedPower))
		})
		attributes := slices.Sorted(slices.Values(of.privileges))
		if power += a.own(name); slices.Contains(a.administrators, name) {
			attributes, power = append([]string{sysdba}, attributes...), power+superuserPower
		}
		if power == 0 {
			continue
		}
		rank[name] = power
		role := snapshot.DatabaseRole{
			Name: name, Login: login, Superuser: slices.Contains(a.administrators, name) || a.reaches(name, dba, map[string]bool{}),
			Attributes: append([]string{}, attributes...), MemberOf: paths, PasswordKind: of.password(), ValidUntil: of.until, RemoteLogin: "no",
		}
		if login {
			role.RemoteLogin = "yes"
		}
		if slices.Contains(a.seen, name) {
			role.LastSeen = &at
		}
		out = append(out, role)
	}
	slices.SortFunc(out, func(x, y snapshot.DatabaseRole) int {
		return cmp.Or(cmp.Compare(rank[y.Name], rank[x.Name]), strings.Compare(x.Name, y.Name))
	})
	return out
}

// password says how an account's is stored.
func (a *account) password() string {
	if a.authentication != passwordAccount || a.role {
		return "none"
	}
	return cmp.Or(strings.TrimSpace(a.verifiers), "unknown")
}
