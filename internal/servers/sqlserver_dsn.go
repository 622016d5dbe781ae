package servers

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// Modes of encryption of a connection string of SQL Server, as its own tools name them.
const (
	EncryptStrict  = "strict"  // TLS before anything else (TDS 8.0, SQL Server 2022)
	EncryptTrue    = "true"    // TLS within the protocol; the default
	EncryptLogin   = "false"   // the login alone, unless the server demands more; no server lacks a certificate for it
	EncryptDisable = "disable" // none, unless the server demands it: the password crosses the network readable
)

const (
	sqlServerPort = 1433 // of an instance without a name
	// fixedPort keeps a named instance where it is registered: by default, it may have another port at each start.
	fixedPort = "a fixed port in SQL Server Configuration Manager"
	byItsName = "a named instance is written after the host, as in host/INSTANCE, or reached by its port (give it " + fixedPort + ")"
)

// sqlServerOptions are what a connection string of SQL Server says beside.
type sqlServerOptions struct {
	trust       bool   // the certificate is not verified
	certificate string // whose it must be; empty: the host's
	instance    string // its name; empty: it is reached by the port
	readOnly    bool   // a listener may lead to a secondary
	windows     bool   // the user is an account of Windows, who signs in by NTLM
	pause       bool   // a serverless database is let pause
	entra       bool   // the user is an application of Microsoft Entra ID, as client@tenant
}

// sqlServerForm is what a connection string looks like.
const sqlServerForm = "sqlserver://user:password@host:1433 or host/INSTANCE?database=…&encrypt=strict|true|false|disable" +
	"&trustServerCertificate=true|false&hostNameInCertificate=…&applicationIntent=ReadOnly&fedauth=ActiveDirectoryServicePrincipal&letPause=true"

// parseSQLServer reads a URL like
//
//	sqlserver://user:password@db01:1433?database=app&encrypt=true
//
// The certificate is verified unless the connection string says otherwise. Who signs in stands in it, with a
// password: a login of SQL Server, an account of Windows (DOMAIN\user) or an application of Entra (client@tenant).
// With Kerberos and the other ways of Entra, the machine Muster runs on would decide who that is. The port of a
// named instance is that of SQL Server Browser's answer, which anybody on the way could have given: no password goes
// there readable.
func parseSQLServer(dsn string) (Target, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return Target{}, &DSNError{"it is not a URL of the form " + sqlServerForm + "; " + byItsName}
	}
	if u.Scheme != "sqlserver" {
		return Target{}, &DSNError{"it must start with sqlserver://"}
	}
	if u.Fragment != "" || u.Opaque != "" {
		return Target{}, &DSNError{"a # or ? in the user name or password must be written as %23 or %3F"}
	}
	instance := strings.Trim(u.Path, "/")
	if instance != "" && !isInstance(instance) {
		return Target{}, &DSNError{"its path is no name of an instance: a database is named by ?database=…, and " + byItsName}
	}
	if instance != "" && u.Port() != "" {
		return Target{}, &DSNError{"it names a port and an instance: one of them is enough. A database is named by ?database=…"}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Target{}, &DSNError{"its parameters are not readable"}
	}
	t := Target{Host: u.Hostname(), Port: sqlServerPort, User: u.User.Username(), TLS: EncryptTrue, sqlServer: sqlServerOptions{instance: instance}}
	t.Password, _ = u.User.Password()
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return Target{}, &DSNError{"its port is not a number from 1 to 65535"}
		}
		t.Port = uint16(n)
	}
	given := make(map[string]bool)
	for key, values := range query {
		name := strings.ToLower(key)
		if len(values) != 1 || given[name] {
			return Target{}, &DSNError{"it gives a parameter twice"}
		}
		given[name] = true
		if err := t.setSQLServer(name, values[0]); err != nil {
			return Target{}, err
		}
	}
	return t, t.checkSQLServer()
}

// setSQLServer takes a parameter over.
func (t *Target) setSQLServer(name, value string) error {
	oneOf := func(accepted ...string) error {
		for _, a := range accepted {
			if strings.EqualFold(a, value) {
				return nil
			}
		}
		return &DSNError{"its " + name + " is not one of " + strings.Join(accepted, ", ")}
	}
	switch name {
	case "database":
		t.Database = value
	case "encrypt":
		t.TLS = strings.ToLower(value)
		return oneOf(EncryptStrict, EncryptTrue, EncryptLogin, EncryptDisable)
	case "trustservercertificate":
		t.sqlServer.trust = strings.EqualFold(value, "true")
		return oneOf("true", "false")
	case "hostnameincertificate":
		t.sqlServer.certificate = value
	case "applicationintent":
		t.sqlServer.readOnly = strings.EqualFold(value, "ReadOnly")
		return oneOf("ReadOnly", "ReadWrite")
	case "letpause":
		t.sqlServer.pause = strings.EqualFold(value, "true")
		return oneOf("true", "false")
	case "fedauth":
		t.sqlServer.entra = true
		return oneOf(servicePrincipal)
	case "authenticator", "integrated security", "trusted_connection", "serverspn":
		return &DSNError{"Muster signs in by a name and password of its own: Kerberos is not accepted, and an account of Windows is the user " + windowsUser}
	default:
		if len(name) > 40 {
			return &DSNError{"it has a parameter that is not accepted"}
		}
		return &DSNError{"parameter " + strconv.Quote(name) + " is not accepted; only database, encrypt, trustServerCertificate, hostNameInCertificate, applicationIntent, fedauth and letPause are"}
	}
	return nil
}

// LetsPause says whether a server that pauses while nobody is connected is to do so, at the price of what is not measured then.
func (t *Target) LetsPause() bool { return t.sqlServer.pause }

// isInstance says whether SQL Server lets an instance have a name.
func isInstance(name string) bool {
	const longest = 16
	return len(name) <= longest && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_#$", r)
	})
}

// checkSQLServer says what the parts of a connection string lack together.
func (t *Target) checkSQLServer() error {
	for name, value := range map[string]string{"user": t.User, "password": t.Password, "database": t.Database, "host": t.Host} {
		if strings.ContainsRune(value, 0) {
			return &DSNError{"its " + name + " holds a zero byte"}
		}
	}
	switch {
	case t.TLS == EncryptStrict && t.sqlServer.trust:
		return &DSNError{"encrypt=strict verifies the certificate: trustServerCertificate=true does not go with it"}
	case t.TLS == EncryptDisable && t.sqlServer.instance != "":
		return &DSNError{"encrypt=disable would send the password readable to a port that anybody on the way may name: with it, an instance is reached by its port"}
	case t.Host == "":
		return &DSNError{"it names no host"}
	case strings.Contains(t.Host, ","):
		return &DSNError{"it names more than one host; register each server by itself"}
	case t.User == "":
		return &DSNError{"it names no user"}
	case t.sqlServer.entra:
		return t.checkEntra()
	case strings.Contains(t.User, `\`):
		return t.checkWindows()
	}
	return nil
}
