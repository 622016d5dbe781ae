package servers_test

import (
	"os"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers"
	"muster/internal/servers/documented"
	"muster/internal/testing/pgtest"
)

// C10, C29, F29. Which two identities are one server, copies of one cluster, or a name that
// leads elsewhere than before.
func TestServersAreDistinguishedByIdentity(t *testing.T) {
	t.Parallel()
	pg := func(system, process string) servers.Identity {
		return servers.Identity{Engine: fleet.PostgreSQL, System: system, Process: process}
	}
	ms := func(system, process string) servers.Identity {
		return servers.Identity{Engine: fleet.SQLServer, System: system, Process: process}
	}
	ora := func(system, process string) servers.Identity {
		return servers.Identity{Engine: fleet.Oracle, System: system, Process: process}
	}
	for name, test := range map[string]struct {
		before, now          servers.Identity
		same, related, moved bool
	}{
		"one server":                                {pg("7", "1000"), pg("7", "1000"), true, false, false},
		"a server through a pooler":                 {pg("7", "1000"), servers.Identity{Engine: fleet.PostgreSQL, System: "7", Process: "1000", Pooling: servers.TransactionPooling}, true, false, false},
		"a server started again":                    {pg("7", "1000"), pg("7", "2000"), false, true, false},
		"a copy that was started before":            {pg("7", "1000"), pg("7", "999"), false, true, true},
		"another server":                            {pg("7", "1000"), pg("8", "2000"), false, false, true},
		"accounts of which one may not read it":     {pg("7", "1000"), pg("", "1000"), true, false, false},
		"accounts that may not, of two servers":     {pg("", "1000"), pg("", "2000"), false, false, false},
		"nothing is known":                          {pg("", ""), pg("", ""), false, false, false},
		"one SQL Server":                            {ms("A", "2026-11-20T08:00:00"), ms("A", "2026-11-20T08:00:00"), true, false, false},
		"SQL Servers that start at once":            {ms("A", "2026-11-20T08:00:00"), ms("B", "2026-11-20T08:00:00"), false, false, true},
		"a SQL Server started again":                {ms("A", "2026-11-20T08:00:00"), ms("A", "2026-11-21T08:00:00"), false, false, false},
		"an Oracle and its standby":                 {ora("1", "ORCL/CDB$ROOT"), ora("1", "STBY/CDB$ROOT"), false, true, true},
		"two Oracles of one name, read in part":     {ora("", "ORCL/ORCL@db1"), ora("", "ORCL/ORCL@db2"), false, false, false},
		"an Oracle on one machine, read in part":    {ora("", "ORCL/ORCL@db1"), ora("", "ORCL/ORCL@db1"), true, false, false},
		"servers of two engines that start at once": {pg("7", "1000"), ms("7", "1000"), false, false, false},
	} {
		if test.now.Same(test.before) != test.same || test.before.Same(test.now) != test.same {
			t.Errorf("%s: the same is %t", name, !test.same)
		}
		if test.now.Related(test.before) != test.related || test.before.Related(test.now) != test.related {
			t.Errorf("%s: related is %t", name, !test.related)
		}
		if test.now.Engine == test.before.Engine && test.now.Moved(test.before) != test.moved {
			t.Errorf("%s: moved is %t", name, !test.moved)
		}
	}
}

// C10. A PostgreSQL says who it is to everybody, and a part of it where an administrator took
// pg_control_system from them.
func TestTheIdentityOfAPostgreSQL(t *testing.T) {
	t.Parallel()
	primary := pgtest.Cluster(t, pgtest.Options{})
	standby := pgtest.Standby(t, primary, pgtest.Options{})
	admin := pgtest.Connect(t, primary.Superuser())
	admin.MustExec(`CREATE ROLE nobody_much LOGIN`)
	identify := func(s *pgtest.Server, user string) servers.Identity {
		t.Helper()
		target, err := new(servers.Reach).Target(fleet.PostgreSQL, s.TCPURL(user, "postgres"))
		if err != nil {
			t.Fatal(err)
		}
		session, err := target.Open(t.Context(), target.Database, servers.StatementTimeout)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close(t.Context())
		is, err := target.Identify(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	one := identify(primary, "nobody_much")
	if one.System == "" || one.Process == "" || one.Role != servers.RolePrimary || one.Pooling != servers.Direct {
		t.Errorf("a primary is %+v", one)
	}
	other := identify(standby, pgtest.Superuser)
	if other.Role != servers.RoleStandby || other.Same(one) || !other.Related(one) {
		t.Errorf("a standby is %+v, its primary %+v", other, one)
	}
	admin.MustExec(`REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`)
	if part := identify(primary, "nobody_much"); part.System != "" || part.Process != one.Process || !part.Same(one) {
		t.Errorf("read in part it is %+v", part)
	}
}

// TestIdentitiesAreDocumented of the engines that no test has met.
func TestIdentitiesAreDocumented(t *testing.T) {
	t.Parallel()
	documented.Files(t, fleet.SQLServer, os.DirFS("sql/sqlserver"))
	documented.Files(t, fleet.Oracle, os.DirFS("sql/oracle"))
}
