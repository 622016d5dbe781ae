package postgresql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/quote"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// access says of each thing the catalogue reads whether a database has it and
// lets our role read it. Grants on catalogs hold in one database only.
type access struct {
	role     string
	database string
	version  int
	standby  bool // refuses every statement that writes
	inherits bool // our role has what it is a member of
	alters   bool // ALTER SYSTEM is allowed
	platform platform
	states   map[string]readState
}

type readState struct {
	present, granted bool
	setting          string // of a setting: its value for sessions that do not change it
	// detail is where a setting was set, and of a role "member" where ours is one
	// and yet does not inherit.
	detail string
}

func key(r catalogue.Read) string {
	return r.Kind + " " + r.Name + "(" + strings.Join(r.Columns, ",") + ")"
}

// lookUp asks for all reads of the checks in one query.
func lookUp(ctx context.Context, s servers.Session, role string, on platform, checks []catalogue.Check) (access, error) {
	a := access{role: role, platform: on, database: s.Database(), states: make(map[string]readState)}
	parts := []string{`select '', pg_is_in_recovery(), coalesce((select rolinherit from pg_roles where rolname = current_user), true),
		current_setting('server_version_num'), coalesce(current_setting('allow_alter_system', true), 'on')`}
	var settings []catalogue.Read
	for _, check := range checks {
		for _, read := range check.Reads {
			if _, seen := a.states[key(read)]; seen {
				continue
			}
			a.states[key(read)] = readState{}
			if read.Kind == catalogue.ReadSetting {
				settings = append(settings, read)
				continue
			}
			parts = append(parts, "select "+quote.Literal(key(read))+", "+question(read))
		}
	}
	if len(settings) > 0 {
		parts = append(parts, questionOfSettings(settings))
	}
	rows, err := servers.Query(ctx, s, 5, strings.Join(parts, "\nunion all "))
	if err != nil {
		return access{}, err
	}
	for _, row := range rows {
		if row[0] == "" {
			a.standby, a.inherits, a.alters = row[1] == "t", row[2] == "t", row[4] == "on"
			if a.version, err = strconv.Atoi(row[3]); err != nil {
				return access{}, fmt.Errorf("server_version_num: %w", err)
			}
			continue
		}
		a.states[row[0]] = readState{present: row[1] == "t", granted: row[2] == "t", setting: row[3], detail: row[4]}
	}
	return a, nil
}

// question is the SQL for present, granted, value and detail of one read that is no setting.
// Names come from the catalogue, which admits only a-z, 0-9 and _.
func question(r catalogue.Read) string {
	switch r.Kind {
	case catalogue.ReadRelation:
		relation := fmt.Sprintf("to_regclass('pg_catalog.%s')", r.Name)
		granted := fmt.Sprintf("has_table_privilege(%s, 'SELECT')", relation)
		for i, column := range r.Columns {
			if i == 0 {
				granted = "true"
			}
			granted += fmt.Sprintf(" and has_column_privilege(%s, '%s', 'SELECT')", relation, column)
		}
		return fmt.Sprintf("%s is not null, coalesce(%s, false), '', ''", relation, granted)
	case catalogue.ReadFunction:
		function := fmt.Sprintf("to_regprocedure('pg_catalog.%s()')", r.Name)
		return fmt.Sprintf("%s is not null, coalesce(has_function_privilege(%s, 'EXECUTE'), false), '', ''", function, function)
	case catalogue.ReadRole:
		role := fmt.Sprintf("(select oid from pg_roles where rolname = '%s')", r.Name)
		return fmt.Sprintf("%s is not null, coalesce(pg_has_role(%s, 'USAGE'), false), '', %s", role, role, memberDetail(r))
	default:
		return fmt.Sprintf("c.n > 0, c.n > 0, '', '' from (select count(*) from pg_attribute where attrelid = to_regclass('pg_catalog.%s') and attname = '%s') c(n)",
			r.Name, r.Columns[0])
	}
}

// questionOfSettings is the SQL for key, present, granted, value and detail of settings, a row each.
// It reads pg_settings once: to list all settings takes a server a millisecond. An invisible setting
// looks like one that the server lacks; only a role that sees all of them can tell.
func questionOfSettings(settings []catalogue.Read) string {
	asked := make([]string, len(settings))
	for i, read := range settings {
		asked[i] = fmt.Sprintf("(%s, '%s')", quote.Literal(key(read)), read.Name)
	}
	return fmt.Sprintf(`select asked.key, s.name is not null or not self.sees_all, s.name is not null, coalesce(s.reset_val, ''), coalesce(s.source, self.detail)
		from (values %s) asked(key, name)
		cross join (select coalesce(pg_has_role((select oid from pg_roles where rolname = 'pg_read_all_settings'), 'USAGE'), false), %s) self(sees_all, detail)
		left join pg_settings s on s.name = asked.name`, strings.Join(asked, ", "), memberDetail(settings[0]))
}

// memberDetail is "member" where our role is one of the predefined role that a
// read is a matter of.
func memberDetail(r catalogue.Read) string {
	return fmt.Sprintf("case when pg_has_role((select oid from pg_roles where rolname = '%s'), 'MEMBER') then 'member' else '' end", r.Membership())
}

// missing returns the reads of a check that are not granted, absent those that
// the server does not have.
func (a access) missing(check catalogue.Check) (missing, absent []catalogue.Read) {
	for _, read := range check.Reads {
		switch state := a.states[key(read)]; {
		case !state.present:
			absent = append(absent, read)
		case !state.granted:
			missing = append(missing, read)
		}
	}
	return missing, absent
}

// granted says whether one read of the catalogue, in its written parts, is granted.
func (a access) granted(kind, name string, columns ...string) bool {
	return a.states[key(catalogue.Read{Kind: kind, Name: name, Columns: columns})].granted
}

// grants are the statements that would let our role read what is missing.
func (a access) grants(check catalogue.Check, missing []catalogue.Read) (out []snapshot.MissingGrant) {
	for _, read := range missing {
		g := snapshot.MissingGrant{Object: read.Denied(), Statement: read.Grant(quote.Identifier(a.role)), Checks: []string{check.ID}}
		if read.Membership() != "" {
			out = append(out, a.memberships(read, g)...)
			continue
		}
		g.Object += " in database " + a.database
		out = append(out, g)
	}
	return out
}

// withheld names those of the missing reads that only a superuser could grant, where the
// platform has the only one; "" for none. Catalogs belong to the superuser.
func (a access) withheld(missing []catalogue.Read) string {
	if !a.platform.known() {
		return ""
	}
	for _, read := range missing {
		if read.Kind == catalogue.ReadRelation || read.Kind == catalogue.ReadFunction {
			return read.Object()
		}
	}
	return ""
}

// memberships is what a role that does not inherit needs for a membership to
// count: since 16 that belongs to the membership, before to the role.
func (a access) memberships(read catalogue.Read, g snapshot.MissingGrant) []snapshot.MissingGrant {
	switch {
	case a.inherits && a.states[key(read)].detail != "member":
		return []snapshot.MissingGrant{g}
	case a.version >= 160000:
		g.Statement = strings.TrimSuffix(g.Statement, ";") + " WITH INHERIT TRUE;"
		return []snapshot.MissingGrant{g}
	}
	inherit := snapshot.MissingGrant{
		Object: "what the roles see that it is a member of", Statement: "ALTER ROLE " + quote.Identifier(a.role) + " INHERIT;", Checks: g.Checks,
	}
	if a.states[key(read)].detail == "member" {
		return []snapshot.MissingGrant{inherit}
	}
	return []snapshot.MissingGrant{g, inherit}
}

// toLetIt leads to the grants in a sentence: a standby's grants are made on its primary.
func (a access) toLetIt() string {
	if a.standby {
		return "To let it, grant it on its primary:"
	}
	return "To let it:"
}

// refusal is why a check with missing reads was not assessed.
func (a access) refusal(grants []snapshot.MissingGrant) string {
	objects, statements := make([]string, len(grants)), make([]string, len(grants))
	for i, g := range grants {
		objects[i], statements[i] = g.Object, g.Statement
	}
	return fmt.Sprintf("The monitoring role %s may not read %s. %s %s",
		a.role, strings.Join(objects, " and "), a.toLetIt(), strings.Join(statements, " "))
}
