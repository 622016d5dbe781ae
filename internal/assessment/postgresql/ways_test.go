package postgresql

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

// TestSignInsAreJudgedByTheirMethod: a directory's password in the clear, and a weak cipher. A command that archives
// nothing is no archive, a slot that lost its WAL fails though it holds none, and a role as which a standby is
// connected is no more than a note.
func TestSignInsAreJudgedByTheirMethod(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{
		Settings: map[string]string{
			"archive_mode": "on", "archive_command": " /bin/true ", "max_slot_wal_keep_size": "1MB", "max_wal_size": "32MB", "min_wal_size": "32MB",
			"ssl_ciphers": "HIGH:!aNULL:RC4-SHA",
		},
		HBA: "local all,replication all trust\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n" +
			"host all all 10.9.0.0/16 radius radiusservers=127.0.0.1 radiussecrets=x\n" +
			"hostssl all all 10.8.0.0/16 radius radiusservers=127.0.0.1 radiussecrets=x\n",
	})
	certify(t, server)
	run(t, server.Superuser(), "ALTER SYSTEM SET ssl = on;\nCREATE ROLE copier LOGIN REPLICATION;\nCREATE ROLE idle LOGIN REPLICATION;\n"+
		"SELECT pg_reload_conf();\nSELECT pg_create_physical_replication_slot('gone', true);\nCREATE TABLE filler AS SELECT g, md5(g::text) FROM generate_series(1, 400000) g;\n"+
		"SELECT pg_switch_wal();\nINSERT INTO filler SELECT g, md5(g::text) FROM generate_series(1, 400000) g;\nSELECT pg_switch_wal();\nCHECKPOINT;\n")
	await(t, server.Superuser(), `SELECT wal_status = 'lost' FROM pg_replication_slots`)
	standby, err := pgx.Connect(t.Context(), strings.Replace(server.URL("copier", "postgres"), "?", "?replication=true&", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = standby.Close(context.WithoutCancel(t.Context())) }()
	a := assess(t, server.Superuser())
	seenWith{"PG-S02", snapshot.StatusFail, []string{"host all all 10.9.0.0 255.255.0.0 radius"}, nil, ""}.hold(t, a, "")
	seenWith{"PG-S40", snapshot.StatusFail, []string{"ssl_ciphers"}, nil, ""}.hold(t, a, "")
	seenWith{"PG-F05", snapshot.StatusFail, []string{"archive_command"}, nil, ""}.hold(t, a, "")
	seenWith{"PG-M04", snapshot.StatusFail, []string{"gone"}, nil, ""}.hold(t, a, "")
	seenWith{"PG-M06", snapshot.StatusPass, nil, nil, ""}.hold(t, a, "")
	roles, _ := resultOf(a, "PG-S14", "")
	for _, v := range roles.Violations {
		if want := map[string]string{"copier": "Low", "idle": "High"}[v.Object]; v.Severity != want {
			t.Errorf("%s is %q (%s), want %q", v.Object, v.Severity, v.Evidence, want)
		}
	}
}
