package postgresql

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment"
	judged "muster/internal/assessment/grants"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// What the printed script gives is enough for everything but what it names: it is run as it
// is printed.
func TestGrantsAreEnough(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		for _, classify := range []string{assessment.ClassifyNames, assessment.ClassifyValues} {
			t.Run(fmt.Sprint(major, " ", classify), func(t *testing.T) { t.Parallel(); grantsAreEnough(t, major, classify) })
		}
	}
	for version, want := range map[string]bool{"": true, "13": true, "17.4": true, "12": false, "x": false} {
		if _, ok := Grants(version, assessment.ClassifyOff); ok != want {
			t.Errorf("%q: %t", version, ok)
		}
	}
}

func grantsAreEnough(t *testing.T, major int, classify string) {
	server := pgtest.Cluster(t, pgtest.Options{Major: major})
	script, ok := Grants(fmt.Sprint(major), classify)
	if !ok {
		t.Fatal("there is no script")
	}
	run(t, server.Superuser(), "CREATE TABLE people (id serial, email text); INSERT INTO people (email) SELECT 'ana' || n || '@example.org' FROM generate_series(1, 50) n;\n"+
		"CREATE DATABASE shop;\nCREATE DATABASE \"Closed one\";\nREVOKE CONNECT ON DATABASE \"Closed one\" FROM PUBLIC;\n"+script)
	target, err := new(servers.Reach).OwnTarget(fleet.PostgreSQL, server.TCPURL("muster", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	inspector := collectorAt(t, time.Now())
	found, _ := inspector.Assess(context.Background(), target)
	var lacking []string
	for _, r := range found.Results {
		if r.ReasonCode == snapshot.ReasonPermissionDenied && !slices.Contains(lacking, r.CheckID) {
			lacking = append(lacking, r.CheckID)
		}
	}
	opened := classify == assessment.ClassifyValues && major >= 14 // with all tables
	want := []string{"PG-C06", "PG-S11", "PG-S35"}
	if opened {
		want = nil
	}
	if slices.Sort(lacking); !slices.Equal(lacking, want) || found.RoleIsSuperuser {
		t.Errorf("%s as %s (superuser %t): not allowed are %v; %+v", found.Outcome, found.Role, found.RoleIsSuperuser, lacking, found.MissingGrants)
	}
	for _, g := range judged.All(fleet.PostgreSQL, found.MissingGrants, nil) { // F11
		if g.Needed {
			t.Errorf("the script leaves a needed grant missing: %+v", g)
		}
	}
	run := inspector.Classify(context.Background(), target, "postgres", classify)
	if sampled := run.TablesSampled > 0; sampled != opened {
		t.Errorf("%s (%s), %d tables sampled", run.Status, run.Reason, run.TablesSampled)
	}
}
