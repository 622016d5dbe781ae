package servers_test

import (
	"errors"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers"
)

// TestF30ConnectionStringsOfOtherTools are refused with the form to write here, and not repeated: they may hold
// the password.
func TestF30ConnectionStringsOfOtherTools(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=db01)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=orders)))",
		"muster/secret@(description=(address=(host=db01)(port=1521))(connect_data=(service_name=orders)))",
		"jdbc:oracle:thin:@//db01:1521/orders", "jdbc:oracle:thin:muster/secret@db01:1521:ORCL", "muster/secret@//db01:1521/orders", "muster/secret@ORDERS",
	} {
		_, err := servers.Parse(fleet.Oracle, dsn)
		if malformed, ok := errors.AsType[*servers.DSNError](err); !ok || !strings.Contains(malformed.Problem, "take host, port and service: oracle://user:password@host:port/service") {
			t.Errorf("%s: %v", dsn, err)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "db01") {
			t.Errorf("%s is repeated: %v", dsn, err)
		}
	}
	if _, err := servers.Parse(fleet.Oracle, "oracle://u:100%@db01/x"); err == nil || strings.Contains(err.Error(), "tnsnames") {
		t.Errorf("a URL with a wrong escape: %v", err)
	}
	for _, parameter := range []string{"WALLET_LOCATION=/etc/w", "TNS_ADMIN=/etc/w"} {
		if _, err := servers.Parse(fleet.Oracle, "oracle://u:secret@db01/x?"+parameter); err == nil || !strings.Contains(err.Error(), "sslmode=verify-full") {
			t.Errorf("%s: %v", parameter, err)
		}
	}
}

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
		"two hosts":          {"oracle://u:p@/x?host=a,b", "a:1521", "x", "disable", ""},
		"a pair":             {"oracle://u:p@db01,db02:1600/x", "db01:1600", "x", "disable", ""},
		"ports of a pair":    {"oracle://u:p@/x?host=db01:1600,[2001:db8::1]", "db01:1600", "x", "disable", ""},
		"connect descriptor": {"oracle://u:p@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=db01)(PORT=1600))(CONNECT_DATA=(SERVICE_NAME=orders)))", "db01:1600", "orders", "disable", ""},
		"descriptor with TLS": {"oracle://u:p@(description = (retry_count=20)(address=(protocol=tcps)(port=1522)(host=adb.example)) (connect_data=(service_name=x_high.adb.example))" +
			"(security=(ssl_server_dn_match=yes)))", "adb.example:1522", "x_high.adb.example", "verify-full", ""},
		"descriptor, any certificate": {"oracle://u:p@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCPS)(HOST=h)(PORT=1))(CONNECT_DATA=(SID=S)))?sslmode=require", "h:1", "S", "require", ""},
		"descriptor without TLS":      {"oracle://u:secret@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1))(CONNECT_DATA=(SID=S)))?sslmode=require", "", "", "", "differ"},
		"descriptor and a host":       {"oracle://u:secret@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1))(CONNECT_DATA=(SID=S)))?host=x", "", "", "", "host twice"},
		"descriptor and a service":    {"oracle://u:secret@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1))(CONNECT_DATA=(SID=S)))/x", "", "", "", "a service and a sid"},
		"descriptor's wallet":         {"oracle://u:secret@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCPS)(HOST=h)(PORT=1))(SECURITY=(MY_WALLET_DIRECTORY=/etc/w)))", "", "", "", "MY_WALLET_DIRECTORY in its"},
		"nine addresses":              {"oracle://u:secret@a,b,c,d,e,f,g,h,i/x", "", "", "", "more than 8 addresses"},
		"an empty host":               {"oracle://u:secret@a,/x", "", "", "", "no host"},
		"host twice":                  {"oracle://u:secret@db01/x?host=db02", "", "", "", "host twice"},
		"wallet":                      {"oracle://u:secret@db01/x?wallet=/etc/w", "", "", "", "not PEM in base64"},
		"TNS_ADMIN":                   {"oracle://u:secret@db01/x?TNS_ADMIN=/etc/w", "", "", "", "reads no tnsnames.ora"},
		"connect string":              {"oracle://u:secret@db01/x?connStr=(DESCRIPTION=)", "", "", "", `"connStr" is not accepted`},
		"further servers":             {"oracle://u:secret@db01/x?server=db02", "", "", "", `"server" is not accepted`},
		"trace":                       {"oracle://u:secret@db01/x?trace+file=/tmp/t", "", "", "", `"trace file" is not accepted`},
		"operating system":            {"oracle://u:secret@db01/x?auth+type=OS", "", "", "", `"auth type" is not accepted`},
		"the driver's TLS":            {"oracle://u:secret@db01/x?ssl+verify=false", "", "", "", `"ssl verify" is not accepted`},
		"tls mode":                    {"oracle://u:secret@db01/x?sslmode=prefer", "", "", "", "disable, require, verify-full"},
		"port":                        {"oracle://u:secret@db01:0/x", "", "", "", "port"},
		"port is no number":           {"oracle://u:secret@db01:secret/x", "", "", "", "not a URL"},
		"another scheme":              {"postgres://u:secret@db01/x", "", "", "", "oracle://"},
		"keywords":                    {"u/secret@db01:1521/x", "", "", "", "oracle://"},
		"hash in password":            {"oracle://u:sec#ret@db01/x", "", "", "", "oracle://user"},
		"hash in user":                {"oracle://C##MUSTER:secret@db01/x", "", "", "", "%23"},
		"zero byte":                   {"oracle://u:secret%00@db01/x", "", "", "", "zero byte"},
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
