package servers_test

import (
	"errors"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers"
)

func TestParseOracleDSN(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ dsn, address, database, tls, problem string }{
		"everything":         {"oracle://u:p@db01:1522/orders.example.com?sslmode=verify-full", "db01:1522", "orders.example.com", "verify-full", ""},
		"defaults":           {"oracle://u:p@db01/XEPDB1", "db01:1521", "XEPDB1", "disable", ""},
		"sid":                {"oracle://u:p@db01?sid=ORCL&sslmode=require", "db01:1521", "ORCL", "require", ""},
		"common user":        {"oracle://C%23%23MUSTER:p%40ss%2Fword@db01/x", "db01:1521", "x", "disable", ""},
		"IPv6":               {"oracle://u:p@[2001:db8::1]:1521/x", "[2001:db8::1]:1521", "x", "disable", ""},
		"as parameters":      {"oracle://db01/?user=u&password=p&service=x&port=1700", "db01:1700", "x", "disable", ""},
		"no host":            {"oracle://u:secret@/x", "", "", "", "no host"},
		"no user":            {"oracle://db01/x?password=secret", "", "", "", "no user"},
		"no password":        {"oracle://u@db01/x", "", "", "", "no password"},
		"no service":         {"oracle://u:secret@db01", "", "", "", "no service"},
		"service and sid":    {"oracle://u:secret@db01/x?sid=ORCL", "", "", "", "a service and a sid"},
		"descriptor":         {"oracle://u:secret@db01/x)(ADDRESS=(HOST=h)", "", "", "", "other characters"},
		"descriptor as host": {"oracle://u:secret@/x?host=a)(PORT%3D1", "", "", "", "neither a name nor an address"},
		"socket":             {"oracle://u:secret@/x?host=/tmp/.oracle", "", "", "", "neither a name nor an address"},
		"alias":              {"oracle://u:secret@ORDERS_ALIAS/x/y", "", "", "", "other characters"},
		"two hosts":          {"oracle://u:secret@/x?host=a,b", "", "", "", "more than one host"},
		"host twice":         {"oracle://u:secret@db01/x?host=db02", "", "", "", "host twice"},
		"wallet":             {"oracle://u:secret@db01/x?wallet=/etc/w", "", "", "", `"wallet" is not accepted`},
		"TNS_ADMIN":          {"oracle://u:secret@db01/x?TNS_ADMIN=/etc/w", "", "", "", `"TNS_ADMIN" is not accepted`},
		"connect string":     {"oracle://u:secret@db01/x?connStr=(DESCRIPTION=)", "", "", "", `"connStr" is not accepted`},
		"further servers":    {"oracle://u:secret@db01/x?server=db02", "", "", "", `"server" is not accepted`},
		"trace":              {"oracle://u:secret@db01/x?trace+file=/tmp/t", "", "", "", `"trace file" is not accepted`},
		"operating system":   {"oracle://u:secret@db01/x?auth+type=OS", "", "", "", `"auth type" is not accepted`},
		"the driver's TLS":   {"oracle://u:secret@db01/x?ssl+verify=false", "", "", "", `"ssl verify" is not accepted`},
		"tls mode":           {"oracle://u:secret@db01/x?sslmode=prefer", "", "", "", "disable, require, verify-full"},
		"port":               {"oracle://u:secret@db01:0/x", "", "", "", "port"},
		"port is no number":  {"oracle://u:secret@db01:secret/x", "", "", "", "not a URL"},
		"another scheme":     {"postgres://u:secret@db01/x", "", "", "", "oracle://"},
		"keywords":           {"u/secret@db01:1521/x", "", "", "", "oracle://"},
		"hash in password":   {"oracle://u:sec#ret@db01/x", "", "", "", "oracle://user"},
		"hash in user":       {"oracle://C##MUSTER:secret@db01/x", "", "", "", "%23"},
		"zero byte":          {"oracle://u:secret%00@db01/x", "", "", "", "zero byte"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, err := servers.Parse(fleet.Oracle, test.dsn)
			if test.address != "" {
				if err != nil || target.Address() != test.address || target.Database != test.database || target.TLS != test.tls {
					t.Fatalf("%s %s %s, %v", target.Address(), target.Database, target.TLS, err)
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
