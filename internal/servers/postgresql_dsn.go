package servers

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// TLS modes of a connection string of PostgreSQL, as libpq names them.
const (
	TLSDisable    = "disable"
	TLSAllow      = "allow"
	TLSPrefer     = "prefer" // the default, as everywhere in PostgreSQL
	TLSRequire    = "require"
	TLSVerifyCA   = "verify-ca"
	TLSVerifyFull = "verify-full"
)

// parsePostgreSQL reads a URL like
//
//	postgres://user:password@db01:5432/postgres?sslmode=verify-full
//
// A host that is a directory (host=/run/postgresql) is a Unix socket; only the
// installation itself may register one. Parameters that would make the connection
// depend on files or settings of the machine Muster runs on (passfile, service,
// sslcert and the like), or lead elsewhere than to the host (hostaddr), are refused.
func parsePostgreSQL(dsn string) (Target, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return Target{}, &DSNError{"it is not a URL of the form postgres://user:password@host:port/database?sslmode=…"}
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return Target{}, &DSNError{"it must start with postgres:// or postgresql://"}
	}
	if u.Fragment != "" || u.Opaque != "" {
		return Target{}, &DSNError{"a # or ? in the user name or password must be written as %23 or %3F"}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Target{}, &DSNError{"its parameters are not readable"}
	}
	parts := map[string]string{
		"host": u.Hostname(), "port": u.Port(), "user": u.User.Username(),
		"dbname": strings.TrimPrefix(u.Path, "/"),
	}
	parts["password"], _ = u.User.Password()
	if err := mergeParameters(parts, query); err != nil {
		return Target{}, err
	}
	return targetOf(parts)
}

// mergeParameters lets the URL's parameters fill what its main part leaves open.
func mergeParameters(parts map[string]string, query url.Values) error {
	for key, values := range query {
		name := key
		if name == "database" {
			name = "dbname"
		}
		if !slices.Contains([]string{"host", "port", "user", "password", "dbname", "sslmode"}, name) {
			if len(key) > 40 {
				return &DSNError{"it has a parameter that is not accepted"}
			}
			return &DSNError{"parameter " + strconv.Quote(key) + " is not accepted; only host, port, user, password, dbname and sslmode are"}
		}
		if len(values) != 1 || parts[name] != "" {
			return &DSNError{"it gives " + name + " twice"}
		}
		parts[name] = values[0]
	}
	return nil
}

func targetOf(parts map[string]string) (Target, error) {
	t := Target{
		Host: parts["host"], User: parts["user"], Password: parts["password"],
		Database: parts["dbname"], TLS: parts["sslmode"], Port: 5432,
	}
	for name, value := range parts {
		if strings.ContainsRune(value, 0) {
			return Target{}, &DSNError{"its " + name + " holds a zero byte"}
		}
	}
	if t.Host == "" {
		return Target{}, &DSNError{"it names no host"}
	}
	if strings.Contains(t.Host, ",") {
		return Target{}, &DSNError{"it names more than one host; register each server by itself"}
	}
	if t.User == "" {
		return Target{}, &DSNError{"it names no user"}
	}
	if t.Database == "" {
		t.Database = "postgres"
	}
	if p := parts["port"]; p != "" {
		port, err := strconv.ParseUint(p, 10, 16)
		if err != nil || port == 0 {
			return Target{}, &DSNError{"its port is not a number from 1 to 65535"}
		}
		t.Port = uint16(port)
	}
	switch t.TLS {
	case "":
		t.TLS = TLSPrefer
	case TLSDisable, TLSAllow, TLSPrefer, TLSRequire, TLSVerifyCA, TLSVerifyFull:
	default:
		return Target{}, &DSNError{"its sslmode is not one of disable, allow, prefer, require, verify-ca, verify-full"}
	}
	return t, nil
}
