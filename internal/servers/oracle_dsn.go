package servers

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/internal/servers/tns"
)

// The TLS modes of a connection string of Oracle are three of PostgreSQL's, by the same
// parameter: Oracle's own tools have no URL to name one in, and who registers an Oracle
// beside a PostgreSQL has learnt these words. TLSDisable is the default, because the
// listener that an installation makes speaks plain TCP on port 1521 and answers nothing
// to a TLS handshake; Oracle sends no password in the clear either way. What passes is
// then encrypted where the server asks for that (SQLNET.ENCRYPTION_SERVER=requested).
// TLSRequire takes any certificate, TLSVerifyFull only one of a known authority for the
// host that is dialled.
var oracleTLS = []string{TLSDisable, TLSRequire, TLSVerifyFull}

// oracleParameters are all that a connection string of Oracle may have beside.
var oracleParameters = []string{"host", "port", "user", "password", "service", "sid", "sslmode", "wallet"}

// oracleForm is what a connection string looks like.
const oracleForm = "oracle://user:password@host:port/service?sslmode=…&wallet=…"

// tnsHint says how to write what other tools of Oracle take: a connect descriptor, a string of JDBC or EZConnect.
func tnsHint(dsn string) string {
	upper := strings.ToUpper(dsn)
	if strings.HasPrefix(upper, "ORACLE://") {
		return ""
	}
	if strings.Contains(upper, "(DESCRIPTION") || strings.HasPrefix(upper, "JDBC:") || strings.Contains(dsn, "/") && strings.Contains(dsn, "@") {
		return "; a connect descriptor is written oracle://user:password@(DESCRIPTION=…), and of JDBC or EZConnect, take host, port and service: " + oracleForm
	}
	return ""
}

// parseOracle reads a URL like
//
//	oracle://muster:password@db01:1521/orders.example.com?sslmode=verify-full
//
// with the name of a service, or ?sid=ORCL of a server that has none. A common user is
// written C%23%23MUSTER. A connect descriptor may stand in the place of the host, and several
// hosts may: of those, the one that leads to the primary is used (openOracle). What would be read
// from the machine Muster runs on (TNS_ADMIN, a wallet's file, the account of the operating
// system) is refused.
func parseOracle(dsn string) (Target, error) {
	dsn, descriptor := cutDescriptor(dsn)
	u, err := url.Parse(dsn)
	if err != nil {
		return Target{}, &DSNError{"it is not a URL of the form " + oracleForm + tnsHint(dsn)}
	}
	if u.Scheme != "oracle" {
		return Target{}, &DSNError{"it must start with oracle://" + tnsHint(dsn)}
	}
	if u.Fragment != "" || u.Opaque != "" {
		return Target{}, &DSNError{"a # or ? in the user name or password must be written as %23 or %3F"}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Target{}, &DSNError{"its parameters are not readable"}
	}
	parts := map[string]string{
		"host": u.Hostname(), "port": u.Port(), "user": u.User.Username(), "service": strings.TrimPrefix(u.Path, "/"),
	}
	parts["password"], _ = u.User.Password()
	if descriptor != "" {
		if err := describe(parts, descriptor); err != nil {
			return Target{}, err
		}
	}
	for name, values := range query {
		if !slices.Contains(oracleParameters, name) {
			if len(name) > 40 {
				return Target{}, &DSNError{"it has a parameter that is not accepted"}
			}
			if lower := strings.ToLower(name); strings.Contains(lower, "wallet") || strings.HasPrefix(lower, "tns") {
				return Target{}, &DSNError{"Muster reads no tnsnames.ora, and " + tns.WalletHint + "; an Autonomous Database can also allow TLS without a wallet (sslmode=verify-full)"}
			}
			return Target{}, &DSNError{"parameter " + strconv.Quote(name) + " is not accepted; only host, port, user, password, service, sid, sslmode and wallet are"}
		}
		if len(values) != 1 || parts[name] != "" {
			return Target{}, &DSNError{"it gives " + name + " twice"}
		}
		parts[name] = values[0]
	}
	return oracleTarget(parts)
}

// cutDescriptor takes a connect descriptor out of a connection string, where it has the place of the host.
func cutDescriptor(dsn string) (without, descriptor string) {
	at, end := strings.Index(dsn, "@("), strings.LastIndexByte(dsn, ')')+1
	if at < 0 || end <= at || !strings.HasPrefix(dsn, "oracle://") {
		return dsn, ""
	}
	return dsn[:at+1] + dsn[end:], dsn[at+1 : end]
}

// describe takes over what a connect descriptor says. PROTOCOL=TCPS means the strictest mode of TLS, unless sslmode
// says otherwise.
func describe(parts map[string]string, descriptor string) error {
	d, err := tns.ReadDescriptor(descriptor)
	if err != nil {
		return &DSNError{err.Error()}
	}
	parts["host"], parts["instance"] = strings.Join(d.Addresses, ","), d.Instance
	for name, value := range map[string]string{"service": d.Service, "sid": d.SID} {
		if value != "" && parts[name] != "" {
			return &DSNError{"it gives " + name + " twice"}
		}
		parts[name] = cmp.Or(value, parts[name])
	}
	parts["protocol"] = "tcp"
	if d.TLS {
		parts["protocol"] = "tcps"
	}
	return nil
}

func oracleTarget(parts map[string]string) (Target, error) {
	t := Target{User: parts["user"], Password: parts["password"], Database: parts["service"], TLS: parts["sslmode"], Port: 1521}
	for _, name := range oracleParameters {
		if strings.ContainsRune(parts[name], 0) {
			return Target{}, &DSNError{"its " + name + " holds a zero byte"}
		}
	}
	if p := parts["port"]; p != "" {
		port, err := strconv.ParseUint(p, 10, 16)
		if err != nil || port == 0 {
			return Target{}, &DSNError{"its port is not a number from 1 to 65535"}
		}
		t.Port = uint16(port)
	}
	if err := t.splitAddresses(parts["host"]); err != nil {
		return Target{}, err
	}
	switch {
	case t.User == "":
		return Target{}, &DSNError{"it names no user"}
	case t.Password == "": // without one, Oracle would have the operating system's account vouch
		return Target{}, &DSNError{"it has no password"}
	case t.Database != "" && parts["sid"] != "":
		return Target{}, &DSNError{"it names a service and a sid; one of them is enough"}
	case t.Database == "" && parts["sid"] == "":
		return Target{}, &DSNError{"it names no service (…@host:1521/service) and no sid (?sid=…)"}
	}
	if parts["sid"] != "" {
		t.Database, t.oracle.bySID = parts["sid"], true
	}
	t.oracle.instance = parts["instance"]
	if !oracleName(t.Database) || t.oracle.instance != "" && !oracleName(t.oracle.instance) {
		return Target{}, &DSNError{"its service, sid or instance has other characters than letters, digits and _ $ # . -"}
	}
	if err := t.secureOracle(parts["protocol"], parts["wallet"]); err != nil {
		return Target{}, err
	}
	return t, nil
}

// secureOracle judges the mode of TLS, and takes a wallet over.
func (t *Target) secureOracle(protocol, wallet string) (err error) {
	if wallet != "" {
		if t.oracle.wallet, err = tns.ReadWallet(wallet); err != nil {
			return &DSNError{err.Error()}
		}
	}
	switch {
	case t.TLS == "" && (wallet != "" || protocol == "tcps"):
		t.TLS = TLSVerifyFull
	case t.TLS == "":
		t.TLS = TLSDisable
	}
	if protocol != "" && (protocol == "tcps") == (t.TLS == TLSDisable) {
		return &DSNError{"its sslmode and the PROTOCOL of its connect descriptor differ"}
	}
	if wallet != "" && t.TLS == TLSDisable {
		return &DSNError{"it has a wallet, which goes with sslmode=verify-full or require"}
	}
	if !slices.Contains(oracleTLS, t.TLS) {
		return &DSNError{"its sslmode is not one of " + strings.Join(oracleTLS, ", ")}
	}
	return nil
}

// isHost refuses what is no host. What the driver sends to a listener quotes the
// host as it is, so that a parenthesis in it would be syntax.
func isHost(host string) error {
	switch {
	case host == "":
		return &DSNError{"it names no host"}
	case strings.ContainsAny(host, "/()=\\ \""):
		return &DSNError{"its host is neither a name nor an address"}
	}
	return nil
}

// oracleName says whether a name can stand in a connect descriptor as it is.
func oracleName(name string) bool {
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("_$#.-", r) {
			return false
		}
	}
	return name != "" && len(name) <= 128
}
