package postgresql

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// roleFact is one role with what pg_roles says of it.
type roleFact struct {
	Name       string     `json:"name"`
	Superuser  bool       `json:"superuser"`
	Login      bool       `json:"login"`
	Attributes []string   `json:"attributes"`
	ValidUntil *time.Time `json:"validUntil"`
	Seen       bool       `json:"seen"`
}

// membership holds for each role the roles it was granted and can use.
type membership map[string][]string

// reaches says whether role is a member of group, directly or through others.
func (m membership) reaches(role, group string) bool {
	seen := map[string]bool{role: true}
	for queue := []string{role}; len(queue) > 0; queue = queue[1:] {
		for _, parent := range m[queue[0]] {
			if parent == group {
				return true
			}
			if !seen[parent] {
				seen[parent] = true
				queue = append(queue, parent)
			}
		}
	}
	return false
}

// powers ranks the predefined roles that make a member privileged: those that
// reach the operating system, then those that reach every table or session.
var powers = map[string]int{
	"pg_execute_server_program": 500, "pg_write_server_files": 500, "pg_read_server_files": 400,
	"pg_write_all_data": 200, "pg_read_all_data": 150, "pg_create_subscription": 120,
	"pg_maintain": 60, "pg_signal_backend": 50, "pg_checkpoint": 20,
}

// Ranks of what a role has by itself.
const (
	superuserPower = 1000
	borrowedPower  = 900 // member of a superuser
)

var attributePowers = map[string]int{"REPLICATION": 250, "CREATEROLE": 240, "BYPASSRLS": 120, "CREATEDB": 40}

// rolesSQL asks for validity as JSON prints it, and for who has a session now:
// that much of pg_stat_activity is visible to every role. Background processes
// of the bootstrap role have no database.
const rolesSQL = `
	select json_build_object('name', r.rolname, 'superuser', r.rolsuper, 'login', r.rolcanlogin,
		'attributes', array_remove(array[
			case when r.rolreplication then 'REPLICATION' end, case when r.rolcreaterole then 'CREATEROLE' end,
			case when r.rolbypassrls then 'BYPASSRLS' end, case when r.rolcreatedb then 'CREATEDB' end], null),
		'validUntil', case when isfinite(r.rolvaliduntil) then
			to_char(r.rolvaliduntil at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') end,
		'seen', exists (select 1 from pg_stat_activity a where a.usesysid = r.oid and a.datid is not null and a.pid <> pg_backend_pid()))
	from pg_roles r order by r.rolname collate "C"`

// membersSQL leaves out grants that give nothing but a place in the list: WITH
// INHERIT FALSE, SET FALSE, since 16.
const membersSQL = `
	select m.rolname, g.rolname
	from pg_auth_members am join pg_roles g on g.oid = am.roleid join pg_roles m on m.oid = am.member
	where am.admin_option or coalesce((to_jsonb(am) ->> 'inherit_option')::boolean, true)
	   or coalesce((to_jsonb(am) ->> 'set_option')::boolean, true)
	group by 1, 2 order by m.rolname collate "C", g.rolname collate "C"`

const passwordsSQL = `
	select rolname, case when rolpassword is null then 'none' when rolpassword like 'SCRAM-SHA-256$%' then 'scram-sha-256'
		when rolpassword ~ '^md5[0-9a-f]{32}$' then 'md5' else 'unknown' end
	from pg_authid`

// readRoles reads every role and who is a member of what.
func readRoles(ctx context.Context, s servers.Session) ([]roleFact, membership, error) {
	roles, err := readJSON[roleFact](ctx, s, rolesSQL)
	if err != nil {
		return nil, nil, err
	}
	rows, err := servers.Query(ctx, s, 2, membersSQL)
	if err != nil {
		return nil, nil, err
	}
	members := make(membership)
	for _, row := range rows {
		members[row[0]] = append(members[row[0]], row[1])
	}
	return roles, members, nil
}

// passwordKinds reads how each role's password is stored.
func passwordKinds(ctx context.Context, s servers.Session) (map[string]string, error) {
	rows, err := servers.Query(ctx, s, 2, passwordsSQL)
	if err != nil {
		return nil, err
	}
	kinds := make(map[string]string, len(rows))
	for _, row := range rows {
		kinds[row[0]] = row[1]
	}
	return kinds, nil
}

// privileged picks the roles that can do more than their grants on tables say,
// by power, then by whether they can log in remotely, then by name. kinds and
// judge are nil where they could not be read.
func privileged(roles []roleFact, members membership, kinds map[string]string, judge *hbaJudge, at time.Time) []snapshot.DatabaseRole {
	byName := make(map[string]roleFact, len(roles))
	for _, r := range roles {
		byName[r.Name] = r
	}
	out := []snapshot.DatabaseRole{}
	rank := make(map[string]int)
	for _, r := range roles {
		paths, power := powerOf(r, byName, members)
		if power == 0 || strings.HasPrefix(r.Name, "pg_") {
			continue
		}
		rank[r.Name] = power
		role := snapshot.DatabaseRole{
			Name: r.Name, Login: r.Login, Superuser: r.Superuser, Attributes: r.Attributes, MemberOf: paths,
			PasswordKind: cmp.Or(kinds[r.Name], "unknown"), ValidUntil: r.ValidUntil, RemoteLogin: remoteLoginOf(r, judge),
		}
		if r.Seen {
			role.LastSeen = &at
		}
		out = append(out, role)
	}
	slices.SortStableFunc(out, func(a, b snapshot.DatabaseRole) int {
		return cmp.Or(cmp.Compare(rank[b.Name], rank[a.Name]),
			cmp.Compare(b.Remote(), a.Remote()), strings.Compare(a.Name, b.Name))
	})
	return out
}

func remoteLoginOf(r roleFact, judge *hbaJudge) string {
	switch {
	case !r.Login:
		return "no"
	case judge == nil:
		return "unknown"
	}
	if _, possible := judge.remoteLogin(r); possible {
		return "yes"
	}
	return "no"
}

// powerOf returns the paths by which a role reaches privileged ones, and how
// much power it has in all; 0 is an ordinary role.
func powerOf(r roleFact, byName map[string]roleFact, members membership) (paths []string, power int) {
	paths, power = inspection.Paths(r.Name, members, func(group string) int {
		if own := min(ownPower(byName[group]), borrowedPower); own > 0 {
			return own
		}
		return powers[group]
	})
	return paths, power + ownPower(r)
}

func ownPower(r roleFact) int {
	if r.Superuser {
		return superuserPower
	}
	power := 0
	for _, attribute := range r.Attributes {
		power += attributePowers[attribute]
	}
	return power
}
