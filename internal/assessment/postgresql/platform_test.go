package postgresql

import (
	"slices"
	"strings"
	"testing"

	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

// TestAPlatformIsNotAskedForUnavailableRights: C19, and its siblings. The servers imitate
// what the platforms make.
func TestAPlatformIsNotAskedForUnavailableRights(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	run(t, server.Superuser(), "CREATE ROLE watcher LOGIN IN ROLE pg_monitor;\nCREATE DATABASE shop;\n")
	for _, c := range []struct{ name, database, makes, drops string }{
		{"Amazon RDS", "rdsadmin", "", ""},
		{"Amazon RDS", "", "CREATE ROLE rds_superuser", "DROP ROLE rds_superuser"},
		{"Azure Database for PostgreSQL", "azure_maintenance", "CREATE ROLE azure_pg_admin", "DROP ROLE azure_pg_admin"},
		{"Google Cloud SQL", "cloudsqladmin", "", ""},
		{"AlloyDB", "alloydbadmin", "", ""},
		{"Aiven", "_aiven", "", ""},
		{"DigitalOcean", "_dodb", "", ""},
		{"Supabase", "", "CREATE ROLE supabase_admin", "DROP ROLE supabase_admin"},
		{"Neon", "", "CREATE ROLE neon_superuser", "DROP ROLE neon_superuser"},
		{"Heroku Postgres", "", "CREATE SCHEMA heroku_ext", "DROP SCHEMA heroku_ext"},
	} {
		t.Run(c.name+" "+c.database, func(t *testing.T) {
			makes, drops := c.makes+";\n", c.drops+";\n"
			if c.database != "" {
				makes += `CREATE DATABASE "` + c.database + `";` + "\n" + `REVOKE CONNECT ON DATABASE "` + c.database + `" FROM PUBLIC;` + "\n"
				drops += `DROP DATABASE "` + c.database + `";` + "\n"
			}
			run(t, server.Superuser(), makes)
			defer run(t, server.Superuser(), drops)
			a := assess(t, server.URL("watcher", "postgres"))
			if len(a.MissingGrants) > 0 {
				t.Errorf("%+v", a.MissingGrants)
			}
			for _, check := range []string{"PG-S11", "PG-S01"} {
				r, _ := resultOf(a, check, "")
				if r.Status != snapshot.StatusNotApplicable || r.ReasonCode != snapshot.ReasonPlatform ||
					!strings.HasPrefix(r.Reason, "Not assessed: the platform does not give this. "+c.name+" keeps pg_") {
					t.Errorf("%+v", r)
				}
			}
			for _, r := range a.Results {
				if r.Status == snapshot.StatusNotAssessed && r.ReasonCode != snapshot.ReasonQueryFailed {
					t.Errorf("a gap that nobody can close: %+v", r)
				}
			}
			if c.database == "" {
				return
			}
			r, _ := resultOf(a, "PG-S17", c.database)
			if want := "Not assessed: the platform does not give this. " + c.name + " keeps database " + c.database + " to itself."; r.Reason != want {
				t.Errorf("%+v", r)
			}
			if i := slices.IndexFunc(a.Databases, func(d snapshot.DatabaseFact) bool { return d.Name == c.database }); i < 0 || a.Databases[i].AllowsConn {
				t.Errorf("it is to be classified: %+v", a.Databases)
			}
			if own, _ := resultOf(a, "PG-S17", "shop"); own.Status == snapshot.StatusNotApplicable {
				t.Errorf("%+v", own)
			}
		})
	}
}

// TestAStandbyIsGrantedOnItsPrimary: F11. A standby refuses every grant.
func TestAStandbyIsGrantedOnItsPrimary(t *testing.T) {
	t.Parallel()
	primary := pgtest.Cluster(t, pgtest.Options{})
	run(t, primary.Superuser(), "CREATE ROLE watcher LOGIN IN ROLE pg_monitor;\n")
	standby := pgtest.Standby(t, primary, pgtest.Options{})
	a := assess(t, standby.URL("watcher", "postgres"))
	if !a.InRecovery || len(a.MissingGrants) == 0 {
		t.Fatalf("%+v", a.MissingGrants)
	}
	r, _ := resultOf(a, "PG-S11", "")
	if !strings.Contains(r.Reason, "grant it on its primary") || a.Upstream != "" && a.Upstream != primary.Addr() {
		t.Errorf("%+v, behind %q", r, a.Upstream)
	}
}
