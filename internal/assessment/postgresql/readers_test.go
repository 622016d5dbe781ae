package postgresql

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"muster/internal/assessment"
	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

// lattice makes roles that are members of each other at random, and tables that are granted
// to them at random, in a database of a server of its own.
func lattice(t *testing.T, server *pgtest.Server, seed uint64) (roles []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	some := func(of []string) string { return of[random.IntN(len(of))] }
	var sql strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&sql, format+";\n", args...) }
	version := value(t, server.Superuser(), "SHOW server_version_num")
	options := func() string {
		if version < "160000" {
			return ""
		}
		return " WITH INHERIT " + some([]string{"TRUE", "FALSE"}) + ", SET " + some([]string{"TRUE", "FALSE"})
	}
	for i := range 9 {
		role := fmt.Sprintf("r%d_%d", seed, i)
		roles = append(roles, role)
		say("CREATE ROLE %s %s %s", role, some([]string{"LOGIN", "NOLOGIN"}), some([]string{"INHERIT", "NOINHERIT", "INHERIT"}))
	}
	for i, member := range roles {
		for _, group := range roles[i+1:] { // no circles
			if random.IntN(3) == 0 {
				say("GRANT %s TO %s%s", group, member, options())
			}
		}
	}
	say("ALTER ROLE %s SUPERUSER", roles[len(roles)-1])
	say("ALTER ROLE %s BYPASSRLS", roles[3])
	say("GRANT pg_read_all_data TO %s%s", roles[random.IntN(4)+4], options())
	for i := range 3 {
		schema := fmt.Sprintf("s%d_%d", seed, i)
		say("CREATE SCHEMA %s AUTHORIZATION %s", schema, some(roles[:8]))
		for range 2 * i {
			say("GRANT USAGE ON SCHEMA %s TO %s", schema, some(roles))
		}
		if i == 2 {
			say("GRANT USAGE ON SCHEMA %s TO PUBLIC", schema)
		}
		for j := range 3 {
			table := fmt.Sprintf("%s.t%d", schema, j)
			owner := some(roles[:8])
			say("CREATE TABLE %s (email text, phone text, n int)", table)
			say("ALTER TABLE %s OWNER TO %s", table, owner)
			for range j {
				say("GRANT SELECT ON %s TO %s", table, some(roles))
			}
			switch (i + j + int(seed)) % 5 { //nolint:gosec // a small number
			case 0:
				say("GRANT SELECT (email) ON %s TO PUBLIC", table)
				say("GRANT SELECT (phone) ON %s TO %s", table, some(roles))
			case 1:
				say("REVOKE ALL ON %s FROM %s", table, owner)
			case 2:
				say("GRANT SELECT ON %s TO PUBLIC", table)
			case 3:
				say("ALTER TABLE %s ENABLE ROW LEVEL SECURITY, %s FORCE ROW LEVEL SECURITY", table, some([]string{"NO", ""}))
				say("GRANT SELECT ON %s TO %s", table, some(append([]string{"PUBLIC"}, roles...)))
			}
		}
	}
	run(t, server.Superuser(), sql.String())
	return roles
}

// canRead is whether a role reads a column of a table, as itself or as any that it can
// become: the server's word.
// past is whether it does so where row security is not to hide anything.
func canRead(t *testing.T, conn *pgx.Conn, role string, others []string, table, column string, past bool) bool {
	t.Helper()
	defer func() {
		if _, err := conn.Exec(t.Context(), "RESET SESSION AUTHORIZATION; RESET row_security"); err != nil {
			t.Fatal(err)
		}
	}()
	if _, err := conn.Exec(t.Context(), "SET SESSION AUTHORIZATION "+role); err != nil {
		t.Fatal(err)
	}
	if past {
		if _, err := conn.Exec(t.Context(), "SET row_security = off"); err != nil {
			t.Fatal(err)
		}
	}
	for _, as := range append([]string{"NONE", readAllData}, others...) {
		if _, err := conn.Exec(t.Context(), "SET ROLE "+as); err != nil {
			continue
		}
		if _, err := conn.Exec(t.Context(), "SELECT "+column+" FROM "+table+" LIMIT 0"); err == nil {
			return true
		}
	}
	return false
}

// The roles that the paths name are those that the server lets read, and no other; of
// columns, those columns.
func TestTheListedReadersCanRead(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	c := collectorAt(t, today)
	kinds := map[string]int{}
	for _, seed := range []uint64{1, 3} {
		roles := lattice(t, server, seed)
		conn, err := pgx.Connect(t.Context(), server.Superuser())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		run := c.Classify(t.Context(), targetOf(t, server.Superuser()), "postgres", assessment.ClassifyNames)
		tables := 0
		for _, table := range run.Tables {
			if !strings.HasPrefix(table.Schema, fmt.Sprintf("s%d_", seed)) {
				continue
			}
			tables++
			for _, r := range table.ReaderPaths {
				for _, kind := range []string{"SET ROLE", "columns", "of PUBLIC", "PUBLIC → SELECT", "every table", "as owner", "superuser"} {
					if strings.Contains(r.Path, kind) {
						kinds[kind]++
					}
				}
			}
			for _, role := range roles {
				i := slices.IndexFunc(table.ReaderPaths, func(r snapshot.Reader) bool { return r.Role == role })
				past := i >= 0 && table.ReaderPaths[i].PastPolicies
				if can := canRead(t, conn, role, roles, table.Schema+"."+table.Name, "email", true); table.RowSecurity && past != can {
					t.Errorf("%s.%s: the policies hold for %s: %t, want %t", table.Schema, table.Name, role, !past, !can)
				}
			}
			for _, column := range []string{"email", "phone", "n"} {
				named := map[string]bool{}
				for _, r := range table.ReaderPaths {
					if len(r.Columns) > 0 && !slices.Contains(r.Columns, column) {
						continue
					}
					for _, role := range roles {
						if r.Role == role || r.Role == snapshot.Public {
							named[role] = true
						}
					}
				}
				can := map[string]bool{}
				for _, role := range roles {
					if canRead(t, conn, role, roles, table.Schema+"."+table.Name, column, false) {
						can[role] = true
					}
				}
				if diff := cmp.Diff(slices.Sorted(maps.Keys(can)), slices.Sorted(maps.Keys(named))); diff != "" {
					t.Errorf("%s.%s.%s (-can +named):\n%s\n%+v", table.Schema, table.Name, column, diff, table.ReaderPaths)
				}
			}
		}
		if tables != 9 {
			t.Errorf("%d tables", tables)
		}
	}
	t.Log(kinds)
	if len(kinds) < 7 {
		t.Errorf("only %v were tried", kinds)
	}
}

// A database of very many tables keeps the ways of the first, and the numbers of all.
func TestReadersOfManyTablesAreCounted(t *testing.T) {
	t.Parallel()
	c := &circle{byName: map[string]account{}, reach: map[string][]steps{}, known: map[string]readership{}}
	for i := range mostReaders + 5 {
		c.accounts = append(c.accounts, account{Name: fmt.Sprintf("super%02d", i), Superuser: true})
		c.byName[c.accounts[i].Name] = c.accounts[i]
	}
	kept := 0
	for range 2 * mostKept / mostReaders {
		var table snapshot.ClassifiedTable
		c.keep(&table, tableAccess{Owner: "super00"})
		kept += len(table.ReaderPaths)
		if n := len(table.ReaderPaths) + table.ReadersUnlisted; n != mostReaders+5 {
			t.Fatalf("%d readers, want %d", n, mostReaders+5)
		}
	}
	if kept != mostKept {
		t.Errorf("%d are kept, want %d", kept, mostKept)
	}
}

// TestFault36PublicHasToReachTheSchema: the inventory and PG-S18 say of a grant to PUBLIC what the list of readers says.
func TestFault36PublicHasToReachTheSchema(t *testing.T) {
	t.Parallel()
	dsn := pgtest.EmptyURL(t)
	run(t, dsn, "CREATE SCHEMA shop;\nCREATE TABLE shop.newsletter (email text);\nGRANT SELECT ON shop.newsletter TO PUBLIC;\n")
	database := targetOf(t, dsn).Database
	for _, public := range []bool{false, true} {
		if public {
			run(t, dsn, "GRANT USAGE ON SCHEMA shop TO PUBLIC;\n")
		}
		tables := collectorAt(t, today).Classify(t.Context(), targetOf(t, dsn), database, assessment.ClassifyNames).Tables
		if len(tables) != 1 || tables[0].PublicAccess != public {
			t.Fatalf("%+v, want public %t", tables, public)
		}
		if listed := slices.ContainsFunc(tables[0].ReaderPaths, func(r snapshot.Reader) bool { return r.Role == snapshot.Public }); listed != public {
			t.Errorf("the readers say %t", listed)
		}
		result, _ := resultOf(assess(t, dsn), "PG-S18", database)
		if want := map[bool]string{true: "High", false: "Low"}[public]; result.Severity != want || result.Status != snapshot.StatusFail {
			t.Errorf("PG-S18 is %s, %q", result.Status, result.Severity)
		}
	}
}
