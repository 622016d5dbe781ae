package postgresql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// settingsSQL asks for values that hold for sessions which do not change them. What our
// own session said of itself when it began, and what follows from the version, is left out.
const settingsSQL = `
	select name, coalesce(reset_val, ''), coalesce(unit, '') from pg_settings
	where source <> 'client' and name not in ('application_name', 'client_encoding', 'extra_float_digits', 'is_superuser', 'role', 'seed',
		'server_version', 'server_version_num', 'session_authorization', 'transaction_deferrable', 'transaction_isolation', 'transaction_read_only')
	order by name collate "C" limit %d`

const statedRolesSQL = `
	select rolname, concat_ws(', ', case when rolcanlogin then 'LOGIN' else 'NOLOGIN' end, case when rolsuper then 'SUPERUSER' end,
		case when rolcreatedb then 'CREATEDB' end, case when rolcreaterole then 'CREATEROLE' end, case when rolreplication then 'REPLICATION' end,
		case when rolbypassrls then 'BYPASSRLS' end, case when not rolinherit then 'NOINHERIT' end,
		case when rolconnlimit >= 0 then 'CONNECTION LIMIT ' || rolconnlimit end,
		case when isfinite(rolvaliduntil) then 'VALID UNTIL ' || to_char(rolvaliduntil at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC' end)
	from pg_roles where rolname !~ '^pg_' order by rolname collate "C" limit %d`

// statedMembersSQL has one row a pair; since 16 each grantor has a grant of its own.
const statedMembersSQL = `
	select m.rolname || ' in ' || g.rolname, string_agg(distinct concat_ws(', ', 'member', case when am.admin_option then 'WITH ADMIN' end,
		case when to_jsonb(am) ->> 'inherit_option' = 'false' then 'INHERIT FALSE' end,
		case when to_jsonb(am) ->> 'set_option' = 'false' then 'SET FALSE' end), '; ')
	from pg_auth_members am join pg_roles g on g.oid = am.roleid join pg_roles m on m.oid = am.member
	group by m.rolname, g.rolname order by m.rolname collate "C", g.rolname collate "C" limit %d`

const statedPrivilegesSQL = `
	select d.datname, coalesce(r.rolname, 'PUBLIC'),
	       string_agg(a.privilege_type || case when a.is_grantable then ' WITH GRANT OPTION' else '' end, ', ' order by a.privilege_type)
	from pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a left join pg_roles r on r.oid = a.grantee
	where ` + ours + ` and a.grantee <> d.datdba
	group by d.datname, a.grantee, r.rolname order by d.datname collate "C", r.rolname collate "C" limit %d`

const statedHBASQL = `
	select concat_ws(' ', type, array_to_string(database, ','), array_to_string(user_name, ','), address, netmask, auth_method),
	       coalesce(array_to_string(options, E'\n'), '')
	from pg_hba_file_rules h where error is null
	order by (to_jsonb(h) ->> 'rule_number')::int nulls last, line_number limit %d`

// readLikeness fills in what the server is like, but for its extensions, which the visits to
// its databases find. What cannot be read is not known, and says so.
func readLikeness(ctx context.Context, s servers.Session, a *snapshot.Assessment, granted access) (state changes.State) {
	version := changes.Scope{Kind: fleet.ChangedVersion}
	state.Seen = append(state.Seen, version)
	state.Items = append(state.Items, changes.Item{Scope: version, Name: "PostgreSQL", Value: feed.VersionOf(a.VersionNum).String()})

	read := func(scope changes.Scope, columns int, query string, take func(row []string)) {
		rows, err := servers.Query(ctx, s, columns, fmt.Sprintf(query, changes.MaxItems+1))
		if err != nil || len(rows) > changes.MaxItems {
			state.Blind = append(state.Blind, scope)
			return
		}
		state.Seen = append(state.Seen, scope)
		for _, row := range rows {
			take(row)
		}
	}
	item := func(i changes.Item) { state.Items = append(state.Items, i) }

	settings := changes.Scope{Kind: fleet.ChangedSetting}
	read(settings, 3, settingsSQL, func(row []string) {
		item(changes.Item{Scope: settings, Name: row[0], Value: row[1], Unit: row[2], Secret: changes.SecretSetting(row[0])})
	})
	roles := changes.Scope{Kind: fleet.ChangedRole}
	read(roles, 2, statedRolesSQL, func(row []string) { item(changes.Item{Scope: roles, Name: row[0], Value: row[1]}) })
	grants := changes.Scope{Kind: fleet.ChangedGrant}
	read(grants, 2, statedMembersSQL, func(row []string) { item(changes.Item{Scope: grants, Name: row[0], Value: row[1]}) })
	readPrivileges(ctx, s, a, &state)
	if granted.granted(catalogue.ReadRelation, "pg_hba_file_rules") && granted.granted(catalogue.ReadFunction, "pg_hba_file_rules") {
		var rules []changes.Item
		rule := changes.Scope{Kind: fleet.ChangedHBA}
		read(rule, 2, statedHBASQL, func(row []string) { rules = append(rules, hbaItem(row[0], row[1])) })
		state.Items = append(state.Items, distinctRules(rules)...)
	} else {
		state.Blind = append(state.Blind, changes.Scope{Kind: fleet.ChangedHBA})
	}
	return state
}

// readPrivileges adds the privileges on each database. A new database brings its privileges
// with it: these are no grants.
func readPrivileges(ctx context.Context, s servers.Session, a *snapshot.Assessment, state *changes.State) {
	on := func(database string) changes.Scope {
		return changes.Scope{Kind: fleet.ChangedGrant, Database: database}
	}
	rows, err := servers.Query(ctx, s, 3, fmt.Sprintf(statedPrivilegesSQL, changes.MaxItems+1))
	unread := err != nil || len(rows) > changes.MaxItems
	for _, d := range a.Databases {
		if unread {
			state.Blind = append(state.Blind, on(d.Name))
		} else {
			state.Seen = append(state.Seen, on(d.Name))
		}
	}
	if unread {
		return
	}
	for _, row := range rows {
		state.Items = append(state.Items, changes.Item{Scope: on(row[0]), Name: row[1] + " on database " + row[0], Value: row[2]})
	}
}

// shownOptions are the options of HBA rules that hold no secret. Those of LDAP and RADIUS
// may hold a password.
var shownOptions = []string{"map", "clientcert", "clientname", "include_realm", "krb_realm", "compat_realm", "upn_username", "pamservice",
	"pam_use_hostname", "ldapserver", "ldapport", "ldapscope", "ldapscheme", "ldaptls", "ldapprefix", "ldapsuffix", "ldapsearchattribute"}

// hbaItem is a line of pg_hba.conf; its name is the line with secret options masked.
func hbaItem(line, options string) changes.Item {
	i := changes.Item{Scope: changes.Scope{Kind: fleet.ChangedHBA}, Name: line, Value: line}
	for option := range strings.SplitSeq(options, "\n") {
		if option == "" {
			continue
		}
		i.Value += " " + option
		name, _, _ := strings.Cut(option, "=")
		if slices.Contains(shownOptions, name) {
			i.Name += " " + option
		} else {
			i.Name += " " + name + "=…"
			i.Secret = true
		}
	}
	return i
}

// distinctRules tells lines apart that read alike, and adds the order they stand in.
func distinctRules(rules []changes.Item) []changes.Item {
	times := make(map[string]int, len(rules))
	var order strings.Builder
	for i := range rules {
		fmt.Fprintf(&order, "%s\n", rules[i].Value)
		times[rules[i].Name]++
		if n := times[rules[i].Name]; n > 1 {
			rules[i].Name += fmt.Sprintf(" (%d)", n)
		}
	}
	return append(rules, changes.Item{Scope: changes.Scope{Kind: fleet.ChangedHBA}, Name: changes.RuleOrder, Value: order.String(), Secret: true})
}

// addExtensions adds what the visits to the databases found to a state. A database that
// could not be visited is not known.
func addExtensions(state *changes.State, a *snapshot.Assessment, visited map[string]bool) {
	if len(a.Extensions) > changes.MaxItems {
		clear(visited)
	}
	in := func(database string) changes.Scope {
		return changes.Scope{Kind: fleet.ChangedExtension, Database: database}
	}
	for _, d := range a.Databases {
		if visited[d.Name] {
			state.Seen = append(state.Seen, in(d.Name))
		} else {
			state.Blind = append(state.Blind, in(d.Name))
		}
	}
	for _, e := range a.Extensions {
		if visited[e.Database] {
			state.Items = append(state.Items, changes.Item{Scope: in(e.Database), Name: e.Name, Value: e.Version})
		}
	}
}
