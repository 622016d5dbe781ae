package servers_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

func TestParseDSN(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ dsn, address, problem string }{
		"everything":        {"postgres://u:p@db01:6432/app?sslmode=verify-full", "db01:6432", ""},
		"defaults":          {"postgresql://u@db01", "db01:5432", ""},
		"IPv6":              {"postgres://u@[2001:db8::1]:5433/app", "[2001:db8::1]:5433", ""},
		"socket":            {"postgres:///app?host=/run/pg&user=u&port=5433", "/run/pg/.s.PGSQL.5433", ""},
		"escaped password":  {"postgres://u:p%40ss%2Fword@db01/app", "db01:5432", ""},
		"no host":           {"postgres://u:secret@/app", "", "no host"},
		"no user":           {"postgres://db01/app", "", "no user"},
		"keywords":          {"host=db01 user=u password=secret", "", "postgres://"},
		"another scheme":    {"mysql://u:secret@db01/app", "", "postgres://"},
		"service":           {"postgres://u:secret@db01/app?service=prod", "", `"service" is not accepted`},
		"a ? in a password": {"postgres://u:12?secret@db01/app", "", "must be written as %3F"},
		"passfile":          {"postgres://u@db01/app?passfile=/etc/x", "", `"passfile" is not accepted`},
		"another address":   {"postgres://u@db01/app?hostaddr=169.254.169.254", "", `"hostaddr" is not accepted`},
		"certificate":       {"postgres://u@db01/app?sslcert=/etc/x", "", `"sslcert" is not accepted`},
		"options":           {"postgres://u@db01/app?options=-csearch_path%3Dx", "", `"options" is not accepted`},
		"two hosts":         {"postgres://u:secret@/app?host=a,b", "", "more than one host"},
		"two with ports":    {"postgres://u:secret@a:5432,b:5432/app", "", "more than one host"},
		"host twice":        {"postgres://u:secret@db01/app?host=db02", "", "host twice"},
		"tls mode":          {"postgres://u:secret@db01/app?sslmode=maybe", "", "sslmode"},
		"port":              {"postgres://u:secret@db01:0/app", "", "port"},
		"port is no number": {"postgres://u:secret@db01:secret/app", "", "not a URL"},
		"malformed":         {"postgres://u:sec%zzret@db01/app", "", "not a URL"},
		"zero byte":         {"postgres://u:secret%00@db01/app", "", "zero byte"},
		"hash in password":  {"postgres://u:sec#ret@db01/app", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, err := servers.Parse(fleet.PostgreSQL, test.dsn)
			if test.address != "" {
				if err != nil || target.Address() != test.address {
					t.Fatalf("%s, %v", target.Address(), err)
				}
				return
			}
			var malformed *servers.DSNError
			if !errors.As(err, &malformed) || !strings.Contains(err.Error(), test.problem) {
				t.Fatalf("got %v, want %q", err, test.problem)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "ret@") {
				t.Errorf("the error repeats the password: %v", err)
			}
		})
	}
}

// Not parallel: it changes the environment, which every variable that libpq
// knows would otherwise decide where we connect and as whom.
func TestTheEnvironmentIsNeverConsulted(t *testing.T) {
	server := pgtest.Cluster(t, pgtest.Options{HBA: "local all postgres trust\nhost all all 127.0.0.1/32 scram-sha-256\n"})
	prepare(t, server.Superuser())
	at, err := url.Parse(server.TCPURL("shop", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	passfile, services := filepath.Join(dir, "pgpass"), filepath.Join(dir, "services")
	write(t, passfile, "*:*:*:*:right-password\n")
	write(t, services, "[prod]\npassword=right-password\n")
	for variable, value := range map[string]string{
		"PGPASSWORD": "right-password", "PGPASSFILE": passfile, "PGSERVICE": "prod", "PGSERVICEFILE": services,
		"PGHOST": "nowhere.invalid", "PGPORT": "not-a-port", "PGUSER": "nobody", "PGDATABASE": "nowhere", "PGSSLMODE": "nonsense",
		"PGSSLROOTCERT": "/nonexistent", "PGSSLCERT": "/nonexistent", "PGSSLKEY": "/nonexistent", "PGTARGETSESSIONATTRS": "nonsense",
		"PGCONNECT_TIMEOUT": "nonsense", "PGOPTIONS": "-c nonsense=1", "PGAPPNAME": "somebody", "PGTZ": "nonsense",
		"PGREQUIREAUTH": "nonsense", "PGCHANNELBINDING": "nonsense", "PGMINPROTOCOLVERSION": "nonsense", "HOME": dir,
	} {
		t.Setenv(variable, value)
	}
	try := func(dsn string) error {
		target, err := new(servers.Reach).Target(fleet.PostgreSQL, dsn)
		if err != nil {
			t.Fatal(err)
		}
		s, err := target.Open(context.Background(), target.Database, servers.StatementTimeout)
		if err != nil {
			return err
		}
		defer s.Close(context.Background())
		name, err := servers.Row(context.Background(), s, 1, "SELECT current_setting('application_name')")
		if err != nil || name[0] != servers.ApplicationName {
			t.Errorf("the session calls itself %q, %v", name, err)
		}
		return nil
	}
	for _, service := range []string{"prod", "missing"} {
		t.Setenv("PGSERVICE", service)
		if err := try("postgres://shop:right-password@" + at.Host + "/postgres"); err != nil {
			t.Errorf("a whole connection string does not connect: %v", err)
		}
		var refused *servers.ConnectionError
		if err := try("postgres://shop@" + at.Host + "/postgres"); !errors.As(err, &refused) || refused.Class != servers.ClassAuthentication {
			t.Errorf("without a password: %v", err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func prepare(t *testing.T, dsn string) {
	t.Helper()
	db := pgtest.Connect(t, dsn)
	db.MustExec(`CREATE ROLE shop LOGIN PASSWORD 'right-password'`)
}
