package postgresql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

// told is what a look says of an object of a check: its severity, if the check has several, and a part of the evidence.
// none: the check does not name it.
type told struct{ check, object, severity, evidence string }

const (
	failed, passed = snapshot.StatusFail, snapshot.StatusPass
	none           = "none"
)

// looks are settings, and what a look says under them: for each check one faulty setting after the other, each beside
// the setting next to it that is no fault.
var looks = []struct {
	settings string
	passes   string // checks
	told     []told
}{
	{
		"log_filename=postgresql.log log_truncate_on_rotation=on log_rotation_age=1d log_rotation_size=0 log_timezone=Europe/Berlin zero_damaged_pages=on " +
			"log_destination=stderr syslog_sequence_numbers=off syslog_split_messages=off",
		"PG-S47 PG-S41",
		[]told{
			{"PG-S46", "log_filename", "Medium", "overwrites"}, {"PG-S46", "log_rotation_age", none, ""},
			{"PG-S48", "log_timezone", "", "Berlin"}, {"PG-S48", "log_hostname", none, ""}, {"PG-S50", "ssl_ciphers", "", "HIGH"}, // the default
			{"PG-S29", "pgaudit.log", "", "none"}, {"PG-S39", "auth_delay.milliseconds", "", "no pause"},
			{"PG-F14", "zero_damaged_pages", "High", "on"}, {"PG-F14", "log_min_messages", none, ""},
		},
	},
	{
		"log_filename=postgresql.log log_truncate_on_rotation=off log_timezone=Etc/UTC log_hostname=on allow_system_table_mods=on " +
			"log_destination=stderr,syslog syslog_sequence_numbers=off ssl_ciphers=HIGH:!aNULL:!kRSA pgaudit.log=ddl,role auth_delay.milliseconds=500",
		"PG-S50 PG-S39 PG-S41",
		[]told{
			{"PG-S46", "log_filename", "Low", "one file"}, {"PG-S48", "log_hostname", "", "on"}, {"PG-S48", "log_timezone", none, ""},
			{"PG-F14", "allow_system_table_mods", "Medium", "on"}, {"PG-F14", "zero_damaged_pages", none, ""},
			{"PG-S47", "syslog_sequence_numbers", "", "off"}, {"PG-S47", "syslog_split_messages", none, ""},
			{"PG-S29", "pgaudit.log", "", "ddl,role"},
		},
	},
	{
		"log_filename=log-%a log_truncate_on_rotation=off log_timezone=GMT debug_print_plan=on log_min_messages=debug1 log_destination=syslog " +
			"syslog_split_messages=off ssl_ciphers=ECDHE-RSA-AES256-GCM-SHA384:AES256-GCM-SHA384 pgaudit.log=all,-write session_preload_libraries=passwordcheck",
		"PG-S48 PG-S41 PG-S37",
		[]told{
			{"PG-S46", "log_filename", "Low", "appended"}, {"PG-F14", "debug_print_plan", "Low", "on"}, {"PG-F14", "log_min_messages", "Low", "debug1"},
			{"PG-S47", "syslog_split_messages", "", "off"}, {"PG-S47", "syslog_sequence_numbers", none, ""}, {"PG-S50", "ssl_ciphers", "", "ECDHE"},
			{"PG-S29", "pgaudit.log", "", "-write"},
		},
	},
	{
		"log_filename=log-%a log_truncate_on_rotation=on log_destination= ssl_ciphers=ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384 " +
			"pgaudit.log=all,-misc post_auth_delay=1",
		"PG-S46 PG-S50 PG-S29 PG-S47",
		[]told{{"PG-S41", "log_destination", "", "empty"}, {"PG-F14", "post_auth_delay", "Low", "1"}, {"PG-S37", "shared_preload_libraries", "", ""}},
	},
	{
		"log_filename=log-%Y-%m-%d log_truncate_on_rotation=off log_rotation_age=0 log_rotation_size=0 ssl_min_protocol_version=TLSv1.3 pgaudit.role=auditor",
		"PG-S50 PG-S29 PG-F14",
		[]told{{"PG-S46", "log_rotation_age", "Low", "are 0"}, {"PG-S46", "log_filename", none, ""}},
	},
	{"log_filename=log-%Y-%m-%d log_rotation_age=0 log_rotation_size=10MB pgaudit.log=ddl,WRITE ssl=off", "PG-S46 PG-S29 PG-S50", nil},
}

// TestLogsCiphersAndLibrariesAreJudgedByTheirValues: each fault of these settings, and the setting beside it
// that is none.
func TestLogsCiphersAndLibrariesAreJudgedByTheirValues(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			server := logging(t, major)
			for _, l := range looks {
				a := lookWith(t, server, l.settings)
				for _, id := range strings.Fields(l.passes) {
					seenWith{id, passed, nil, nil, ""}.hold(t, a, "")
				}
				for _, want := range l.told {
					want.hold(t, a)
				}
			}
		})
	}
}

// logging is a server with a collector, TLS, libraries for auditing and delays, and a tablespace in its data directory.
func logging(t *testing.T, major int) *pgtest.Server {
	t.Helper()
	server := pgtest.Cluster(t, pgtest.Options{
		Major: major, Settings: map[string]string{"logging_collector": "on"},
		HBA: "local all all trust\nhost all all 127.0.0.1/32 trust\nhost app all 10.0.0.0/8 scram-sha-256\nhost app all 10.1.0.0/16 scram-sha-256\n" +
			"host all all 10.2.0.0/16 scram-sha-256\nhost all shop 10.3.0.0/16 scram-sha-256\nhost app all 2001:db8::/32 scram-sha-256\n" +
			"host app all fd00:1:2::/48 scram-sha-256\nhost all all 10.0.0.0/8 reject\nhost app all all scram-sha-256\nhost all all app.example scram-sha-256\n",
	})
	certify(t, server)
	library := value(t, server.Superuser(), `SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR'`)
	code, err := os.ReadFile(filepath.Join(library, "auto_explain.so")) //nolint:gosec // PostgreSQL's own
	if err != nil {
		t.Fatal(err)
	}
	placeFile(t, server, "pgaudit.so", code)
	appendTo(t, filepath.Join(server.Dir(), "postgresql.conf"), "dynamic_library_path = '"+server.Dir()+":$libdir'\nshared_preload_libraries = 'pgaudit, auth_delay'\nssl = on\n")
	server.Restart(t)
	return server
}

func (w told) hold(t *testing.T, a snapshot.Assessment) {
	t.Helper()
	r, _ := resultOf(a, w.check, "")
	severity, evidence := none, ""
	for _, v := range r.Violations {
		if v.Object == w.object {
			if severity != none {
				t.Errorf("%s names %s twice: %q and %q", w.check, w.object, evidence, v.Evidence)
			}
			severity, evidence = v.Severity, v.Evidence
		}
	}
	if severity != w.severity || !strings.Contains(evidence, w.evidence) {
		t.Errorf("%s says of %s: %s, %q; want %s, %q", w.check, w.object, severity, evidence, w.severity, w.evidence)
	}
}

// lookWith looks at the server with settings in its file, and takes them out again.
func lookWith(t *testing.T, server *pgtest.Server, settings string) snapshot.Assessment {
	t.Helper()
	path := filepath.Join(server.Dir(), "postgresql.conf")
	before, err := os.ReadFile(path) //nolint:gosec // the test server's own
	if err != nil {
		t.Fatal(err)
	}
	text := string(before)
	for _, setting := range strings.Fields(settings) {
		name, value, _ := strings.Cut(setting, "=")
		text += fmt.Sprintf("%s = '%s'\n", name, value)
	}
	write := func(conf string) {
		if err := os.WriteFile(path, []byte(conf), 0o600); err != nil { //nolint:gosec // likewise
			t.Fatal(err)
		}
	}
	write(text)
	since := value(t, server.Superuser(), "SELECT clock_timestamp()::text")
	run(t, server.Superuser(), "SELECT pg_reload_conf();\n")
	await(t, server.Superuser(), fmt.Sprintf("SELECT pg_conf_load_time() > '%s'", since))
	a := assess(t, server.Superuser())
	write(string(before))
	return a
}

// TestFilesNetworksAndStandbysAreJudgedByTheirPlace: files in the data directory, HBA rules by the size of their
// networks, and the connection of a standby from both its ends.
func TestFilesNetworksAndStandbysAreJudgedByTheirPlace(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			server := logging(t, major)
			filesAndNetworks(t, server)
			standbys(t, major)
		})
	}
}

func filesAndNetworks(t *testing.T, server *pgtest.Server) {
	inside := filepath.Join(server.Dir(), "inside")
	placeDirectory(t, server, inside)
	run(t, server.Superuser(), "CREATE TABLESPACE within LOCATION '"+inside+"';\n")
	a := assess(t, server.Superuser())
	seenWith{"PG-F15", failed, []string{"log_directory", "tablespace within"}, []string{"tablespace pg_default"}, ""}.hold(t, a, "")
	seenWith{"PG-S53", failed, []string{"unix_socket_permissions"}, []string{"data_directory_mode"}, ""}.hold(t, a, "")
	seenWith{
		"PG-S49", failed, []string{
			"host app all 10.0.0.0 255.0.0.0 scram-sha-256", "host all all 10.2.0.0 255.255.0.0 scram-sha-256",
			"host app all 2001:db8:: ffff:ffff:: scram-sha-256", "host all all app.example scram-sha-256",
		}, []string{
			"local all all trust", "host all all 127.0.0.1 255.255.255.255 trust", "host app all 10.1.0.0 255.255.0.0 scram-sha-256",
			"host all shop 10.3.0.0 255.255.0.0 scram-sha-256", "host app all fd00:1:2:: ffff:ffff:ffff:: scram-sha-256",
			"host all all 10.0.0.0 255.0.0.0 reject", "host app all all scram-sha-256",
		}, "",
	}.hold(t, a, "")
	run(t, server.Superuser(), "ALTER SYSTEM SET unix_socket_permissions = '0770';\nALTER SYSTEM SET log_directory = '"+server.Dir()+"-elsewhere';\n")
	if err := os.Chmod(server.Dir(), 0o750); err != nil { //nolint:gosec // what is tried
		t.Fatal(err)
	}
	server.Restart(t)
	a = assess(t, server.Superuser())
	seenWith{"PG-S53", failed, []string{"data_directory_mode"}, []string{"unix_socket_permissions"}, ""}.hold(t, a, "")
	seenWith{"PG-F15", failed, []string{"tablespace within"}, []string{"log_directory"}, ""}.hold(t, a, "")
}

// placeDirectory makes an empty directory that belongs to the server's account.
func placeDirectory(t *testing.T, server *pgtest.Server, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	own(t, server, path)
}

func standbys(t *testing.T, major int) {
	address := ownAddress(t)
	primary := pgtest.Cluster(t, pgtest.Options{
		Major: major, Settings: map[string]string{"listen_addresses": "*", "max_wal_senders": "3", "wal_level": "replica"},
		HBA: "local all,replication all trust\nhost all,replication all 127.0.0.1/32 trust\nhost all,replication all " + address + "/32 trust\n",
	})
	certify(t, primary)
	run(t, primary.Superuser(), "ALTER SYSTEM SET ssl = on;\nCREATE ROLE copier LOGIN REPLICATION;\nSELECT pg_reload_conf();\n")
	await(t, primary.Superuser(), "SELECT current_setting('ssl') = 'on'")
	seenWith{"PG-S51", passed, nil, nil, ""}.hold(t, assess(t, primary.Superuser()), "")
	seenWith{"PG-S52", passed, nil, nil, ""}.hold(t, assess(t, primary.Superuser()), "")
	standby := pgtest.Standby(t, primary, pgtest.Options{})
	_, port, _ := strings.Cut(primary.Addr(), ":")
	for _, turn := range []struct {
		host, user, mode string
		primary, standby seenWith
	}{
		{"127.0.0.1", pgtest.Superuser, "disable", seenWith{"PG-S51", failed, []string{pgtest.Superuser}, nil, ""}, seenWith{"PG-S52", passed, nil, nil, ""}},
		{address, "copier", "prefer", seenWith{"PG-S51", passed, nil, nil, ""}, seenWith{"PG-S52", failed, []string{"primary_conninfo"}, nil, ""}},
		{address, "copier", "require", seenWith{"PG-S51", passed, nil, nil, ""}, seenWith{"PG-S52", passed, nil, nil, ""}},
	} {
		run(t, standby.Superuser(), fmt.Sprintf("ALTER SYSTEM SET primary_conninfo = 'host=%s port=%s user=%s sslmode=%s sslcert=none sslkey=none sslrootcert=none';\nSELECT pg_reload_conf();\n",
			turn.host, port, turn.user, turn.mode))
		await(t, standby.Superuser(), fmt.Sprintf(
			"SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE conninfo LIKE '%%user=%s %%' AND conninfo LIKE '%%sslmode=%s %%')", turn.user, turn.mode))
		await(t, primary.Superuser(), fmt.Sprintf("SELECT coalesce(bool_and(usename = '%s'), false) FROM pg_stat_replication", turn.user))
		turn.primary.hold(t, assess(t, primary.Superuser()), "")
		turn.standby.hold(t, assess(t, standby.Superuser()), "")
	}
	run(t, standby.Superuser(), "ALTER SYSTEM SET primary_conninfo = '';\nSELECT pg_reload_conf();\n")
	await(t, standby.Superuser(), "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
	seenWith{"PG-S52", snapshot.StatusNotAssessed, nil, nil, "not connected to a primary"}.hold(t, assess(t, standby.Superuser()), "")
}
