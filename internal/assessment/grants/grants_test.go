package grants

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

// TestTheScriptOfGrants: F11. Needed grants run as they stand, optional ones are named with what they reveal,
// and the script connects to each database once.
func TestTheScriptOfGrants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		engine   fleet.Engine
		missing  []snapshot.MissingGrant
		declined []string
		want     string
	}{
		"PostgreSQL": {engine: fleet.PostgreSQL, missing: []snapshot.MissingGrant{
			{Object: "pg_authid (rolname, rolpassword) in database shop", Statement: "GRANT SELECT (rolname, rolpassword) ON pg_catalog.pg_authid TO muster;"},
			{Object: "pg_user_mapping in database a=b's", Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;"},
			{Object: "pg_user_mapping in database shop", Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;"},
			{Object: "pg_hba_file_rules in database shop", Statement: "GRANT SELECT ON pg_catalog.pg_hba_file_rules TO muster"},
			{Object: "what members of pg_read_all_stats see", Statement: "GRANT pg_read_all_stats TO muster;"},
			{Object: "database closed", Statement: "GRANT CONNECT ON DATABASE closed TO muster;"},
			{Object: "pg_user_mapping in database bad\n\\! rm", Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;"},
		}, want: `-- Grants for Muster. Run this on pg-1 in psql as a superuser.

-- Needed.
GRANT pg_read_all_stats TO muster;
GRANT CONNECT ON DATABASE closed TO muster;
\connect "shop"
GRANT SELECT ON pg_catalog.pg_hba_file_rules TO muster;

-- Optional. Each lets Muster's account read what is named. Take the -- away where you want to grant it.
-- \connect -reuse-previous=on "dbname='a=b\'s'"
-- pg_user_mapping reveals the options of user mappings, among them passwords for foreign servers.
-- GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;
-- Database bad` + "\uFFFD" + `\! rm has a name that no script can connect to.
-- \connect "shop"
-- pg_authid (rolname, rolpassword) reveals the hashes of all passwords.
-- GRANT SELECT (rolname, rolpassword) ON pg_catalog.pg_authid TO muster;
-- pg_user_mapping reveals the options of user mappings, among them passwords for foreign servers.
-- GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;
`},
		"SQL Server": {engine: fleet.SQLServer, missing: []snapshot.MissingGrant{
			{Object: "VIEW ANY DEFINITION", Statement: "GRANT VIEW ANY DEFINITION TO [mus]]ter];"},
			{Object: "SELECT on msdb.dbo.backupset", Statement: "USE msdb; GRANT SELECT ON dbo.backupset TO [mus]]ter];"},
			{Object: "CONTROL SERVER, from 2022 on VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION", Statement: "GRANT VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION TO [mus]]ter];"},
			{Object: "the query store of shop", Statement: "-- VIEW DATABASE STATE is denied to [mus]]ter] in it: REVOKE that there."},
		}, want: `-- Grants for Muster. Run this on pg-1 as a member of sysadmin.

-- Needed.
GRANT VIEW ANY DEFINITION TO [mus]]ter];
-- VIEW DATABASE STATE is denied to [mus]]ter] in it: REVOKE that there.
USE [msdb];
IF USER_ID(N'mus]ter') IS NULL CREATE USER [mus]]ter] FOR LOGIN [mus]]ter];
GRANT SELECT ON dbo.backupset TO [mus]]ter];

-- Optional. Each lets Muster's account read what is named. Take the -- away where you want to grant it.
-- CONTROL SERVER, from 2022 on VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION reveals the hashes of the logins' passwords.
-- GRANT VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION TO [mus]]ter];
`},
		"declined": {engine: fleet.PostgreSQL, declined: []string{"pg_user_mapping", "7 sequences of schema shop in database shop", "what members of pg_read_all_stats see"}, missing: []snapshot.MissingGrant{
			{Object: "pg_user_mapping in database new", Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;"},
			{Object: "9 sequences of schema shop in database shop", Statement: "GRANT SELECT ON ALL SEQUENCES IN SCHEMA shop TO muster;"},
			{Object: "what members of pg_read_all_stats see", Statement: "GRANT pg_read_all_stats TO muster;"}, // without it nothing is measured
		}, want: "-- Grants for Muster. Run this on pg-1 in psql as a superuser.\n\n-- Needed.\nGRANT pg_read_all_stats TO muster;\n"},
		"nothing to state": {engine: fleet.SQLServer, missing: []snapshot.MissingGrant{{Object: "CONTROL SERVER"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, Script(c.engine, "pg-1", All(c.engine, c.missing, c.declined))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestADeclinedCheckIsMarked: a result is declined if all that it lacks is declined, and the
// grants stay, so that earlier findings do not count as gone.
func TestADeclinedCheckIsMarked(t *testing.T) {
	t.Parallel()
	refused := func(check, database string) snapshot.CheckResult {
		return snapshot.CheckResult{CheckID: check, Database: database, Status: snapshot.StatusNotAssessed, ReasonCode: snapshot.ReasonPermissionDenied, Reason: "may not"}
	}
	a := snapshot.Assessment{
		Results: []snapshot.CheckResult{refused("PG-S11", ""), refused("PG-S35", "a"), refused("PG-S35", "b"), refused("PG-S01", "")},
		MissingGrants: []snapshot.MissingGrant{
			{Object: "pg_authid (rolname, rolpassword) in database a", Checks: []string{"PG-S11"}},
			{Object: "pg_user_mapping in database a", Checks: []string{"PG-S35"}},
			{Object: "pg_user_mapping in database b", Checks: []string{"PG-S35"}},
			{Object: "pg_hba_file_rules in database a", Checks: []string{"PG-S01"}},
			{Object: "pg_hba_file_rules() in database a", Checks: []string{"PG-S01"}},
		},
	}
	Decline(fleet.PostgreSQL, &a, []string{"pg_authid (rolname, rolpassword)", "pg_user_mapping in database a", "pg_hba_file_rules"})
	var got []string
	for _, r := range a.Results {
		got = append(got, strings.Join(strings.Fields(r.CheckID+" "+r.Database+" "+r.ReasonCode), " "))
	}
	if diff := cmp.Diff([]string{"PG-S11 declined", "PG-S35 a declined", "PG-S35 b permission_denied", "PG-S01 permission_denied"}, got); diff != "" {
		t.Error(diff)
	}
	if want := "Not assessed: declined. Your organization does not grant pg_authid (rolname, rolpassword)."; a.Results[0].Reason != want || a.Results[0].Status != snapshot.StatusNotAssessed {
		t.Errorf("%+v", a.Results[0])
	}
	for i, want := range []bool{true, true, false, true, false} {
		if a.MissingGrants[i].Declined != want {
			t.Errorf("%+v", a.MissingGrants[i])
		}
	}
}
