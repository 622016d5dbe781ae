package postgresql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/assessment/quote"
	"muster/internal/servers"
)

// lightChecks are the checks that a light look runs, too: their findings need a person within
// minutes, and they cost next to nothing.
var lightChecks = []string{"PG-M01", "PG-M04", "PG-M05", "PG-P02"}

// lightSQL has one row a part: how many rows it has, and the sum of their hashes, which does
// not depend on their order. The settings are those that assessments compare.
const lightSQL = `
	select 'settings' as part, count(*), coalesce(sum(hashtextextended(name || '=' || coalesce(reset_val, ''), 0)), 0), false from pg_settings
	where source <> 'client' and name not in ('application_name', 'client_encoding', 'extra_float_digits', 'is_superuser', 'role', 'seed',
		'server_version', 'server_version_num', 'session_authorization', 'transaction_deferrable', 'transaction_isolation', 'transaction_read_only')
	union all
	select 'roles', count(*), coalesce(sum(hashtextextended(r::text, 0)), 0), false from pg_roles r where rolname !~ '^pg_'
	union all
	select 'members', count(*), coalesce(sum(hashtextextended(m::text, 0)), 0), false from pg_auth_members m
	union all
	select 'databases', count(*), coalesce(sum(hashtextextended((datname, datdba, datallowconn, datconnlimit, datacl)::text, 0)), 0), false
	from pg_database where not datistemplate
	union all
	select 'self', 1, hashtextextended(pg_is_in_recovery()::text || pg_postmaster_start_time()::text, 0), false
	union all
	select 'hba', 0, 0, has_table_privilege('pg_catalog.pg_hba_file_rules', 'SELECT') and has_function_privilege('pg_catalog.pg_hba_file_rules()', 'EXECUTE')`

const lightHBASQL = `select count(*), coalesce(sum(hashtextextended(h::text, 0)), 0) from pg_hba_file_rules h`

// LightLook is a digest of what a server is like: whether it is a standby and since when it runs,
// its settings, roles, memberships, the privileges on its databases, the rules of pg_hba.conf where they may be read, and which
// objects a few checks find. It changes where one of them does. It costs a connection and
// two statements.
func (c *Inspector) LightLook(ctx context.Context, target servers.Target) (digest string, err error) {
	s, err := target.Open(ctx, target.Database, servers.StatementTimeout)
	if err != nil {
		return "", err
	}
	defer s.Close(ctx)
	rows, err := servers.Query(ctx, s, 4, c.lightQuery())
	if err != nil {
		return "", err
	}
	readable := false
	for _, row := range rows {
		readable = readable || row[3] == "t"
	}
	if readable {
		rules, err := servers.Query(ctx, s, 2, lightHBASQL)
		if err != nil {
			return "", err
		}
		rows = append(rows, rules...)
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = fmt.Sprintf("%q", row)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16]), nil
}

// lightQuery asks for all parts and checks at once. What a check finds counts, and not the
// evidence, which has figures that move.
func (c *Inspector) lightQuery() string {
	query := lightSQL
	for _, check := range c.catalogue.Of(fleet.PostgreSQL) {
		if !slices.Contains(lightChecks, check.ID) {
			continue
		}
		columns := "object, evidence"
		if check.Graded {
			columns += ", severity"
		}
		further, _ := named(check.Names)
		query += fmt.Sprintf("\n\tunion all\n\tselect %s, count(*), coalesce(sum(hashtextextended(v.object::text, 0)), 0), false from (\n%s\n) v(%s%s)",
			quote.Literal(check.ID), check.Query, columns, further)
	}
	return query
}
