package sqlserver

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"
	"time"

	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/logins.sql
var loginsSQL string

//go:embed sql/members.sql
var membersSQL string

//go:embed sql/permissions.sql
var permissionsSQL string

//go:embed sql/seen.sql
var seenSQL string

// principal is a login or a role of the server.
type principal struct {
	name        string
	kind        string // as sys.server_principals types them
	disabled    bool
	permissions []string // on the server, those of power
}

// Kinds of principals.
const (
	serverRole     = "R"
	sqlLogin       = "S"
	certificate    = "C"
	asymmetricKey  = "K"
	controlServer  = "CONTROL SERVER"
	sysadmin       = "sysadmin"
	superuserPower = 1000
	borrowedPower  = 900
)

// rolePowers ranks the fixed roles of a server: those that are the whole server, or may
// become so, then those that reach every database or the machine.
var rolePowers = map[string]int{
	sysadmin: superuserPower, "securityadmin": borrowedPower, "##MS_LoginManager##": 240, "serveradmin": 240, "setupadmin": 200,
	"##MS_DatabaseManager##": 200, "dbcreator": 180, "bulkadmin": 60, "processadmin": 60, "diskadmin": 20,
}

// permissionPowers ranks permissions on the server.
var permissionPowers = map[string]int{
	controlServer: superuserPower, "IMPERSONATE ANY LOGIN": borrowedPower, "UNSAFE ASSEMBLY": 500, "EXTERNAL ACCESS ASSEMBLY": 400,
	"ALTER ANY LOGIN": 250, "ALTER ANY SERVER ROLE": 250, "ALTER SETTINGS": 240, "ALTER ANY DATABASE": 180, "ADMINISTER BULK OPERATIONS": 60,
	"SELECT ALL USER SECURABLES": 150, "ALTER ANY CREDENTIAL": 150, "ALTER ANY LINKED SERVER": 150, "SHUTDOWN": 50,
}

// principals are those of a server, and who is in which role of it.
type principals struct {
	byName  map[string]*principal
	members map[string][]string
	denied  map[string][]string // permissions that a name is denied
	granted map[string][]string // all, those without power too
}

func readPrincipals(ctx context.Context, s servers.Session) (principals, error) {
	p := principals{byName: map[string]*principal{}, members: map[string][]string{}, denied: map[string][]string{}, granted: map[string][]string{}}
	names := map[string]string{}
	rows, err := servers.Query(ctx, s, 5, loginsSQL)
	if err != nil {
		return p, err
	}
	for _, row := range rows {
		names[row[0]] = row[1]
		p.byName[row[1]] = &principal{name: row[1], kind: strings.TrimSpace(row[2]), disabled: row[3] == "1"}
	}
	if rows, err = servers.Query(ctx, s, 2, membersSQL); err != nil {
		return p, err
	}
	for _, row := range rows {
		member, role := names[row[0]], names[row[1]]
		if member != "" && role != "" {
			p.members[member] = append(p.members[member], role)
		}
	}
	if rows, err = servers.Query(ctx, s, 3, permissionsSQL); err != nil {
		return p, err
	}
	for _, row := range rows {
		name := names[row[0]]
		if name == "" {
			continue
		}
		if row[2] == "DENY" {
			p.denied[name] = append(p.denied[name], row[1])
			continue
		}
		p.granted[name] = append(p.granted[name], strings.ReplaceAll(row[1]+" "+row[2], " GRANT_WITH_GRANT_OPTION", " WITH GRANT OPTION"))
		if permissionPowers[row[1]] > 0 {
			p.byName[name].permissions = append(p.byName[name].permissions, row[1])
		}
	}
	for name := range p.members {
		slices.Sort(p.members[name])
	}
	return p, nil
}

// own is the power of the permissions that a principal was granted itself.
func (p principals) own(name string) (power int) {
	if of := p.byName[name]; of != nil {
		for _, permission := range of.permissions {
			power += permissionPowers[permission]
		}
	}
	return power
}

// superuser says whether a principal is the whole server, by itself or by a role.
func (p principals) superuser(name string, path map[string]bool) bool {
	if name == sysadmin || p.byName[name] != nil && slices.Contains(p.byName[name].permissions, controlServer) {
		return true
	}
	path[name] = true
	for _, role := range p.members[name] {
		if !path[role] && p.superuser(role, path) {
			return true
		}
	}
	return false
}

// privileged picks the logins with more rights than their grants in databases, by power, then
// by name. seen are those with a session now.
func (p principals) privileged(seen []string, at time.Time) []snapshot.DatabaseRole {
	out := []snapshot.DatabaseRole{}
	rank := make(map[string]int)
	for name, of := range p.byName {
		if of.kind == certificate || of.kind == asymmetricKey || of.kind == serverRole && rolePowers[name] > 0 {
			continue // nobody signs in with a key, and a fixed role is no account
		}
		paths, power := inspection.Paths(name, p.members, func(role string) int {
			return max(rolePowers[role], min(p.own(role), borrowedPower))
		})
		if power += p.own(name); power == 0 {
			continue
		}
		rank[name] = power
		login := of.kind != serverRole && !of.disabled && !slices.Contains(p.denied[name], "CONNECT SQL")
		role := snapshot.DatabaseRole{
			Name: name, Login: login, Superuser: p.superuser(name, map[string]bool{}), Attributes: slices.Sorted(slices.Values(of.permissions)),
			MemberOf: paths, PasswordKind: "none", RemoteLogin: "no",
		}
		if role.Attributes == nil {
			role.Attributes = []string{}
		}
		if of.kind == sqlLogin {
			role.PasswordKind = "unknown"
		}
		if login {
			role.RemoteLogin = "yes"
		}
		if slices.Contains(seen, name) {
			role.LastSeen = &at
		}
		out = append(out, role)
	}
	slices.SortFunc(out, func(a, b snapshot.DatabaseRole) int {
		return cmp.Or(cmp.Compare(rank[b.Name], rank[a.Name]), strings.Compare(a.Name, b.Name))
	})
	return out
}

// readSeen are the logins that have a session now; nil where our login may not see them.
func readSeen(ctx context.Context, s servers.Session) (names []string) {
	rows, err := servers.Query(ctx, s, 1, seenSQL)
	if err != nil {
		return nil
	}
	for _, row := range rows {
		names = append(names, row[0])
	}
	return names
}
